"""Modelled time of a reduction to all ranks: message by message, on the clock of each rank.

Short arrays use recursive doubling (each rank exchanges the whole array with partners 1, 2, 4, ... ranks away), long
ones recursive halving (Rabenseifner), both as in Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005. With 2^k ranks
doubling takes k rounds; otherwise up to two more, in which the ranks beyond 2^k send to a neighbour and get the result.

Open MPI 5 uses doubling for fewer elements than ranks, on one host or with one rank on each (`coll/tuned`). With
several ranks on several hosts (`coll/han`) it reduces on every host to one rank, then between these ranks, and
broadcasts back: trees of logarithmic depth, each used twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import log
from typing import NamedTuple

import numpy as np

from cluster.measure.measurement_file import Reduction
from cluster.model.interconnects import DOUBLING, Interconnect, RankLocations

LONG = 4096
"""Bytes from which recursive halving is used. Open MPI's bounds are between 512 and 8,192, by ranks."""
LOOP = 8
"""Number of successive reductions after which the time of a further one is constant."""


class MessageRound(NamedTuple):
    """Simultaneous messages: sources, targets, and the bytes of each."""

    source: np.ndarray
    target: np.ndarray
    size: float


@cache
def reduction_s(network: Interconnect, ranks: int, size: int) -> float:
    """Return the seconds that a reduction of ``size`` bytes of each rank adds to every iteration of a loop.

    The modelled time is scaled by the nearest measured reduction (by ranks, then bytes), if there is one.
    """
    if ranks == 1:
        return 0.0
    return modelled_s(network, ranks, size) * correction(network, ranks, size)


def correction(network: Interconnect, ranks: int, size: int) -> float:
    """Return measured over modelled time of the most similar measured reduction; 1 without measurements."""
    hosts = network.hosts_of(ranks)
    alike = [reduction for reduction in network.measured if (reduction.hosts > 1) == (hosts > 1)]
    if not alike:
        return 1.0

    def unlike(reduction: Reduction) -> tuple[float, float]:
        return abs(log(reduction.ranks / ranks)), abs(log(max(reduction.bytes, 1) / size))

    nearest = min(alike, key=unlike)
    return nearest.seconds / finish_time_s(network, nearest.ranks, nearest.bytes, 1)


@cache
def modelled_s(network: Interconnect, ranks: int, size: int) -> float:
    """Return the same from alpha and beta alone; a rank with an early result begins the next reduction early."""
    return (finish_time_s(network, ranks, size, LOOP) - finish_time_s(network, ranks, size, 1)) / (LOOP - 1)


@cache
def finish_time_s(network: Interconnect, ranks: int, size: int, times: int) -> float:
    """Return the time at which the last rank ends the last of some successive reductions that begin at 0."""
    places = network.places(ranks)
    clock = np.zeros(ranks)
    for _ in range(times):
        clock = advance_clocks(network, places, clock, rounds(network, places, ranks, size))
    return float(clock.max())


def advance_clocks(
    network: Interconnect, places: RankLocations, clock: np.ndarray, messages: Iterator[MessageRound]
) -> np.ndarray:
    """Return every rank's clock after these messages; a rank waits until its message has arrived.

    A long message begins when its receiver is ready too.
    """
    for source, target, size in messages:
        begin = clock[source] if size < LONG else np.maximum(clock[source], clock[target])
        arrival = begin + network.message_s(places, source, target, size)
        later = clock.copy()
        np.maximum.at(later, target, arrival)
        clock = later
    return clock


def rounds(network: Interconnect, places: RankLocations, ranks: int, size: int) -> Iterator[MessageRound]:
    ranks_per_host = network.cores_per_host
    is_regular = ranks % ranks_per_host == 0
    if size >= LONG:
        return recursive_halving(ranks, size)
    if network.algorithm == DOUBLING or places.hosts == 1 or ranks_per_host == 1 or not is_regular:
        return recursive_doubling(ranks, size)
    return hierarchical_reduction(places, ranks_per_host, size)


def recursive_doubling(ranks: int, size: float) -> Iterator[MessageRound]:
    chosen, before, after = fold_to_power(ranks, size)
    yield from before
    for distance in powers(len(chosen)):
        yield MessageRound(chosen, chosen[np.arange(len(chosen)) ^ distance], size)
    yield from after


def recursive_halving(ranks: int, size: float) -> Iterator[MessageRound]:
    """Yield rounds of recursive halving, which leave each rank a part of the result, and of doubling."""
    chosen, before, after = fold_to_power(ranks, size)
    yield from before
    number = np.arange(len(chosen))
    steps = [(distance, size * distance / len(chosen)) for distance in powers(len(chosen))]
    for distance, part in [*steps[::-1], *steps]:
        yield MessageRound(chosen, chosen[number ^ distance], part)
    yield from after


def fold_to_power(ranks: int, size: float) -> tuple[np.ndarray, list[MessageRound], list[MessageRound]]:
    """Return 2^k of the ranks, messages from the other ranks to them, and messages with the result back."""
    rest = ranks - (1 << (ranks.bit_length() - 1))
    even, odd = np.arange(0, 2 * rest, 2), np.arange(1, 2 * rest, 2)
    chosen = np.concatenate([odd, np.arange(2 * rest, ranks)])
    return chosen, [MessageRound(even, odd, size)] * bool(rest), [MessageRound(odd, even, size)] * bool(rest)


def hierarchical_reduction(places: RankLocations, ranks_per_host: int, size: float) -> Iterator[MessageRound]:
    """Yield rounds of trees on every host, and between the first ranks of all hosts."""
    ranks = np.arange(len(places.host))
    leaders = ranks[::ranks_per_host]
    inside = [(ranks[ranks % ranks_per_host % (2 * d) == d], d) for d in powers(ranks_per_host)]
    numbers = np.arange(len(leaders))
    between = [(leaders[numbers % (2 * d) == d], ranks_per_host * d) for d in powers(len(leaders))]
    up = [MessageRound(source, source - distance, size) for source, distance in [*inside, *between]]
    yield from up
    for source, target, _ in up[::-1]:
        yield MessageRound(target, source, size)


def powers(count: int) -> list[int]:
    return [1 << k for k in range((count - 1).bit_length())]
