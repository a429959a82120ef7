"""Start tours by heuristics in NumPy."""

from __future__ import annotations

import numpy as np


def greedy_tour(distances: np.ndarray) -> np.ndarray:
    """Greedy edge matching and 2-opt (`xavier2022`, section 2.3); distances are symmetric."""
    from core.tours.small_tours import greedy_edge_tour, improve_by_2opt

    return np.asarray(improve_by_2opt(distances, greedy_edge_tour(distances)))


def nearest_neighbour_tour(distances: np.ndarray, first: int = 0) -> np.ndarray:
    """Return the tour from ``first`` always to the nearest unvisited city, ties by number: shape (n,), int64.

    Distances need not be symmetric.
    """
    n = len(distances)
    far = np.iinfo(np.int64).max
    tour = np.full(n, first, np.int64)
    visited = np.zeros(n, bool)
    visited[first] = True
    for position in range(1, n):
        tour[position] = int(np.where(visited, far, distances[tour[position - 1]].astype(np.int64)).argmin())
        visited[tour[position]] = True
    return tour
