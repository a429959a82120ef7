"""Waiting that leaves the processor to others: for waits that are long by nature, at the start and the end of a job.

MPI waits by asking again and again, so that it hears at once what has come. 64 ranks that do so on two cores keep them
busy while one of them loads and compiles for all. Ranks that nap wake up a little later, and cost next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cluster.mpi import launcher

FIRST_NAP_S, LONGEST_NAP_S = 1e-4, 0.05
NAP_PER_RANK_S = 1e-3
"""Of the ranks of a host: the longest nap of each, so that they wake up a thousand times a second together."""
WAITED_PER_NAP = 5
"""A nap is the time waited so far divided by this: waiting gets longer by so much at most."""
SET_TIMER_SLACK = 29
"""Of Linux's prctl, with the nanoseconds by which the thread's timers may be late; 0 is the usual 50,000."""
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
    """Let short sleeps of this thread inside the block last longer, the more ranks this host has.

    Open MPI sleeps 100 microseconds at a time while it starts and ends, and 64 ranks that wake up 10,000 times a second
    take both cores. Nothing is changed where the system has no such setting.
    """
    set_timer_slack(timer_slack(ranks_here))
    try:
        yield
    finally:
        set_timer_slack(0)


def timer_slack(ranks_here: int) -> int:
    """By how many nanoseconds timers may be late while this host's ranks start or end."""
    return min(SLACK_PER_RANK_NS * ranks_here, MOST_SLACK_NS)


def set_timer_slack(nanoseconds: int) -> None:
    """Say how late this thread's timers may be; 0 is the usual value of its process."""
    import ctypes
    import sys

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_TIMER_SLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)
