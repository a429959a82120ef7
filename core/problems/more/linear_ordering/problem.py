"""The linear ordering problem for local search: one order of rows and columns with much above the matrix's diagonal.

Insertions: T. Schiavinotto, T. Stutzle, "The linear ordering problem: instances, search space analysis and algorithms",
Journal of Mathematical Modelling and Algorithms 3, 2004. Kept sums make each of them a difference of two numbers.
"""

import os
from collections.abc import Callable, Mapping

import numpy as np

from core.arguments import loaded_instance
from core.kernels.local_search.moves import INSERT, moved
from core.kernels.local_search.walks import AnyMove, Move
from core.lang import Array, Row, bundle, function, i32, lane, max, min, team_size
from core.problems.encodings import Permutation
from core.problems.insertion import Insertion
from core.problems.more.linear_ordering.best_insertion import best_insertion
from core.problems.more.linear_ordering.insertion import InsertionLosses, insertion_losses
from core.problems.more.linear_ordering.matrices import OrderingInstance, load
from core.problems.problem import Evaluation, Problem


@bundle
class Losses:
    """Loss if an element moves from before another one to behind it: a square matrix."""

    losses: Array[i32]
    n: i32


@bundle
class PrefixSums(Losses):
    """The same, and what a walk keeps: sums[p, q] is what the element at p loses to the first q of the order."""

    sums: Array[i32] = Row("cells")
    cells: i32


@function
def added(order: Array[i32], move: Move, data: Losses) -> i32:
    """Return the change by moving the element at i to j, relative to all between, in O(|i - j|)."""
    i, j = move.i, move.j
    total = 0
    for p in range(min(i, j), max(i, j) + 1):
        total += data.losses[order[i] * data.n + order[p]]
    return total if i < j else -total


@function
def added_by_sums(order: Array[i32], move: Move, data: PrefixSums) -> i32:
    """The same in O(1)."""
    row = move.i * (data.n + 1)
    end = move.j + 1 if move.i < move.j else move.j
    return data.sums[row + end] - data.sums[row + move.i]


@function
def sum_up(order: Array[i32], move: AnyMove, first: i32, last: i32, data: PrefixSums):
    """The sums after a move that changes no position ahead of the first, or behind the last.

    The element at such a position keeps its sums but those within; one in between has others from the first on.
    """
    for p in range(lane(), data.n, team_size()):
        element, row = moved(order, p, move), p * (data.n + 1)
        stays = p < first or p > last
        begin, end = first if stays else 0, last if stays else data.n
        total = data.sums[row + first] if stays else 0
        data.sums[row + begin] = total
        for q in range(begin, end):
            total += data.losses[element * data.n + moved(order, q, move)]
            data.sums[row + q + 1] = total


@function
def sum_all(order: Array[i32], data: PrefixSums):
    """The sums of an order as it is."""
    sum_up(order, AnyMove(-1, -1, -1, INSERT), 0, data.n - 1, data)


@function
def update_sums(order: Array[i32], move: AnyMove, data: PrefixSums):
    """The sums after an insertion that is about to be made."""
    sum_up(order, move, min(move.i, move.j), max(move.i, move.j), data)


class LinearOrdering(Problem):
    """Order elements so that what stands before what is worth most: the cost is minus that.

    Parameters
    ----------
    instance : core.problems.more.linear_ordering.matrices.OrderingInstance or str
        The matrix, or its path, name or generator, see `core.problems.more.linear_ordering.matrices.load`: ``be75eec``,
        ``random:40``.
    data : path, optional
        Folder of instances, searched first.

    """

    neighbourhoods = ("insert",)
    tested = True

    def __init__(self, instance: OrderingInstance | str, data: str | os.PathLike | None = None) -> None:
        self.instance = given = loaded_instance(instance, OrderingInstance, lambda name: load(name, data))
        losses = given.weights - given.weights.T
        super().__init__(given.name, Permutation(given.n), Losses(losses, given.n))
        self.sha256 = given.sha256

    def cost(self, solution: np.ndarray) -> int:
        """Minus the sum of the weights above the diagonal."""
        return int(self.costs(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        """See `Problem`."""
        return -self.instance.worths(solutions)

    def cost_range(self) -> tuple[int, int]:
        """At best the larger weight of every pair counts, at worst the smaller."""
        smaller, larger = self.instance.bounds
        return -larger, -smaller

    def start_heuristics(self) -> Mapping[str, Callable[[], np.ndarray]]:
        """``best-insertion``: see `core.problems.more.linear_ordering.best_insertion`."""
        n = self.encoding.n
        return {"best-insertion": lambda: best_insertion(self.data.losses.reshape(n, n))}

    def insertion(self) -> Insertion:
        """Prefix sums of one row."""
        n = self.encoding.n
        return Insertion(
            insertion_losses, InsertionLosses(self.data.losses, n=n), removed=int(max(1, min(40, 2 * n // 5)))
        )

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """``prefix-sums`` (O(1), from those that a walk keeps) or ``linear`` (O(n))."""
        faster = Evaluation(added_by_sums, begin=sum_all, update=update_sums, work=2)
        return {"prefix-sums": faster, "linear": Evaluation(added, work=self.encoding.n // 3 + 1)}

    def data_for(self, evaluation: str) -> Losses:
        """The matrix; with room for the sums that a walk keeps, if the evaluation reads them."""
        n = self.encoding.n
        return PrefixSums(self.data.losses, n, cells=n * (n + 1)) if evaluation == "prefix-sums" else self.data
