"""The run loop of all searches: stop criteria, progress, history, checkpoints, and synchronisation of ranks.

A search shows its algorithm: it begins, makes steps, and has a result. A `Run` owns everything else, and `execute` is
the loop over both::

    search.begin(run, checkpoint)                  # None: from the start
    while not run.is_over:
        step = search.step(run)                    # launches on the device
        run.synchronise(step)                      # all ranks learn whether to end and whether a checkpoint is due
        if run.is_checkpoint_due:
            run.keep(search.checkpoint(run))
    return search.result(run)

In a `SynchronousRun` all ranks make the same steps, and a batch of them ends with a reduction. Batches grow and shrink
with the time of the slowest rank and with the remaining time (`SynchronousRun.budget`). Ants and local search run
like this.

In an `AsynchronousRun` every rank works at its own pace. Between launches it calls `AsynchronousRun.report`; if that
returns True, the step ends and all ranks synchronise: a shared word notifies them. If nothing can end or watch a run,
`report` never returns True, and `AsynchronousRun.launch_s` is infinite, so that all work is launched at once. Hill
climbing and exact search run like this.

The answer of a table is known only at its end, so `core.tables.engine.table_search` has its run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from math import inf
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from core.ranks import Ranks
from core.run.checkpoint import Checkpoint, CheckpointArray, Checkpointer
from core.run.progress import PROGRESS_INTERVAL_S, ProgressMonitor, ProgressSamples
from core.run.protocol import Callback
from core.run.stop import SAFETY_FACTOR, BatchSizes, Stop, is_time_for, longest_launch_s

Result_co = TypeVar("Result_co", covariant=True)
RunT_contra = TypeVar("RunT_contra", bound="Run", contravariant=True)
SHORTEST_STEP_S = 1e-9
"""A measured step takes at least as long, so that it divides."""


class Step(NamedTuple):
    """Outcome of one step on this rank, for the comparison of ranks in `Run.synchronise`.

    Attributes
    ----------
    steps
        Iterations of a synchronous run that this rank made.
    undone
        Remaining work of this rank, in any unit; the run ends when no rank has any.
    is_ended
        True if this rank ends the run: a target is reached.
    is_cut
        True if this rank broke off its last iteration at the time limit.
    is_divisible
        True if the search itself breaks off an iteration at the time limit.
    uneven
        Factor by which the next batch may exceed the estimate that follows from this one.
    words
        Numbers of the search; their sums over all ranks are `SynchronousRun.words`.
    """

    steps: int = 0
    undone: int = 1
    is_ended: bool = False
    is_cut: bool = False
    is_divisible: bool = False
    uneven: float = SAFETY_FACTOR
    words: tuple[int, ...] = ()


class Budget(NamedTuple):
    """Limits of the next batch of a synchronous run.

    ``steps`` is a number of iterations, at least 1. ``seconds`` is the largest estimate of a launch; infinite without a
    time limit.
    """

    steps: int
    seconds: float


class Steps(Protocol[RunT_contra, Result_co]):
    """A search as `execute` sees it. All ranks call the same methods in the same order."""

    def begin(self, run: RunT_contra, checkpoint: Checkpoint | None) -> None:
        """Set the state to that of a checkpoint, which has this search's layout; None: to the start."""

    def step(self, run: RunT_contra) -> Step:
        """Make the next step, within the budget of the run."""

    def checkpoint(self, run: RunT_contra) -> Checkpoint | None:
        """Return the state of all ranks, on the first rank at least."""

    def layout(self, run: RunT_contra, state: Checkpoint) -> Iterable[CheckpointArray]:
        """Declare the arrays of a checkpoint."""

    def result(self, run: RunT_contra) -> Result_co:
        """Return the result of all ranks."""


def execute(search: Steps[RunT_contra, Result_co], run: RunT_contra) -> Result_co:
    """Run a search from its start, or from the checkpoint of the run, to its end."""
    checkpointer = run.checkpointer
    search.begin(run, None if checkpointer is None else checkpointer.take(partial(search.layout, run)))
    advance(search, run)
    return search.result(run)


def advance(search: Steps[RunT_contra, object], run: RunT_contra) -> None:
    """Make steps until the run is over: a stop criterion holds, the callback ends it, or no work is left."""
    while not run.is_over:
        run.synchronise(search.step(run))
        if run.is_checkpoint_due:
            run.keep(search.checkpoint(run))


class Run:
    """One run of a search, on one rank.

    Parameters
    ----------
    ranks
        The communicator of all ranks that search together; all of them make the run with equal arguments.
    stop
        Stop criteria. The run checks time and iterations, the search target and patience.
    total
        Steps of the whole run, for the callback; None: unknown.
    history
        True to collect progress samples, for searches that record no history themselves.
    callback, checkpointer
        See `core.run.protocol.Search.run`.
    sizes
        Sizes of the batches of a synchronous run.

    Attributes
    ----------
    monitor : core.run.progress.ProgressMonitor
        Clock and callback.
    samples : ProgressSamples or None
        See `begin_samples`.
    undone : int
        Remaining work of all ranks at the last synchronisation.
    is_ended : bool
        True if a stop criterion or the callback has ended the run.
    is_interrupted : bool
        True if the first rank's callback has ended the run.
    is_checkpoint_due : bool
        True if all ranks keep a checkpoint now.
    """

    def __init__(
        self,
        ranks: Ranks,
        stop: Stop,
        callback: Callback | None = None,
        *,
        total: int | None = None,
        checkpointer: Checkpointer | None = None,
        history: bool = False,
        sizes: BatchSizes | None = None,
    ) -> None:
        self.ranks, self.stop, self.checkpointer, self.has_history = ranks, stop, checkpointer, history
        self.sizes = sizes or BatchSizes()
        self.before_s = checkpointer.before_s if checkpointer is not None else 0.0
        self.monitor = ProgressMonitor(stop, callback, total, self.before_s)
        self.samples: ProgressSamples | None = None
        self.restart()

    def restart(self) -> None:
        """Prepare further work in the same run, such as another walk or another phase."""
        self.undone = 1
        self.is_ended = self.is_interrupted = self.is_checkpoint_due = False

    @property
    def is_over(self) -> bool:
        return self.is_ended or self.undone == 0

    @property
    def leads(self) -> bool:
        """True on the first rank; only its callback counts."""
        return bool(self.ranks.rank == 0)

    def keep(self, state: Checkpoint | None) -> None:
        """Store the first rank's checkpoint; all ranks call this together."""
        assert self.checkpointer is not None
        self.is_checkpoint_due = False
        self.checkpointer.keep(self.ranks, state)

    def has_checkpoint_due(self) -> bool:
        """Return True if this rank needs a checkpoint."""
        return self.checkpointer is not None and self.checkpointer.is_due()

    def begin_samples(
        self, cost: int | None = None, earlier: np.ndarray | None = None, done: tuple[int, int] = (0, 0)
    ) -> None:
        """Begin the history, if one is requested; see `core.run.progress.ProgressSamples`."""
        if self.has_history:
            self.samples = ProgressSamples(self.monitor.began, cost, earlier, done)

    def history(self, *, numbered: bool) -> list[list[Any]] | None:
        """Return the history of all ranks on each of them, or None; see `ProgressSamples.history`."""
        return None if self.samples is None else self.samples.history(self.ranks, numbered=numbered)

    def history_rows(self, *, numbered: bool) -> np.ndarray | None:
        """Return the same as an array, for a checkpoint."""
        rows = self.history(numbered=numbered)
        return None if rows is None else np.array(rows, np.float64).reshape(-1, 4)

    @property
    def is_report_due(self) -> bool:
        return self.monitor.is_due()

    def end(self, done: int, cost: int, evaluations: int | None = None, bound: int | None = None) -> None:
        """Report the end to the callback; all ranks call this."""
        self.monitor.report_end(done, cost, evaluations, bound)

    def synchronise(self, step: Step) -> None:
        """Compare the steps of all ranks and decide if the run continues; all ranks call this."""
        raise NotImplementedError


class SynchronousRun(Run):
    """A run in which all ranks make the same steps, and compare their state after each batch in one reduction.

    Its iterations are bounded by ``stop.iterations``. The first rank's clock counts for all, and the slowest rank's
    time for a batch; so all ranks choose the same batches and end after the same step.

    Attributes
    ----------
    done : int
        Steps made so far; a search that resumes sets it in `Steps.begin`.
    step_s : float
        Seconds of a step in the last batch, on the slowest rank.
    words : tuple of int
        Sums of `Step.words` over all ranks.
    by_time : bool
        True if the time limit ended the run: another run with the same seed ends elsewhere.
    """

    def restart(self) -> None:
        super().restart()
        self.done, self.by_time = 0, False
        self.step_s = 0.0
        self.words: tuple[int, ...] = ()
        self.longest_s = longest_launch_s(self.stop.seconds, self.monitor.seconds)
        self.sizes.next = self.sizes.first

    @property
    def is_over(self) -> bool:
        return super().is_over or self.done >= self.stop.iterations

    @property
    def is_finished(self) -> bool:
        """False if the callback ended the run before its last iteration."""
        return self.done == self.stop.iterations or not self.is_interrupted

    def budget(self) -> Budget:
        """Return the limits of the next batch, and start its clock."""
        self.began_s, self.batch_began = self.monitor.seconds, time.perf_counter()
        return Budget(min(self.sizes.next, self.stop.iterations - self.done), self.longest_s)

    def report(self, done: int, cost: int | None, evaluations: int | None = None, bound: int | None = None) -> None:
        """Report progress to the callback; called if `is_report_due`."""
        self.monitor.report(done, cost, evaluations, bound)

    def synchronise(self, step: Step) -> None:
        """Reduce flags, clocks and the words of the search, all at once."""
        seconds = time.perf_counter() - self.batch_began
        rank, size = self.ranks.rank, self.ranks.size
        sent = np.zeros(6 + 2 * size + len(step.words), np.int64)
        sent[:4] = self.leads and self.monitor.interrupted, step.is_ended, step.is_cut, self.has_checkpoint_due()
        sent[4] = round(self.began_s * 1e9) if self.leads else 0
        sent[5] = step.undone
        sent[6 + rank] = round(seconds * 1e9)
        sent[6 + size + rank] = round(step.uneven * 1e3)
        sent[6 + 2 * size :] = step.words
        self.ranks.reduce(sent, "sum")
        is_interrupted, is_ended, is_cut, is_due = (bool(flag) for flag in sent[:4])
        slowest_s = float(sent[6 : 6 + size].max()) / 1e9
        spent_s = float(sent[4]) / 1e9 + slowest_s
        self.words = tuple(int(word) for word in sent[6 + 2 * size :])
        self.done += step.steps
        self.undone = int(sent[5])
        self.step_s = max(slowest_s / step.steps, SHORTEST_STEP_S)
        self.longest_s = longest_launch_s(self.stop.seconds, spent_s, float(sent[6 + size : 6 + 2 * size].max()) / 1e3)
        self.sizes.learn(self.step_s, self.longest_s)
        has_time = step.is_divisible or is_time_for(self.stop.seconds, spent_s, self.step_s)
        is_late = is_cut or (not self.is_over and (spent_s > self.stop.seconds or not has_time))
        self.is_interrupted = self.is_interrupted or is_interrupted
        self.by_time = is_late and not (is_interrupted or is_ended)
        self.is_ended = is_interrupted or is_ended or is_late
        self.is_checkpoint_due = is_due and not self.is_over


class AsynchronousRun(Run):
    """A run in which ranks synchronise only if one of them has a reason, which a shared word reports to the others.

    The first rank's callback ends the run, and so does any rank's clock or target. If a rank's checkpoint is due, all
    ranks synchronise, store it and continue. ``is_watched`` is True if something can end a step early or is reported;
    otherwise ranks never synchronise before the end.
    """

    def restart(self) -> None:
        super().restart()
        early = self.stop.seconds != inf or self.stop.target != Stop().target or self.checkpointer is not None
        self.is_watched = bool(self.ranks.bcast(early or self.monitor.callback is not None))
        self.is_called = self.ends_run = False
        self.word = self.ranks.word() if self.is_watched else None
        if self.word is not None:
            self.word.reset(0)

    @property
    def launch_s(self) -> float:
        """Longest estimate of the next launch in seconds; infinite if nothing waits for its end."""
        if not self.is_watched and self.samples is None:
            return inf
        return self.monitor.longest_launch_s(PROGRESS_INTERVAL_S)

    def report(
        self, done: int, cost: int, evaluations: int | None = None, bound: int | None = None, *, next_s: float = 0.0
    ) -> bool:
        """Report progress between two launches. Return True if the step must end, since all ranks synchronise.

        ``next_s`` is the least duration of the next launch in seconds. For the others see
        `core.run.protocol.Progress`.
        """
        if self.word is None:
            return False
        monitor, limit_s = self.monitor, self.stop.seconds
        if self.is_report_due:
            monitor.report(done, cost, evaluations, bound)
        is_late = monitor.seconds > limit_s or not monitor.is_time_for(next_s)
        self.ends_run = self.ends_run or is_late or cost <= self.stop.target or (self.leads and monitor.interrupted)
        calls = self.ends_run or self.has_checkpoint_due()
        self.is_called = self.is_called or self.word.add(int(calls)) > 0 or calls
        return self.is_called

    def synchronise(self, step: Step) -> None:
        """Exchange the reasons to end among ranks, if a step can end early."""
        if self.word is None:
            self.undone = step.undone
            return
        is_interrupted = self.leads and self.monitor.interrupted
        sent = [self.ends_run, self.has_checkpoint_due(), is_interrupted, step.undone > 0]
        ended, due, interrupted, undone = (int(number) for number in self.ranks.sum(np.array(sent, np.int64)))
        self.undone, self.is_ended = undone, ended > 0
        self.is_interrupted = self.is_interrupted or interrupted > 0
        self.is_checkpoint_due = due > 0 and not self.is_over
        if not self.is_over:
            self.word.reset(0)
            self.is_called = False

    def end(self, done: int, cost: int, evaluations: int | None = None, bound: int | None = None) -> None:
        """Report the end, and close the shared word."""
        if self.word is not None:
            super().end(done, cost, evaluations, bound)
            self.word.close()
            self.word = None
