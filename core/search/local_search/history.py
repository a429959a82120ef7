"""History of a search: iterations, evaluations and seconds at which its best cost improved.

Walks record their improvements on the device (`core.kernels.local_search.walks`), and a `HistoryRecorder` reads them
between launches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.kernels.local_search import walks
from core.kernels.local_search.walks import RecordCounts, WalkStatus, WalkTotals
from core.lang.named_arrays import size_of
from core.search.checkpoint import Checkpoint
from core.search.local_search.launcher import WalkLauncher

FRONT, KNOTS, WALKS = "history front", "history evaluations", "history walks"
"""Arrays of a history in a checkpoint."""
CLOCK, COST, SECONDS = range(3)
"""The columns of a front."""


class HistoryRecorder:
    """Makes the iterations of a search and records improvements of the best of all walks.

    Every improvement of a walk is recorded: a walk without memory for further records waits until the host has read
    them. The recorder keeps the front: the improvements that were the best of all this rank's walks at equal numbers of
    iterations.

    The clock of a walk is its number of iterations. At an exchange of solutions walks wait for the one with the most
    iterations (of all ranks), and continue from its clock: otherwise a walk that has waited could improve a solution
    before another has found it.

    Costs, iterations and, if each iteration of a walk evaluates the same number of neighbours (tabu search, simulated
    annealing, hill climbing by best improvement in one neighbourhood), evaluations are exact. If that number varies
    they are exact for one walk; of several, those of the walks that did not improve just then are interpolated linearly
    by iteration between known values, at their improvements and at the ends of launches. Seconds are known at the
    beginning and at the end of a launch only and interpolated linearly by iteration between them.

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
        self.draws = launcher.plan.draws
        status, count = self.memory.status(), self.memory.count
        self.iterations = np.zeros(count, np.int64)
        self.ahead = np.zeros(count, np.int64)
        self.evaluations = np.zeros(count, np.int64)
        self.settled = np.zeros(count, np.int64)
        self.points: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.knots = [np.zeros((1, 2))]
        starts = np.sort(status[:, WalkStatus.best_cost])[:1]  # none, if this rank has no walk
        self.front = np.array([[0, start, time.perf_counter() - began] for start in starts], np.float64).reshape(-1, 3)
        self.elsewhere = 0.0
        """Evaluations of other ranks' walks that this rank's knots count too."""

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
        if not self.draws:  # its walks make different numbers of draws
            self.settle()

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
            at, costs = (self.notes(field, places) for field in ("iterations", "costs"))
            clocks = at + self.ahead[walk_of]
            part = (at - self.iterations[walk_of]) / (iterations - self.iterations)[walk_of]
            seconds = before - self.began + part * (after - before)
            self.front = front_of(np.concatenate([self.front, np.stack([clocks, costs, seconds], axis=1)]))
            if not self.draws:
                self.points.append((walk_of, clocks, self.notes("evaluations", places)))
        self.iterations = iterations

    def notes(self, field: str, places: np.ndarray) -> np.ndarray:
        """Return one field of the records at these places."""
        buffer = getattr(self.memory.walkers, field)
        return self.memory.backend.read(buffer, 0, int(places[-1]) + 1)[places].astype(np.int64)

    def settle(self) -> None:
        """Record the evaluations of all walks of this rank by their clocks up to now.

        Called when no running walk is behind another, so that later steps do not change the record.
        """
        evaluations = self.memory.totals()[:, WalkTotals.evaluations].astype(np.int64)
        everyone = np.arange(len(evaluations))
        ends = everyone, self.clocks, evaluations
        known = [(everyone, self.settled, self.evaluations), *self.points, ends]
        walk_of, clocks, counts = (np.concatenate(column) for column in zip(*known, strict=True))
        knots = summed(walk_of, clocks, counts, self.elsewhere + float(self.evaluations.sum()))
        is_kept = np.isin(knots[:, 0], np.concatenate([self.front[:, CLOCK], self.clocks]))
        is_kept[:1] = True
        self.knots.append(knots[is_kept])
        self.points, self.settled, self.evaluations = [], self.clocks, evaluations

    def meet(self) -> None:
        """Set the clocks of all walks of all ranks to the largest one after an exchange."""
        self.settle()
        ranks = self.launcher.ranks
        least, _ = ranks.minloc(-int(self.clocks.max(initial=0)), ranks.rank)
        self.ahead = -least - self.iterations
        self.settled = self.clocks

    def all_knots(self) -> np.ndarray:
        """Return the evaluations of this rank's walks by clock so far: rows (clock, evaluations)."""
        self.settle()
        return np.concatenate(self.knots)

    def state(self) -> Checkpoint:
        """Return this rank's part of the history: its front, its knots, and the state of `settle` for each walk."""
        knots = np.concatenate(self.knots) if self.draws else self.all_knots()
        return {FRONT: self.front, KNOTS: knots, WALKS: np.stack([self.ahead, self.settled, self.evaluations], axis=1)}

    def begin_at(self, state: Checkpoint, first: int, end: int) -> None:
        """Resume the walks ``first`` to ``end`` - 1; the first rank takes the front and the knots of all walks."""
        status = self.memory.status()
        self.iterations = status[:, WalkStatus.iteration].astype(np.int64)
        self.ahead, self.settled, self.evaluations = state[WALKS][first:end].T.copy()
        leads = first == 0
        knots = state[KNOTS] if leads else state[KNOTS][-1:] * [1.0, 0.0]
        self.front = state[FRONT] if leads else state[FRONT][:0]
        self.knots = [knots]
        self.elsewhere = float(knots[-1, 1] - self.evaluations.sum())

    def history(self) -> list[list[Any]]:
        """Return rows [iteration, evaluations, seconds, best cost] of all walks of all ranks, on every rank."""
        ranks = self.launcher.ranks
        own = self.front, self.all_knots()
        parts = (ranks.gather(own) or [own]) if self.launcher.plan.settings.by_walks else [own]
        rows: list[list[Any]] = ranks.bcast(merged(parts))
        return rows


def front_of(rows: np.ndarray) -> np.ndarray:
    """Return the rows (clock, cost, seconds) that are better than all with an earlier or the same clock, in order."""
    rows = rows[np.lexsort((rows[:, SECONDS], rows[:, COST], rows[:, CLOCK]))]
    before = np.concatenate([[np.inf], np.minimum.accumulate(rows[:, COST])[:-1]])
    return rows[rows[:, COST] < before]


def join_histories(parts: list[Checkpoint]) -> Checkpoint:
    """Join the histories of all ranks, with walks in the order of ranks."""
    front = front_of(np.concatenate([part[FRONT] for part in parts]))
    clocks = np.unique(np.concatenate([front[:, CLOCK], *(part[KNOTS][-1:, 0] for part in parts)]))
    evaluations = sum(np.interp(clocks, *part[KNOTS].T) for part in parts)
    rows = np.concatenate([part[WALKS] for part in parts])
    return {FRONT: front, KNOTS: np.stack([clocks, evaluations], axis=1), WALKS: rows}


def summed(walk_of: np.ndarray, clocks: np.ndarray, counts: np.ndarray, before: float) -> np.ndarray:
    """Return the sum of the counts of several walks, each linear between its points: rows (clock, ``before`` + sum)."""
    order = np.lexsort((counts, clocks, walk_of))
    walk_of, clocks, counts = walk_of[order], clocks[order].astype(np.float64), counts[order].astype(np.float64)
    first = np.flatnonzero((walk_of[1:] == walk_of[:-1]) & (clocks[1:] > clocks[:-1]))
    slopes = (counts[first + 1] - counts[first]) / (clocks[first + 1] - clocks[first])
    at, where = np.unique(np.concatenate([clocks[first], clocks[first + 1]]), return_inverse=True)
    changes = np.bincount(where, np.concatenate([slopes, -slopes]), len(at))
    rises = np.cumsum(changes)[:-1] * np.diff(at)
    return np.stack([at, before + np.concatenate([[0.0], np.cumsum(rises)])[: len(at)]], axis=1)


def merged(parts: list[tuple[np.ndarray, np.ndarray]]) -> list[list[Any]]:
    """Return the history of all ranks, from each one's front and knots."""
    front = front_of(np.concatenate([front for front, _ in parts]))
    clocks = front[:, CLOCK]
    evaluations = sum(np.interp(clocks, *knots.T) for _, knots in parts)
    seconds = np.maximum.accumulate(front[:, SECONDS])
    columns = (np.rint(column).astype(np.int64).tolist() for column in (clocks, evaluations, front[:, COST]))
    iterations, counts, costs = columns
    return [list(row) for row in zip(iterations, counts, seconds.tolist(), costs, strict=True)]
