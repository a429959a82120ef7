"""Base of searches with independent walks, each made by one team.

A walk depends on nothing but the seed and its number. So walks are shared out over teams and ranks, and the best
solution wins. Iterated 3-opt and iterated greedy search are such searches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import UserError
from core.search.checkpoint import (
    ANY_WORD,
    Checkpoint,
    CheckpointArray,
    Checkpointer,
    history_array,
    permutation_fault,
)
from core.search.local_search.outcome import Outcome, mix_digests
from core.search.partition import equal_part
from core.search.protocol import Callback
from core.search.run import Step, SynchronousRun, execute
from core.search.stop import MOST, Stop, checked_stop

# The words of a walk's `control` and `totals`, the same in the kernels of all such searches; each has one word more.
COST, BEST_COST, ROUNDS, BEST_AT, FLAG = range(5)
CONTROL = 5
DIGEST, EVALUATIONS = range(2)
TOTALS = 2
TARGET_BATCH = 1000
"""Iterations between two looks at the target."""


class IndependentWalks:
    """Walks of one search on one device, ready to be repeated. Subclasses have the kernels.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, or a rehearsal of one; every rank constructs and calls the same.
    one : bundle
        A walk: it has the rows ``control``, ``totals``, ``number``, ``best`` and `solution_row`.
    n : int
        Number of elements of a solution, a permutation.
    walks, seed, team_size
        Number of walks over all ranks, seed of all random numbers, and lanes of a team (None: chosen for the device).

    Raises
    ------
    UserError
        A setting is out of range.

    """

    title = ""
    """Name of the search in messages."""
    solution_row = ""
    """The row of a walk's present solution."""
    least_cost = 0
    unit = "perturbations"
    """Unit of `Outcome.evaluations`."""
    evaluation_definition = ""

    def __init__(
        self, backend: Any, communicator: Any, one: Any, n: int, *, walks: int, seed: int, team_size: int | None
    ) -> None:
        check_range("walks", walks, 1)
        check_range("seed", seed, 0)
        self.backend, self.communicator, self.n = backend, communicator, n
        self.walks, self.seed = walks, seed
        self.first, self.end = equal_part(walks, communicator.rank, communicator.size)
        lanes = 1 if backend.capabilities.max_team_size == 1 else min(32, backend.capabilities.max_team_size)
        self.team_size = team_size or lanes
        self.rows: Any = backend.rows(one, self.here) if self.here else None

    @property
    def here(self) -> int:
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
        """Let every walk continue from the solution of a checkpoint."""

    def keep_best(self) -> None:
        """Let the row ``best`` of every walk be its best solution."""

    def in_words(self, found: np.ndarray) -> np.ndarray:
        """Return the elements of a solution as the problem numbers them."""
        return found

    def evaluations(self, control: np.ndarray, totals: np.ndarray) -> int:
        """Return the units of work that this rank's walks have done."""
        return int(control[:, ROUNDS].sum())

    # --- runs ---

    def warm_up(self) -> None:
        """Compile everything; the time counts as compilation."""
        with self.backend.warming_up():
            if self.here:
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

        Parameters
        ----------
        stop
            Iterations of a walk, the time, or a target, which is looked at every `TARGET_BATCH` iterations; patience is
            refused.
        history, callback, ranks, checkpointer
            See `core.search.protocol.Search.run`.

        """
        stop = checked_stop(stop, self.title, "iterations", "seconds", "target", callback=callback)
        self.communicator = ranks or self.communicator
        run = SynchronousRun(
            self.communicator, stop, callback, total=stop.limit, checkpointer=checkpointer, history=history
        )
        return execute(self, run)

    # --- the search, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """See `core.search.run.Steps`: descend from the start solutions, or take those of a checkpoint."""
        earlier = None
        if checkpoint is not None:
            run.done = int(checkpoint["iterations"])
            earlier = checkpoint.get("history")
            if self.here:
                here = slice(self.first, self.end)
                self.number()
                for name, _, dtype in self.kept_rows():
                    self.backend.write(getattr(self.rows, name), checkpoint[name][here].astype(dtype).reshape(-1))
                self.resume()
        elif self.here:
            self.start()
            self.improve(0, run.stop)
        run.begin_samples(
            self.best_here()[0] if self.here and checkpoint is None else None,
            earlier,
            (run.done * self.walks, run.done),
        )

    def step(self, run: SynchronousRun) -> Step:
        """See `core.search.run.Steps`: perturb every walk ``count`` times."""
        has_target = run.stop.target != Stop().target
        count = run.budget().steps
        if has_target:
            count = min(TARGET_BATCH - run.done % TARGET_BATCH, count)
        if self.here == 0:
            return Step(count)
        self.improve(count, run.stop)
        cost = self.best_here()[0]
        done = run.done + count
        if run.samples is not None:
            run.samples.see(cost, done * self.here, done)
        if run.is_report_due:
            run.report(done, cost, done * self.walks)
        return Step(count, is_ended=has_target and cost <= run.stop.target)

    def kept_rows(self) -> list[tuple[str, int, type]]:
        """Return name, number of elements and type of the rows that a checkpoint has."""
        solutions = [(name, self.n, np.int32) for name in (self.solution_row, "best")]
        return [*solutions, ("control", CONTROL, np.int32), ("totals", TOTALS, np.uint64)]

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """See `core.search.run.Steps`: solutions, costs and digests of all walks."""
        found = {}
        if self.here:
            self.keep_best()
            for name, width, _ in self.kept_rows():
                found[name] = self.backend.download(getattr(self.rows, name)).reshape(self.here, width)
        every = run.ranks.gather(found)
        history = run.history_rows(numbered=False)
        if every is None:
            return None
        state = {name: np.concatenate([one[name] for one in every if one]) for name, _, _ in self.kept_rows()}
        more = {} if history is None else {"history": history}
        return {"iterations": np.array(run.done, np.int64), **state, **more}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        """See `core.search.run.Steps`."""
        yield CheckpointArray("iterations", np.int64, (), [(0, run.stop.iterations)])
        done = int(state["iterations"])
        for name in (self.solution_row, "best"):
            yield CheckpointArray(name, np.int32, (self.walks, self.n), [(0, self.n - 1)], permutation_fault)
        costs = (self.least_cost, MOST)
        words = {COST: costs, BEST_COST: costs, ROUNDS: (0, done), BEST_AT: (0, done), FLAG: (0, 1)}
        yield CheckpointArray("control", np.int32, (self.walks, CONTROL), [words[k] for k in range(CONTROL)])
        yield CheckpointArray("totals", np.uint64, (self.walks, TOTALS), [(0, ANY_WORD)])
        if run.has_history:
            best = int(state["control"][:, BEST_COST].min())
            yield history_array("history", done, done * self.walks, run.before_s, best)

    def result(self, run: SynchronousRun) -> Outcome:
        """See `core.search.run.Steps`: the best solution of all walks, of the smallest number."""
        ranks, n = run.ranks, self.n
        mine = self.best_here() if self.here else (MOST, self.walks)
        cost, walk = ranks.minloc(*mine)
        words = np.zeros(n + 4, np.uint64)
        if self.here:
            self.keep_best()
            control = self.control()
            totals = self.backend.download(self.rows.totals).reshape(-1, TOTALS)
            numbers = np.arange(self.first, self.end, dtype=np.uint64)
            words[n] = control[:, ROUNDS].sum()
            words[n + 3] = self.evaluations(control, totals)
            words[n + 1] = mix_digests(totals[:, DIGEST], numbers)
            if self.first <= walk < self.end:
                words[n + 2] = control[walk - self.first, BEST_AT]
                words[:n] = self.in_words(self.backend.read(self.rows.best, (walk - self.first) * n, n))
        ranks.reduce(words, "sum")
        rounds, digest, found_at, evaluations = (int(word) for word in words[n:])
        run.end(run.done, cost, evaluations)
        found = Outcome(cost, walk, found_at, rounds, evaluations, digest, words[:n].astype(np.int64))
        is_finished = run.done == run.stop.iterations or not run.is_interrupted
        return replace(found, history=run.history(numbered=False), finished=is_finished, by_time=run.by_time)

    # --- launches ---

    def number(self) -> None:
        """Write the numbers of this rank's walks."""
        self.backend.write(self.rows.number, np.arange(self.first, self.end, dtype=np.uint64))

    def write_control(self, costs: Any, flag: int) -> None:
        """Let the walks begin at solutions of these costs."""
        control = np.zeros((self.here, CONTROL), np.int32)
        control[:, COST] = control[:, BEST_COST] = costs
        control[:, FLAG] = flag
        self.backend.write(self.rows.control, control.reshape(-1))
        self.backend.write(self.rows.totals, np.zeros(self.here * TOTALS, np.uint64))

    def launch(self, kernel: Any, *arguments: Any) -> None:
        """Launch a kernel on all walks of this rank, each by one team."""
        teams = min(self.here, 64 * self.backend.capabilities.compute_units)
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
    """Refuse a setting out of range."""
    if not least <= value <= most:
        raise UserError(f"{name} {value}: expected {least} to {most}")
