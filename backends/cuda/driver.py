"""CUDA's driver and compilers: which are installed, how they are imported, and checked calls of the driver."""

from __future__ import annotations

import importlib.util
import os
from types import ModuleType
from typing import Any

from backends import COMPILER_VARIABLE
from backends.device import OutOfMemory, Unavailable

NUMBA, NVRTC = "numba", "nvrtc"
INSTALL = "pip install 'onekernel[cuda]' (or 'onekernel[cuda12]' for drivers of CUDA 12)"
INSTALL_NVRTC = "pip install 'onekernel[cuda-nvrtc]'"


def is_installed(module: str) -> bool:
    """Return True if a module can be imported, without importing it."""
    package = module.partition(".")[0]
    return importlib.util.find_spec(package) is not None and importlib.util.find_spec(module) is not None


def default_compiler() -> str:
    """Return the compiler of the environment, else numba-CUDA, if it is installed; raises `Unavailable` for another."""
    chosen = os.environ.get(COMPILER_VARIABLE) or (NUMBA if is_installed("numba_cuda") else NVRTC)
    if chosen not in (NUMBA, NVRTC):
        raise Unavailable(f"{COMPILER_VARIABLE}: found {chosen!r}, expected {NUMBA} or {NVRTC}")
    return chosen


def numba_cuda() -> ModuleType:
    """Import numba-cuda; raises `Unavailable` if it is not installed."""
    if not is_installed("numba_cuda"):
        raise Unavailable(f"numba-cuda is not installed; {INSTALL}")
    from numba import cuda
    from numba.cuda.core import config

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # the caller chose the shape of the launch
    return cuda


def require_nvrtc() -> None:
    """Load NVRTC; raises `Unavailable` if it is not installed."""
    from cuda.bindings import nvrtc

    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise Unavailable(f"NVRTC is not installed ({error}); {INSTALL_NVRTC}") from None


def load_driver() -> ModuleType:
    """Import and initialise CUDA's driver; raises `Unavailable` without cuda.core, the driver or a device."""
    if not is_installed("cuda.core"):
        raise Unavailable(f"cuda-core is not installed; {INSTALL_NVRTC}")
    from cuda.bindings import driver

    try:
        check_driver_call(driver.cuInit(0))
    except RuntimeError as error:
        raise Unavailable(f"no CUDA driver or device here ({' '.join(str(error).split())})") from None
    return driver


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


def device_attribute(index: int, name: str) -> int:
    """Return an attribute of a device, named as the driver names it without ``CU_DEVICE_ATTRIBUTE_``."""
    from cuda.bindings import driver

    which = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(check_driver_call(driver.cuDeviceGetAttribute(which, check_driver_call(driver.cuDeviceGet(index)))))


def architecture(index: int) -> str:
    """Return a device's architecture as compilers name it, such as ``sm_90``."""
    major, minor = (device_attribute(index, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    return f"sm_{major}{minor}"
