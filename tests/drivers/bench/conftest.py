"""What tests of benches measure with: one core, which also stands in for a GPU."""

import shutil
from types import SimpleNamespace

import pytest

import backends
from drivers.bench.c_programs import Compiler
from drivers.bench.cases import BenchmarkContext
from drivers.bench.devices import BenchmarkDevice
from drivers.bench.instances import BenchmarkInstances

ONE_CORE = BenchmarkDevice("cpu", "0", "core", 1, "a core", "cpu")


@pytest.fixture(scope="session")
def rows():
    """The survey's rows of the backend `cpu`."""
    return [row for row in backends.survey() if row.backend == "cpu"]


@pytest.fixture
def only_cpu(rows, monkeypatch):
    """A machine with nothing but one core."""
    monkeypatch.setattr(backends, "survey", lambda: rows)


@pytest.fixture
def place():
    return ONE_CORE


@pytest.fixture(scope="module")
def cpu():
    made = backends.create("cpu")
    yield made
    made.close()


@pytest.fixture(scope="module")
def compiler():
    """A compiler of reference programs."""
    if shutil.which("gcc") is None:
        pytest.skip("reference programs in C need gcc")
    with Compiler(True) as made:
        yield made


@pytest.fixture
def make_field():
    """A field from options, devices and a compiler; without one there are no reference programs."""

    def make(cores=(ONE_CORE,), gpus=(), compiler=None, **options):
        given = {"instance": None, "data": None, "repeats": 2, "seed": 3, "full": False, "climbers": 20}
        asked = SimpleNamespace(**{**given, "gpu_climbers": 30, **options})
        return BenchmarkContext(asked, cores, gpus, compiler or Compiler(False), BenchmarkInstances(None))

    return make
