"""Distribution of walks over ranks by measured speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from core.kernels.local_search import walks
from core.search.local_search.memory import WalkMemory
from core.search.partition import parts_by_speed

REHEARSAL_S, REHEARSAL_BATCH_S = 0.1, 0.01
"""A rank's speed is that of the fastest of its batches in so many seconds, of which the last take so long each."""
EQUAL_SPEED_RATIO = 1.2
"""Ranks whose speeds differ by less have equal shares: a few iterations do not show more."""


def share_by_speed(count: int, ranks: Any, own_speed: float) -> tuple[int, int] | None:
    """Return this rank's first walk of ``count`` and the first behind its share; None: ranks are equally fast.

    All ranks call this. The slowest may get no walk.
    """
    speeds = ranks.bcast(ranks.gather(own_speed) or [])
    if max(speeds) <= EQUAL_SPEED_RATIO * min(speeds):
        return None
    parts = parts_by_speed(count, speeds)
    return sum(parts[: ranks.rank]), sum(parts[: ranks.rank + 1])


def measure_speed(memory: WalkMemory, iterate: Callable[[int], object]) -> float:
    """Return the iterations per second of this rank's walks together, in a few that count for nothing."""
    made, count, best = 0, 1, 0.0
    began = time.perf_counter()
    while time.perf_counter() - began < REHEARSAL_S:
        before = time.perf_counter()
        iterate(count)
        control = memory.control()
        spent = time.perf_counter() - before
        since, made = made, int(control[:, walks.ITERATION].sum())
        best = max(best, (made - since) / max(spent, 1e-9))
        if made == since:
            break
        if spent < REHEARSAL_BATCH_S:
            count *= 2
    return best
