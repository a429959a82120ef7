"""History of a search: iterations, evaluations and seconds at which its best cost improved.

Walks record their improvements on the device (`core.local_search.kernels.walks`), and a `HistoryRecorder` reads them
between launches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.lang.named_arrays import size_of
from core.local_search.kernels import walks
from core.local_search.kernels.walks import RecordCounts, WalkStatus
from core.local_search.launcher import WalkLauncher
from core.run.checkpoint import Checkpoint

FRONT, AHEAD = "history front", "history ahead"
"""Arrays of a history in a checkpoint."""
CLOCK, COST, SECONDS, EVALUATIONS = range(4)
"""The columns of a front."""


class HistoryRecorder:
    """Makes the iterations of a search and records improvements of the best of all walks.

    Every improvement of a walk is recorded: a walk without memory for further records waits until the host has read
    them. The recorder keeps the front: the improvements that were the best of all this rank's walks at equal numbers of
    iterations.

    The clock of a walk is its number of iterations. At an exchange of solutions walks wait for the one with the most
    iterations (of all ranks), and continue from its clock: otherwise a walk that has waited could improve a solution
    before another has found it.

    Costs and iterations are exact, and so are the evaluations of one walk. Those of several are the evaluations of the
    walk that has improved, times the number of walks: exact if an iteration of every walk evaluates the same number of
    neighbours, as in tabu search. Seconds are known at the beginning and at the end of a launch only and interpolated
    linearly by iteration between them.

    Parameters
    ----------
    launcher
        Launches of this rank's walks, which have their start solutions.
    make
        Makes a number of iterations of all walks.
    began
        Start of the search, by `time.perf_counter`.
    is_cut
        Returns True if the time was over before all walks had made an iteration.
    """

    def __init__(
        self,
        launcher: WalkLauncher,
        make: Callable[[int], object],
        began: float,
        is_cut: Callable[[], bool] = lambda: False,
    ) -> None:
        self.launcher, self.memory = launcher, launcher.memory
        self.make, self.is_cut = make, is_cut
        self.began = began
        self.places: int = self.memory.walkers.places
        self.stride = self.places
        status, count = self.memory.status(), self.memory.count
        self.iterations = np.zeros(count, np.int64)
        self.ahead = np.zeros(count, np.int64)
        starts = np.sort(status[:, WalkStatus.best_cost])[:1]  # none, if this rank has no walk
        self.front = np.array([[0, start, time.perf_counter() - began, 0] for start in starts], np.float64)
        self.front = self.front.reshape(-1, 4)

    @property
    def clocks(self) -> np.ndarray:
        """Clocks of all walks of this rank."""
        return self.iterations + self.ahead

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations of every walk, in as many launches as their records require."""
        memory = self.memory
        counts = np.zeros((memory.count, size_of(RecordCounts)), np.int32)
        counts[: self.launcher.awake, RecordCounts.due] = remaining = count
        memory.write(memory.walkers.counts, counts)
        while remaining and not self.is_cut():
            before = time.perf_counter()
            self.make(min(remaining, self.stride))
            status = memory.status()
            counts = memory.rows(memory.walkers.counts, size_of(RecordCounts))
            self.read(status, counts, before, time.perf_counter())
            remaining = self.go_on(status, counts)

    def go_on(self, status: np.ndarray, counts: np.ndarray) -> int:
        """Free the resting walks with iterations due or, if there are none, all.

        Return the number of remaining iterations.
        """
        write, walkers = self.memory.backend.write, self.memory.walkers
        resting = status[:, WalkStatus.stop] == walks.RESTING
        due = np.where(resting | (status[:, WalkStatus.stop] == walks.RUNNING), counts[:, RecordCounts.due], 0)
        remaining = int(due.max(initial=0))
        early = resting & (due > 0)
        # A recorded sequence runs to its end with a waiting walk, and a tuner would time that.
        self.stride = self.places if early.any() or self.launcher.shape.is_tuning else 2 * self.stride
        freed = early if remaining else resting
        if freed.any():
            status[freed, WalkStatus.stop] = walks.RUNNING
            write(walkers.status, status)
        if counts[:, RecordCounts.recorded].any():
            counts[:, RecordCounts.recorded] = 0
            write(walkers.counts, counts)
        return remaining

    def read(self, status: np.ndarray, counts: np.ndarray, before: float, after: float) -> None:
        """Add the improvements that walks have recorded in a launch."""
        iterations = status[:, WalkStatus.iteration].astype(np.int64)
        noted = counts[:, RecordCounts.recorded]
        if noted.any():
            walk_of = np.repeat(np.arange(len(noted)), noted)
            places = walk_of * self.places + np.arange(len(walk_of)) - np.repeat(np.cumsum(noted) - noted, noted)
            at, costs, counts = (self.notes(field, places) for field in ("iterations", "costs", "evaluations"))
            clocks = at + self.ahead[walk_of]
            part = (at - self.iterations[walk_of]) / (iterations - self.iterations)[walk_of]
            seconds = before - self.began + part * (after - before)
            rows = np.stack([clocks, costs, seconds, counts * self.launcher.plan.simultaneous_walks], axis=1)
            self.front = front_of(np.concatenate([self.front, rows]))
        self.iterations = iterations

    def notes(self, field: str, places: np.ndarray) -> np.ndarray:
        """Return one field of the records at these places."""
        buffer = getattr(self.memory.walkers, field)
        return self.memory.backend.read(buffer, 0, int(places[-1]) + 1)[places].astype(np.int64)

    def align_clocks(self) -> None:
        """Set the clocks of all walks of all ranks to the largest one after an exchange."""
        ranks = self.launcher.walk_ranks
        least, _ = ranks.minloc(-int(self.clocks.max(initial=0)), ranks.rank)
        self.ahead = -least - self.iterations

    def state(self) -> Checkpoint:
        """Return this rank's part of the history: its front, and the lead of each walk's clock in iterations."""
        return {FRONT: self.front, AHEAD: self.ahead}

    def begin_at(self, state: Checkpoint, first: int, end: int) -> None:
        """Resume the walks ``first`` to ``end`` - 1; the first rank takes the front of all walks."""
        self.iterations = self.memory.status()[:, WalkStatus.iteration].astype(np.int64)
        self.ahead = state[AHEAD][first:end].copy()
        self.front = state[FRONT] if first == 0 else state[FRONT][:0]

    def history(self) -> list[list[Any]]:
        """Return rows [iteration, evaluations, seconds, best cost] of all walks of all ranks, on every rank."""
        parts = self.launcher.walk_ranks.gather(self.front) or [self.front]
        return self.launcher.ranks.bcast(rows_of(front_of(np.concatenate(parts))))


def front_of(rows: np.ndarray) -> np.ndarray:
    """Return the rows (clock, cost, ...) that are better than all with an earlier or the same clock, in order."""
    rows = rows[np.lexsort((rows[:, SECONDS], rows[:, EVALUATIONS], rows[:, COST], rows[:, CLOCK]))]
    before = np.concatenate([[np.inf], np.minimum.accumulate(rows[:, COST])[:-1]])
    return rows[rows[:, COST] < before]


def join_histories(parts: list[Checkpoint]) -> Checkpoint:
    """Join the histories of all ranks, with walks in the order of ranks."""
    return {
        FRONT: front_of(np.concatenate([part[FRONT] for part in parts])),
        AHEAD: np.concatenate([part[AHEAD] for part in parts]),
    }


def rows_of(front: np.ndarray) -> list[list[Any]]:
    """Return a front as rows [iteration, evaluations, seconds, best cost]; neither count nor time falls."""
    seconds, evaluations = np.maximum.accumulate(front[:, SECONDS:]).T.tolist()
    costs, clocks = (front[:, column].astype(np.int64).tolist() for column in (COST, CLOCK))
    return [list(row) for row in zip(clocks, map(int, evaluations), seconds, costs, strict=True)]
