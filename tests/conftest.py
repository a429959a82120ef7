"""Fixtures of the whole suite, and the summary that tells which backends were tested and why others were not."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import backends
from backends.base import Capabilities

ROOT = Path(__file__).parents[1]
SHARED_DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
KINDS = (*backends.NAMES, "wide")
INTEL = "Intel(R) OpenCL"
DEMANDED = [name for name in os.environ.get("ONEKERNEL_BACKENDS", "").split(",") if name]
tested: dict[str, str] = {}


@pytest.fixture(scope="session")
def shared_data():
    """The folder of TSPLIB and other instances beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no instances beside the checkout (../shared/data)")
    return SHARED_DATA.resolve()


def wide():
    """A GPU's launch shapes without a GPU: Intel's runtime for CPUs runs teams of lanes rightly, which PoCL does not."""
    kind = backends.backend_class("opencl")
    device = next((d for d in kind.devices() if d.driver.startswith(INTEL)), None)
    if device is None:
        raise backends.Unavailable("Intel's OpenCL runtime for CPUs is not installed; pip install 'onekernel[opencl-intel]'")
    made = kind(device)
    made.capabilities = Capabilities(1024, 48 << 10, 4, 2048, made.capabilities.float64)
    return made


def _made(name):
    try:
        return wide() if name == "wide" else backends.create(name)
    except backends.Unavailable as error:
        if name in DEMANDED:
            pytest.fail(f"backend {name} was demanded by ONEKERNEL_BACKENDS: {error}")
        tested[name] = f"not tested: {error}"
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=KINDS)
def backend(request):
    """Each backend that this machine can use; ``ONEKERNEL_BACKENDS=cpu,opencl`` demands some."""
    made = _made(request.param)
    tested[request.param] = f"tested on {made.device.name}"
    yield made
    made.close()


def pytest_report_header():
    """Say before the run which backends it will test."""
    lines = []
    for row in backends.survey():
        state = f"{row.name} ({row.driver})" if row.usable else f"not tested: {row.reason}"
        if row.backend == "cuda" and not row.usable:
            state += "; its kernels are compiled to PTX and run in numba's simulator"
        lines.append(f"backend {row.backend}: {state}")
    return lines


def pytest_collection_modifyitems(items):
    """Keep all tests that start ranks in one worker: they would only wait for each other's cores."""
    for item in items:
        if "mpirun" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("mpi"))


@pytest.fixture
def environment():
    """Return a plain process's environment, without a launcher's words."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMI_", "PMIX_", "PRTE_"))}
    return kept | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def mpirun(environment):
    """Run a program on so many ranks, more than there are cores if need be."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpirun")
    launcher = str(beside) if beside.exists() else shutil.which("mpirun")
    if launcher is None:
        pytest.skip("there is no mpirun")
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run(ranks, *arguments, crowd=True):
        policy = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"} if crowd else {}
        return subprocess.run(
            [launcher, "-n", str(ranks), sys.executable, *map(str, arguments)],
            env=environment | policy,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=200,
        )

    return run
