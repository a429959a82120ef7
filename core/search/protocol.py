"""The one shape that all searches of the suite have, and what they share while they run.

A search is made once and run as often as one likes::

    search = Kind(backend, communicator, problem, ...settings by name...)
    search.warm_up()
    found = search.run(stop, history=..., callback=..., ranks=...)

Every rank makes and runs it with the same arguments. `Search` is the search, `SearchResult` what it finds, `Progress`
what it tells while it runs. `ProgressMonitor` is what a search asks between its launches: whether somebody has to be
told, and whether the run has to end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from core.errors import UserError
from core.search.checkpoint import Checkpointer, seconds_before
from core.search.stop import MOST, Stop, check_stop_type
from core.search.time_limits import is_time_for, longest_launch_s

PROGRESS_INTERVAL_S = 0.25
"""Callbacks are called about so often, and launches of a run that may be ended are about as long at most."""


class Progress(NamedTuple):
    """What a search tells while it runs, on every rank of its own work.

    Attributes
    ----------
    done : int
        Steps that are done: what they are is said in the search's ``run``.
    total : int or None
        Steps of the whole run; None: nobody can tell.
    cost : int or None
        Of the best solution so far; None: there is none before the end.
    seconds : float
        Since the run began.
    evaluations : int or None
        Units of work that are done, as `SearchResult.evaluations` counts them; None: not known before the end.
    bound : int or None
        A cost below which there is no solution; None: not known.

    """

    done: int
    total: int | None
    cost: int | None
    seconds: float
    evaluations: int | None = None
    bound: int | None = None


Callback = Callable[[Progress], object]
"""Is told of the progress: soon after the beginning, then about four times a second, and at the end.

If it returns True the search ends as soon as it can and returns the best so far. Over ranks each may have a callback,
and what the first rank's returns counts. A search whose answer is known at the end alone (a table) does not end early.
"""

CountCallback = Callable[[int, int], None]
"""Called with the number of parts of a table that are done, and with the number of all."""


class SearchResult(Protocol):
    """What a run found: every search has a `NamedTuple` of its own, with further fields."""

    @property
    def cost(self) -> int:
        """Of the best solution: a length, or the value where a large one is sought."""

    @property
    def solution(self) -> np.ndarray | None:
        """The best solution; None: it was not asked for."""

    @property
    def evaluations(self) -> int:
        """Units of work done by all ranks."""

    @property
    def hash(self) -> str:
        """16 hexadecimal digits, equal on every backend and over any number of ranks where the same was done."""

    @property
    def history(self) -> list[list[Any]] | None:
        """Rows [iteration, evaluations, seconds, best cost] where the best cost improved; None: there is none."""

    @property
    def finished(self) -> bool:
        """Whether all was done that was asked for; False: the callback ended it, or the time ended a proof."""


class Search(Protocol):
    """A search on one device of each rank, ready to be repeated.

    It is constructed from a backend, a communicator, the problem (or an instance's data) and settings by name. The
    communicator says which part of the work is this rank's; a rehearsal of one (`cluster.mpi.proxies.Rehearsal`) lets
    every rank warm up alone.
    """

    backend: Any

    def warm_up(self) -> None:
        """Compile everything; the time counts as the backend's compilation."""

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> SearchResult:
        """Search until ``stop`` holds, the callback says so, or there is nothing left to do.

        Parameters
        ----------
        stop
            What ends it; None: nothing but its own end.
        history
            Whether `SearchResult.history` says when the best cost improved.
        callback
            See `Callback`.
        ranks
            The communicator of those who search together, of as many ranks as the constructor's, which it is by
            default.
        checkpointer
            Keeps the state of the run between launches, and knows the one that it goes on from; None: nobody does.
            What is found is the same, whichever of both, and on whatever backend and number of ranks it goes on. All
            ranks have one, or none has.

        Raises
        ------
        Terminated
            The process was asked to end, and the state is kept.
        UserError
            A criterion that this search does not know, a history that it does not have, or nothing that would end it.

        """


def hex_digest(digest: int) -> str:
    """A digest of 64 bits as 16 hexadecimal digits."""
    return f"{digest:016x}"


def refuse_history(history: bool, search: str) -> None:
    """Refuse the history of a search that knows its answer at the end alone.

    Raises
    ------
    UserError
        One is asked for.

    """
    if history:
        raise UserError(f"{search} has no history: nothing is known of its answer before the end")


def checked_stop(stop: Stop | None, search: str, *honoured: str, callback: Callback | None, most: int = MOST) -> Stop:
    """The criteria of a search that never ends by itself, of at most so many iterations.

    Raises
    ------
    UserError
        A criterion out of range, one that the search does not honour, or nothing that would end it.

    """
    stop = Stop() if stop is None else stop
    check_stop_type(stop)
    stop.only(search, *honoured).check(most)
    if not stop.given and callback is None:
        expected = ", ".join(honoured[:-1])
        raise UserError(f"{search}: nothing would end it: expected {expected} or {honoured[-1]}, or a callback")
    return stop


def table_monitor(
    stop: Stop | None, history: bool, callback: Callback | None, search: str, before_s: float = 0.0
) -> ProgressMonitor:
    """The watch of a table, which tells what is done and ends nothing; ``before_s`` is `ProgressMonitor`'s.

    Raises
    ------
    UserError
        A stop criterion or a history: a table is computed to its end, where its answer is.

    """
    (stop or Stop()).only(search)
    refuse_history(history, search)
    return ProgressMonitor(Stop(), callback, before_s=before_s)


class ProgressMonitor:
    """What a run asks between its launches: whether the caller has to be told, and whether it has to end.

    Parameters
    ----------
    stop
        Of which the time and the target are looked at.
    callback
        Who is told.
    total
        Steps of the whole run, if they are known.
    before_s
        Seconds that the run had taken before it went on here.

    Attributes
    ----------
    interrupted : bool
        Whether the callback wants the run to end.
    done : int
        Steps that are done, for those who count them here.

    """

    def __init__(self, stop: Stop, callback: Callback | None, total: int | None = None, before_s: float = 0.0) -> None:
        self.stop = stop
        self.callback = callback
        self.total = total
        self.began = time.perf_counter() - before_s
        self.interrupted = False
        self.done = 0
        self._told_s = -inf
        self._told: tuple[int, int | None] | None = None

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self.began

    def is_due(self) -> bool:
        """Whether the caller has to be told again."""
        return self.callback is not None and self.seconds - self._told_s >= PROGRESS_INTERVAL_S

    def tell(self, done: int, cost: int | None, evaluations: int | None = None, bound: int | None = None) -> None:
        """Tell the caller, if there is one, and hear whether the run shall end."""
        if self.callback is None:
            return
        self._told_s, self._told = self.seconds, (done, cost)
        told = Progress(done, self.total, cost, self._told_s, evaluations, bound)
        self.interrupted = self.callback(told) is True or self.interrupted

    def tell_end(self, done: int, cost: int | None, evaluations: int | None = None, bound: int | None = None) -> None:
        """Tell the caller where the run has ended, unless it knows; it is too late to end it."""
        if self._told != (done, cost):
            before = self.interrupted
            self.tell(done, cost, evaluations, bound)
            self.interrupted = before

    def is_over(self) -> bool:
        """Whether this rank's clock or callback ends the run."""
        return self.interrupted or self.seconds > self.stop.seconds

    def longest_launch_s(self, most: float = inf) -> float:
        """Return the most seconds that the next launch may be estimated at, up to ``most``."""
        return min(most, longest_launch_s(self.stop.seconds, self.seconds))

    def is_time_for(self, seconds: float) -> bool:
        """Return True if a launch of this estimate, which cannot be shortened, ends in time."""
        return is_time_for(self.stop.seconds, self.seconds, seconds)

    def counts(self, work: int | None) -> CountCallback | None:
        """Return what reports parts of a table that are done: all of them are ``work``; None: of unequal work.

        Return None without a callback, so that nothing waits for the device.
        """
        if self.callback is None:
            return None

        def told(done: int, total: int) -> None:
            self.total = total
            if self.is_due():
                self.tell(done, None, None if work is None else work * done // max(1, total))

        return told

    def tell_all(self, cost: int, work: int) -> None:
        """Tell the caller that a table is done."""
        self.total = self.total or 1
        self.tell_end(self.total, cost, work)


class SharedProgressMonitor(ProgressMonitor):
    """The watch of ranks that do not meet between their launches: a shared word says that all of them meet.

    The first rank's callback ends the run, and so does any rank's clock or target. Where a rank's checkpoint is due the
    ranks synchronise, keep it and continue.

    Parameters
    ----------
    ranks
        Who runs together; all of them make it, and all close it.
    stop, callback, total
        See `ProgressMonitor`.
    checkpointer
        See `Search.run`.

    """

    def __init__(
        self,
        ranks: Any,
        stop: Stop,
        callback: Callback | None,
        total: int | None = None,
        checkpointer: Checkpointer | None = None,
    ) -> None:
        super().__init__(stop, callback, total, seconds_before(checkpointer))
        self.leads = ranks.rank == 0
        self.ranks = ranks
        self.checkpointer = checkpointer
        self.word = ranks.word()
        self.word.reset(0)
        self.called = self.over = False

    @classmethod
    def of(
        cls,
        ranks: Any,
        stop: Stop,
        callback: Callback | None,
        total: int | None = None,
        checkpointer: Checkpointer | None = None,
    ) -> Self | None:
        """A watch, or None on all ranks where nothing can end the run early and the first rank has nobody to tell."""
        early = stop.seconds != inf or stop.target != Stop().target or checkpointer is not None
        return cls(ranks, stop, callback, total, checkpointer) if ranks.bcast(early or callback is not None) else None

    def ends(self, cost: int, next_s: float = 0.0) -> bool:
        """Return True if all ranks have to synchronise now; this rank's next launch takes at least ``next_s``."""
        late = self.is_over() if self.leads else self.seconds > self.stop.seconds
        self.over = self.over or cost <= self.stop.target or late or not self.is_time_for(next_s)
        calls = self.over or (self.checkpointer is not None and self.checkpointer.is_due())
        self.called = self.called or self.word.add(int(calls)) > 0 or calls
        return self.called

    def goes_on(self, undone: int) -> bool:
        """Whether there is something left to do for a rank, and nobody ends the run: all ranks ask when they meet.

        Parameters
        ----------
        undone
            What this rank has left to do, of whatever it counts.

        """
        over, left = self.ranks.sum(np.array([self.over, undone > 0], np.int64))
        return not over and left > 0

    def resume(self) -> None:
        """Let all ranks go on after they have met."""
        self.word.reset(0)
        self.called = False

    def close(self) -> bool:
        """Give the word back; whether the first rank's callback ended the run, on all ranks."""
        self.word.close()
        return bool(self.ranks.bcast(self.interrupted))
