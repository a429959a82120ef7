"""Devices of the tests of kernels."""

import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="module")
def oracle():
    return PythonBackend(PythonBackend.devices()[0])
