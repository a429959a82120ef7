"""How fast ranks compute that meet after every step: 1, 2, 4, 8, ... and all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from cluster.measured import Pace
from cluster.reductions import FEWEST_CALLS, growing, interval_of_median, timed

BUDGET_S = 0.8
"""Of the steps of some ranks."""
BATCHES = 21
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
    from mpi4py import MPI

    word = np.zeros(WORD_BYTES // 8, np.int64)

    def batch(steps: int) -> float:
        ranks.Barrier()
        began = time.perf_counter()
        for _ in range(steps):
            step()
            ranks.Allreduce(MPI.IN_PLACE, word, MPI.SUM)
        return (time.perf_counter() - began) / steps

    # All ranks have to make as many steps.
    usual: float = ranks.allreduce(batch(1), MPI.MAX)
    steps = max(FEWEST_CALLS, int(BUDGET_S / BATCHES / usual) // 2 * 2)
    slowest = np.array([batch(steps) for _ in range(BATCHES)])
    ranks.Allreduce(MPI.IN_PLACE, slowest, MPI.MAX)
    meeting_s = median(timed(ranks, WORD_BYTES)[0]) if ranks.Get_size() > 1 else 0.0
    times = [max(0.0, one - meeting_s) / units for one in slowest.tolist()]
    low, high = interval_of_median(times)
    return Pace(ranks.Get_size(), hosts, median(times), low, high, BATCHES * steps)
