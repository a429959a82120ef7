"""CUDA's driver and numba-cuda: how they are imported, and checked calls of the driver."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

from backends.device import OutOfMemory, Unavailable

INSTALL = "pip install 'onekernel[cuda]' (or 'onekernel[cuda12]' for drivers of CUDA 12)"


def numba_cuda() -> ModuleType:
    """Import numba-cuda; raises `Unavailable` if it is not installed."""
    if importlib.util.find_spec("numba_cuda") is None:
        raise Unavailable(f"numba-cuda is not installed; {INSTALL}")
    from numba import cuda
    from numba.cuda.core import config

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # the caller chose the shape of the launch
    return cuda


def check_driver_call(result: tuple[Any, ...]) -> Any:
    """Return the result of a function of the driver without its status.

    Raises `OutOfMemory`, or `RuntimeError` with the driver's error, which may be that of something queued earlier.
    """
    status, *values = result
    if status:
        if status.name == "CUDA_ERROR_OUT_OF_MEMORY":
            raise OutOfMemory("the device has not enough memory")
        raise RuntimeError(f"CUDA driver error {status.name}")
    return values[0] if len(values) == 1 else values
