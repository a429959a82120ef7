"""Linear arrangement: places on a line for the vertices of a graph, so that edges are short. A problem of permutations.

python examples/arrangement.py --evaluation delta     # or pulls (the default): equal moves, from sums in a row
"""

import numpy as np

import onekernel as ok
from onekernel import Array, Move, Row, bundle, function, i32, lane, team_size


@bundle
class Graph:
    weight: Array[i32]  # weight[a * n + b] of the edge between a and b, 0 without one
    n: i32


@function
def lengthened(place: Array[i32], move: Move, graph: Graph) -> i32:
    a, b, total = move.i, move.j, 0
    for c in range(graph.n):
        if c != a and c != b:  # a and b exchange their places
            nearer = abs(place[b] - place[c]) - abs(place[a] - place[c])
            total += (graph.weight[a * graph.n + c] - graph.weight[b * graph.n + c]) * nearer
    return total


# With a row


@bundle
class Pulls(Graph):
    pull: Array[i32] = Row("cells")  # pull[a * n + p]: length of all edges of a if it is at place p
    cells: i32


@function
def lengthened_by_pulls(place: Array[i32], move: Move, graph: Pulls) -> i32:
    a, b, n = move.i, move.j, graph.n
    between = graph.weight[a * n + b] * abs(place[a] - place[b])  # the edge of a and b keeps its length
    gone = graph.pull[a * n + place[a]] + graph.pull[b * n + place[b]]
    return graph.pull[a * n + place[b]] + graph.pull[b * n + place[a]] - gone + 2 * between


@function
def gather(place: Array[i32], graph: Pulls):
    for cell in range(lane(), graph.cells, team_size()):
        vertex, p, total = cell // graph.n, cell % graph.n, 0
        for c in range(graph.n):
            total += graph.weight[vertex * graph.n + c] * abs(p - place[c])
        graph.pull[cell] = total


@function
def follow(place: Array[i32], move: Move, graph: Pulls):
    for cell in range(lane(), graph.cells, team_size()):
        row, p = cell // graph.n * graph.n, cell % graph.n
        nearer = abs(p - place[move.j]) - abs(p - place[move.i])
        graph.pull[cell] += (graph.weight[row + move.i] - graph.weight[row + move.j]) * nearer


# The problem


class Arrangement(ok.Problem):
    """Place the vertices of a random graph on a line. The cost is the sum of weight times length of all edges."""

    neighbourhoods = ("exchange2",)

    def __init__(self, n: int = 40):
        random = np.random.default_rng(n)
        half = np.triu(random.integers(1, 10, (n, n), np.int32) * (random.random((n, n)) < 0.1), 1).astype(np.int32)
        self.weight = half + half.T
        super().__init__(f"arrangement:{n}", ok.Permutation(n), Graph(self.weight, n))

    def cost(self, place):
        lengths = abs(np.subtract.outer(place, place).astype(np.int64))
        return int((self.weight * lengths).sum() // 2)

    def evaluations(self, neighbourhood):
        pulls = ok.Evaluation(lengthened_by_pulls, begin=gather, update=follow, work=5)
        return {"pulls": pulls, "delta": ok.Evaluation(lengthened, work=self.encoding.n)}

    def data_for(self, evaluation):
        n = self.encoding.n
        return Pulls(self.weight, n, cells=n * n) if evaluation == "pulls" else self.data


if __name__ == "__main__":
    ok.main(Arrangement)
