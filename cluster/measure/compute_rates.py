"""Compute rates of 1, 2, 4, 8, ... and all ranks that synchronise after every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from statistics import median
from typing import Any

from cluster.measure.measurement import Pace
from cluster.measure.reductions import bind_allreduce, growing_groups, interval_of_median, time_batches

ROUNDS = 3
"""Rounds over all numbers of ranks, so that a short disturbance does not affect only one of them."""
BUDGET_S, FEWEST_BATCHES = 0.4, 2
"""Seconds of steps in a round, and the fewest batches of them."""
WORD_BYTES = 8
"""Bytes of the reduction after each step."""


def measure_compute_rates(world: Any, step: Callable[[], None], units: int, hosts: Sequence[str]) -> list[Pace]:
    """Measure the first rank alone, and the first 2, 4, 8, ... and all ranks; every rank calls it.

    ``world`` is mpi4py's communicator, of two ranks or more. ``step`` does ``units`` of work between two reductions.
    ``hosts`` names the host of every rank. Rank 0 gets the rates, other ranks an empty list.
    """
    from mpi4py import MPI

    times_by_ranks: dict[int, list[float]] = {}
    steps: dict[int, int] = {}
    for _ in range(ROUNDS):
        for ranks in chain([MPI.COMM_SELF] if world.Get_rank() == 0 else [], growing_groups(world)):
            times, steps_made = time_units(ranks, step, units)
            times_by_ranks.setdefault(ranks.Get_size(), []).extend(times)
            steps[ranks.Get_size()] = steps.get(ranks.Get_size(), 0) + steps_made
    return (
        [summarise_times(times, ranks, steps[ranks], hosts) for ranks, times in times_by_ranks.items()]
        if world.Get_rank() == 0
        else []
    )


def time_units(ranks: Any, step: Callable[[], None], units: int) -> tuple[list[float], int]:
    """Return the seconds of a unit of work in each batch, without synchronisation, and the number of steps."""
    meet = bind_allreduce(ranks, WORD_BYTES)

    def step_and_meet() -> None:
        step()
        meet()

    batches, steps = time_batches(ranks, step_and_meet, BUDGET_S, FEWEST_BATCHES)
    meeting_s = median(time_batches(ranks, meet)[0]) if ranks.Get_size() > 1 else 0.0
    return [max(0.0, batch - meeting_s) / units for batch in batches], len(batches) * steps


def summarise_times(times: Sequence[float], ranks: int, steps: int, hosts: Sequence[str]) -> Pace:
    """Return the median over the batches of all rounds."""
    return Pace(ranks, len(set(hosts[:ranks])), median(times), *interval_of_median(times), steps)
