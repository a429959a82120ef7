"""Clock offsets of hosts against rank 0, after Cristian (1989).

Rank 0 requests the time; the reply is assumed to be from the middle between request and reply.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cluster.measure import serialised_timing

QUESTIONS = 5
"""Requests to each host; the fastest reply counts."""
CLOCK = 10
"""Tag of requests and replies."""


def measure_clock_offsets(world: Any, hosts: Sequence[str], clock: Callable[[], float] = time.time) -> list[float]:
    """Return each host's clock less that of rank 0, in seconds, on rank 0; every rank calls it."""
    me = world.Get_rank()
    first = {host: hosts.index(host) for host in dict.fromkeys(hosts)}
    if me:
        if first[hosts[me]] == me:
            serialised_timing.wait_for_turn(world, 0)
            answer_clock(world, clock)
        return []
    offsets = {hosts[0]: 0.0}
    for host, rank in list(first.items())[1:]:
        serialised_timing.pass_turn(world, rank)
        offsets[host] = min(query_clock(world, rank, clock) for _ in range(QUESTIONS))[1]
    return [offsets[host] for host in hosts]


def query_clock(world: Any, rank: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Return the seconds until the reply, and the offset of the other clock at half of that time."""
    theirs = np.zeros(1)
    began, sent = clock(), time.perf_counter()
    world.Send(theirs, rank, CLOCK)
    world.Recv(theirs, rank, CLOCK)
    took = time.perf_counter() - sent
    return took, float(theirs[0]) - (began + took / 2)


def answer_clock(world: Any, clock: Callable[[], float]) -> None:
    """Send rank 0 the time for each of its requests."""
    theirs = np.zeros(1)
    for _ in range(QUESTIONS):
        world.Recv(theirs, 0, CLOCK)
        theirs[0] = clock()
        world.Send(theirs, 0, CLOCK)
