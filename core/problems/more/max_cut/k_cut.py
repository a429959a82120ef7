"""Max-k-cut for local search: vectors over an alphabet of k values (`luong2013`, section 4.4).

The largest cut leaves the least weight uncut: the cost is the weight of the edges inside parts.
"""

from __future__ import annotations

import os

import numpy as np

from core.arguments import loaded_instance
from core.kernels.local_search.moves import ASSIGN, change
from core.kernels.local_search.walks import Move
from core.lang import Array, Row, barrier, bundle, function, i32, lane, team_size
from core.problems.encodings import Values
from core.problems.more.max_cut import graphs
from core.problems.problem import Evaluation, Problem


@bundle
class Graph:
    """The weights of a graph's edges, a square matrix, and the number of parts to divide it into."""

    weights: Array[i32]
    vertices: i32
    parts: i32


@bundle
class Ties(Graph):
    """The graph, and a walk's row: the weight of every vertex's edges into every part."""

    ties: Array[i32] = Row("vertex_parts")
    vertex_parts: i32


@function
def added(solution: Array[i32], move: Move, graph: Graph) -> i32:
    """Return the change of cost by a move of a vertex (the move's i) to another part (its j), in O(n)."""
    difference = 0
    part = solution[move.i]
    for other in range(graph.vertices):
        other_part = solution[other]
        if other_part == move.j:
            difference += graph.weights[move.i * graph.vertices + other]
        elif other_part == part:
            difference -= graph.weights[move.i * graph.vertices + other]
    return difference


@function
def added_by_ties(solution: Array[i32], move: Move, graph: Ties) -> i32:
    """Return the same change in O(1), from the kept weight of a vertex's edges into every part."""
    first = move.i * graph.parts
    return graph.ties[first + move.j] - graph.ties[first + solution[move.i]]


@function
def tie_all(solution: Array[i32], graph: Ties):
    """Store the weight of every vertex's edges into every part."""
    for vertex in range(lane(), graph.vertices, team_size()):
        for part in range(graph.parts):
            graph.ties[vertex * graph.parts + part] = 0
        for other in range(graph.vertices):
            place = vertex * graph.parts + solution[other]
            graph.ties[place] = graph.ties[place] + graph.weights[vertex * graph.vertices + other]


@function
def move_vertex(solution: Array[i32], move: Move, graph: Ties):
    """Move a vertex, and update the kept weights of its neighbours."""
    before = solution[move.i]
    for other in range(lane(), graph.vertices, team_size()):
        weight = graph.weights[move.i * graph.vertices + other]
        row = other * graph.parts
        graph.ties[row + before] = graph.ties[row + before] - weight
        graph.ties[row + move.j] = graph.ties[row + move.j] + weight
    barrier()
    change(ASSIGN, solution, move)


class MaxKCut(Problem):
    """Divide the vertices of a graph into k parts with the least weight of edges inside parts.

    Parameters
    ----------
    instance : core.problems.more.max_cut.graphs.GraphInstance or str
        Instance, or its name, path or specification: see `core.problems.more.max_cut.graphs.load`.
    """

    neighbourhoods = ("assign",)
    tested = True

    def __init__(self, instance: graphs.GraphInstance | str) -> None:
        instance = loaded_instance(instance, graphs.GraphInstance, graphs.load)
        n, k = instance.n, instance.k
        super().__init__(instance.name, Values(n, k), Graph(instance.weights, n, k))
        self.instance = instance
        self.optimum = instance.optimum
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, seed: int = 0, k: int = 2) -> MaxKCut:
        return cls(graphs.load(spec, data, seed, k))

    def cost(self, solution: np.ndarray) -> int:
        return graphs.cost(self.instance, solution)

    def cost_range(self) -> tuple[int, int]:
        """Return bounds: at best all edges of negative weight lie inside parts, at worst all others."""
        return self.instance.cost_range

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``part-weights`` (O(1), from a walk's sums of weights) and ``linear``."""
        return {
            "part-weights": Evaluation(added_by_ties, begin=tie_all, move=move_vertex, work=2),
            "linear": Evaluation(added, work=self.encoding.n),
        }

    def data_for(self, evaluation: str) -> Graph:
        """Return the graph; with memory for a walk's ties, if the evaluation reads them."""
        graph: Graph = self.data
        if evaluation == "linear":
            return graph
        n, k = self.instance.n, self.instance.k
        return Ties(weights=graph.weights, vertices=n, parts=k, vertex_parts=n * k)
