"""Progress of a run on one rank: clock, reports to the callback, time limit, and history from samples."""

from __future__ import annotations

import time
from math import inf
from typing import Any

import numpy as np

from core.errors import UserError
from core.ranks import Ranks
from core.run.protocol import Callback, CountCallback, Progress
from core.run.stop import Stop, is_time_for, longest_launch_s

PROGRESS_INTERVAL_S = 0.25
"""Seconds between two reports; launches of a run that may be ended are estimated at this duration at most."""


class ProgressMonitor:
    """Clock of a run, and its reports to the callback.

    Parameters
    ----------
    stop
        Stop criteria; only the time limit is used here.
    callback
        Called with each report; None: nothing is reported.
    total
        Steps of the whole run; None: unknown.
    before_s
        Seconds that the run had taken before its checkpoint.

    Attributes
    ----------
    interrupted : bool
        True if the callback has returned True.
    done : int
        Steps made so far, for searches that count them here.
    """

    def __init__(self, stop: Stop, callback: Callback | None, total: int | None = None, before_s: float = 0.0) -> None:
        self.stop = stop
        self.callback = callback
        self.total = total
        self.began = time.perf_counter() - before_s
        self.interrupted = False
        self.done = 0
        self._reported_s = -inf
        self._reported: tuple[int, int | None] | None = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def is_due(self) -> bool:
        return self.callback is not None and self.seconds - self._reported_s >= PROGRESS_INTERVAL_S

    def report(self, done: int, cost: int | None, evaluations: int | None = None, bound: int | None = None) -> None:
        """Call the callback, if there is one; see `core.run.protocol.Progress`."""
        if self.callback is None:
            return
        self._reported_s, self._reported = self.seconds, (done, cost)
        progress = Progress(done, self.total, cost, self._reported_s, evaluations, bound)
        self.interrupted = self.callback(progress) is True or self.interrupted

    def report_end(self, done: int, cost: int | None, evaluations: int | None = None, bound: int | None = None) -> None:
        """Report the end of the run, unless the last report said the same; the callback cannot end it any more."""
        if self._reported != (done, cost):
            before = self.interrupted
            self.report(done, cost, evaluations, bound)
            self.interrupted = before

    def longest_launch_s(self, most: float = inf) -> float:
        """Return the most seconds at which the next launch may be estimated, up to ``most``."""
        return min(most, longest_launch_s(self.stop.seconds, self.seconds))

    def is_time_for(self, seconds: float) -> bool:
        """Return True if a launch of this estimate, which cannot be shortened, ends in time."""
        return is_time_for(self.stop.seconds, self.seconds, seconds)

    # --- tables ---

    def counts(self, work: int | None) -> CountCallback | None:
        """Return a function that reports the finished parts of a table; None without a callback.

        ``work`` is the units of work of all parts together; None: parts are of unequal work.
        """
        if self.callback is None:
            return None

        def report_parts(done: int, total: int) -> None:
            self.total = total
            if self.is_due():
                self.report(done, None, None if work is None else work * done // max(1, total))

        return report_parts


class ProgressSamples:
    """A rank's seconds since the search began, evaluations and steps between launches, and the improvements in them.

    Of several improvements in one launch the host sees the last.

    Parameters
    ----------
    began
        Start of the search, by `time.perf_counter`.
    cost
        Cost of the start solution; None without one.
    earlier : ndarray, shape (rows, 4), float64, optional
        The history up to the checkpoint from which the run resumes.
    done
        Evaluations and steps of all ranks up to there.
    """

    def __init__(
        self, began: float, cost: int | None = None, earlier: np.ndarray | None = None, done: tuple[int, int] = (0, 0)
    ) -> None:
        self.began = began
        self.earlier = np.zeros((0, 4)) if earlier is None else earlier
        self.done = done
        seconds = time.perf_counter() - began
        self.samples = [(seconds, 0, 0)]
        self.improvements: list[tuple[float, int]] = [] if cost is None else [(seconds, cost)]

    def see(self, cost: int, evaluations: int, steps: int = 0) -> None:
        """Add a sample of this rank's progress, and the cost if it is an improvement."""
        seconds = time.perf_counter() - self.began
        self.samples.append((seconds, evaluations, steps))
        if not self.improvements or cost < self.improvements[-1][1]:
            self.improvements.append((seconds, cost))

    def history(self, communicator: Ranks, *, numbered: bool) -> list[list[Any]]:
        """Return rows [steps, evaluations, seconds, cost] on every rank; all ranks call this.

        Steps and evaluations are those of all ranks, interpolated linearly by time between the samples of each. If
        ``numbered``, rows begin with their own number, from 0, in place of steps.
        """
        parts = communicator.gather((self.improvements, self.samples)) or []
        columns = [np.array(samples, np.float64).T for _, samples in parts]
        rows: list[list[Any]] = [[int(a), int(b), seconds, int(cost)] for a, b, seconds, cost in self.earlier.tolist()]
        for seconds, cost in sorted(row for improvements, _ in parts for row in improvements):
            if not rows or cost < rows[-1][3]:
                evaluations, steps = (
                    before + round(sum(float(np.interp(seconds, times, counts[k])) for times, *counts in columns))
                    for k, before in enumerate(self.done)
                )
                rows.append([len(rows) if numbered else steps, evaluations, seconds, cost])
        return communicator.bcast(rows)


def refuse_history(history: bool, search: str) -> None:
    """Raise `UserError` if a history is requested of a search that knows its answer only at its end."""
    if history:
        raise UserError(f"{search} has no history: nothing is known of its answer before the end")
