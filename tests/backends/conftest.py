"""Backends of tests that need one of their own."""

import pytest

import backends


@pytest.fixture(scope="session")
def cpu():
    return backends.create("cpu")


@pytest.fixture(scope="session")
def opencl():
    try:
        return backends.create("opencl")
    except backends.Unavailable as error:
        pytest.skip(str(error))
