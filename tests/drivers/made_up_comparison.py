"""A comparison on made-up devices."""

import pytest

from drivers.compare import House, main
from tests.drivers.made_up_runs import device, run_of

__all__ = ["compare", "device", "stub_house"]


def stub_house(*devices, commands=None):
    """A house with these devices, whose runs are made up; `commands` gets the configuration of each."""

    def command(contest, configuration):
        if commands is not None:
            commands.append(configuration)
        return run_of(contest, configuration)

    return House(lambda: devices, command)


@pytest.fixture
def compare(tmp_path, undrawn):
    """Compare hill climbing in a folder of its own; returns the exit code."""

    def run(*arguments, devices, commands=None):
        house = stub_house(*devices, commands=commands)
        fixed = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "16", "--repeats", "3", "--out", str(tmp_path)]
        return main([*fixed, *arguments], house)

    return run
