"""Cores that the system grants: those that are present or allowed, up to the quota of a container; and its memory.

Emulated hosts (`cluster.emulation`) share the cores of one machine, which a variable names.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

EMULATION = "ONEKERNEL_EMULATION"
"""Variable of processes on emulated hosts: network, number of hosts, slots of each, name of the machine below."""
GROUPS = Path("/sys/fs/cgroup")
"""Folder of Linux's control groups."""
OWN_GROUPS = Path("/proc/self/cgroup")
"""Lines with names of this process's groups: ``0::/path`` (version 2) or ``4:controller,another:/path`` (version 1)."""


def granted_cores(present: int, controller: str) -> int:
    """Return a number of cores, but at most the quota, rounded up as joblib does, and at least 1.

    ``controller`` is Linux's name of processor time.
    """
    quotas = (_quota(folder / controller) for folder in _own_folders(controller))
    return max(1, min([present, *(math.ceil(quota) for quota in quotas if quota)]))


def memory_bytes() -> int:
    """Return the bytes of this machine's memory."""
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    import psutil  # on Windows; no rank on Linux pays for its import

    return int(psutil.virtual_memory().total)


def _own_folders(controller: str) -> set[Path]:
    """Return the folders of this process's groups and of all groups above them, each of which may have a quota."""
    folders = {GROUPS / name for name in ("", controller, f"{controller},{controller}acct")}
    with suppress(OSError):
        for line in OWN_GROUPS.read_text(encoding="utf-8").splitlines():
            controllers, _, path = line.partition(":")[2].partition(":")
            if not controllers or controller in controllers.split(","):
                own = GROUPS / controllers / path.strip("/")
                folders |= {own, *own.parents}
    return folders


def _quota(prefix: Path) -> float:
    """Return the quota of a group in cores, which is its time in each period; 0 without one."""
    for endings in ((".max",), (".cfs_quota_us", ".cfs_period_us")):
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = " ".join(Path(f"{prefix}{end}").read_text(encoding="ascii") for end in endings).split()
            return max(0.0, int(quota) / int(period))
    return 0.0
