"""Memory of the host for what leaves a device while it computes: page-locked, or a file without a name."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from core.errors import UserError

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files with the memory limit of a container, in both generations of Linux control groups."""


def host_memory(backend: Any, elements: int, dtype: Any, what: str, folder: str | None) -> np.ndarray:
    """Reserve flat memory for a number of elements before anything is computed.

    With a ``folder`` they go to a file there. ``what`` names them in the `UserError` when they do not fit.
    """
    dtype = np.dtype(dtype)
    size = elements * dtype.itemsize
    if size == 0:
        return np.empty(0, dtype)
    if folder is None:
        there = available_bytes()
        refusal = f"{size} bytes of {what} do not fit the host's memory; give --spill DIR ({there} bytes are there)"
        # Linux promises more memory than there is, and ends the process that uses it.
        if size > there:
            raise UserError(refusal)
        try:
            return np.asarray(backend.host_array(elements, dtype))
        except MemoryError as error:
            raise UserError(refusal) from error
    try:
        with tempfile.TemporaryFile(dir=folder) as file:  # the map keeps its content
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk shows here, not as a fault in the middle
            return np.memmap(file, dtype, "r+", shape=(elements,))
    except OSError as error:
        state = os.statvfs(folder) if os.path.isdir(folder) else None
        space = f" ({state.f_bavail * state.f_frsize} bytes are there)" if state else ""
        raise UserError(f"--spill {folder}: {size} bytes of {what} do not fit: {error.strerror}{space}") from error


def available_bytes() -> int:
    """Bytes of memory that this process can still get without driving others out, as far as Linux says."""
    bounds = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    try:
        with open("/proc/meminfo") as file:
            bounds += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")]
    except OSError:
        return bounds[0]  # not Linux
    for path in LIMITS:
        if os.path.exists(path):
            with open(path) as file:
                limit = file.read().strip()
            bounds += [int(limit)] if limit.isdigit() else []
    return min(bounds)
