"""Base of searches with independent walks, each made by one team.

A walk depends only on the seed and its number. So walks are distributed over teams and ranks, and the best solution
wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.errors import UserError
from core.local_search.outcome import Outcome, mix_digests
from core.run.checkpoint import ANY_WORD, Checkpoint, CheckpointArray, Checkpointer, history_array, permutation_fault
from core.run.loop import Step, SynchronousRun, execute
from core.run.partition import equal_part
from core.run.protocol import Callback
from core.run.stop import MOST, Stop, checked_stop

# The words of a walk's `control` and `totals`, the same in the kernels of all such searches; each has one word more.
COST, BEST_COST, ROUNDS, BEST_AT, FLAG = range(5)
CONTROL = 5
DIGEST, EVALUATIONS = range(2)
TOTALS = 2
TARGET_BATCH = 1000
"""Iterations between two checks of the target."""


class IndependentWalks:
    """Walks of one search on one device, ready to be repeated. Subclasses have the kernels.

    Parameters
    ----------
    backend, communicator
        See `core.run.protocol.Search`.
    walk : bundle
        Has the rows ``control``, ``totals``, ``number``, ``best`` and `solution_row`.
    n
        Number of elements of a solution, a permutation.
    walks
        Number of walks over all ranks.
    seed
        Seed of all random numbers.
    team_size
        Lanes of a team; None: chosen for the device. The walks are the same.

    Raises
    ------
    UserError
        A setting is out of range.
    """

    title = ""
    """Name of the search in messages."""
    solution_row = ""
    """The row of a walk's present solution."""
    unit = "perturbations"
    """Unit of `Outcome.evaluations`."""
    evaluation_definition = ""

    def __init__(
        self, backend: Any, communicator: Any, walk: Any, n: int, *, walks: int, seed: int, team_size: int | None
    ) -> None:
        check_range("walks", walks, 1)
        check_range("seed", seed, 0)
        self.backend, self.communicator, self.n = backend, communicator, n
        self.walks, self.seed = walks, seed
        self.first, self.end = equal_part(walks, communicator.rank, communicator.size)
        lanes = 1 if backend.capabilities.max_team_size == 1 else min(32, backend.capabilities.max_team_size)
        self.team_size = team_size or lanes
        self.rows: Any = backend.rows(walk, self.own_count) if self.own_count else None

    @property
    def own_count(self) -> int:
        """Number of this rank's walks."""
        return self.end - self.first

    # --- to be defined by a search ---

    def start(self) -> None:
        """Set every walk of this rank to its start solution."""
        raise NotImplementedError

    def improve(self, count: int, stop: Stop) -> None:
        """Make ``count`` iterations of every walk, after its first descent."""
        raise NotImplementedError

    def resume(self) -> None:
        """Prepare every walk to continue from the solution of a checkpoint."""

    def keep_best(self) -> None:
        """Copy the best solution of every walk to its row ``best``."""

    def numbered_by_problem(self, solution: np.ndarray) -> np.ndarray:
        """Return a solution with the problem's numbers of its elements."""
        return solution

    def evaluations_after(self, iterations: int) -> int:
        return iterations * self.walks

    def evaluations(self, control: np.ndarray, totals: np.ndarray) -> int:
        """Return the units of work of this rank's walks."""
        return int(control[:, ROUNDS].sum())

    def place_of_best(self, outcome: Outcome) -> str:
        """Return where the best solution was found, as text."""
        return f"perturbation {outcome.found_at} of walk {outcome.walk}"

    # --- runs ---

    def warm_up(self) -> None:
        """Compile everything; the time counts as compilation."""
        with self.backend.warming_up():
            if self.own_count:
                self.start()
                self.improve(1, Stop())
                self.keep_best()
                self.backend.synchronize()

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> Outcome:
        """Search from the start solutions, or from a checkpoint; an iteration is one perturbation of every walk.

        ``stop`` has iterations of a walk, the time, or a target, which is checked every `TARGET_BATCH` iterations;
        patience is refused. For other arguments see `core.run.protocol.Search.run`.
        """
        stop = checked_stop(stop, self.title, "iterations", "seconds", "target", callback=callback)
        self.communicator = ranks or self.communicator
        run = SynchronousRun(
            self.communicator, stop, callback, total=stop.limit, checkpointer=checkpointer, history=history
        )
        return execute(self, run)

    # --- the search, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """Descend from the start solutions, or take those of a checkpoint."""
        if checkpoint is not None:
            run.done = int(checkpoint["iterations"])
            if self.own_count:
                self.number()
                for name, _, dtype in self.kept_rows():
                    rows: np.ndarray = checkpoint[name][self.first : self.end].astype(dtype)
                    self.backend.write(getattr(self.rows, name), rows.reshape(-1))
                self.resume()
            run.begin_samples(None, checkpoint.get("history"), (run.done * self.walks, run.done))
        else:
            if self.own_count:
                self.start()
                self.improve(0, run.stop)
            run.begin_samples(self.best_here()[0] if self.own_count else None)

    def step(self, run: SynchronousRun) -> Step:
        """Perturb every walk once in each iteration of the budget."""
        has_target = run.stop.target != Stop().target
        count = run.budget().steps
        if has_target:
            count = min(TARGET_BATCH - run.done % TARGET_BATCH, count)
        if self.own_count == 0:
            return Step(count)
        self.improve(count, run.stop)
        cost = self.best_here()[0]
        done = run.done + count
        if run.samples is not None:
            run.samples.see(cost, done * self.own_count, done)
        if run.is_report_due:
            run.report(done, cost, self.evaluations_after(done))
        return Step(count, is_ended=has_target and cost <= run.stop.target)

    def kept_rows(self) -> list[tuple[str, int, type]]:
        """Return name, number of elements and type of the rows in a checkpoint."""
        solutions = [(name, self.n, np.int32) for name in (self.solution_row, "best")]
        return [*solutions, ("control", CONTROL, np.int32), ("totals", TOTALS, np.uint64)]

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return solutions, costs and digests of all walks."""
        rows = {}
        if self.own_count:
            self.keep_best()
            for name, width, _ in self.kept_rows():
                rows[name] = self.backend.download(getattr(self.rows, name)).reshape(self.own_count, width)
        parts = run.ranks.gather(rows)
        history = run.history_rows(numbered=False)
        if parts is None:
            return None
        state = {name: np.concatenate([part[name] for part in parts if part]) for name, _, _ in self.kept_rows()}
        more = {} if history is None else {"history": history}
        return {"iterations": np.array(run.done, np.int64), **state, **more}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        yield CheckpointArray("iterations", np.int64, (), [(0, run.stop.iterations)])
        done = int(state["iterations"])
        for name in (self.solution_row, "best"):
            yield CheckpointArray(name, np.int32, (self.walks, self.n), [(0, self.n - 1)], permutation_fault)
        words = {COST: (0, MOST), BEST_COST: (0, MOST), ROUNDS: (0, done), BEST_AT: (0, done), FLAG: (0, 1)}
        yield CheckpointArray("control", np.int32, (self.walks, CONTROL), [words[k] for k in range(CONTROL)])
        yield CheckpointArray("totals", np.uint64, (self.walks, TOTALS), [(0, ANY_WORD)])
        if run.has_history:
            best = int(state["control"][:, BEST_COST].min())
            yield history_array("history", done, done * self.walks, run.before_s, best)

    def result(self, run: SynchronousRun) -> Outcome:
        """Return the best solution of all walks, of the smallest number."""
        ranks, n = run.ranks, self.n
        cost, walk = ranks.minloc(*(self.best_here() if self.own_count else (MOST, self.walks)))
        words = np.zeros(n + 4, np.uint64)
        if self.own_count:
            self.keep_best()
            control = self.control()
            totals = self.backend.download(self.rows.totals).reshape(-1, TOTALS)
            numbers = np.arange(self.first, self.end, dtype=np.uint64)
            words[n] = control[:, ROUNDS].sum()
            words[n + 3] = self.evaluations(control, totals)
            words[n + 1] = mix_digests(totals[:, DIGEST], numbers)
            if self.first <= walk < self.end:
                words[n + 2] = control[walk - self.first, BEST_AT]
                best = self.backend.read(self.rows.best, (walk - self.first) * n, n)
                words[:n] = self.numbered_by_problem(best)
        ranks.reduce(words, "sum")
        rounds, digest, found_at, evaluations = (int(word) for word in words[n:])
        run.end(run.done, cost, evaluations)
        solution, history = words[:n].astype(np.int64), run.history(numbered=False)
        return Outcome(
            cost, walk, found_at, rounds, evaluations, digest, solution, history, run.is_finished, run.by_time
        )

    # --- launches ---

    def number(self) -> None:
        """Write the numbers of this rank's walks."""
        self.backend.write(self.rows.number, np.arange(self.first, self.end, dtype=np.uint64))

    def write_control(self, costs: Any, flag: int) -> None:
        """Write the control words of walks that begin at solutions of these costs."""
        control = np.zeros((self.own_count, CONTROL), np.int32)
        control[:, COST] = control[:, BEST_COST] = costs
        control[:, FLAG] = flag
        self.backend.write(self.rows.control, control.reshape(-1))
        self.backend.write(self.rows.totals, np.zeros(self.own_count * TOTALS, np.uint64))

    def launch(self, kernel: Any, *arguments: Any) -> None:
        """Launch a kernel on all walks of this rank, each by one team."""
        teams = min(self.own_count, 64 * self.backend.capabilities.compute_units)
        self.backend.launch(kernel, teams, self.team_size, self.rows, *arguments)

    def control(self) -> np.ndarray:
        """Return the control words of this rank's walks: shape (walks, `CONTROL`)."""
        words: np.ndarray = self.backend.download(self.rows.control).reshape(-1, CONTROL)
        return words

    def best_here(self) -> tuple[int, int]:
        """Return the least cost of this rank's walks, and the number of the first walk that has it."""
        costs = self.control()[:, BEST_COST]
        return int(costs.min()), self.first + int(costs.argmin())


def check_range(name: str, value: float, least: int, most: int = MOST) -> None:
    if not least <= value <= most:
        raise UserError(f"{name} {value}: expected {least} to {most}")
