"""Local search on one device and any number of ranks: a plan, its launches, and the walks that they move."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Any

import numpy as np

from core.arguments import refuse
from core.errors import UserError
from core.kernels.local_search import walks
from core.problems.problem import Problem
from core.problems.problem_errors import ProblemError
from core.search.checkpoint import Checkpointer, seconds_before, take_checkpoint
from core.search.checkpoint_layout import Checkpoint
from core.search.local_search import rank_agreement
from core.search.local_search.algorithms import Algorithm
from core.search.local_search.binding import bind_slices, settle_shape
from core.search.local_search.checkpoint import (
    add_earlier_outcomes,
    earlier_outcomes,
    layout,
    make_checkpoint,
    resume_walks,
)
from core.search.local_search.checks.custom_moves import check_custom_moves
from core.search.local_search.checks.validation import check_on_first_rank
from core.search.local_search.history import HistoryRecorder
from core.search.local_search.host_loop import HostLoop
from core.search.local_search.launcher import Tune, WalkLauncher
from core.search.local_search.outcome import Outcome, Unconfirmed, combine_outcomes
from core.search.local_search.plan import Neighbourhoods, Plan
from core.search.local_search.rank_agreement import BatchReport, BatchState, compare_ranks, unevenness
from core.search.local_search.rank_speeds import measure_speed, share_by_speed
from core.search.local_search.slices import Slices, is_long, slices_for, whole_s
from core.search.local_search.walks import Walks
from core.search.partition import have_equal_devices
from core.search.protocol import Callback, ProgressMonitor, checked_stop
from core.search.stop import CRITERIA, MOST, Stop, check_stop_type
from core.search.time_limits import is_time_for, longest_launch_s

MOST_TRIED_AGAIN_S = 2.0
"""A longer iteration is not repeated to tell what a first launch takes besides."""


class LocalSearch:
    """One algorithm on one problem and one device, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, whose rank and size say what this rank's part is; every rank constructs and calls the
        same. `run` may be given another of the same size.
    problem, algorithm
        What is searched, and how: a `Problem`, and an `Algorithm`.
    neighbourhoods
        One, or up to three that a descent tries in this order: names, or the problem's own.
    tune
        From the kernel of the scan and the sizes of solution and neighbourhood to something with the methods of
        `backends.tuning.ShapeTuner`, which tries shapes of the scan during the first iterations, or knows the best one.
    history
        True to record in `Outcome.history` when the best cost improved; its hash is the same.
    **settings
        Fields of `core.search.local_search.settings.SearchSettings`: mapping, evaluation, level, walks, exchange, seed,
        generate, select, data_memory.

    Attributes
    ----------
    plan : core.search.local_search.plan.Plan
        What is searched, as settled before compilation.
    launcher : core.search.local_search.launcher.WalkLauncher
        How it is laid on the device.
    walks : core.search.local_search.walks.Walks
        The walks of this rank.

    Raises
    ------
    UserError
        Something does not fit; one line says what was found and what was expected.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        problem: Problem,
        algorithm: Algorithm,
        neighbourhoods: Neighbourhoods,
        *,
        tune: Tune | None = None,
        history: bool = False,
        **settings: Any,
    ) -> None:
        if not hasattr(backend, "capabilities"):
            refuse("backend", backend, "an object that `backends.create` makes")
        self.backend = backend
        self.plan = Plan.make(problem, algorithm, neighbourhoods, tuned=tune is not None, history=history, **settings)
        self.launcher = WalkLauncher(backend, communicator, self.plan, tune)
        self.walks = Walks(self.plan, self.launcher)
        check_custom_moves(backend, problem.encoding, self.plan.neighbourhoods, self.plan.sizes)
        self.host_loop = HostLoop(self.launcher) if self.plan.settings.is_host_driven else None
        self.slices: Slices | None = None
        self.is_checked = self.plan.problem.is_tested
        self.met: Any = None
        self.latest_s = 0.0
        """Seconds of an iteration in the last batch."""
        self.iteration_s = 0.0
        """Seconds of an iteration of the walks that run side by side, as the warm-up found; 0: not known."""
        settle_shape(self.launcher, self.host_loop)

    # --- before the walks ---

    def warm_up(self, limit_s: float = inf) -> None:
        """Make one iteration, so that everything is compiled; the time counts as the backend's compilation.

        Of many walks those make it that run side by side. Its duration decides whether iterations are made in slices.

        Parameters
        ----------
        limit_s
            Time limit of the runs, if it is known: what slices launch is compiled now, and not when a run begins.

        """
        self.check_problem()
        with self.backend.warming_up():
            self.launcher.awake = self.launcher.side_by_side
            try:
                self.walk(Stop(iterations=1), None, None)
                self.iteration_s = self.latest_s
                if is_long(self.iteration_s, limit_s) and self.iteration_s < MOST_TRIED_AGAIN_S:
                    self.walk(Stop(iterations=1), None, None)
                    self.iteration_s = min(self.iteration_s, self.latest_s)
            finally:
                self.launcher.awake = self.launcher.memory.here
            bind_slices(self.launcher, self.iteration_s, limit_s)

    def check_problem(self) -> None:
        """Try some moves of a problem that no test of the suite knows, before the first run."""
        if not self.is_checked:
            names = [one.name for one in self.plan.neighbourhoods]
            check_on_first_rank(self.launcher.ranks, self.plan.problem, names, self.plan.evaluation_name)
        self.is_checked = True

    def meet(self, ranks: Any) -> None:
        """Synchronise with these ranks from now on, and share the walks by speed where devices differ."""
        launcher = self.launcher
        ranks = ranks or launcher.ranks
        if ranks is self.met:
            return
        self.met = ranks
        if ranks is not launcher.ranks:
            launcher.ranks = ranks
            launcher.recorded.clear()
        if self.plan.settings.by_walks and not have_equal_devices(self.backend, ranks):
            self.walks.begin(Stop(), None)
            iterate = HistoryRecorder(launcher, self.iterate, 0.0).iterate if self.plan.history else self.iterate
            speed = measure_speed(launcher.memory, iterate)
            share = share_by_speed(self.plan.settings.walks, ranks, speed)
            if share is not None:
                launcher.allocate(*share)

    # --- the search ---

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
        start: np.ndarray | None = None,
    ) -> Outcome:
        """Walk until ``stop`` holds.

        Parameters
        ----------
        stop
            Criteria of every walk, all of which are honoured; the time is read between batches of iterations, which
            become shorter towards its end (see `core.search.time_limits`). An iteration that a host drives and that
            would end too late is not begun. None: hill climbing ends at a local optimum, and everything else with the
            callback.
        history
            Ask for `Outcome.history`; a search that was made with one has it in any case.
        callback
            See `core.search.protocol.Callback`. Its steps are iterations of a walk, of walks one after another those of
            all; the cost is the best of this rank's walks.
        ranks
            The communicator of all ranks; that of the constructor unless it is given.
        checkpointer
            See `core.search.protocol.Search.run`.
        start : ndarray, shape (n,), optional
            Where all walks begin; by default each at a random solution of its own.

        Raises
        ------
        Unconfirmed
            The best solution has another cost by the problem's `cost`.
        ProblemError
            The problem is new, and the first of its moves that plain Python tries are wrong; or a walk came to a cost
            that is not possible.
        UserError
            A start solution is none, or costs too much; nothing would end the search; or a history that nobody notes.

        """
        plan = self.plan
        if history and not plan.history:
            raise UserError("history=True in `run` alone: expected LocalSearch(..., history=True), which compiles it")
        stop = (Stop() if stop is None else stop) if plan.ends_itself else checked_stop(
            stop, plan.algorithm.name, *CRITERIA, callback=callback)  # fmt: skip
        check_stop_type(stop)
        stop.check()
        self.meet(ranks)
        self.check_problem()
        bind_slices(self.launcher, self.iteration_s, stop.seconds)
        before_s = seconds_before(checkpointer)
        total = stop.limit and stop.limit * (plan.settings.walks if plan.settings.takes_turns else 1)
        monitor = ProgressMonitor(stop, callback, total, before_s)
        earlier = take_checkpoint(checkpointer, partial(layout, plan, self.launcher.memory, stop, before_s))
        if plan.settings.takes_turns:
            outcome = self.walk_in_turn(stop, start, monitor, checkpointer, earlier)
        else:
            outcome = self.walk(stop, start, monitor, checkpointer, earlier, spent=before_s)
        monitor.tell_end(monitor.done, outcome.cost)
        self.confirm(outcome)
        is_finished = monitor.done == monitor.total or not self.launcher.ranks.bcast(monitor.interrupted)
        return outcome._replace(finished=is_finished)

    def confirm(self, outcome: Outcome) -> None:
        """Hold the best solution to the problem's scorer; the first rank's cost counts for all."""
        problem = self.plan.problem
        cost = self.launcher.ranks.bcast(int(problem.cost(outcome.solution)))
        if abs(cost - outcome.cost) > problem.tolerance():
            raise Unconfirmed(self.plan.searched, outcome, cost)

    def walk_in_turn(
        self,
        stop: Stop,
        start: np.ndarray | None,
        monitor: ProgressMonitor,
        checkpointer: Checkpointer | None,
        earlier: Checkpoint | None,
    ) -> Outcome:
        """Make walk after walk, each until ``stop`` holds, and none after the time is over (section 6.7)."""
        ranks = self.launcher.ranks
        began = time.perf_counter() - seconds_before(checkpointer)
        found = earlier_outcomes(earlier)
        monitor.done = sum(one.iterations for one in found)
        for number in range(len(found), self.plan.settings.walks):
            spent = ranks.bcast(time.perf_counter() - began)
            is_over = spent >= stop.seconds
            if found and (is_over or ranks.bcast(monitor.interrupted)):
                found[-1] = found[-1]._replace(by_time=is_over)
                break
            self.launcher.memory.number_walks(number)
            found.append(self.walk(stop, start, monitor, checkpointer, earlier, found, spent))
            earlier = None
        return combine_outcomes(found)

    def walk(
        self,
        stop: Stop,
        start: np.ndarray | None,
        monitor: ProgressMonitor | None,
        checkpointer: Checkpointer | None = None,
        earlier: Checkpoint | None = None,
        found: Sequence[Outcome] = (),
        spent: float = 0.0,
    ) -> Outcome:
        """Walk until ``stop`` holds or the callback ends it, without a look at the result.

        Parameters
        ----------
        stop, start, monitor, checkpointer
            See `run`.
        earlier
            State from which the walk resumes; None: it begins.
        found
            Outcomes of the walks before this one, which a checkpoint has too.
        spent
            Seconds of the run so far, the same on all ranks.

        """
        began = time.perf_counter() - spent
        settings, launcher, memory = self.plan.settings, self.launcher, self.launcher.memory
        is_timed, exchange = stop.seconds != inf, settings.exchange
        self.walks.begin(stop, start)
        self.slices = slices_for(launcher, self.iteration_s, stop.seconds, began)
        recorder = HistoryRecorder(launcher, self.iterate, began, self.is_cut) if self.plan.history else None
        iterate = recorder.iterate if recorder else self.iterate
        done = resume_walks(launcher, earlier, recorder) if earlier is not None else 0
        if monitor is not None:
            monitor.done += done
        batch = rank_agreement.FIRST_BATCH if not is_timed and checkpointer is None else 1
        iteration_s, most_s = whole_s(launcher, self.iteration_s), longest_launch_s(stop.seconds, spent)
        work = self.walks.evaluations() if is_timed else 0
        by_time = False
        while done < stop.iterations:
            if self.slices is not None:
                self.slices.is_on = iteration_s > most_s
            count = 1 if self.slices is not None and self.slices.is_on else min(batch, stop.iterations - done)
            if exchange:
                count = min(count, exchange - done % exchange)
            before = time.perf_counter()
            iterate(count)
            control = memory.control()
            done += count
            is_ended = monitor is not None and self.reported(monitor, count, control)
            if exchange and done % exchange == 0:
                self.walks.adopt_best(control)
                if recorder is not None:
                    recorder.meet()
                control = memory.control()
            now = time.perf_counter()
            before_work, work = work, self.walks.evaluations() if is_timed else 0
            state = self.compared(
                control,
                (is_ended, checkpointer is not None and checkpointer.is_due()),
                (before - began, now - before),
                unevenness(count * memory.here * self.plan.most_evaluations, work - before_work),
            )
            iteration_s, self.latest_s = state.slowest / count, (now - before) / count
            most_s = longest_launch_s(stop.seconds, state.spent, state.uneven)
            batch = rank_agreement.next_batch(batch, state.slowest)
            batch = min(batch, max(1, int(min(most_s / max(iteration_s, 1e-9), MOST))))
            # Walks that rest may go on after an exchange, which must not depend on when the clock makes a batch end.
            if state.running == 0 and (exchange == 0 or done % exchange == 0):
                break
            is_over = self.is_over(stop.seconds, state.spent, iteration_s)
            by_time = is_over and (done < stop.iterations or self.is_cut())
            if state.late or by_time:
                break
            if checkpointer is not None and state.due:
                kept = make_checkpoint(launcher, done, recorder)
                checkpointer.keep(launcher.ranks, add_earlier_outcomes(self.plan, kept, found))
        self.slices = None
        return self.walks.outcome(recorder.history() if recorder else None)._replace(by_time=by_time)

    def reported(self, monitor: ProgressMonitor, count: int, control: np.ndarray) -> bool:
        """Report ``count`` further iterations to the callback. Return True if the walk should end."""
        monitor.done += count
        if monitor.is_due():
            monitor.tell(monitor.done, self.walks.best_here(control)[0] if self.launcher.memory.here else None)
        return monitor.interrupted

    def compared(
        self, control: np.ndarray, wishes: tuple[bool, bool], clock: tuple[float, float], uneven: float
    ) -> BatchState:
        """Compare all ranks after a batch.

        Parameters
        ----------
        control
            Control words of this rank's walks.
        wishes
            True if this rank's callback ends the run; True if its checkpoint is due.
        clock
            Seconds of the run when the batch began, and of the batch.
        uneven
            See `BatchState`.

        """
        costs, ranks = self.plan.costs, self.launcher.ranks
        own = BatchReport(
            running=int((control[:, walks.STOP] == walks.RUNNING).sum()),
            astray=int(costs.is_astray(control[:, walks.COST]).sum()),
            is_ended=(wishes[0] and ranks.rank == 0) or self.is_cut(),
            is_due=wishes[1],
            before_s=clock[0],
            seconds=clock[1],
            uneven=uneven,
        )
        state = compare_ranks(ranks, own)
        if state.astray:
            raise ProblemError(
                f"{self.plan.problem.name}: a walk came to a cost out of range: expected {costs.text}; look at "
                "`delta`, or make costs smaller"
            )
        return state

    def is_cut(self) -> bool:
        """Return True if the time was over before all walks of this rank had made an iteration."""
        return self.slices is not None and self.slices.is_cut

    def is_over(self, limit_s: float, spent_s: float, iteration_s: float) -> bool:
        """Return True if the time is over, or a further iteration, which cannot be cut, would end too late."""
        has_time = self.slices is not None or is_time_for(limit_s, spent_s, iteration_s)
        return self.is_cut() or spent_s > limit_s or not has_time

    def iterate(self, count: int) -> None:
        """Queue ``count`` iterations of every walk that is awake."""
        if self.slices is not None and self.slices.is_on:
            self.slices.iterate(count)
        elif self.host_loop is not None:
            self.host_loop.iterate(count)
        else:
            self.launcher.iterate(count)
