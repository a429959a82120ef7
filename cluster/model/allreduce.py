"""Modelled time of a reduction to all ranks: message by message, on the clock of each rank.

On one host ranks use recursive doubling: each exchanges the whole array with partners 1, 2, 4, ... ranks away (Thakur,
Rabenseifner and Gropp, IJHPCA 19(1), 2005). With 2^k ranks this takes k rounds; otherwise up to two more, in which the
ranks beyond 2^k send to a neighbour and get the result. On several hosts Open MPI 5 (`coll/han`) reduces on every host
to one rank, then between these ranks, and broadcasts back: trees of logarithmic depth, each used twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from cluster.model.interconnects import Interconnect, RankLocations

LOOP = 8
"""Number of successive reductions after which the time of a further one is constant."""

MessageRound = tuple[np.ndarray, np.ndarray]
"""Simultaneous messages: their sources and targets."""


@cache
def reduction_s(network: Interconnect, ranks: int, size: int) -> float:
    """Return the seconds that a reduction of ``size`` bytes of each rank adds to every iteration of a loop.

    A rank with an early result begins the next reduction early.
    """
    return (finish_time_s(network, ranks, size, LOOP) - finish_time_s(network, ranks, size, 1)) / (LOOP - 1)


def finish_time_s(network: Interconnect, ranks: int, size: int, times: int) -> float:
    """Return the time at which the last rank ends the last of some successive reductions that begin at 0."""
    places = network.places(ranks)
    clock = np.zeros(ranks)
    for source, target in [*rounds(places, network.cores_per_host)] * times:
        later = clock.copy()
        np.maximum.at(later, target, clock[source] + network.message_s(places, source, target, size))
        clock = later
    return float(clock.max())


def rounds(places: RankLocations, ranks_per_host: int) -> Iterator[MessageRound]:
    if places.hosts == 1:
        return recursive_doubling(len(places.host))
    return hierarchical_reduction(len(places.host), ranks_per_host)


def recursive_doubling(ranks: int) -> Iterator[MessageRound]:
    rest = ranks - (1 << (ranks.bit_length() - 1))
    even, odd = np.arange(0, 2 * rest, 2), np.arange(1, 2 * rest, 2)
    chosen = np.concatenate([odd, np.arange(2 * rest, ranks)])
    yield even, odd
    for distance in powers(len(chosen)):
        yield chosen, chosen[np.arange(len(chosen)) ^ distance]
    yield odd, even


def hierarchical_reduction(ranks: int, ranks_per_host: int) -> Iterator[MessageRound]:
    """Yield rounds of trees on every host, and between the first ranks of all hosts."""
    everyone = np.arange(ranks)
    leaders = everyone[::ranks_per_host]
    numbers = np.arange(len(leaders))
    inside = [(everyone[everyone % ranks_per_host % (2 * d) == d], d) for d in powers(ranks_per_host)]
    between = [(leaders[numbers % (2 * d) == d], ranks_per_host * d) for d in powers(len(leaders))]
    up = [(source, source - distance) for source, distance in [*inside, *between]]
    yield from up
    for source, target in up[::-1]:
        yield target, source


def powers(count: int) -> list[int]:
    return [1 << k for k in range((count - 1).bit_length())]
