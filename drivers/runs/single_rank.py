"""Repetitions that the first rank does alone, with pauses to decide again if the ranks should share them.

A rehearsal on a busy machine may be wrong, and a run may take hours. So the first rank pauses after `FIRST_PAUSE_S`
and then at growing intervals: its search returns its checkpoint, all ranks rehearse again, and the run continues from
the checkpoint, on that rank or on all of them. A checkpoint continues with the same result on any number of ranks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from core.search.checkpoint import SECONDS, Checkpoint, Checkpointer

if TYPE_CHECKING:
    from drivers.runs.parallel_benefit import ParallelBenefitCheck
    from drivers.workload.declaration import PreparedRun

FIRST_PAUSE_S, GROWTH, LONGEST_PAUSE_S = 5.0, 4.0, 600.0
"""Seconds until the first pause, growth factor of the intervals, and the longest interval."""


class SearchPaused(Exception):  # noqa: N818
    """The search ended with its checkpoint instead of continuing; raised on all ranks, with the state on the first."""

    __slots__ = ("state",)  # no part of what is sent to other ranks

    def __init__(self, state: Checkpoint) -> None:
        super().__init__("paused")
        self.state = state


class PausingCheckpointer(Checkpointer):
    """Checkpointer of a search on one rank that ends with `SearchPaused` after some seconds.

    Parameters
    ----------
    inner
        The run's own checkpointer, which gets its checkpoints when they are due; or None.
    earlier
        Checkpoint from which the search continues; None: that of ``inner``, if any.
    after_s
        Seconds until the pause.
    """

    def __init__(self, inner: Checkpointer | None, earlier: Checkpoint | None, after_s: float) -> None:
        source = inner.source if inner is not None else "the state of the first rank"
        super().__init__(None, earlier if earlier is not None or inner is None else inner.passed_on(), source=source)
        self.inner = inner
        self.pause_at = time.perf_counter() + after_s

    def is_due(self) -> bool:
        return time.perf_counter() >= self.pause_at or (self.inner is not None and self.inner.is_due())

    def keep(self, ranks: Any, state: Checkpoint | None) -> None:
        """See `Checkpointer`; raises `SearchPaused` if the pause is due."""
        if self.inner is not None and self.inner.is_due():
            self.inner.keep(ranks, state)
        if time.perf_counter() >= self.pause_at:
            assert state is not None
            raise SearchPaused(state)


class SingleRankRepetition:
    """One repetition that the first rank begins alone; all ranks make it and call their part.

    ``inner`` is this rank's checkpointer, if the run has one.
    """

    def __init__(self, sharing: ParallelBenefitCheck, inner: Checkpointer | None) -> None:
        self.sharing = sharing
        self.ranks = sharing.ranks
        self.inner = inner

    def waits(self) -> bool:
        """Sleep on another rank, and rehearse when the first rank pauses; True if this rank must share the rest."""
        while True:
            try:
                self.ranks.on_all(bool)
                return False
            except SearchPaused:
                if self.sharing.again(0.0):
                    return True

    def search(self, once: Callable[[PreparedRun[Any]], Any]) -> Any:
        """Search on a working rank; ``once(run)`` searches to the end, or until the checkpointer ends it.

        The others learn of pauses, the end and an error of the first rank in `waits`.
        """
        if self.ranks.rank > 0:
            return self.shared(once, None)
        sharing = self.sharing
        before_s = 0.0 if self.inner is None else self.inner.before_s
        began, wait_s = time.perf_counter() - before_s, FIRST_PAUSE_S
        state: Checkpoint | None = None
        while True:
            after_s = wait_s if self.pauses_at(time.perf_counter() - began + wait_s) else inf
            checkpointer = PausingCheckpointer(self.inner, state, after_s) if sharing.may_change else self.inner
            run = replace(sharing.run, checkpointer=checkpointer)
            try:
                return self.ranks.on_all(partial(once, run))
            except SearchPaused as pause:
                state = pause.state
            shared = sharing.again(time.perf_counter() - began)
            # The time of rehearsals belongs to the run, which a clock may end.
            state = {**state, SECONDS: np.array(time.perf_counter() - began)}
            if shared:
                return self.shared(once, state)
            wait_s = min(GROWTH * wait_s, LONGEST_PAUSE_S)

    def pauses_at(self, seconds: float) -> bool:
        """Return True if a pause at this time of the run is far from its time limit."""
        limit_s = getattr(self.sharing.run.options, "seconds", None)
        return limit_s is None or seconds <= limit_s / 2

    def shared(self, once: Callable[[PreparedRun[Any]], Any], state: Checkpoint | None) -> Any:
        state = self.ranks.bcast(state)
        assert state is not None
        if self.inner is not None:
            self.inner.resume_from(state)
        return once(replace(self.sharing.run, checkpointer=self.inner or Checkpointer(None, state)))
