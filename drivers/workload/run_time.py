"""Amounts of work: the unit of a rate, and the estimated duration of a long run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reports.text.formatting import duration, rate

if TYPE_CHECKING:
    from backends.launch import Backend

WARNING_S = 600.0

MULTIPROCESSOR = 5
"""Cores with the speed of one multiprocessor of a GPU: 2 to 15 on an H200, depending on the workload."""
INTERPRETER_SPEED = 1e-5
"""Speed of the reference interpreter relative to a core."""


class RepetitionWork(NamedTuple):
    """Amount of work of one repetition.

    Attributes
    ----------
    amount : int
        Number of units, over all ranks.
    unit : str
        Name of the unit, plural.
    speed : float
        Units per second that one core usually reaches; slower cores take longer.
    at_most : bool
        True if the amount is an upper bound: stop criteria and empty parts may reduce it.
    """

    amount: int
    unit: str
    speed: float
    at_most: bool = False


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


def run_time_message(work: RepetitionWork, backend: Backend, ranks: int, repetitions: int) -> str | None:
    """Return an estimate of the duration of all repetitions, or None for less than `WARNING_S`."""
    device = backend.device
    speed = usual_speed(work, device.kind, device.compute_units, ranks, is_reference=backend.is_reference)
    count = min(work.amount * repetitions, 10**300)
    seconds = count / speed
    if seconds < WARNING_S:
        return None
    bound = "at most " if work.at_most else ""
    where = f"{ranks} ranks with a device each" if ranks > 1 else "this device"
    return (
        f"{bound}about {duration(seconds)} on {where} ({bound}{rate(count, 2)} {work.unit} at some "
        f"{rate(speed, 2)} {work.unit}/s)"
    )


def usual_speed(
    work: RepetitionWork, kind: str, compute_units: int, ranks: int = 1, *, is_reference: bool = False
) -> float:
    """Return the usual units per second of ranks with a device of this kind together."""
    cores = max(1, compute_units) * (MULTIPROCESSOR if kind == "gpu" else 1) * ranks
    return work.speed * cores * (INTERPRETER_SPEED if is_reference else 1)
