"""Two devices that most tests of kernels, problems and searches use."""

import pytest

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend


@pytest.fixture(scope="session")
def cpu():
    """One core, the standard for results of the other backends."""
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="session")
def python():
    """The reference interpreter, which runs kernels as plain Python."""
    return PythonBackend(PythonBackend.devices()[0])
