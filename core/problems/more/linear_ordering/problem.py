"""The linear ordering problem for local search: one order of rows and columns with a large sum above the diagonal.

Insertions: T. Schiavinotto, T. Stutzle, "The linear ordering problem: instances, search space analysis and algorithms",
Journal of Mathematical Modelling and Algorithms 3, 2004. With kept sums each is a difference of two numbers.
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
    """Loss if an element moves from before another one to after it: a square matrix."""

    losses: Array[i32]
    n: i32


@bundle
class PrefixSums(Losses):
    """The losses, and a walk's row: sums[p, q] is the loss of the element at p by the first q of the order."""

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
    """Return the same change in O(1)."""
    row = move.i * (data.n + 1)
    end = move.j + 1 if move.i < move.j else move.j
    return data.sums[row + end] - data.sums[row + move.i]


@function
def sum_up(order: Array[i32], move: AnyMove, first: i32, last: i32, data: PrefixSums):
    """Store the sums after a move that changes no position before the first, or after the last.

    An element at such a position keeps its sums but those within; one in between has others from the first on.
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
    """Store the sums of the present order."""
    sum_up(order, AnyMove(-1, -1, -1, INSERT), 0, data.n - 1, data)


@function
def update_sums(order: Array[i32], move: AnyMove, data: PrefixSums):
    """Store the sums after an insertion to be made."""
    sum_up(order, move, min(move.i, move.j), max(move.i, move.j), data)


class LinearOrdering(Problem):
    """Order elements so that the sum of the weights of earlier before later ones is largest; the cost is minus that.

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
        self.instance = matrix = loaded_instance(instance, OrderingInstance, lambda name: load(name, data))
        losses = matrix.weights - matrix.weights.T
        super().__init__(matrix.name, Permutation(matrix.n), Losses(losses, matrix.n))
        self.sha256 = matrix.sha256

    def cost(self, solution: np.ndarray) -> int:
        """Return minus the sum of the weights above the diagonal."""
        return int(self.costs(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        return -self.instance.worths(solutions)

    def cost_range(self) -> tuple[int, int]:
        """Return bounds: at best the larger weight of every pair counts, at worst the smaller."""
        smaller, larger = self.instance.bounds
        return -larger, -smaller

    def start_heuristics(self) -> Mapping[str, Callable[[], np.ndarray]]:
        n = self.encoding.n
        return {"best-insertion": lambda: best_insertion(self.data.losses.reshape(n, n))}

    def insertion(self) -> Insertion:
        n = self.encoding.n
        return Insertion(
            insertion_losses, InsertionLosses(self.data.losses, n=n), removed=int(max(1, min(40, 2 * n // 5)))
        )

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``prefix-sums`` (O(1), from those of a walk) and ``linear`` (O(n))."""
        faster = Evaluation(added_by_sums, begin=sum_all, update=update_sums, work=2)
        return {"prefix-sums": faster, "linear": Evaluation(added, work=self.encoding.n // 3 + 1)}

    def data_for(self, evaluation: str) -> Losses:
        """Return the matrix; with memory for a walk's sums, if the evaluation reads them."""
        n = self.encoding.n
        return PrefixSums(self.data.losses, n, cells=n * (n + 1)) if evaluation == "prefix-sums" else self.data
