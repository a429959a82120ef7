"""A comparison on made-up devices."""

import functools

import pytest

from drivers.compare import main
from tests.drivers.made_up_runs import device, made_up_suite

__all__ = ["compare", "device", "run"]


def run(folder, *arguments, devices, started=None):
    """Compare hill climbing; return the exit code. `started` gets the cases."""
    fixed = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "16", "--repeats", "3", "--out", str(folder)]
    with made_up_suite(*devices, started=started):
        return main([*fixed, *arguments])


@pytest.fixture
def compare(tmp_path, undrawn):
    return functools.partial(run, tmp_path)
