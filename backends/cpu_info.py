"""The processor of this machine: its name, its cores, and a tag for processors that run the same machine code."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import platform

from backends.device import DeviceInfo, Unavailable
from core.granted_cores import granted_cores, memory_bytes


def cpu_device() -> DeviceInfo:
    """Return this machine's processor as all CPU backends list it."""
    system = platform.system() + " " + platform.release()
    return DeviceInfo("0", processor_name(), system, memory_bytes(), available_cores(), "cores")


def processor_name() -> str:
    """Return the processor's name as the system prints it; it may have any characters."""
    name = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    # `platform.processor` may start a process.
    return name or platform.processor() or platform.machine() or "unknown processor"


def limit_cores(device: DeviceInfo, cores: int) -> DeviceInfo:
    """Return a processor limited to some cores, with this limit in its name; refuses more than it has."""
    present = device.compute_units
    if not 1 <= cores <= present:
        raise Unavailable(
            f"--cores {cores}: found {present} core{'s' if present > 1 else ''} for this process, expected 1 to "
            f"{present} (mpirun binds a rank to one core, or to all of the host with --bind-to none)"
        )
    part = f"{cores} of {present} cores"
    return device._replace(name=f"{device.name}, {part}", compute_units=cores, part=part)


@functools.cache
def available_cores() -> int:
    """Count the cores that this process may use, once: later limits do not change the number."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return granted_cores(allowed, "cpu")


@functools.cache
def cpu_tag() -> str:
    """Return a short name for the kind of CPU, without LLVM: processors with equal tags run each other's machine code.

    Only the first core is read, since the whole list takes long on a machine with many cores and ranks.
    """
    import hashlib

    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = itertools.takewhile(str.strip, file)
            kinds = sorted(line for line in first if line.startswith(("model name", "flags", "Features")))
    except OSError:
        kinds = [platform.machine(), platform.processor()]
    return hashlib.sha256("".join(kinds).encode()).hexdigest()[:8]
