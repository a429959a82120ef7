"""Two devices that most tests of kernels, problems and searches use."""

import itertools
import time

import pytest

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend


@pytest.fixture(scope="session")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture
def counted_time(monkeypatch):
    """A clock that advances by a millisecond at each reading, so that a time limit depends on no machine's load."""
    readings = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(readings) / 1000)


@pytest.fixture(scope="session")
def python():
    return PythonBackend(PythonBackend.devices()[0])
