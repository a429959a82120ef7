"""Amounts of work: the unit of a rate, and the usual speed of devices."""

from __future__ import annotations

from typing import NamedTuple

MULTIPROCESSOR = 5
"""Cores with the speed of one multiprocessor of a GPU: 2 to 15 on an H200, depending on the workload."""
INTERPRETER_SPEED = 1e-5
"""Speed of the reference interpreter relative to a core."""


class WorkUnit(NamedTuple):
    """Unit of a workload's rate, and the amount of one run.

    Attributes
    ----------
    name : str
        Name of the unit, plural.
    amount : int
        Value of `option` in one run; 1 without an option.
    each : int
        Number of units for 1 of the amount.
    option : str
        Name of the option that scales the work. Empty if whole runs repeat: tables, exact searches, and searches with
        a cost per unit that depends on the amount.
    """

    name: str = "runs"
    amount: int = 1
    each: int = 1
    option: str = ""

    @property
    def units(self) -> int:
        """Number of units of one run."""
        return self.amount * self.each


def usual_speed(kind: str, compute_units: int, ranks: int = 1, *, is_reference: bool = False) -> float:
    """Return the usual speed of ranks with a device of this kind together, relative to one core."""
    cores = max(1, compute_units) * (MULTIPROCESSOR if kind == "gpu" else 1) * ranks
    return cores * (INTERPRETER_SPEED if is_reference else 1.0)
