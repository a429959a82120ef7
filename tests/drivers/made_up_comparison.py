"""A comparison on made-up devices."""

import functools

import pytest

from drivers.experiments.comparison import ComparisonDependencies, main
from tests.drivers.made_up_runs import device, run_of

__all__ = ["compare", "device", "run", "stub_house"]


def stub_house(*devices, commands=None):
    """A house with these devices, whose runs are made up; `commands` gets the configuration of each."""

    def command(contest, configuration):
        if commands is not None:
            commands.append(configuration)
        return run_of(contest, configuration)

    return ComparisonDependencies(lambda: devices, command)


def run(folder, *arguments, devices, commands=None):
    """Compare hill climbing; returns the exit code."""
    house = stub_house(*devices, commands=commands)
    fixed = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "16", "--repeats", "3", "--out", str(folder)]
    return main([*fixed, *arguments], house)


@pytest.fixture
def compare(tmp_path, undrawn):
    """Compare hill climbing in a folder of its own; returns the exit code."""
    return functools.partial(run, tmp_path)
