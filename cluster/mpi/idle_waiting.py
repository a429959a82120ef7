"""Idle waiting: long waits that leave the processor to others, at the start and the end of a job.

MPI polls for messages, so that it receives them at once. 64 polling ranks keep two cores busy while one of them loads
and compiles for all. Sleeping ranks wake up a little later, and cost almost nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cluster.mpi import launcher

FIRST_NAP_S, LONGEST_NAP_S = 1e-4, 0.05
NAP_PER_RANK_S = 1e-3
"""Longest sleep, per rank of a host, so that all ranks together wake up a thousand times a second."""
WAITED_PER_NAP = 5
"""Time waited so far over the next sleep; limits the additional wait."""
SET_TIMER_SLACK = 29
"""Option of Linux's prctl that sets the delay of the thread's timers in nanoseconds; 0 is the usual 50,000."""
SLACK_PER_RANK_NS, MOST_SLACK_NS = 300_000, 20_000_000


def wait_until(condition: Callable[[], bool]) -> None:
    """Nap until a condition holds; each nap lasts a fifth of the time waited so far, and at most `LONGEST_NAP_S`."""
    longest = min(NAP_PER_RANK_S * launcher.local_size(), LONGEST_NAP_S)
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        time.sleep(min(max(waited / WAITED_PER_NAP, FIRST_NAP_S), longest))


@contextmanager
def coarse_timers(ranks_here: int) -> Iterator[None]:
    """Lengthen short sleeps of this thread inside the block, in proportion to the ranks of this host.

    Open MPI sleeps 100 microseconds at a time while it starts and ends, and 64 ranks that wake up 10,000 times a second
    take both cores. Nothing is changed where the system has no such setting.
    """
    set_timer_slack(ranks_here)
    try:
        yield
    finally:
        set_timer_slack(0)


def set_timer_slack(ranks_here: int) -> None:
    """Set this thread's timer slack while this host's ranks start or end; 0 ranks: the usual value of its process."""
    import ctypes
    import sys

    if sys.platform == "linux":
        slack = min(SLACK_PER_RANK_NS * ranks_here, MOST_SLACK_NS)
        ctypes.CDLL(None).prctl(SET_TIMER_SLACK, ctypes.c_ulong(slack), 0, 0, 0)
