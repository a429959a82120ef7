"""Two devices that most tests of kernels, problems and searches use."""

import pytest

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend


@pytest.fixture(scope="session")
def cpu():
    """One core, whose results the other backends are held to."""
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="session")
def python():
    """The reference interpreter, which runs kernels as plain Python."""
    return PythonBackend(PythonBackend.devices()[0])
