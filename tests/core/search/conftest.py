"""Fixtures of all searches' tests."""

import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend


@pytest.fixture(scope="session")
def cpu():
    """One core, whose results the other backends are held to."""
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="session")
def python():
    """The oracle, which runs kernels as plain Python."""
    return PythonBackend(PythonBackend.devices()[0])
