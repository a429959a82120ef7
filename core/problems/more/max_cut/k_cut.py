"""Max-k-cut for local search: vectors over an alphabet of k values (`luong2013`, section 4.4).

The largest cut leaves the least weight uncut: the cost is the weight of the edges inside parts.
"""

from __future__ import annotations

import os
from functools import cached_property

import numpy as np

from core.arguments import loaded_instance
from core.kernels.local_search.moves import ASSIGN, change
from core.kernels.local_search.walks import Move
from core.lang import Array, Row, barrier, bundle, function, i32, lane, team_size, u32
from core.problems.encodings import Values
from core.problems.more.max_cut import graphs
from core.problems.more.max_cut.quadratic_forms import is_sparse, sparse_rows
from core.problems.problem import Evaluation, Problem

SPARSE_GRAPH = 16
"""Least number of pairs of vertices for each edge of a sparse graph: with 9 or fewer, a scan of all moves is faster."""


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


# --- sparse graphs ---


@bundle
class SparseTies(Ties):
    """The same, and the edges, those of vertex p from starts[p] + 1 to starts[p + 1] - 1; starts[p] is p itself."""

    columns: Array[i32]
    entries: Array[i32]
    starts: Array[i32]


@function
def tie_edges(solution: Array[i32], graph: SparseTies):
    """Store the weight of every vertex's edges into every part, from the edges alone."""
    for vertex in range(lane(), graph.vertices, team_size()):
        row = vertex * graph.parts
        for part in range(graph.parts):
            graph.ties[row + part] = 0
        for edge in range(graph.starts[vertex] + 1, graph.starts[vertex + 1]):
            place = row + solution[graph.columns[edge]]
            graph.ties[place] = graph.ties[place] + graph.entries[edge]


@function
def move_along_edges(solution: Array[i32], move: Move, graph: SparseTies):
    """Move a vertex, and follow in the kept weights of the vertices that an edge connects with it."""
    before = solution[move.i]
    for edge in range(graph.starts[move.i] + 1 + lane(), graph.starts[move.i + 1], team_size()):
        row = graph.columns[edge] * graph.parts
        graph.ties[row + before] = graph.ties[row + before] - graph.entries[edge]
        graph.ties[row + move.j] = graph.ties[row + move.j] + graph.entries[edge]
    barrier()
    change(ASSIGN, solution, move)


@function
def changed_moves(solution: Array[i32], move: Move, graph: SparseTies) -> i32:
    """Return the number of moves of the vertex that moved and of the vertices that an edge connects with it."""
    return (graph.starts[move.i + 1] - graph.starts[move.i]) * (graph.parts - 1)


@function
def changed_move(solution: Array[i32], place: i32, move: Move, graph: SparseTies) -> u32:
    """Return one of them."""
    vertex = graph.columns[graph.starts[move.i] + place // (graph.parts - 1)]
    return u32(vertex * (graph.parts - 1) + place % (graph.parts - 1))


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

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges of each vertex, after the vertex itself: see `QuadraticForm.rows`."""
        return sparse_rows(self.instance.weights)

    @cached_property
    def is_sparse(self) -> bool:
        return is_sparse(self.instance.weights, SPARSE_GRAPH)

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, seed: int = 0, k: int = 2) -> MaxKCut:
        return cls(graphs.load(spec, data, seed, k))

    def cost(self, solution: np.ndarray) -> int:
        return graphs.cost(self.instance, solution)

    def cost_range(self) -> tuple[int, int]:
        """Return bounds: at best all edges of negative weight lie inside parts, at worst all others."""
        return self.instance.cost_range

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``part-weights`` (O(1), from a walk's sums of weights) and ``linear``.

        ``sparse-part-weights`` of sparse graphs updates only the sums that a move changes.
        """
        faster = Evaluation(added_by_ties, begin=tie_all, move=move_vertex, work=2)
        sparse = faster._replace(
            begin=tie_edges,
            move=move_along_edges,
            touches=changed_moves,
            touched=changed_move,
            touched_for=("assign",),
        )
        usual = {"part-weights": faster, "linear": Evaluation(added, work=self.encoding.n)}
        return {"sparse-part-weights": sparse, **usual} if self.is_sparse else usual

    def data_for(self, evaluation: str) -> Graph:
        """Return the graph; with memory for a walk's ties, if the evaluation reads them."""
        graph: Graph = self.data
        if evaluation == "linear":
            return graph
        n, k = self.instance.n, self.instance.k
        if evaluation == "sparse-part-weights":
            columns, entries, starts = self.rows
            return SparseTies(
                weights=graph.weights, vertices=n, parts=k, vertex_parts=n * k,
                columns=columns, entries=entries, starts=starts,
            )  # fmt: skip
        return Ties(weights=graph.weights, vertices=n, parts=k, vertex_parts=n * k)
