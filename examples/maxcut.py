"""Max-cut: divide the vertices of a graph in two, with the largest weight of edges in between. Bits with kept gains.

The gain of each vertex is kept and changes only at its neighbours: U. Benlic, J.-K. Hao, "Breakout local search for the
max-cut problem", 2013. Files are those of Gset: a line "vertices edges", then a line "i j weight" for each edge.

python examples/maxcut.py --n 400 --density 0.05             # a random graph
python examples/maxcut.py --instance G1                      # a file
"""

from pathlib import Path

import numpy as np

import onekernel as ok
from onekernel import Array, Move, Row, bundle, function, i32, lane, team_size


@bundle
class Graph:
    start: Array[i32]  # vertex v has the edges from start[v] to start[v + 1] - 1
    other: Array[i32]  # the edge's other vertex
    weight: Array[i32]
    n: i32


@function
def gain_of(side: Array[i32], vertex: i32, graph: Graph) -> i32:
    """Return the change of the cost if a vertex changes its side: what it cuts now, less what it will cut."""
    total = 0
    for edge in range(graph.start[vertex], graph.start[vertex + 1]):
        total += graph.weight[edge] if side[graph.other[edge]] != side[vertex] else -graph.weight[edge]
    return total


@function
def added(side: Array[i32], move: Move, graph: Graph) -> i32:
    return gain_of(side, move.i, graph)


# With a row


@bundle
class Gains(Graph):
    gain: Array[i32] = Row("n")


@function
def added_by_gains(side: Array[i32], move: Move, graph: Gains) -> i32:
    return graph.gain[move.i]


@function
def gather(side: Array[i32], graph: Gains):
    for vertex in range(lane(), graph.n, team_size()):
        graph.gain[vertex] = gain_of(side, vertex, graph)


@function
def follow(side: Array[i32], move: Move, graph: Gains):
    for edge in range(graph.start[move.i] + lane(), graph.start[move.i + 1], team_size()):
        vertex = graph.other[edge]
        graph.gain[vertex] += 2 * graph.weight[edge] if side[vertex] == side[move.i] else -2 * graph.weight[edge]
    if lane() == 0:
        graph.gain[move.i] = -graph.gain[move.i]


class MaxCut(ok.Problem):
    """Divide a graph in two; the cost is minus the weight of the edges that are cut."""

    neighbourhoods = ("flip1",)

    def __init__(self, n: int = 100, density: float = 0.1, instance: Path | None = None):
        if instance is None:
            random, name = np.random.default_rng(n), f"maxcut:{n}:{density}"
            first, second = np.triu(random.random((n, n)) < density, 1).nonzero()
            weight = random.integers(1, 10, len(first))
        else:
            n, name = int(np.loadtxt(instance, max_rows=1)[0]), instance.stem
            first, second, weight = np.loadtxt(instance, int, skiprows=1, ndmin=2).T - [[1], [1], [0]]
        self.edges = first, second, weight
        ends, others = np.concatenate([first, second]), np.concatenate([second, first])
        order = np.argsort(ends)
        start = np.searchsorted(ends[order], np.arange(n + 1)).astype(np.int32)
        self.graph = Graph(start, others[order].astype(np.int32), np.tile(weight, 2)[order].astype(np.int32), n)
        super().__init__(name, ok.Bits(n), self.graph)

    def cost(self, side):
        first, second, weight = self.edges
        return -int(weight[side[first] != side[second]].sum())

    def evaluations(self, neighbourhood):
        return {"gains": ok.Evaluation(added_by_gains, begin=gather, update=follow), "delta": ok.Evaluation(added)}

    def data_for(self, evaluation):
        graph = self.graph
        return Gains(graph.start, graph.other, graph.weight, graph.n) if evaluation == "gains" else graph


if __name__ == "__main__":
    ok.main(MaxCut)
