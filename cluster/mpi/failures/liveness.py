"""Liveness of all ranks: at the start of MPI, in collective calls, and at the end.

MPI itself waits for a missing rank forever. A rank that fails ends the job (`cluster.mpi.failures.abort`), and so does
the launcher when a process exits with a code or without MPI's finalisation. This module handles the other cases: a rank
that ends with exit code 0 while others wait for it, and a process that never starts MPI, which some launchers ignore.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import inf
from types import ModuleType
from typing import TYPE_CHECKING

from cluster.mpi import idle_waiting, launcher, transport
from cluster.mpi.failures import abort

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

START_S = 300.0
"""Seconds that a rank waits for the slowest to start: 64 on two busy cores need up to a minute."""
FIRST_PAUSE_S, LAST_PAUSE_S = 0.001, 0.2
PAUSE_PER_RANK_S = 0.005
"""Pause between checks of the other ranks by a rank that has ended, in proportion to their number."""
EXCHANGE_S = 2.0
"""Seconds after which everything sent by an ended rank has arrived."""

ERROR_S = 30.0
"""Seconds after which ranks do not meet an error that one of them has met."""

CALLS, PARTNER, EXCHANGES, ERRORS = range(4)
"""Words visible to other ranks: collective calls, partner rank + 1 of a pending exchange, exchanges, errors."""
WORDS = 4
ENDED = -1
"""Value of `CALLS` after the end."""


@contextmanager
def start_deadline() -> Iterator[None]:
    """End the job with one line if the ranks do not complete this block together within `START_S`."""
    monitor = threading.Timer(START_S, _report_late_start)
    monitor.daemon = True
    monitor.start()
    try:
        yield
    finally:
        monitor.cancel()


def _report_late_start() -> None:
    abort.report_user_error(
        f"waited {START_S:g} s for all ranks to start; expected every one of them to run this program"
    )
    # The main thread is inside MPI; a launcher ends the other ranks when one leaves with a code.
    os._exit(abort.USER_ERROR)


def start_mpi() -> ModuleType:
    """Start MPI, if necessary, and return mpi4py's module; raises ImportError if it is missing."""
    import mpi4py

    transport.choose()
    # Only the main thread calls MPI, whatever threads a backend runs.
    mpi4py.rc.thread_level = "funneled"
    mpi4py.rc.initialize = False
    mpi4py.rc.finalize = True
    from mpi4py import MPI

    if not MPI.Is_initialized():
        import ctypes

        # mpi4py's call holds the interpreter lock, so that no thread could end it.
        start = ctypes.CDLL(MPI.__file__).MPI_Init_thread
        with start_deadline(), idle_waiting.coarse_timers(launcher.local_size()):
            start(None, None, MPI.THREAD_FUNNELED, ctypes.byref(ctypes.c_int()))
        for world in (MPI.COMM_WORLD, MPI.COMM_SELF):
            world.Set_errhandler(MPI.ERRORS_RETURN)
    return MPI


class Liveness:
    """State of this rank that the other ranks of ``world`` read by MPI's one-sided Get.

    At the end of the process it waits until all ranks have ended. If another rank waits for this one, it ends the job.
    """

    def __init__(self, mpi: ModuleType, world: Intracomm) -> None:
        self._mpi = mpi
        self._world = world
        if self._world.Get_size() == 1:
            self._words = memoryview(bytearray(8 * WORDS)).cast("q")
            return
        self._window = mpi.Win.Allocate(8 * WORDS, 8, comm=self._world)
        self._window.Lock_all(mpi.MODE_NOCHECK)
        self._words = memoryview(self._window.tomemory()).cast("q")
        self._words[CALLS] = self._words[PARTNER] = self._words[EXCHANGES] = self._words[ERRORS] = 0
        self._world.Barrier()
        atexit.register(self.leave)

    def together(self) -> None:
        self._words[CALLS] += 1

    @contextmanager
    def exchange(self, partner: int) -> Iterator[None]:
        """Record an exchange with another rank during the block."""
        self._words[EXCHANGES] += 1
        self._words[PARTNER] = partner + 1
        yield
        self._words[PARTNER] = 0

    def departed(self) -> int | None:
        me, size = self._world.Get_rank(), self._world.Get_size()
        others = (rank for rank in range(size) if rank != me)
        return next((rank for rank in others if self._read_words(rank)[CALLS] == ENDED), None)

    def leave(self) -> None:
        """Wait until every rank has ended; end the job if one waits for a call that this rank will not make."""
        if self._mpi.Is_finalized():
            return
        calls = self._words[CALLS]
        self._words[CALLS] = ENDED
        for rank in self._waiting_ranks(calls, lambda seen: seen[CALLS] == ENDED):
            own = f"rank {self._world.Get_rank()}"
            print(f"error ({own}): it has ended, and rank {rank} waits for it", file=sys.stderr, flush=True)
            time.sleep(abort.FLUSH_S)
            abort.end_job(abort.FAILED)
        self._window.Unlock_all()
        self._window.Free()
        # MPI finalises after this, when Python has ended.
        idle_waiting.set_timer_slack(launcher.local_size())

    def is_awaited(self) -> bool:
        """Wait until every rank has failed like this one, or ended; True if one waits for a call of this rank.

        It also is if the others do not fail within `ERROR_S`.
        """
        self._words[ERRORS] += 1
        calls, errors, until = self._words[CALLS], self._words[ERRORS], time.monotonic() + ERROR_S
        waiting = self._waiting_ranks(calls, lambda seen: seen[CALLS] == ENDED or seen[ERRORS] >= errors, until)
        return next(waiting, None) is not None

    def _waiting_ranks(self, calls: int, is_done: Callable[[memoryview], bool], until: float = inf) -> Iterator[int]:
        """Wait until all other ranks are done; yield those that wait for this rank, which makes no more calls.

        After the time ``until`` all that are not done count as waiting.
        """
        me, size = self._world.Get_rank(), self._world.Get_size()
        others = {rank: (0.0, -1) for rank in range(size) if rank != me}
        pause = FIRST_PAUSE_S
        while others:
            for rank, (since, exchanges) in list(others.items()):
                seen, now = self._read_words(rank), time.monotonic()
                is_exchanging = seen[PARTNER] == me + 1 and seen[EXCHANGES] == exchanges
                if is_done(seen):
                    del others[rank]
                elif seen[CALLS] > calls or now > until or (is_exchanging and now - since > EXCHANGE_S):
                    yield rank
                elif not is_exchanging:
                    others[rank] = now, seen[EXCHANGES]
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_PER_RANK_S * size, LAST_PAUSE_S)

    def _read_words(self, rank: int) -> memoryview:
        words = bytearray(8 * WORDS)
        self._window.Get([words, WORDS, self._mpi.INT64_T], rank)
        self._window.Flush(rank)
        return memoryview(words).cast("q")


@cache
def own_liveness(mpi: ModuleType) -> Liveness:
    return Liveness(mpi, mpi.COMM_WORLD)
