"""Agreement of ranks after a batch of iterations, and the size of the next batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.search.time_limits import MOST_SAFETY_FACTOR, SAFETY_FACTOR

FIRST_BATCH = 16
"""Iterations of the first batch without a clock; with one it is a single iteration, since nobody knows how long."""
MOST_GROWTH = 16
"""A batch is at most so many times as long as the one before."""
LONGEST_BATCH_S = 0.25
"""The host looks at the time and can be interrupted about so often."""


class BatchReport(NamedTuple):
    """State of one rank after a batch.

    Attributes
    ----------
    running, astray : int
        Number of walks that continue, and of walks with an impossible cost.
    is_ended : bool
        True if this rank has broken off an iteration, or is the first and its callback ends the run.
    is_due : bool
        True if this rank's checkpoint is due.
    before_s : float
        Seconds of the run when the batch began.
    seconds : float
        Seconds of the batch.
    uneven : float
        Factor by which the next batch may take longer than the last one suggests.

    """

    running: int
    astray: int
    is_ended: bool
    is_due: bool
    before_s: float
    seconds: float
    uneven: float


class BatchState(NamedTuple):
    """State of all ranks after a batch, the same on all of them.

    Attributes
    ----------
    running, astray : int
        Number of walks that continue, and of walks with an impossible cost.
    late : bool
        True if the run ends: by the first rank's callback, or by a rank that has broken off an iteration.
    due : bool
        True if a rank's checkpoint is due.
    slowest : float
        Seconds of the batch on the rank that took longest.
    spent : float
        Seconds of the run.
    uneven : float
        Factor by which the next batch may take longer than the last one suggests.

    """

    running: int
    astray: int
    late: bool
    due: bool
    slowest: float
    spent: float
    uneven: float


def compare_ranks(ranks: Any, own: BatchReport) -> BatchState:
    """Compare all ranks after a batch; all of them call this. The first rank's ``before_s`` counts."""
    rank, size = ranks.rank, ranks.size
    told = np.zeros(5 + 2 * size, np.int64)
    told[:4] = own.running, own.astray, own.is_ended, own.is_due
    told[4] = round(own.before_s * 1e9) if rank == 0 else 0
    told[5 + rank] = round(own.seconds * 1e9)
    told[5 + size + rank] = round(own.uneven * 1e3)
    ranks.reduce(told, "sum")
    slowest = float(told[5 : 5 + size].max()) / 1e9
    return BatchState(
        running=int(told[0]),
        astray=int(told[1]),
        late=bool(told[2]),
        due=bool(told[3]),
        slowest=slowest,
        spent=float(told[4]) / 1e9 + slowest,
        uneven=float(told[5 + size :].max()) / 1e3,
    )


def unevenness(most: int, work: int) -> float:
    """Return the factor by which the next batch may take longer than one that did this work.

    Walks find an improving neighbour late, draw long before one is accepted, or come to a larger neighbourhood.

    Parameters
    ----------
    most
        Most evaluations of the batch, if every iteration evaluated all neighbours.
    work
        Evaluations of the batch.

    """
    return min(MOST_SAFETY_FACTOR, SAFETY_FACTOR * max(1.0, most / max(1, work)))


def next_batch(batch: int, seconds: float) -> int:
    """Iterations to queue at a time, after a batch took so long: as many as the host shall wait for, but no leap."""
    if seconds < LONGEST_BATCH_S / 2:
        return batch * max(2, min(MOST_GROWTH, int(LONGEST_BATCH_S / 2 / max(seconds, 1e-9))))
    return max(1, batch // 2) if seconds > LONGEST_BATCH_S else batch
