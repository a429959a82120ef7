"""Runs of small programs on several ranks, by the MPI launcher that belongs to this Python."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items):
    """Keep all tests that start ranks in one worker: they would only wait for each other's cores."""
    for item in items:
        if "mpirun" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("mpi"))


@pytest.fixture
def environment() -> dict[str, str]:
    """Return a plain process's environment, without a launcher's words."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMI_", "PMIX_", "PRTE_"))}
    return kept | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def plain(environment) -> Run:
    """Run a program in one process, with no launcher."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def mpirun(environment) -> Run:
    """Run a program on so many ranks, more than there are cores if need be."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpirun")
    launcher = str(beside) if beside.exists() else shutil.which("mpirun")
    if launcher is None:
        pytest.skip("there is no mpirun")
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run(ranks: int, *arguments: object, crowd: bool = True) -> subprocess.CompletedProcess[str]:
        policy = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"} if crowd else {}
        return subprocess.run(
            [launcher, "-n", str(ranks), sys.executable, *map(str, arguments)],
            env=environment | policy,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run
