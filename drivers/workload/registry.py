"""All workloads by name: the modules of `drivers`, except other programs. A module is imported on request."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import UserError, did_you_mean, shown
from drivers.workload.declaration import Workload

OTHER_PROGRAMS = ("compare", "console", "overview", "reproduce", "verify")
ORDER = ("ihc", "aco", "qap", "ppp", "tsp", "weierstrass", "exact", "heldkarp", "lcs", "knapsack")
"""The project's own workloads in the order of lists; others follow."""
_MODULES = sorted(path.stem for path in Path(__file__).parents[1].glob("[!_]*.py"))
NAMES = (*ORDER, *(name for name in _MODULES if name not in ORDER + OTHER_PROGRAMS))


def get_workload(name: str) -> Workload[Any]:
    """Return the declaration of a workload. Raises `UserError` for an unknown name."""
    if name not in NAMES:
        raise UserError(f"workload {shown(name)}{did_you_mean(name, NAMES)}: expected one of {', '.join(NAMES)}")
    declared: Workload[Any] = getattr(importlib.import_module(f"drivers.{name}"), name.upper())
    return declared


def all_workloads() -> Iterator[Workload[Any]]:
    """All workloads, in the order of lists."""
    return map(get_workload, NAMES)


def workloads_with_option(flag: str) -> list[str]:
    """Names of the workloads with an option, by its spelling."""
    from drivers.options.declaration import option_flag

    return [one.name for one in all_workloads() if any(option_flag(o) == flag for o, _ in one.options.declared())]
