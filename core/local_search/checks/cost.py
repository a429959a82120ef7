"""Check of a problem's `cost`, before other functions are compared with `cost`."""

from __future__ import annotations

import inspect

import numpy as np

from core.local_search.checks.problem_errors import WrongCost
from core.local_search.encodings import Encoding
from core.local_search.kernels import moves as kinds
from core.local_search.problem import Problem

SCORED = 3
"""Solutions that are scored together and one by one."""
REALS_GRID = 2**24


class CheckedScorer:
    """A problem's `cost` with checks of its results.

    Attributes
    ----------
    tolerance : int
        Largest error of differences, since either cost may be inexact.
    extremes : tuple of int or None
        The least and the largest so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tolerance = 2 * problem.tolerance()
        self.stated = problem.cost_range()
        self.extremes: tuple[int, int] | None = None

    def cost(self, solution: np.ndarray) -> int:
        """Return the cost of one solution: (n,)."""
        return self.noted(self.integer(self.problem.cost(solution)))

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        """Return the costs of several: (count, n) -> (count,) int64."""
        costs = self.problem.costs(solutions)
        is_array = isinstance(costs, np.ndarray) and costs.dtype.kind in "iu"
        if not is_array or costs.shape != (len(solutions),):
            returned = f"an array of {costs.dtype}, {costs.shape}" if isinstance(costs, np.ndarray) else f"{costs!r}"
            raise WrongCost(
                f"{self.problem.name}: `costs` gives {returned} for {len(solutions)} solutions: expected an integer "
                f"each, an array of int64, {(len(solutions),)} ({self.place_of('costs')})"
            )
        for cost in (costs.min(), costs.max()) if len(costs) else ():
            self.noted(int(cost))
        return costs.astype(np.int64)

    def integer(self, cost: object) -> int:
        """Return the cost as Python's own integer; refuse anything else."""
        if isinstance(cost, (int, np.integer)) and not isinstance(cost, bool):
            return int(cost)
        advice = "is there a return?" if cost is None else "write int(...)"
        if isinstance(cost, (float, np.floating)) and not float(cost).is_integer():
            advice = "count in units that make every cost an integer, thousandths for example"
        raise WrongCost(
            f"{self.problem.name}: `cost` gives {cost!r}, {type(cost).__name__}: expected an int; {advice} "
            f"({self.place_of('cost')})"
        )

    def noted(self, cost: int) -> int:
        """Return the cost, which must be in the range that the problem states, and record it."""
        if self.stated is not None and not self.stated[0] <= cost <= self.stated[1]:
            raise WrongCost(
                f"{self.problem.name}: a solution costs {cost}: expected {self.stated[0]} to {self.stated[1]}, as "
                f"`cost_range` says ({self.place_of('cost_range')}; {self.place_of('cost')})"
            )
        least, most = self.extremes or (cost, cost)
        self.extremes = min(least, cost), max(most, cost)
        return cost

    def place_of(self, method: str) -> str:
        """Return file and line of one of the problem's methods."""
        function = inspect.unwrap(getattr(self.problem, method))
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}: {method}" if code else method


def check_costs(problem: Problem, seed: int) -> CheckedScorer:
    """Check `Problem.cost`, and compare `Problem.costs` with it, for some random solutions.

    Return the checked scorer for later use. Raises `WrongCost` if a cost is no integer or is outside `cost_range`,
    changes its solution, or differs in a second call; or if `costs` returns other values.
    """
    scorer = CheckedScorer(problem)
    random = np.random.default_rng(seed)
    solutions = np.array([random_solution(problem.encoding, random) for _ in range(SCORED)])
    single = [repeatable_cost(scorer, solution) for solution in solutions]
    together = solutions.copy()
    for cost, expected in zip(scorer.costs(together).tolist(), single, strict=True):
        if cost != expected:
            raise WrongCost(
                f"{problem.name}: `costs` says {cost} of a solution: expected {expected}, as `cost` says "
                f"({scorer.place_of('costs')}; {scorer.place_of('cost')})"
            )
    for solution, after in zip(solutions, together, strict=True):
        refuse_a_change(scorer, "costs", solution, after)
    return scorer


def repeatable_cost(scorer: CheckedScorer, solution: np.ndarray) -> int:
    """Return the cost of a solution, scored twice; neither cost nor solution may change."""
    copied = solution.copy()
    first = scorer.cost(copied)
    refuse_a_change(scorer, "cost", solution, copied)
    second = scorer.cost(copied)
    if first != second:
        raise WrongCost(
            f"{scorer.problem.name}: `cost` returns {first} for a solution, and {second} on the second call: expected "
            f"the same ({scorer.place_of('cost')})"
        )
    return first


def refuse_a_change(scorer: CheckedScorer, method: str, before: np.ndarray, after: np.ndarray) -> None:
    """Raise `WrongCost` if a scorer has written to its solution."""
    changed = np.flatnonzero(before != after)
    if len(changed):
        p = int(changed[0])
        raise WrongCost(
            f"{scorer.problem.name}: `{method}` changes its solution, element {p} from {before[p]} to {after[p]}: "
            f"expected that it only reads; work on solution.copy() ({scorer.place_of(method)})"
        )


def random_solution(encoding: Encoding, random: np.random.Generator) -> np.ndarray:
    """Return a random solution of an encoding: (n,), of its dtype; real numbers are multiples of 2^-24."""
    if encoding.code == kinds.PERMUTATION:
        return random.permutation(encoding.n).astype(encoding.dtype)
    if encoding.code == kinds.REALS:
        return (random.integers(-REALS_GRID, REALS_GRID + 1, encoding.n) / REALS_GRID).astype(encoding.dtype)
    return random.integers(0, encoding.choices, encoding.n).astype(encoding.dtype)
