"""Max-k-cut for local search: vectors over an alphabet of k values (`luong2013`, section 4.4).

Cutting as much as possible is leaving as little as possible uncut: the cost is the weight of the edges inside parts.
"""

from __future__ import annotations

import os

import numpy as np

from core.kernels.moves import ASSIGN, change
from core.lang import Array, barrier, function, i32, lane, team_size
from core.problems import graphs
from core.problems.encodings import Values
from core.problems.problem import Evaluation, Kept, Problem


@function
def added(solution: Array[i32], vertex: i32, part: i32, unused: i32, weights: Array[i32], vertices: i32) -> i32:
    """What moving a vertex to another part adds to the cost, in O(n)."""
    found = 0
    here = solution[vertex]
    for other in range(vertices):
        there = solution[other]
        if there == part:
            found += weights[vertex * vertices + other]
        elif there == here:
            found -= weights[vertex * vertices + other]
    return found


@function
def added_by_ties(solution: Array[i32], vertex: i32, part: i32, unused: i32, parts: i32, ties: Array[i32]) -> i32:
    """The same in O(1), from the kept weight of a vertex's edges into every part."""
    return ties[vertex * parts + part] - ties[vertex * parts + solution[vertex]]


@function
def tie_all(solution: Array[i32], weights: Array[i32], vertices: i32, parts: i32, ties: Array[i32]):
    """The weight of every vertex's edges into every part."""
    for vertex in range(lane(), vertices, team_size()):
        for part in range(parts):
            ties[vertex * parts + part] = 0
        for other in range(vertices):
            place = vertex * parts + solution[other]
            ties[place] = ties[place] + weights[vertex * vertices + other]


@function
def move_vertex(
    solution: Array[i32], vertex: i32, part: i32, unused: i32, weights: Array[i32], vertices: i32, parts: i32,
    ties: Array[i32],
):  # fmt: skip
    """Move a vertex, and follow in the kept weights of its neighbours."""
    before = solution[vertex]
    for other in range(lane(), vertices, team_size()):
        weight = weights[vertex * vertices + other]
        ties[other * parts + before] = ties[other * parts + before] - weight
        ties[other * parts + part] = ties[other * parts + part] + weight
    barrier()
    change(ASSIGN, solution, vertex, part, unused)


class MaxKCut(Problem):
    """Divide the vertices of a graph into k parts so that the edges inside parts weigh least.

    Parameters
    ----------
    instance : core.problems.graphs.GraphInstance

    """

    neighbourhoods = ("assign",)
    tested = True

    def __init__(self, instance: graphs.GraphInstance) -> None:
        n, k = instance.n, instance.k
        data = {"weights": instance.weights, "vertices": n, "parts": k, "vertex_parts": n * k}
        super().__init__(instance.name, Values(n, k), data)
        self.instance = instance
        self.optimum = instance.optimum
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, seed: int = 0, k: int = 2) -> MaxKCut:
        """The problem of that path or specification: see `core.problems.graphs.load`."""
        return cls(graphs.load(spec, data, seed, k))

    def cost(self, solution: np.ndarray) -> int:
        """The weight of the edges inside parts."""
        return graphs.cost(self.instance, solution)

    def cost_range(self) -> tuple[int, int]:
        """At best all edges of negative weight lie inside parts, at worst all others."""
        return self.instance.cost_range

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """``ties`` (O(1) from kept sums) or ``linear``."""
        ties = {"ties": Kept("int32", "vertex_parts")}
        return {
            "ties": Evaluation(added_by_ties, begin=tie_all, move=move_vertex, kept=ties, work=2),
            "linear": Evaluation(added, work=self.encoding.n),
        }
