"""Modelled time of a reduction to all ranks: message by message, on the clock of each rank.

Short arrays are doubled (each rank exchanges all of it with partners 1, 2, 4, ... ranks away), long ones halved and
gathered (Rabenseifner), both as in Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005. With 2^k ranks doubling takes k
rounds; with others up to two more, in which the ranks beyond 2^k give to a neighbour and get back.

Open MPI 5 doubles what has fewer elements than there are ranks, on one host or with one rank on each (`coll/tuned`).
Where several hosts have several ranks each (`coll/han`) it reduces on every host to one rank, between these to one and
back, and on every host back: trees, each as deep as the logarithm, all of them twice.
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
"""Bytes from which arrays are halved and gathered. Open MPI's own bounds lie between 512 and 8,192, by ranks."""
LOOP = 8
"""Reductions in a row, after which a further one takes as long as the one before."""


class MessageRound(NamedTuple):
    """Messages that go at the same time: from which ranks to which, and the bytes of each."""

    source: np.ndarray
    target: np.ndarray
    size: float


@cache
def reduction_s(network: Interconnect, ranks: int, size: int) -> float:
    """Seconds that a reduction adds to every iteration of a loop; each rank gives an array of so many bytes.

    Where the network has measured reductions, the modelled time is multiplied by what a measured one (of the nearest
    number of ranks, and then of bytes) takes of its own modelled time.
    """
    if ranks == 1:
        return 0.0
    return modelled_s(network, ranks, size) * correction(network, ranks, size)


def correction(network: Interconnect, ranks: int, size: int) -> float:
    """Measured time over modelled time of the measured reduction that is most like this one; 1: none is measured."""
    hosts = network.hosts_of(ranks)
    alike = [one for one in network.measured if (one.hosts > 1) == (hosts > 1)]
    if not alike:
        return 1.0

    def unlike(one: Reduction) -> tuple[float, float]:
        return abs(log(one.ranks / ranks)), abs(log(max(one.bytes, 1) / size))

    nearest = min(alike, key=unlike)
    return nearest.seconds / finish_time_s(network, nearest.ranks, nearest.bytes, 1)


@cache
def modelled_s(network: Interconnect, ranks: int, size: int) -> float:
    """The same from alpha and beta alone: who has the result early begins the next one early, and waits there."""
    return (finish_time_s(network, ranks, size, LOOP) - finish_time_s(network, ranks, size, 1)) / (LOOP - 1)


@cache
def finish_time_s(network: Interconnect, ranks: int, size: int, times: int) -> float:
    """When the last rank has the result of the last of some reductions in a row, if all begin at 0."""
    places = network.places(ranks)
    clock = np.zeros(ranks)
    for _ in range(times):
        clock = advance_clocks(network, places, clock, rounds(network, places, ranks, size))
    return float(clock.max())


def advance_clocks(
    network: Interconnect, places: RankLocations, clock: np.ndarray, every: Iterator[MessageRound]
) -> np.ndarray:
    """Every rank's clock after these messages: it goes on when what it waits for has come.

    A long message begins when its receiver is there too.
    """
    for source, target, size in every:
        begin = clock[source] if size < LONG else np.maximum(clock[source], clock[target])
        arrival = begin + network.message_s(places, source, target, size)
        later = clock.copy()
        np.maximum.at(later, target, arrival)
        clock = later
    return clock


def rounds(network: Interconnect, places: RankLocations, ranks: int, size: int) -> Iterator[MessageRound]:
    """The messages of a reduction."""
    each = network.cores_per_host
    is_regular = ranks % each == 0
    if size >= LONG:
        return recursive_halving(ranks, size)
    if network.algorithm == DOUBLING or places.hosts == 1 or each == 1 or not is_regular:
        return recursive_doubling(ranks, size)
    return hierarchical_reduction(places, each, size)


def recursive_doubling(ranks: int, size: float) -> Iterator[MessageRound]:
    """Recursive doubling."""
    chosen, given, back = fold_to_power(ranks, size)
    yield from given
    for distance in powers(len(chosen)):
        yield MessageRound(chosen, chosen[np.arange(len(chosen)) ^ distance], size)
    yield from back


def recursive_halving(ranks: int, size: float) -> Iterator[MessageRound]:
    """Recursive halving, after which each rank has a part of the result, and doubling of what it has."""
    chosen, given, back = fold_to_power(ranks, size)
    yield from given
    number = np.arange(len(chosen))
    steps = [(distance, size * distance / len(chosen)) for distance in powers(len(chosen))]
    for distance, part in [*steps[::-1], *steps]:
        yield MessageRound(chosen, chosen[number ^ distance], part)
    yield from back


def fold_to_power(ranks: int, size: float) -> tuple[np.ndarray, list[MessageRound], list[MessageRound]]:
    """2^k of the ranks, the messages by which the others give them what they have, and those by which these get all."""
    rest = ranks - (1 << (ranks.bit_length() - 1))
    even, odd = np.arange(0, 2 * rest, 2), np.arange(1, 2 * rest, 2)
    chosen = np.concatenate([odd, np.arange(2 * rest, ranks)])
    return chosen, [MessageRound(even, odd, size)] * bool(rest), [MessageRound(odd, even, size)] * bool(rest)


def hierarchical_reduction(places: RankLocations, each: int, size: float) -> Iterator[MessageRound]:
    """Trees on every host, and between the first ranks of all hosts."""
    ranks = np.arange(len(places.host))
    leaders = ranks[::each]
    inside = [(ranks[ranks % each % (2 * d) == d], d) for d in powers(each)]
    numbers = np.arange(len(leaders))
    between = [(leaders[numbers % (2 * d) == d], each * d) for d in powers(len(leaders))]
    up = [MessageRound(source, source - distance, size) for source, distance in [*inside, *between]]
    yield from up
    for source, target, _ in up[::-1]:
        yield MessageRound(target, source, size)


def powers(count: int) -> list[int]:
    """1, 2, 4, ... as long as it is less than the count."""
    return [1 << k for k in range((count - 1).bit_length())]
