"""Local search on one device and any number of ranks: a plan, its launches, and the walks that they move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Unpack

import numpy as np

from core.arguments import checked_call, refuse
from core.errors import UserError
from core.local_search.algorithms import Algorithm
from core.local_search.checkpoint import layout, make_checkpoint, resume_walks
from core.local_search.checks.problem_errors import ProblemError
from core.local_search.checks.rules import check_custom_moves, check_rule
from core.local_search.checks.validation import check_first_moves
from core.local_search.history import HistoryRecorder
from core.local_search.host_loop import HostLauncher
from core.local_search.initial import start_solutions
from core.local_search.kernels import walks
from core.local_search.kernels.walks import WalkStatus
from core.local_search.launcher import Tune, WalkLauncher
from core.local_search.outcome import Outcome, confirm
from core.local_search.plan import Neighbourhoods, Plan
from core.local_search.problem import Problem
from core.local_search.settings import SettingKeywords
from core.local_search.slices import Slices, bind_slices, is_long, slices_for
from core.local_search.walk_order import WalksInTurn
from core.local_search.walks import Walks, measure_speed, share_by_speed
from core.run.checkpoint import Checkpoint, CheckpointArray, Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun, execute
from core.run.partition import have_equal_devices
from core.run.protocol import Callback, Search
from core.run.stop import CRITERIA, MOST_SAFETY_FACTOR, SAFETY_FACTOR, BatchSizes, Stop, check_stop_type, checked_stop

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FIRST_BATCH = 16
"""Iterations of the first batch without a clock; with one it is a single iteration, since its duration is unknown."""
MOST_GROWTH = 16
"""A batch has at most this multiple of the iterations of the one before."""
JOINED, MOST_JOINED_S = 65, 0.5
"""Iterations before the first run over several ranks, if they take no longer than these seconds."""
MOST_TRIED_AGAIN_S = 2.0
"""A longer first iteration is not repeated to exclude the cost of first launches."""


class LocalSearch(Search):
    """One algorithm on one problem and one device, ready to be repeated.

    Parameters
    ----------
    backend, communicator
        See `core.run.protocol.Search`.
    neighbourhoods
        One, or up to three that a descent tries in this order: names, or the problem's own; ``auto``: its first.
    tune
        Function from the kernel of the scan and the sizes of solution and neighbourhood to an object with the methods
        of `backends.tuning.ShapeTuner`.
    history
        True to record in `Outcome.history` when the best cost improved; its hash is the same.
    **settings
        Fields of `core.local_search.settings.SearchSettings`.

    Attributes
    ----------
    plan : core.local_search.plan.Plan
        Checked arguments of the search.
    launcher : core.local_search.launcher.WalkLauncher
        Launches on the device.
    walks : core.local_search.walks.Walks
        The walks of this rank.

    Raises
    ------
    UserError
        Arguments do not fit; one line has the value found and the value expected.
    """

    unit = "neighbours"

    @checked_call
    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        problem: Problem,
        algorithm: Algorithm,
        neighbourhoods: Neighbourhoods,
        *,
        tune: Tune | None = None,
        history: bool = False,
        **settings: Unpack[SettingKeywords],
    ) -> None:
        if not hasattr(backend, "capabilities"):
            refuse("backend", backend, "an object that `backends.create` makes")
        if not hasattr(communicator, "local_rank"):
            refuse("communicator", communicator, "an object that `cluster.default_communicator` makes")
        self.backend = backend
        self.plan = Plan.make(problem, algorithm, neighbourhoods, tuned=tune is not None, history=history, **settings)
        launcher = HostLauncher if self.plan.settings.is_published else WalkLauncher
        self.launcher = launcher(backend, communicator, self.plan, tune)
        self.walks = Walks(self.plan, self.launcher)
        self.in_turn = WalksInTurn(self, self.launcher) if self.plan.settings.takes_turns else None
        check_custom_moves(backend, problem.encoding, self.plan.neighbourhoods, self.plan.sizes)
        check_rule(problem, self.plan.algorithm)
        self.slices: Slices | None = None
        self.is_checked = self.plan.problem.is_tested
        self.check_notes: list[str] = []
        """Notes on checks of the problem that were cut short."""
        self.divided_among: Ranks | None = None
        """Ranks among which the walks were divided at the last run."""
        self.initial: np.ndarray | None = None
        """Start solutions of all walks, shape (walks, n); None: random ones."""
        self.recorder: HistoryRecorder | None = None
        self.evaluated = 0
        """Evaluations of this rank's walks up to the last synchronisation, if there is a time limit."""
        self.iteration_s = 0.0
        """Seconds of an iteration of the walks that run side by side, as the warm-up found; 0: not known."""
        self.launcher.settle_shape()

    @property
    def notes(self) -> list[str]:
        return self.check_notes

    @property
    def searched(self) -> str:
        """Problem, algorithm, neighbourhoods and evaluation, for messages, with the notes."""
        return ", ".join([self.plan.searched, *self.notes])

    # --- before the walks ---

    def warm_up(self, limit_s: float = inf) -> None:
        """Make one iteration, so that everything is compiled; the time counts as the backend's compilation.

        Of many walks only those that run side by side make it. Its duration decides whether iterations are made in
        slices. With the time limit of the runs, ``limit_s``, launches of slices are compiled now, and not when a run
        begins.
        """
        self.check_problem()
        with self.backend.warming_up():
            self.launcher.awake = self.launcher.side_by_side
            try:
                self.iteration_s = self.first_iteration_s()
                if is_long(self.iteration_s, limit_s) and self.iteration_s < MOST_TRIED_AGAIN_S:
                    self.iteration_s = min(self.iteration_s, self.first_iteration_s())
            finally:
                self.launcher.awake = self.launcher.memory.count
            bind_slices(self.launcher, self.iteration_s, limit_s)

    def first_iteration_s(self, count: int = 1) -> float:
        """Make ``count`` iterations from random solutions; return the seconds of one on the slowest rank."""
        self.initial = None
        run = SynchronousRun(self.launcher.ranks, Stop(iterations=count), sizes=BatchSizes(count))
        execute(self, run)
        return run.step_s

    def join(self, ranks: Ranks) -> None:
        """Make enough iterations that the device has recorded them, one at a time and many at a time."""
        with self.backend.warming_up():
            self.use_ranks(ranks)
            seconds = self.first_iteration_s()
            for count in (1, JOINED):  # the second iteration has no cost of first launches
                if count * seconds < MOST_JOINED_S:
                    seconds = self.first_iteration_s(count)

    def check_problem(self) -> None:
        """Try some moves of a problem without a test of the suite, before the first run."""
        if not self.is_checked:
            names = [neighbourhood.name for neighbourhood in self.plan.neighbourhoods]
            check = partial(check_first_moves, self.plan.problem, names, self.plan.evaluation.name)
            self.check_notes = self.launcher.ranks.on_first(check) or []
        self.is_checked = True

    def use_ranks(self, ranks: Ranks) -> None:
        """Synchronise with these ranks from now on, and divide the walks by speed where devices differ."""
        launcher = self.launcher
        if ranks is self.divided_among:
            return
        self.divided_among = ranks
        if ranks is not launcher.ranks:
            launcher.use_ranks(ranks)
        if self.plan.settings.by_walks and not have_equal_devices(self.backend, ranks):
            self.walks.begin(Stop(), None)
            iterate = HistoryRecorder(launcher, self.iterate, 0.0).iterate if self.plan.history else self.iterate
            share = share_by_speed(self.plan.settings.walks, ranks, measure_speed(launcher.memory, iterate))
            if share is not None:
                launcher.allocate(*share)

    # --- the search ---

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Ranks | None = None,
        checkpointer: Checkpointer | None = None,
        initial: ArrayLike | None = None,
    ) -> Outcome:
        """Walk until ``stop`` holds.

        Parameters
        ----------
        stop
            Criteria of every walk, all supported; the time is read between batches of iterations, which become shorter
            towards its end (see `core.run.stop`). An iteration driven by the host that would end too late is not
            begun. None: hill climbing ends at a local optimum, and all others with the callback.
        history
            True to record `Outcome.history`; a search made with a history always has it.
        callback
            See `core.run.protocol.Callback`. Its steps are iterations of a walk, of walks one after another those of
            all; the cost is the best of this rank's walks.
        ranks, checkpointer
            See `core.run.protocol.Search.run`.
        initial : array_like, shape (n,) or (walks, n), optional
            Start solution of all walks, or one for each; by default each walk has a random one.

        Raises
        ------
        Unconfirmed
            The best solution has another cost by the problem's `cost`.
        ProblemError
            The problem is new, and its first moves in plain Python are wrong; or a walk reached an impossible cost.
        UserError
            A start solution is invalid, or costs too much; no criterion ends the search; or the history is not
            recorded.
        """
        plan = self.plan
        if history and not plan.history:
            raise UserError("history=True in `run` alone: expected LocalSearch(..., history=True), which compiles it")
        stop = (Stop() if stop is None else stop) if plan.ends_itself else checked_stop(
            stop, plan.algorithm.name, *CRITERIA, callback=callback)  # fmt: skip
        check_stop_type(stop)
        stop.check()
        self.use_ranks(ranks or self.launcher.ranks)
        self.check_problem()
        check_rule(plan.problem, plan.algorithm, [stop.limit - 1] if stop.limit else [])
        bind_slices(self.launcher, self.iteration_s, stop.seconds)
        sizes = BatchSizes(FIRST_BATCH if stop.seconds == inf and checkpointer is None else 1, MOST_GROWTH)
        ranks, turns = self.launcher.ranks, 1 if self.in_turn is None else plan.settings.walks
        total = None if stop.limit is None else turns * stop.limit
        run = SynchronousRun(ranks, stop, callback, total=total, checkpointer=checkpointer, sizes=sizes)
        self.initial = start_solutions(plan.problem, plan.settings.walks, initial)
        outcome = execute(self, run) if self.in_turn is None else self.in_turn.execute(run)
        run.end(run.monitor.done, outcome.cost)
        confirm(outcome, plan.problem, ranks, self.searched)
        return replace(outcome, finished=run.monitor.done == run.monitor.total or not run.is_interrupted)

    # --- the search, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """Start all walks at random solutions, or at those of a checkpoint."""
        launcher, monitor = self.launcher, run.monitor
        self.walks.begin(run.stop, self.initial)
        self.slices = slices_for(launcher, self.iteration_s, run)
        self.recorder = None
        if self.plan.history:
            self.recorder = HistoryRecorder(launcher, self.iterate, monitor.began, self.is_cut)
        if checkpoint is not None:
            run.done = resume_walks(launcher, checkpoint, self.recorder)
            monitor.done += run.done
        self.evaluated = self.walks.evaluations() if run.stop.seconds != inf else 0

    def step(self, run: SynchronousRun) -> Step:
        """Iterate; then walks that are worse may adopt the best solution of all."""
        count = self.batch(run)
        (self.recorder or self).iterate(count)
        status = self.launcher.memory.status()
        self.report(run, count, status)
        exchange = self.plan.settings.exchange
        is_exchanged = exchange == 0 or (run.done + count) % exchange == 0
        if exchange and is_exchanged:
            self.walks.adopt_best(status)
            if self.recorder is not None:
                self.recorder.align_clocks()
            status = self.launcher.memory.status()
        return self.step_outcome(run, count, status, is_exchanged)

    def step_outcome(self, run: SynchronousRun, count: int, status: np.ndarray, is_exchanged: bool) -> Step:
        """Return the outcome of ``count`` further iterations for the comparison of ranks."""
        running = int((status[:, WalkStatus.stop] == walks.RUNNING).sum())
        astray = int(self.plan.costs.is_astray(status[:, WalkStatus.cost]).sum())
        return Step(
            steps=count,
            # Walks that rest may continue after an exchange, however many iterations a batch has.
            undone=running if is_exchanged else max(1, running),
            is_ended=astray > 0,
            is_cut=self.is_cut(),
            is_divisible=self.slices is not None,
            uneven=self.unevenness(run, count),
            words=(astray,),
        )

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return the state of all walks."""
        return make_checkpoint(self.launcher, run.done, self.recorder)

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        return layout(self.plan, self.launcher.memory, run.stop, run.before_s, state)

    def result(self, run: SynchronousRun) -> Outcome:
        """Return the outcome of all walks, without a check of the best solution."""
        if any(run.words):
            raise ProblemError(
                f"{self.plan.problem.name}: a walk came to a cost out of range: expected {self.plan.costs.text}; look "
                "at `delta`, or make costs smaller"
            )
        self.slices = None
        history = self.recorder.history() if self.recorder is not None else None
        return replace(self.walks.outcome(history), by_time=run.by_time)

    # --- iterations ---

    def batch(self, run: SynchronousRun) -> int:
        """Return the number of iterations until ranks synchronise: not beyond an exchange, and one in slices."""
        budget, exchange = run.budget(), self.plan.settings.exchange
        if self.slices is not None:
            if run.step_s > 0:
                self.slices.is_on = run.step_s > budget.seconds
            if self.slices.is_on:
                return 1
        return min(budget.steps, exchange - run.done % exchange) if exchange else budget.steps

    def iterate(self, count: int) -> None:
        """Queue ``count`` iterations of every walk that is awake."""
        if self.slices is not None and self.slices.is_on:
            self.slices.iterate(count)
        else:
            self.launcher.iterate(count)

    def report(self, run: SynchronousRun, count: int, status: np.ndarray) -> None:
        """Report ``count`` further iterations to the callback, if it is due."""
        run.monitor.done += count
        if run.is_report_due:
            cost = self.walks.best_here(status)[0] if self.launcher.memory.count else None
            run.report(run.monitor.done, cost)

    def is_cut(self) -> bool:
        """Return True if the time was over before all walks of this rank had made an iteration."""
        return self.slices is not None and self.slices.is_cut

    def unevenness(self, run: SynchronousRun, count: int) -> float:
        """Return the factor by which the next batch may take longer than this one of ``count`` iterations.

        Walks find an improving neighbour late, draw long before one is accepted, or reach a larger neighbourhood.
        """
        if run.stop.seconds == inf:
            return SAFETY_FACTOR
        before, self.evaluated = self.evaluated, self.walks.evaluations()
        most = count * self.launcher.memory.count * self.plan.most_evaluations
        return min(MOST_SAFETY_FACTOR, SAFETY_FACTOR * max(1.0, most / max(1, self.evaluated - before)))
