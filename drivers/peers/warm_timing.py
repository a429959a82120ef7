"""A package's calls, timed in a process that runs already: first its start, and then each repetition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from drivers.peers.peer import PeerAnswer


class PeerRequest(NamedTuple):
    """What to solve: the minimal problem once, then the problem `repeats` times with each limit, in seconds."""

    solve: Callable[[Any, float, int], PeerAnswer]
    minimal: Any
    given: Any
    limits: tuple[float, ...]
    repeats: int


class PeerTimings(NamedTuple):
    """Seconds of the import and the minimal run, and for each limit those of every repetition with its answer."""

    startup_s: float
    runs: list[list[tuple[float, PeerAnswer]]]


def answer_request(request: PeerRequest) -> PeerTimings:
    """Solve what is asked for, in this process."""
    startup_s, _ = _timed(request, request.minimal, request.limits[0], 1)
    runs = [
        [_timed(request, request.given, limit, seed) for seed in range(1, request.repeats + 1)]
        for limit in request.limits
    ]
    return PeerTimings(startup_s, runs)


def _timed(request: PeerRequest, given: Any, limit: float, seed: int) -> tuple[float, PeerAnswer]:
    began = time.perf_counter()
    answer = request.solve(given, limit, seed)
    return time.perf_counter() - began, answer
