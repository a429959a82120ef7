"""Distances, and a tour as an array: bundles from which kinds of scans derive their states, and accesses to them."""

from __future__ import annotations

from core.lang import *

D = Generic("D")
T = Generic("T")


@bundle
class DistanceMatrix:
    """``distances`` (n * n) between ``n`` cities."""

    n: Const[i32]
    distances: Array[D]


@bundle
class ArrayTour(DistanceMatrix):
    """An instance, and the tour that a team climbs: position p holds city ``tour[p]``."""

    tour: Array[T]


@bundle
class EdgeTour(ArrayTour):
    """A tour with its first city again at position n; ``edge[p]`` is the length of the edge after position p."""

    edge: Array[i32]


@function
def distance(a: i32, b: i32, matrix: DistanceMatrix) -> i32:
    return i32(matrix.distances[a * matrix.n + b])


@function
def city_at(p: i32, state: ArrayTour) -> i32:
    return i32(state.tour[p])


@function
def edge_at(p: i32, state: EdgeTour) -> i32:
    return state.edge[p]


@function
def reverse(sequence: Array[T], first: i32, last: i32, shared: Const[boolean]):
    """Reverse elements ``first`` to ``last``; if ``shared``, the lanes of the team share the work."""
    for s in range(lane() if shared else 0, (last - first + 1) >> 1, team_size() if shared else 1):
        sequence[first + s], sequence[last - s] = sequence[last - s], sequence[first + s]
