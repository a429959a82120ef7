"""Times of reductions of an array to all ranks, for 2, 4, 8, ... and all ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from cluster.measure.measurement import Reduction
from cluster.mpi import idle_waiting

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

SIZES = (8, 64, 1 << 10, 16 << 10, 128 << 10, 1 << 20)
"""Bytes of each rank's array."""
BUDGET_S = 0.04
"""Seconds for the calls of one size, if enough for the fewest calls."""
BATCHES, FEWEST_BATCHES = 15, 5
FEWEST_CALLS, MOST_CALLS = 8, 50
"""Bounds for the calls in a batch, made one right after the other as in a search without other work.

Two ranks that are a message's time apart stay so: one call takes two messages' time, and the next none. So single calls
vary, and an even number of calls gives the mean.
"""


def numbers_of_ranks(size: int) -> list[int]:
    return [count for count in (2**power for power in range(1, 32)) if count < size] + [size]


def measure_reductions(world: Intracomm) -> list[Reduction]:
    """Measure the first 2, 4, 8, ... and all ranks while the others sleep; every rank calls it.

    ``world`` is mpi4py's communicator, of two ranks or more. Rank 0 gets the measurements, other ranks an empty list.
    """
    from mpi4py import MPI

    reductions = []
    for ranks in growing_groups(world):
        for size in SIZES:
            words = np.zeros(size // 8, np.int64)
            seconds = median(time_batches(ranks, partial(ranks.Allreduce, MPI.IN_PLACE, words, MPI.SUM)))
            reductions.append(Reduction(ranks.Get_size(), size, seconds))
    return reductions if world.Get_rank() == 0 else []


def growing_groups(world: Intracomm) -> Iterator[Intracomm]:
    """Yield communicators of the first 2, 4, 8, ... and all ranks to their members; all ranks iterate, others sleep."""
    me, before = world.Get_rank(), 1
    for count in numbers_of_ranks(world.Get_size()):
        if me == 0:
            for newcomer in range(before, count):
                idle_waiting.pass_turn(world, newcomer)
        elif before <= me < count:
            idle_waiting.wait_for_turn(world, 0)
        before = count
        if me < count:
            ranks = world.Create_group(world.Get_group().Incl(list(range(count))))
            yield ranks
            ranks.Free()


def time_batches(ranks: Intracomm, call: Callable[[], None]) -> list[float]:
    """Time batches of calls that these ranks make together; return the seconds of a call on the slowest rank."""
    from mpi4py import MPI

    def batch(calls: int) -> float:
        ranks.Barrier()
        began = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - began) / calls

    batch(1)
    # All ranks must make the same number of calls; the first one opens connections for the others.
    typical: float = ranks.allreduce(batch(1), MPI.MAX)
    calls = min(max(int(BUDGET_S / BATCHES / typical) // 2 * 2, FEWEST_CALLS), MOST_CALLS)
    count = min(max(int(BUDGET_S / calls / typical), FEWEST_BATCHES), BATCHES)
    slowest = np.array([batch(calls) for _ in range(count)])
    ranks.Allreduce(MPI.IN_PLACE, slowest, MPI.MAX)
    return slowest.tolist()
