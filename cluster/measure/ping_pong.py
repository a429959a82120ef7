"""Message times between two ranks: half a ping-pong, for sizes from 0 to some megabytes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations, pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from cluster.measure.measurement import Link, Network
from cluster.mpi import idle_waiting

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

SIZES = (0, 256, 4 << 10, 32 << 10, 256 << 10, 2 << 20)
"""Bytes of the messages."""
BUDGET_S = 0.02
"""Seconds for the trips of one size."""
FEWEST, MOST_TRIPS = 3, 200
MOST_WITHIN, MOST_BETWEEN = 12, 12
"""Maximum of measured pairs on the same host and on different hosts; 64 ranks have 2,016 pairs."""
MORE, LAST = 8, 9
"""Tags of a trip followed by another, and of the last one of a size."""


def choose_pairs(hosts: Sequence[str]) -> list[tuple[int, int]]:
    """Return neighbours on each host, and the first ranks of hosts.

    There are at most `MOST_WITHIN` pairs on one host, evenly spaced, and then `MOST_BETWEEN` on two.
    """
    of_host: dict[str, list[int]] = {}
    for rank, host in enumerate(hosts):
        of_host.setdefault(host, []).append(rank)
    within = [pair for ranks in of_host.values() for pair in pairwise(ranks)]
    between = list(combinations([ranks[0] for ranks in of_host.values()], 2))
    return choose_evenly(within, MOST_WITHIN) + choose_evenly(between, MOST_BETWEEN)


def choose_evenly(pairs: Sequence[tuple[int, int]], most_pairs: int) -> list[tuple[int, int]]:
    count = min(most_pairs, len(pairs))
    return [pairs[number * len(pairs) // count] for number in range(count)]


def measure_links(world: Intracomm, hosts: Sequence[str]) -> list[Link]:
    """Measure the chosen pairs one after another; every rank calls it, and returns links with itself as source."""
    me, links = world.Get_rank(), []
    pairs = choose_pairs(hosts)
    for number, (source, target) in enumerate(pairs):
        if me == target:
            idle_waiting.wait_for_turn(world, source)
            for size in SIZES:
                reply(world, source, size)
        if me != source:
            continue
        if number and pairs[number - 1][0] != me:
            idle_waiting.wait_for_turn(world, pairs[number - 1][0])
        idle_waiting.pass_turn(world, target)
        network = fit_network(SIZES, [time_half_trip(world, target, size) for size in SIZES])
        links.append(Link(source, target, hosts[source] == hosts[target], *network))
        if number + 1 < len(pairs) and pairs[number + 1][0] != me:
            idle_waiting.pass_turn(world, pairs[number + 1][0])
    return links


def time_half_trip(world: Intracomm, target: int, size: int) -> float:
    """Return half the median time of trips to a rank and back, in seconds; the target calls `reply`."""
    words = np.zeros(size, np.uint8)
    trips: list[float] = []
    began = time.perf_counter()
    is_last = False
    while not is_last:
        sent = time.perf_counter()
        is_last = len(trips) == MOST_TRIPS or (len(trips) >= FEWEST and sent - began > BUDGET_S)
        world.Send(words, target, LAST if is_last else MORE)
        world.Recv(words, target)
        trips.append(time.perf_counter() - sent)
    # The first trip opens connections that the others reuse.
    return median(trips[1:]) / 2


def reply(world: Intracomm, source: int, size: int) -> None:
    """Send back each message of `time_half_trip`."""
    from mpi4py import MPI

    words, status = np.zeros(size, np.uint8), MPI.Status()
    while status.Get_tag() != LAST:
        world.Recv(words, source, MPI.ANY_TAG, status)
        world.Send(words, source)


def fit_network(sizes: Sequence[int], seconds: Sequence[float]) -> Network:
    """Fit alpha and beta, both non-negative, by least squares of relative errors."""
    times = np.array(seconds)
    design = np.stack([1 / times, np.array(sizes) / times], axis=1)
    alpha, beta = np.linalg.lstsq(design, np.ones(len(times)), rcond=None)[0]
    if beta < 0:
        # A time that does not grow with the message is alpha alone.
        return Network(float(np.sum(1 / times) / np.sum(1 / times**2)), 0.0)
    return Network(max(float(alpha), 0.0), float(beta))
