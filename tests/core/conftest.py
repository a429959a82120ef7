"""Two devices that most tests of kernels, problems and searches use."""

import pytest

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend


@pytest.fixture(scope="session")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="session")
def python():
    return PythonBackend(PythonBackend.devices()[0])
