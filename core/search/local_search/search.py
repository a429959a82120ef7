"""Local search on one device and any number of ranks: `LocalSearch` prepares, `run` walks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from core.arguments import refuse
from core.errors import LaunchRefused, UserError
from core.kernels.local_search import moves, walks
from core.kernels.local_search.hooks import ANNEAL, BEST, FIRST, HALT, NO_KEY, Rules
from core.kernels.local_search.moves import start_solutions
from core.kernels.local_search.template import search_kernels
from core.kernels.local_search.walk_history import RecordingWalk, record_improvement
from core.kernels.local_search.walks import Share, Walk, WalkSettings
from core.lang.bundles import placed, row_sizes
from core.problems.encodings import Neighbourhood
from core.problems.problem import Problem
from core.problems.problem_errors import ProblemError
from core.search.checkpoint import Checkpointer, seconds_before, take_checkpoint
from core.search.checkpoint_layout import Checkpoint
from core.search.local_search.algorithms import Algorithm, cooling_table
from core.search.local_search.checkpoint import (
    add_earlier_outcome,
    earlier_outcome,
    layout,
    make_checkpoint,
    remembered,
    resume_walks,
)
from core.search.local_search.checks.custom_moves import check_custom_moves
from core.search.local_search.checks.validation import check_on_first_rank
from core.search.local_search.history import HistoryRecorder, note_capacity
from core.search.local_search.host_loop import HostLoop
from core.search.local_search.launcher import WalkLauncher, round_to_warps
from core.search.local_search.outcome import Outcome, Unconfirmed, combine_outcomes, mix_digests
from core.search.local_search.plan import MOST_LEVELS
from core.search.local_search.slices import Slices, is_long, needs_parts, slices_for, whole_s
from core.search.partition import equal_part, have_equal_devices, parts_by_speed
from core.search.protocol import Callback, ProgressMonitor, checked_stop
from core.search.stop import CRITERIA, MOST, Stop, check_stop_type
from core.search.time_limits import MOST_SAFETY_FACTOR, SAFETY_FACTOR, is_time_for, longest_launch_s

FIRST_BATCH = 16
"""Iterations of the first batch without a clock; with one it is a single iteration, since nobody knows how long."""
MOST_GROWTH = 16
"""A batch is at most so many times as long as the one before."""
REHEARSAL_S, REHEARSAL_BATCH_S = 0.1, 0.01
"""A rank's speed is that of the fastest of its batches in so many seconds, of which the last take so long each."""
EQUAL_SPEED_RATIO = 1.2
"""Ranks whose speeds differ by less have equal shares: a few iterations do not show more."""
LONGEST_BATCH_S = 0.25
"""The host looks at the time and can be interrupted about so often."""
MOST_TRIED_AGAIN_S = 2.0
"""A longer iteration is not repeated to tell what a first launch takes besides."""


class BatchState(NamedTuple):
    """State of all ranks after a batch, the same on all of them.

    Attributes
    ----------
    running, astray : int
        Number of walks that continue, and of walks with an impossible cost.
    late : bool
        True if the run ends: by the first rank's callback, or by a rank that has broken off an iteration.
    due : bool
        True if a rank's checkpoint is due.
    slowest : float
        Seconds of the batch on the rank that took longest.
    spent : float
        Seconds of the run.
    uneven : float
        Factor by which the next batch may take longer than the last one suggests.

    """

    running: int
    astray: int
    late: bool
    due: bool
    slowest: float
    spent: float
    uneven: float


class LocalSearch(WalkLauncher):
    """One algorithm on one problem and one device, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, whose rank and size say what this rank's part is; every rank constructs and calls the
        same. `run` may be given another of the same size, to which it talks.
    problem, algorithm
        What is searched, and how: a `Problem`, and an `Algorithm`.
    neighbourhoods, **options
        See `core.search.local_search.plan.Plan`.
    tune
        From the kernel of the scan and the sizes of solution and neighbourhood to something with the methods of
        `backends.tuning.ShapeTuner`, which tries shapes of the scan during the first iterations, or knows the best one.
    history
        Whether `Outcome.history` says when the best cost improved; its hash is the same.

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
        neighbourhoods: str | Neighbourhood | Sequence[str | Neighbourhood],
        *,
        tune: Callable[[Any, int, int], Any] | None = None,
        history: bool = False,
        **options: Any,
    ) -> None:
        if not hasattr(backend, "capabilities"):
            refuse("backend", backend, "an object that `backends.create` makes")
        super().__init__(problem, algorithm, neighbourhoods, tuned=tune is not None, **options)
        self.backend = backend
        self.communicator = communicator
        self.is_tried = False
        self.met: Any = None
        self.speeds: list[float] | None = None
        """Of all ranks, in walks' iterations per second, where they are unlike; None: equal shares."""
        self.history = history
        self.takes_turns = self.walks > 1 and self.level == "iteration"
        if history and self.takes_turns:
            raise UserError(f"a history of {self.walks} walks one after another: expected 1 walk, or mapping native")
        first = self.neighbourhoods[0]
        shapes = tuple(one.shape for one in self.neighbourhoods)
        decode = next((one.decode for one in self.neighbourhoods if one.decode), ())
        self.kernels = search_kernels(
            problem.hooks(self.evaluation, first.name),
            Rules(
                shapes,
                first.change,
                self.memory_kind,
                algorithm.rule,
                algorithm.at_optimum,
                by_team=self.level == "solution",
                note=record_improvement if history else None,
                decode=decode,
                apply=first.apply,
            ),
        )
        self.tuner: Any = tune(self.evaluating, problem.encoding.n, max(self.sizes)) if tune else None
        self.recorded = {}
        self.latest_s = 0.0
        """Seconds of an iteration in the last batch."""
        self.iteration_s = 0.0
        """Seconds of an iteration of the walks that run side by side, as the warm-up found; 0: not known."""
        self.slices: Slices | None = None
        self.choose_launch()
        self.allocate()
        check_custom_moves(backend, problem.encoding, self.neighbourhoods, self.sizes)
        self.host_loop = HostLoop(self) if self.is_host_driven else None
        self.settle_launch()
        self.even_out()

    # --- launches ---

    def settle_launch(self) -> None:
        """Compile, with smaller teams where a kernel needs more registers than the device has for so many lanes."""
        limits = self.backend.capabilities
        while True:
            try:
                self.bind_all()
                return
            except LaunchRefused:
                if self.step_size <= 32 and self.team_size <= 32:
                    raise
                self.step_size = min(self.step_size, max(32, round_to_warps(self.step_size // 2)))
                if self.in_one_team or self.step_size <= 32:
                    self.team_size = min(self.team_size, max(32, round_to_warps(self.team_size // 2)))
                self.teams = max(1, min(limits.compute_units * limits.lanes_resident // self.team_size,
                                        -(-max(self.sizes) // self.team_size)))  # fmt: skip
                self.give_each_neighbour_a_lane()

    # --- memory of the device ---

    def allocate(self) -> None:
        """Everything that a run needs, once."""
        self.first_walk, self.end_walk = 0, 1
        if self.level == "algorithm":
            self.first_walk, self.end_walk = self.share_of_walks()
        self.here = self.awake = self.end_walk - self.first_walk
        backend, encoding = self.backend, self.problem.encoding
        self.given = self.problem.with_room(self.given, self.most_lanes)
        self.remembered = remembered(self)
        sizes = {"elements": encoding.n, "words of memory": self.memory_words, "words of control": walks.CONTROL}
        for what, size in {**sizes, **{f"elements of {n}": k for n, k in row_sizes(self.given).items()}}.items():
            if self.here * size >= 2**31:
                raise UserError(f"{self.here} walks of {size} {what} each: expected less than 2^31 in all")
        numbers = {"room": self.memory_words, "length": encoding.n, "choices": encoding.choices}
        one = RecordingWalk(**numbers, places=note_capacity(self.here)) if self.history else Walk(**numbers)
        self.walkers = backend.rows(one, self.here, S=encoding.dtype)
        self.data = backend.rows(placed(self.given, self.data_memory), self.here)
        limits = np.zeros(walks.LIMITS, np.int32)
        neighbours = np.array((self.sizes + [0, 0])[:MOST_LEVELS], np.uint32)
        self.shared = backend.load(WalkSettings(limits, neighbours, cooling_table(self.algorithm.cooling)))
        self.write_rows(self.walkers.number, np.arange(self.first_walk, self.end_walk, dtype=np.uint64))
        self.adopted = backend.allocate(encoding.n, encoding.dtype)
        self.keys = backend.upload(np.full(1, NO_KEY, np.uint64))
        self.finished = backend.upload(np.zeros(1, np.uint64))
        self.sequence: Any = None

    def share_of_walks(self) -> tuple[int, int]:
        """The first of this rank's walks, and the first behind them."""
        rank, size = self.communicator.rank, self.communicator.size
        if self.speeds is None:
            return equal_part(self.walks, rank, size)
        parts = parts_by_speed(self.walks, self.speeds)
        return sum(parts[:rank]), sum(parts[: rank + 1])

    def rows_of(self, buffer: Any, size: int) -> np.ndarray:
        """What this rank's walks have in a buffer, a row of so many elements each; a rank may have no walk."""
        elements: np.ndarray = self.backend.download(buffer)[: self.here * size]
        return elements.reshape(self.here, size)

    def write_rows(self, buffer: Any, rows: np.ndarray) -> None:
        """Write the rows of all this rank's walks."""
        if self.here:
            self.backend.write(buffer, rows)

    def begin(self, stop: Stop, start: np.ndarray | None) -> None:
        """Start solutions, their costs by the NumPy scorer, and a blank memory."""
        backend, problem, encoding = self.backend, self.problem, self.problem.encoding
        if start is None:
            lanes = min(64, backend.capabilities.max_team_size)
            teams = max(1, min(-(-self.here // lanes), 16 * backend.capabilities.compute_units))
            backend.launch(start_solutions, teams, lanes, encoding.code, self.walkers, self.seed)
        else:
            self.write_rows(self.walkers.solution, np.tile(encoding.check(start), self.here))
        costs = problem.costs(self.rows_of(self.walkers.solution, encoding.n))
        for cost in costs[self.is_astray(costs)][:1]:
            raise UserError(f"{problem.name}: a start solution costs {cost}: expected {self.expected_costs}")
        control = np.zeros((self.here, walks.CONTROL), np.int32)
        control[:, walks.COST] = control[:, walks.BEST_COST] = costs
        control[:, walks.HOME_COST] = moves.NEVER
        control[:, walks.CHANGED] = walks.EVERYTHING
        control[:, walks.STOP] = np.where(costs <= stop.target, walks.TARGET_REACHED, walks.RUNNING)
        self.write_rows(self.walkers.control, control)
        self.write_rows(self.walkers.totals, np.zeros((self.here, walks.TOTALS), np.uint64))
        backend.write(self.keys, np.full(1, NO_KEY, np.uint64))
        backend.write(self.finished, np.zeros(1, np.uint64))
        algorithm = self.algorithm
        limits = {
            walks.MOST_ITERATIONS: stop.iterations,
            walks.TARGET: stop.target,
            walks.PATIENCE: stop.patience,
            walks.TENURE: self.tenure,
            walks.TENURE_SPAN: self.tenure_span,
            walks.STRENGTH: algorithm.strength,
            walks.PLATEAU: algorithm.plateau,
            walks.BATCH: algorithm.batch,
            walks.SEED: self.seed,
        }
        backend.write(self.shared.limits, np.array([limits[k] for k in range(walks.LIMITS)], np.int32))
        self.launch_begin()
        if algorithm.rule == ANNEAL:
            temperature = algorithm.temperature or self.usual_difference()
            self.write_rows(self.walkers.heat, np.full(self.here, temperature, np.float32))

    def launch_begin(self) -> None:
        """Queue what builds the state of every walk from its solution."""
        self.backend.launch(self.kernels.begin, self.walk_teams, self.step_size, self.walkers, self.data)

    def usual_difference(self) -> float:
        """The mean absolute difference of the first thousand neighbours of the first walk's start solution."""
        mean = np.zeros(1)
        if self.first_walk == 0 and self.here:
            mean[0] = self.own_usual_difference()
        return float(self.from_its_rank(mean, 0)[0])

    def own_usual_difference(self) -> float:
        """The same on the rank that has the first walk."""
        backend = self.backend
        count = min(1000, self.sizes[0])
        fitnesses = backend.allocate(count, np.int32)
        backend.launch(self.kernels.fitness, self.teams, self.team_size, False, 0, Share(0, 1, 0, count), fitnesses,
                       self.walkers, self.data)  # fmt: skip
        differences = backend.download(fitnesses).astype(np.int64)
        allowed = differences[differences != moves.NEVER]
        return max(1.0, float(np.abs(allowed).mean())) if allowed.size else 1.0

    # --- running ---

    def warm_up(self, limit_s: float = inf) -> None:
        """Make one iteration, so that everything is compiled; the time counts as the backend's compilation.

        Of many walks those make it that run side by side. Its duration decides whether iterations are made in slices.

        Parameters
        ----------
        limit_s
            Time limit of the runs, if it is known: what slices launch is compiled now, and not when a run begins.

        """
        self.try_problem()
        with self.backend.warming_up():
            self.awake = self.side_by_side
            try:
                self.walk(Stop(iterations=1), None, None)
                self.iteration_s = self.latest_s
                if is_long(self.iteration_s, limit_s) and self.iteration_s < MOST_TRIED_AGAIN_S:
                    self.walk(Stop(iterations=1), None, None)
                    self.iteration_s = min(self.iteration_s, self.latest_s)
            finally:
                self.awake = self.here
            self.bind_slices(limit_s)

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
        if history and not self.history:
            raise UserError("history=True in `run` alone: expected LocalSearch(..., history=True), which compiles it")
        stop = (Stop() if stop is None else stop) if self.ends_itself else checked_stop(
            stop, self.algorithm.name, *CRITERIA, callback=callback)  # fmt: skip
        check_stop_type(stop)
        stop.check()
        self.meet(ranks)
        self.try_problem()
        self.bind_slices(stop.seconds)
        monitor = ProgressMonitor(
            stop,
            callback,
            stop.limit and stop.limit * (self.walks if self.takes_turns else 1),
            seconds_before(checkpointer),
        )
        earlier = take_checkpoint(checkpointer, partial(layout, self, stop, seconds_before(checkpointer)))
        if self.takes_turns:
            outcome = self.walk_in_turn(stop, start, monitor, checkpointer, earlier)
        else:
            outcome = self.walk(stop, start, monitor, checkpointer, earlier, spent=seconds_before(checkpointer))
        monitor.tell_end(monitor.done, outcome.cost)
        self.confirm(outcome)
        return outcome._replace(
            finished=monitor.done == monitor.total or not self.communicator.bcast(monitor.interrupted)
        )

    @property
    def ends_itself(self) -> bool:
        """Whether every walk ends at a local optimum."""
        return self.algorithm.rule in (BEST, FIRST) and self.algorithm.at_optimum == HALT

    def meet(self, ranks: Any) -> None:
        """Talk to these ranks from now on; what is recorded for others is forgotten."""
        ranks = ranks or self.communicator
        if ranks is self.met:
            return
        self.met = ranks
        if ranks is not self.communicator:
            self.communicator = ranks
            self.sequence = None
        if self.level == "algorithm" and not have_equal_devices(self.backend, ranks):
            self.share_by_speed()

    def share_by_speed(self) -> None:
        """Measure how fast every rank is, and give fast ones more walks; the slowest may get none."""
        ranks = self.communicator
        speeds = ranks.bcast(ranks.gather(self.rehearsed()) or [])
        if max(speeds) > EQUAL_SPEED_RATIO * min(speeds):
            self.speeds = speeds
            self.allocate()

    def rehearsed(self) -> float:
        """Iterations per second of this rank's walks together, in a few that count for nothing."""
        self.begin(Stop(), None)
        iterate = HistoryRecorder(self, 0.0).iterate if self.history else self.iterate
        made, count, best = 0, 1, 0.0
        began = time.perf_counter()
        while time.perf_counter() - began < REHEARSAL_S:
            before = time.perf_counter()
            iterate(count)
            control = self.rows_of(self.walkers.control, walks.CONTROL)
            spent = time.perf_counter() - before
            since, made = made, int(control[:, walks.ITERATION].sum())
            best = max(best, (made - since) / max(spent, 1e-9))
            if made == since:
                break
            if spent < REHEARSAL_BATCH_S:
                count *= 2
        return best

    def try_problem(self) -> None:
        """Before the first run: try some moves of a problem that no test of the suite knows."""
        if not self.is_tried and not self.problem.is_tested:
            names = [one.name for one in self.neighbourhoods]
            check_on_first_rank(self.communicator, self.problem, names, self.evaluation_name)
        self.is_tried = True

    def confirm(self, outcome: Outcome) -> None:
        """Hold the best solution to the problem's scorer; what the first rank finds counts for all."""
        cost = self.communicator.bcast(int(self.problem.cost(outcome.solution)))
        if abs(cost - outcome.cost) > self.problem.tolerance():
            raise Unconfirmed(self.searched, outcome, cost)

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
        self.begin(stop, start)
        recorder = HistoryRecorder(self, began) if self.history else None
        iterate = recorder.iterate if recorder else self.iterate
        self.slices = slices_for(self, stop.seconds, began)
        done = resume_walks(self, earlier, recorder) if earlier is not None else 0
        if monitor is not None:
            monitor.done += done
        batch = FIRST_BATCH if stop.seconds == inf and checkpointer is None else 1
        iteration_s, most_s = whole_s(self), longest_launch_s(stop.seconds, spent)
        work = self.work_done() if stop.seconds != inf else 0
        by_time = False
        while done < stop.iterations:
            if self.slices is not None:
                self.slices.is_on = iteration_s > most_s
            count = 1 if self.in_slices else min(batch, stop.iterations - done)
            if self.exchange:
                count = min(count, self.exchange - done % self.exchange)
            before = time.perf_counter()
            iterate(count)
            control = self.rows_of(self.walkers.control, walks.CONTROL)
            done += count
            is_ended = monitor is not None and self.told(monitor, count, control)
            if self.exchange and done % self.exchange == 0:
                self.share_best(control)
                if recorder is not None:
                    recorder.meet()
                control = self.rows_of(self.walkers.control, walks.CONTROL)
            now = time.perf_counter()
            before_work, work = work, self.work_done() if stop.seconds != inf else 0
            standing = self.compared(
                control,
                now - before,
                before - began,
                self.uneven(count, work - before_work),
                is_ended,
                checkpointer is not None and checkpointer.is_due(),
            )
            iteration_s, self.latest_s = standing.slowest / count, (now - before) / count
            most_s = longest_launch_s(stop.seconds, standing.spent, standing.uneven)
            batch = min(next_batch(batch, standing.slowest), max(1, int(min(most_s / max(iteration_s, 1e-9), MOST))))
            if standing.astray:
                raise ProblemError(
                    f"{self.problem.name}: a walk came to a cost out of range: expected {self.expected_costs}; look at "
                    "`delta`, or make costs smaller"
                )
            # Walks that rest may go on after an exchange, which must not depend on when the clock makes a batch end.
            exchanged = self.exchange == 0 or done % self.exchange == 0
            if standing.running == 0 and exchanged:
                break
            is_over = self.is_over(stop.seconds, standing.spent, iteration_s)
            by_time = is_over and (done < stop.iterations or self.is_cut)
            if standing.late or by_time:
                break
            if checkpointer is not None and standing.due:
                checkpointer.keep(
                    self.communicator, add_earlier_outcome(self, make_checkpoint(self, done, recorder), found)
                )
        self.slices = None
        return self.outcome(recorder.history() if recorder else None)._replace(by_time=by_time)

    def told(self, monitor: ProgressMonitor, count: int, control: np.ndarray) -> bool:
        """Report ``count`` further iterations to the callback. Return True if the walk should end."""
        monitor.done += count
        if monitor.is_due():
            monitor.tell(monitor.done, self.best_here(control)[0] if self.here else None)
        return monitor.interrupted

    @property
    def in_slices(self) -> bool:
        """True while iterations are made in slices."""
        return self.slices is not None and self.slices.is_on

    @property
    def is_cut(self) -> bool:
        """True if the time was over before all walks of this rank had made an iteration."""
        return self.slices is not None and self.slices.is_cut

    def is_over(self, limit_s: float, spent_s: float, iteration_s: float) -> bool:
        """Return True if the time is over, or a further iteration, which cannot be cut, would end too late."""
        has_time = self.slices is not None or is_time_for(limit_s, spent_s, iteration_s)
        return self.is_cut or spent_s > limit_s or not has_time

    def work_done(self) -> int:
        """Neighbours that this rank's walks have evaluated so far, as one walk after the other would."""
        return int(self.rows_of(self.walkers.totals, walks.TOTALS)[:, walks.EVALUATIONS].sum())

    def uneven(self, count: int, work: int) -> float:
        """Factor by which the next batch may take longer than one of ``count`` iterations that did this work.

        Walks find an improving neighbour late, draw long before one is accepted, or come to a larger neighbourhood.
        """
        most = self.algorithm.batch if self.algorithm.rule == ANNEAL else max(self.sizes)
        return min(MOST_SAFETY_FACTOR, SAFETY_FACTOR * max(1.0, count * self.here * most / max(1, work)))

    def compared(
        self, control: np.ndarray, seconds: float, before_s: float, uneven: float, is_ended: bool, is_due: bool
    ) -> BatchState:
        """Compare all ranks after a batch; all of them call this.

        Parameters
        ----------
        control
            Of this rank's walks.
        seconds, uneven
            See `BatchState`, for this rank.
        before_s
            Seconds of the run when the batch began; the first rank's counts.
        is_ended, is_due
            This rank's callback ends the run, of which the first rank's counts; its checkpoint is due.

        """
        rank, size = self.communicator.rank, self.communicator.size
        told = np.zeros(5 + 2 * size, np.int64)
        told[0] = (control[:, walks.STOP] == walks.RUNNING).sum()
        told[1] = self.is_astray(control[:, walks.COST]).sum()
        told[2] = (is_ended and rank == 0) or self.is_cut
        told[3] = is_due
        told[4] = round(before_s * 1e9) if rank == 0 else 0
        told[5 + rank] = round(seconds * 1e9)
        told[5 + size + rank] = round(uneven * 1e3)
        self.communicator.reduce(told, "sum")
        slowest = float(told[5 : 5 + size].max()) / 1e9
        return BatchState(
            running=int(told[0]),
            astray=int(told[1]),
            late=bool(told[2]),
            due=bool(told[3]),
            slowest=slowest,
            spent=float(told[4]) / 1e9 + slowest,
            uneven=float(told[5 + size :].max()) / 1e3,
        )

    def walk_in_turn(
        self,
        stop: Stop,
        start: np.ndarray | None,
        monitor: ProgressMonitor,
        checkpointer: Checkpointer | None,
        earlier: Checkpoint | None,
    ) -> Outcome:
        """Make walk after walk, each until ``stop`` holds, and none after the time is over (section 6.7)."""
        began = time.perf_counter() - seconds_before(checkpointer)
        found = earlier_outcome(earlier)
        monitor.done = sum(one.iterations for one in found)
        for number in range(len(found), self.walks):
            spent = self.communicator.bcast(time.perf_counter() - began)
            is_over = spent >= stop.seconds
            if found and (is_over or self.communicator.bcast(monitor.interrupted)):
                found[-1] = found[-1]._replace(by_time=is_over)
                break
            self.first_walk, self.end_walk = number, number + 1
            self.backend.write(self.walkers.number, np.array([number], np.uint64))
            found.append(self.walk(stop, start, monitor, checkpointer, earlier, found, spent))
            earlier = None
        return combine_outcomes(found)

    def bind_all(self) -> None:
        """Compile all that a run launches."""
        backend = self.backend
        backend.bind(self.kernels.begin, 1, self.step_size, (self.walkers, self.data))
        backend.bind(self.kernels.keep, 1, self.step_size, (self.walkers,))
        if self.in_one_team:
            backend.bind(self.kernels.walk, 1, self.team_size, (True, 0, 1, 1, self.walkers, self.shared, self.data))
            if self.exchange:
                backend.bind(self.kernels.adopt, 1, self.step_size, (0, self.adopted, self.walkers, self.data))
            return
        with backend.record():
            if self.host_loop is None:
                self.launch_iteration()
            else:
                self.launch_step()
        if self.host_loop is not None:
            self.host_loop.bind()

    def bind_parts(self) -> None:
        """Compile what makes an iteration of one walk in parts."""
        with self.backend.record():
            self.launch_refresh(0)
            self.launch_part(0, 0, 1)
            self.launch_step(0)

    def bind_slices(self, limit_s: float) -> None:
        """Compile what slices launch, if a run of this limit may make some; before the clock begins."""
        if limit_s == inf or self.host_loop is not None or not is_long(whole_s(self), limit_s):
            return
        if needs_parts(self, limit_s):
            self.bind_parts()
        else:  # slices of walks, which begin elsewhere than at the first
            given = (False, 0, 1, 1, self.walkers, self.shared, self.data)
            self.backend.bind(self.kernels.walk, 1, self.team_size, given)

    def iterate(self, count: int) -> None:
        """Queue ``count`` iterations of every walk that is awake."""
        if self.slices is not None and self.slices.is_on:
            self.slices.iterate(count)
        elif self.in_one_team:
            self.launch_walks(count, 0, self.awake)
        elif self.host_loop is not None:
            self.host_loop.iterate(count)
        elif self.is_tuning:
            for _ in range(count):
                self.iterate_tuned()
        else:
            if self.sequence is None:
                with self.backend.record() as self.sequence:
                    self.launch_iteration()
            self.sequence.replay(count)

    @property
    def side_by_side(self) -> int:
        """How many of this rank's walks the device runs at a time."""
        return min(self.here, self.walk_teams) if self.in_one_team else self.here

    def launch_walks(self, count: int, first: int, end: int) -> None:
        """Queue ``count`` iterations of this rank's walks ``first`` to ``end - 1``, each by one team."""
        teams = max(1, min(end - first, self.walk_teams))
        self.backend.launch(self.kernels.walk, teams, self.team_size, first == 0, first, end, count, self.walkers,
                            self.shared, self.data)  # fmt: skip

    def launch_iteration(self) -> None:
        """Queue a scan and the move that it chooses."""
        if self.steps_at_once:
            self.launch_refresh()
            self.backend.launch(self.kernels.scan_and_step, self.teams, self.team_size, self.finished, self.keys,
                                self.walkers, self.shared, self.data)  # fmt: skip
        else:
            self.launch_scan()
            self.launch_step()

    def iterate_tuned(self) -> None:
        """Make one iteration with the shape that the tuner proposes."""
        self.launch_tuned(self.launch_own_scan)
        self.agree()
        self.launch_step()

    def agree(self) -> None:
        """Queue the reduction of all ranks' smallest keys to the smallest."""
        self.backend.collectives(self.communicator).reduce(self.keys, "least")

    @property
    def shares_neighbours(self) -> bool:
        """Whether several ranks share the neighbours of one walk."""
        return self.level != "algorithm" and self.communicator.size > 1

    @property
    def own_share(self) -> tuple[int, int]:
        """Which part of a walk's neighbours this rank looks at, and of how many parts."""
        return (self.communicator.rank, self.communicator.size) if self.shares_neighbours else (0, 1)

    def launch_refresh(self, walk: int = 0) -> None:
        """Queue what brings the problem's tables up to date for a walk, if it keeps any."""
        rank, size = self.own_share
        if self.is_quick:
            first, end = self.sizes[0] * rank // size, self.sizes[0] * (rank + 1) // size
            self.backend.launch(self.kernels.refresh, self.teams, self.team_size, self.here <= 1, walk, first, end,
                                self.walkers, self.shared, self.data)  # fmt: skip

    def launch_scan(self) -> None:
        """Queue the search for the smallest key of all ranks."""
        self.launch_own_scan()
        self.agree()

    def launch_own_scan(self) -> None:
        """Queue the search for this rank's smallest key."""
        self.launch_refresh()
        self.launch_part(0, *self.own_share)

    def launch_part(self, walk: int, part: int, parts: int) -> None:
        """Queue the search for the smallest key in one of so many equal parts of a walk's neighbours."""
        self.backend.launch(self.kernels.scan, self.teams, self.team_size, self.here <= 1, walk, part, parts, self.keys,
                            self.walkers, self.shared, self.data)  # fmt: skip

    @property
    def is_quick(self) -> bool:
        """Whether tables are refreshed before every scan."""
        return self.evaluation.refresh is not None and self.neighbourhoods[0].name in self.evaluation.quick_for

    def launch_step(self, walk: int = 0) -> None:
        """Queue the move of a walk that the smallest key stands for."""
        self.backend.launch(self.kernels.step, 1, self.step_size, self.here <= 1, walk, self.keys, self.walkers,
                            self.shared, self.data)  # fmt: skip

    # --- results ---

    def best_here(self, control: np.ndarray) -> tuple[int, int]:
        """Return the least cost of this rank's walks and the first walk that has it.

        A rank without a walk returns the largest number of 32 bits, which no walk costs, and a walk behind all others.
        """
        if not self.here:
            return moves.NEVER, self.walks
        w = int(np.argmin(control[:, walks.BEST_COST]))
        return int(control[w, walks.BEST_COST]), self.first_walk + w

    def from_its_rank(self, words: np.ndarray, walk: int) -> np.ndarray:
        """Words of 64 bits of the rank that has this walk, on every rank."""
        if self.level == "algorithm":
            if not self.first_walk <= walk < self.end_walk:
                words = np.zeros_like(words)
            self.communicator.reduce(words.view(np.uint64), "sum")
        return words

    def best_solution(self, walk: int, control: np.ndarray) -> tuple[np.ndarray, int]:
        """The best solution of a walk and the iteration in which it came there, on every rank."""
        encoding = self.problem.encoding
        size = encoding.n * np.dtype(encoding.dtype).itemsize
        words = np.zeros(1 + -(-size // 8), np.uint64)
        self.launch_keep()
        if self.first_walk <= walk < self.end_walk:
            w = walk - self.first_walk
            words[0] = control[w, walks.BEST_AT]
            best = self.backend.read(self.walkers.best, w * encoding.n, encoding.n)
            words[1:].view(np.uint8)[:size] = best.view(np.uint8)
        words = self.from_its_rank(words, walk)
        return words[1:].view(np.uint8)[:size].view(encoding.dtype), int(words[0])

    def launch_keep(self) -> None:
        """Queue what makes every walk's best solution lie in its `best`."""
        self.backend.launch(self.kernels.keep, self.walk_teams, self.step_size, self.walkers)

    def share_best(self, control: np.ndarray) -> None:
        """Let every walk that is worse than the best of all go on from that one."""
        cost, walk = self.communicator.minloc(*self.best_here(control))
        self.backend.write(self.adopted, self.best_solution(walk, control)[0])
        self.backend.launch(self.kernels.adopt, self.walk_teams, self.step_size, cost, self.adopted, self.walkers,
                            self.data)  # fmt: skip

    def outcome(self, history: list[list[Any]] | None) -> Outcome:
        """Collect what all walks of all ranks have found."""
        control = self.rows_of(self.walkers.control, walks.CONTROL)
        totals = self.rows_of(self.walkers.totals, walks.TOTALS)
        cost, walk = self.best_here(control)
        numbers = np.arange(self.first_walk, self.end_walk, dtype=np.uint64)
        digest = mix_digests(totals[:, walks.DIGEST], numbers)
        iterations, evaluations = control[:, walks.ITERATION].sum(), totals[:, walks.EVALUATIONS].sum()
        sums = np.array([iterations, evaluations, digest], np.uint64)
        if self.level == "algorithm":
            cost, walk = self.communicator.minloc(cost, walk)
            self.communicator.reduce(sums, "sum")
        iterations, evaluations, digest = (int(x) for x in sums)
        solution, found_at = self.best_solution(walk, control)
        return Outcome(cost, walk, found_at, iterations, evaluations, digest, solution, history)


def next_batch(batch: int, seconds: float) -> int:
    """Iterations to queue at a time, after a batch took so long: as many as the host shall wait for, but no leap."""
    if seconds < LONGEST_BATCH_S / 2:
        return batch * max(2, min(MOST_GROWTH, int(LONGEST_BATCH_S / 2 / max(seconds, 1e-9))))
    return max(1, batch // 2) if seconds > LONGEST_BATCH_S else batch
