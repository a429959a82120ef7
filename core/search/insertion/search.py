"""Iterated greedy search on one device of each rank (`core.kernels.insertion`)."""

from __future__ import annotations

from functools import partial
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import UserError
from core.kernels.insertion.iterated_greedy import GreedyRule, greedy_kernel
from core.kernels.insertion.order_walk import AS_GIVEN, GREEDY, OrderWalk
from core.problems.problem import Problem
from core.search.checkpoint import Checkpointer
from core.search.independent_walks import EVALUATIONS, IndependentWalks, check_range
from core.search.initial import start_solutions
from core.search.insertion.check import check_insertions, checked_insertion
from core.search.local_search.algorithms import Algorithm, IteratedGreedy
from core.search.local_search.outcome import Outcome, confirm
from core.search.protocol import Callback
from core.search.stop import MOST, Stop

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_REMOVED = 4096
MOST_TEMPERATURE = 1 << 24
SCALE = 64
"""Units of `GreedyRule.slack` in a unit of the cost."""
MOST_UNSTATED = 2**30


class IteratedGreedySearch(IndependentWalks):
    """Iterated greedy search on one problem and one device, ready to be repeated.

    Parameters
    ----------
    problem
        A problem with `Problem.insertion`.
    algorithm
        `IteratedGreedy`.
    backend, communicator, walks, seed, team_size
        See `core.search.independent_walks.IndependentWalks`.

    Raises
    ------
    UserError
        The problem has no costs of insertions, or a setting is out of range.
    """

    title = "iterated greedy search"
    solution_row = "order"
    least_cost = -MOST
    unit = "neighbours"
    evaluation_definition = "positions of inserted elements"

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        problem: Problem,
        algorithm: Algorithm | None = None,
        *,
        walks: int = 1,
        seed: int = 0,
        team_size: int | None = None,
    ) -> None:
        n = problem.encoding.n
        self.problem, self.algorithm = problem, algorithm or IteratedGreedy()
        self.insertion = checked_insertion(problem)
        self.removed = min(n, self.algorithm.removed or self.insertion.removed)
        temperature = self.algorithm.temperature
        self.temperature = self.insertion.temperature if temperature is None else temperature
        check_range("removed elements", self.removed, 1, MOST_REMOVED)
        check_range("temperature", self.temperature, 0, MOST_TEMPERATURE)
        super().__init__(
            backend, communicator, OrderWalk(n=n, places=n + 1), n, walks=walks, seed=seed, team_size=team_size
        )
        self.kernel = greedy_kernel(self.insertion.costs)
        self.data = backend.rows(self.insertion.data, self.own_count) if self.own_count else None
        self.initial: np.ndarray | None = None
        """Start solutions of all walks, shape (walks, n); None: greedy ones, of elements in random order."""
        self.is_checked = problem.is_tested

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings that decide the trajectory, besides the seed."""
        rule = {"removed": self.removed, "temperature": self.temperature}
        return {"algorithm": self.algorithm.name, "walks": self.walks, **rule}

    @property
    def description(self) -> str:
        return f"iterated greedy search, {self.removed} of {self.n} elements removed"

    @property
    def searched(self) -> str:
        """Problem and algorithm, for messages."""
        return f"{self.problem.name}, {self.title}"

    def warm_up(self) -> None:
        """Compile everything; the time counts as compilation."""
        self.check_problem()
        self.initial = None
        super().warm_up()

    def check_problem(self) -> None:
        """Try insertions of a problem without a test of the suite, before the first run."""
        if not self.is_checked:
            self.communicator.on_first(partial(check_insertions, self.problem))
        self.is_checked = True

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
        initial: ArrayLike | str | None = None,
    ) -> Outcome:
        """Search from start solutions, or from a checkpoint; an iteration is one perturbation of every walk.

        Parameters
        ----------
        stop, history, callback, ranks, checkpointer
            See `IndependentWalks.run`.
        initial : array_like, shape (n,) or (walks, n), or str, optional
            Start solution of all walks, or one for each, or the name of a start heuristic of the problem; by default
            each walk inserts all elements in a random order where they cost least.

        Raises
        ------
        Unconfirmed
            The best solution has another cost by the problem's `cost`.
        ProblemError
            The problem is new, and its costs of insertions are wrong.
        UserError
            A start solution is invalid, or no criterion ends the search.
        """
        self.communicator = ranks or self.communicator
        self.check_problem()
        self.initial = start_solutions(self.problem, self.walks, initial)
        outcome = super().run(stop, history=history, callback=callback, checkpointer=checkpointer)
        confirm(outcome, self.problem, self.communicator, self.searched)
        return outcome

    # --- the walks: see `IndependentWalks` ---

    def start(self) -> None:
        """Start every walk of this rank with its start solution, scored by NumPy."""
        self.number()
        solutions, start = self.initial, AS_GIVEN
        if solutions is None:
            solutions, start = np.broadcast_to(np.arange(self.n), (self.walks, self.n)), GREEDY
        orders = np.ascontiguousarray(solutions[self.first : self.end], np.int32)
        self.backend.write(self.rows.order, orders.reshape(-1))
        costs = self.problem.costs(orders)
        least, most = self.problem.cost_range() or (1 - MOST_UNSTATED, MOST_UNSTATED - 1)
        for cost in costs[(costs < least) | (costs > most)][:1]:
            raise UserError(f"{self.problem.name}: a start solution costs {cost}: expected {least} to {most}")
        self.write_control(costs, start)

    def evaluations(self, control: np.ndarray, totals: np.ndarray) -> int:
        """Return the number of positions that this rank's walks have evaluated."""
        return int(totals[:, EVALUATIONS].sum())

    def improve(self, count: int, stop: Stop) -> None:
        slack = round(SCALE * self.temperature * log(2))
        rule = GreedyRule(self.removed, slack, stop.target, self.seed)
        self.launch(self.kernel, self.data, count, rule)
