"""The ways to find the best 2-opt move, and the shape of their launches on a given device.

Every scan finds the same move (largest gain, then smallest i, then smallest j), so all trajectories are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.two_opt_pruned import climb_pruned

SCANS = ("auto", "pruned", "full")


class Scan:
    """One way to climb: buffers on the device and a launch."""

    evaluations_per_step = 0
    counted = ""

    def launch(self, tours: Any, climbers: int, first: int, ticket: Any, best: Any, totals: Any) -> None:
        """Queue the climbs from ``tours``; the arguments are those of the kernels in `core.kernels`."""
        raise NotImplementedError


class PrunedScan(Scan):
    """Walks sorted neighbour lists and counts the moves that it evaluates."""

    counted = "the moves that the pruned scan evaluates; those that it proves useless are not counted"

    def __init__(self, backend: Any, distances: np.ndarray) -> None:
        self.backend = backend
        self.n = len(distances)
        self.distances = backend.upload(distances)
        self.neighbours = backend.upload(neighbour_lists(distances))
        limits = backend.capabilities
        self.team_size = min(limits.max_team_size, 32 if self.n <= 256 else 128)
        self.teams = limits.compute_units * max(1, limits.lanes_resident // self.team_size)

    def launch(self, tours: Any, climbers: int, first: int, ticket: Any, best: Any, totals: Any) -> None:
        """See `Scan.launch`."""
        shape = (min(self.teams, climbers), self.team_size)
        arrays = (self.distances, self.neighbours, tours)
        self.backend.launch(climb_pruned, *shape, *arrays, self.n, climbers, first, ticket, best, totals)


def neighbour_lists(distances: np.ndarray) -> np.ndarray:
    """For each city all others by ascending distance.

    Returns
    -------
    ndarray, shape (n, n), uint32, or uint64 where distances need more than 16 bits
        distance << 16 | city; a row ends in a sentinel beyond every distance.

    """
    n = len(distances)
    wide = np.uint32 if distances.dtype == np.uint16 else np.uint64
    lists = distances.astype(wide) << wide(16)
    lists |= np.arange(n, dtype=wide)
    sentinel = 0xFFFF if wide is np.uint32 else 0x7FFFFFFF
    np.fill_diagonal(lists, sentinel << 16)
    lists.sort(axis=1)
    return lists


def scan_for(name: str, backend: Any, distances: np.ndarray) -> Scan:
    """Build a scan by name; ``auto`` takes the fastest."""
    if name not in SCANS:
        raise UserError(f"scan {name!r}; choose one of {', '.join(SCANS)}")
    return PrunedScan(backend, distances)
