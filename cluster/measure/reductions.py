"""Times of reductions of an array to all ranks, for 2, 4, 8, ... and all ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor, sqrt
from statistics import median
from typing import Any

import numpy as np

from cluster.measure import serialised_timing
from cluster.measure.measurement import Reduction

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
FEWEST_FOR_AN_INTERVAL = 6
"""With fewer values no two of them enclose their median with 95 % confidence."""
NORMAL_95 = 1.96


def numbers_of_ranks(size: int) -> list[int]:
    return [count for count in (2**power for power in range(1, 32)) if count < size] + [size]


def measure_reductions(world: Any, hosts: Sequence[str]) -> list[Reduction]:
    """Measure the first 2, 4, 8, ... and all ranks while the others sleep; every rank calls it.

    ``world`` is mpi4py's communicator, of two ranks or more; ``hosts`` names the host of every rank. Rank 0 gets the
    measurements, other ranks an empty list.
    """
    reductions = []
    for ranks in growing_groups(world):
        count = ranks.Get_size()
        for size in SIZES:
            batches, calls = time_batches(ranks, bind_allreduce(ranks, size))
            low, high = interval_of_median(batches)
            hosts_here = len(set(hosts[:count]))
            reductions.append(Reduction(count, hosts_here, size, median(batches), low, high, len(batches) * calls))
    return reductions if world.Get_rank() == 0 else []


def growing_groups(world: Any) -> Iterator[Any]:
    """Yield communicators of the first 2, 4, 8, ... and all ranks to their members; all ranks iterate, others sleep."""
    me, before = world.Get_rank(), 1
    for count in numbers_of_ranks(world.Get_size()):
        if me == 0:
            for newcomer in range(before, count):
                serialised_timing.pass_turn(world, newcomer)
        elif before <= me < count:
            serialised_timing.wait_for_turn(world, 0)
        before = count
        if me < count:
            ranks = world.Create_group(world.Get_group().Incl(list(range(count))))
            yield ranks
            ranks.Free()


def bind_allreduce(ranks: Any, size: int) -> Callable[[], None]:
    """Return a function that reduces an array of ``size`` bytes to all ranks."""
    from mpi4py import MPI

    words = np.zeros(size // 8, np.int64)
    return lambda: ranks.Allreduce(MPI.IN_PLACE, words, MPI.SUM)


def time_batches(
    ranks: Any, call: Callable[[], None], budget_s: float = BUDGET_S, fewest: int = FEWEST_BATCHES
) -> tuple[list[float], int]:
    """Time batches of calls that these ranks make together, for ``budget_s`` seconds or the ``fewest`` batches.

    Returns the seconds of a call in each batch, on the slowest rank, and the number of calls in a batch.
    """
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
    calls = min(max(int(budget_s / BATCHES / typical) // 2 * 2, FEWEST_CALLS), MOST_CALLS)
    count = min(max(int(budget_s / calls / typical), fewest), BATCHES)
    slowest = np.array([batch(calls) for _ in range(count)])
    ranks.Allreduce(MPI.IN_PLACE, slowest, MPI.MAX)
    return slowest.tolist(), calls


def interval_of_median(values: Sequence[float]) -> tuple[float, float]:
    """Return two of the values as 95 % confidence interval of the median (Le Boudec, 2010).

    Of fewer than `FEWEST_FOR_AN_INTERVAL`, return the least and the largest.
    """
    ordered, count = sorted(values), len(values)
    if count < FEWEST_FOR_AN_INTERVAL:
        return ordered[0], ordered[-1]
    half = NORMAL_95 * sqrt(count)
    first = max(floor((count - half) / 2), 1)
    last = min(ceil(1 + (count + half) / 2), count)
    return ordered[first - 1], ordered[last - 1]
