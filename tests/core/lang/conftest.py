"""Devices of the tests of the kernel language."""

import pytest

import backends


@pytest.fixture(scope="module")
def devices():
    """Plain Python, one core and OpenCL if available, with teams of one lane."""
    backends_here = [backends.create("python"), backends.create("cpu")]
    try:
        backends_here.append(backends.create("opencl"))
    except backends.Unavailable as error:
        print(f"opencl is left out: {error}")
    yield backends_here
    for backend in backends_here:
        backend.close()
