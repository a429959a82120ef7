"""Cores that the system grants: those that are present or allowed, but no more than the quota of a container."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
"""Folder of Linux's control groups."""
OWN_GROUPS = Path("/proc/self/cgroup")
"""Names of this process's groups, as in `0::/path` (version 2) or `4:cpu,cpuacct:/path` (version 1)."""


def granted_cores(present: int) -> int:
    """Return a number of cores, but at most the quota, rounded up as joblib does, and at least 1."""
    return max(1, min([present, *(math.ceil(quota) for quota in map(_quota, _own_folders()) if quota)]))


def _own_folders() -> set[Path]:
    """Return the folders of this process's groups and of all groups above them, each of which may have a quota."""
    folders = {GROUPS / name for name in ("", "cpu", "cpu,cpuacct")}
    with suppress(OSError):
        for line in OWN_GROUPS.read_text(encoding="utf-8").splitlines():
            controllers, _, path = line.partition(":")[2].partition(":")
            if not controllers or "cpu" in controllers.split(","):
                for name in {controllers, controllers and "cpu"}:
                    own = GROUPS / name / path.strip("/")
                    folders |= {own, *own.parents}
    return folders


def _quota(folder: Path) -> float:
    """Return the quota of a group in cores, which is its time in each period; 0 without one."""
    for files in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = " ".join((folder / name).read_text(encoding="ascii") for name in files).split()
            return max(0.0, int(quota) / int(period))
    return 0.0
