"""Start tours of the restricted search, the same on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.two_opt import climbs as two_opt_climbs
from core.search.hill_climbing.start_tours import greedy_tour, nearest_neighbour_tour

HOST_CITIES = 300
"""Cities up to which a start tour is improved by NumPy."""
NOTHING = (1 << 64) - 1


def check_start(n: int, longest: int, name: str) -> None:
    """Raise `UserError` if 2-opt finds no start tour: its indices and lengths have 31 bits."""
    if n > two_opt_climbs.MOST_CITIES:
        raise UserError(f"{name} has {n} cities: 2-opt improves a start tour of at most {two_opt_climbs.MOST_CITIES}")
    if n * longest >= 2**31:
        raise UserError(f"{name}: distances up to {longest}: tours of {n} cities do not fit 31 bits")


def start_tour(backend: Any, distances: np.ndarray, name: str = "the instance") -> np.ndarray:
    """Greedy edge matching and 2-opt, or nearest neighbours if distances are asymmetric; shape (n,), int64."""
    from core.problems.tsp.small_tours import greedy_edge_tour
    from core.search.hill_climbing.scans import scan_for

    n = len(distances)
    if n < 4:
        return np.arange(n)
    lengths = distances.copy()
    np.fill_diagonal(lengths, 0)
    if not np.array_equal(lengths, lengths.T):
        return nearest_neighbour_tour(lengths)
    check_start(n, int(lengths.max()), name)
    if n <= HOST_CITIES:
        return greedy_tour(lengths)
    greedy = greedy_edge_tour(lengths)
    scan = scan_for("pruned", backend, lengths.astype(np.uint16 if lengths.max() < 2**16 else np.uint32))
    ticket, best = np.zeros(1, np.uint32), np.full(1, NOTHING, np.uint64)
    totals = np.zeros(two_opt_climbs.TOTALS, np.uint64)
    climbs = backend.load(two_opt_climbs.CountedClimbs(n, greedy.astype(np.uint16), 1, ticket, 0, best, totals))
    scan.launch(climbs)
    return np.asarray(backend.download(climbs.tours), np.int64)
