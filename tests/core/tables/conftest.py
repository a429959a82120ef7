"""Devices of these tests."""

import pytest

from backends.python import PythonBackend


@pytest.fixture(params=[False, True], ids=["ascending", "descending"])
def in_order(request):
    """Plain Python with lanes in one of two orders."""
    return PythonBackend(PythonBackend.devices()[0], reverse=request.param)


@pytest.fixture
def device(backend):
    """Every backend but the simulator of GPUs, which `tests/backends/test_cuda_without_gpu.py` runs."""
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes")
    return backend
