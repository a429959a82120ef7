"""Linear ordering: one order of rows and columns with the largest sum above the diagonal. A permutation by insertions.

An element that moves from i to j changes places only with the elements in between: T. Schiavinotto, T. Stutzle, "The
linear ordering problem: instances, search space analysis and algorithms", Journal of Mathematical Modelling and
Algorithms 3, 2004. Files are those of LOLIB: a title, the number of elements, and the matrix.

python examples/linear_ordering.py --n 100 --iterations 600 --walks 8        # a random matrix
python examples/linear_ordering.py --instance be75eec.mat                    # a file
"""

from pathlib import Path

import numpy as np

import onekernel as ok
from onekernel import AnyMove, Array, Move, Row, bundle, function, i32, lane, moved, team_size


@bundle
class Losses:
    loss: Array[i32]  # loss[a * n + b]: if a moves from before b to after it
    n: i32


@function
def added(order: Array[i32], move: Move, data: Losses) -> i32:
    total = 0
    for p in range(min(move.i, move.j), max(move.i, move.j) + 1):
        total += data.loss[order[move.i] * data.n + order[p]]
    return total if move.i < move.j else -total


# With a row


@bundle
class PrefixSums(Losses):
    prefix: Array[i32] = Row("cells")  # prefix[p * (n + 1) + q]: losses of the element at p by the first q of the order
    cells: i32


@function
def added_by_sums(order: Array[i32], move: Move, data: PrefixSums) -> i32:
    row = move.i * (data.n + 1)
    end = move.j + 1 if move.i < move.j else move.j
    return data.prefix[row + end] - data.prefix[row + move.i]


@function
def sum_up(order: Array[i32], data: PrefixSums):
    for p in range(lane(), data.n, team_size()):
        total, row = 0, p * (data.n + 1)
        data.prefix[row] = 0
        for q in range(data.n):
            total += data.loss[order[p] * data.n + order[q]]
            data.prefix[row + q + 1] = total


@function
def follow(order: Array[i32], move: AnyMove, data: PrefixSums):
    for p in range(lane(), data.n, team_size()):
        total, row, element = 0, p * (data.n + 1), moved(order, p, move)
        for q in range(data.n):
            total += data.loss[element * data.n + moved(order, q, move)]
            data.prefix[row + q + 1] = total


class LinearOrdering(ok.Problem):
    """Order elements; the cost is minus the sum of the weights of earlier before later ones."""

    neighbourhoods = ("insert",)

    def __init__(self, n: int = 40, instance: Path | None = None):
        if instance is None:
            self.weights, name = np.random.default_rng(n).integers(0, 100, (n, n)), f"linear-ordering:{n}"
        else:
            n, *numbers = map(int, instance.read_text(encoding="utf-8").split("\n", 1)[1].split())
            self.weights, name = np.reshape(numbers, (n, n)), instance.stem
        self.loss = (self.weights - self.weights.T).astype(np.int32)
        super().__init__(name, ok.Permutation(n), Losses(self.loss, n))

    def cost(self, order):
        return -int(np.triu(self.weights[np.ix_(order, order)], 1).sum())

    def evaluations(self, neighbourhood):
        sums = ok.Evaluation(added_by_sums, begin=sum_up, update=follow, work=2)
        return {"sums": sums, "delta": ok.Evaluation(added, work=self.encoding.n)}

    def data_for(self, evaluation):
        n = self.encoding.n
        return PrefixSums(self.loss, n, cells=n * (n + 1)) if evaluation == "sums" else self.data


if __name__ == "__main__":
    ok.main(LinearOrdering)
