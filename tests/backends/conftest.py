"""Backends of tests that need one of their own."""

import pytest

import backends


@pytest.fixture(scope="session")
def cpu():
    """One core: for what is the same on every device."""
    return backends.create("cpu")


@pytest.fixture(scope="session")
def opencl():
    """The first OpenCL device, if there is one."""
    try:
        return backends.create("opencl")
    except backends.Unavailable as error:
        pytest.skip(str(error))
