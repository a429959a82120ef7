"""Hosts for tests; where they cannot be made, all tests here are left out, with the reason."""

import importlib.util
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from cluster.emulation import obstacle
from cluster.emulation.profiles import PROFILES
from tests.cluster.emulation.hosts import ROOT, HostsOfATest
from tests.cluster.emulation.slurm import Slurm
from tests.cluster.emulation.slurm import obstacle as obstacle_to_slurm


@pytest.fixture(scope="session")
def hosts_can_be():
    why_not = obstacle()
    if why_not is not None:
        pytest.skip(why_not)
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")


@pytest.fixture
def hosts(hosts_can_be, tmp_path):
    with ExitStack() as ended:
        yield lambda network, count: ended.enter_context(HostsOfATest(PROFILES[network], count, shared=[tmp_path]))


@pytest.fixture
def emulate(environment):
    """Run the emulator of hosts with arguments; `mpirun` is that of this environment."""
    there = environment | {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
    there.pop("TSPLIB_DIR", None)

    def run(*words):
        command = [sys.executable, "-m", "cluster.emulation", *map(str, words)]
        return subprocess.run(command, env=there, cwd=ROOT, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def slurm(hosts):
    """Slurm on three hosts of two cores each; ``slurm.submit(script)`` waits for the job."""
    why_not = obstacle_to_slurm()
    if why_not is not None:
        pytest.skip(why_not)
    running = Slurm(hosts("lan", 3))
    yield running
    running.close()
