"""Devices of the tests of the kernel language."""

import pytest

import backends


@pytest.fixture(scope="module")
def devices():
    """Return plain Python, one core and OpenCL, if it is here; all run teams of one lane."""
    found = [backends.create("python"), backends.create("cpu")]
    try:
        found.append(backends.create("opencl"))
    except backends.Unavailable as error:
        print(f"opencl is left out: {error}")
    yield found
    for backend in found:
        backend.close()
