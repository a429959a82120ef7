"""How fast ranks compute that meet after every step: 1, 2, 4, 8, ... and all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from cluster.measured import Pace
from cluster.reductions import growing, interval_of_median, reducing, timed

BUDGET_S = 0.8
"""Of the steps of some ranks."""
WORD_BYTES = 8
"""Of what ranks reduce when they meet."""


def measured(world: Any, step: Callable[[], None], units: int, hosts: Sequence[str]) -> list[Pace]:
    """Measure the first rank alone, and the first 2, 4, 8, ... and all ranks; every rank calls it.

    Parameters
    ----------
    world
        mpi4py's communicator, of two ranks or more.
    step
        What a rank does between two meetings.
    units
        Units of work of a step.
    hosts
        Of every rank the host's name.

    Returns
    -------
    list of Pace
        On rank 0; empty elsewhere.

    """
    from mpi4py import MPI

    found = []
    if world.Get_rank() == 0:
        found.append(pace(MPI.COMM_SELF, step, units, 1))
    for ranks in growing(world):
        found.append(pace(ranks, step, units, len(set(hosts[: ranks.Get_size()]))))
    return found if world.Get_rank() == 0 else []


def pace(ranks: Any, step: Callable[[], None], units: int, hosts: int) -> Pace:
    """Measure these ranks, which all call it."""
    meet = reducing(ranks, WORD_BYTES)

    def step_and_meet() -> None:
        step()
        meet()

    batches, steps = timed(ranks, step_and_meet, BUDGET_S)
    meeting_s = median(timed(ranks, meet)[0]) if ranks.Get_size() > 1 else 0.0
    times = [max(0.0, one - meeting_s) / units for one in batches]
    low, high = interval_of_median(times)
    return Pace(ranks.Get_size(), hosts, median(times), low, high, len(batches) * steps)
