"""Partition of a tour into cells of cities, and the tour made of the improved paths of the cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.tours.neighbour_lists import hilbert_places, ranges

FEWEST = 8
"""Cities of the smallest cell that is searched."""


def closed_curve(points: np.ndarray) -> np.ndarray:
    """Return the points, shape (n, 2), along a closed curve of four Hilbert curves (Moore's): shape (n,), int64."""
    right, upper = (points > (points.min(axis=0) + points.max(axis=0)) / 2).T
    parts = []
    for is_right, is_upper in ((False, False), (False, True), (True, True), (True, False)):
        inside = np.flatnonzero((right == is_right) & (upper == is_upper))
        if inside.size:
            x, y = points[inside].T
            turned = np.stack([-y, x] if is_right else [y, -x], axis=1)
            parts.append(inside[np.argsort(hilbert_places(turned), kind="stable")])
    return np.concatenate(parts)


def cells_along(n: int, size: int, first: int) -> np.ndarray:
    """Return the cell of each position of a tour of ``n`` cities: ``size`` consecutive ones from ``first`` on.

    The shape is (n,), int64. The last cell is smaller.
    """
    return (np.arange(n) - first) % n // size


def cells_in_strips(ranks: Sequence[np.ndarray], size: int, shift: int, first: int) -> np.ndarray:
    """Return the cell of each city: strips along the second axis, each cut into cells of ``size`` cities.

    Parameters
    ----------
    ranks
        Rank of each city among all, by the first and the second axis: two arrays of shape (n,).
    shift, first
        Cities by which the strips, and the cells of each strip, are shifted.

    Returns
    -------
    ndarray, shape (n,), int64
    """
    n = ranks[0].size
    strips = (ranks[0] + shift) // strip_size(n, size)
    order = np.argsort(strips * n + ranks[1])
    heads = np.flatnonzero(np.diff(strips[order], prepend=-1))
    within = np.arange(n) - np.repeat(heads, np.diff(heads, append=n))
    cells = np.empty(n, np.int64)
    cells[order] = strips[order] * n + (within + first % size) // size
    return cells


def strip_size(n: int, size: int) -> int:
    """Return the number of cities of a strip, for cells that are about square."""
    return max(size, math.isqrt(n * size))


def most_cells(n: int, size: int) -> int:
    """Return an upper bound of the number of cells of either kind."""
    return n // size + 2 * (n // strip_size(n, size) + 2)


@dataclass(frozen=True)
class TourPartition:
    """The paths of a tour within its cells, as `core.three_opt.kernels.windows.Windows` has them.

    Attributes
    ----------
    begin : ndarray, shape (cells + 1,), int32
    ends : ndarray, shape (cells,), int32
    members, slot, paths : ndarray, shape (n,), int32
        Cities that are in no cell are at the end of ``members`` and ``paths``.
    starts : ndarray, shape (paths,), int32
        First city of each path, in the order of ``paths``.
    order : ndarray, shape (paths,), int64
        Paths in the order of the tour, as indices of ``starts``.
    """

    begin: np.ndarray
    ends: np.ndarray
    members: np.ndarray
    slot: np.ndarray
    paths: np.ndarray
    starts: np.ndarray
    order: np.ndarray

    def joined(self, paths: np.ndarray) -> np.ndarray:
        """Return the tour of improved paths, in which each path has its first city from before: shape (n,), int32."""
        slot = np.empty_like(self.slot)
        slot[paths] = np.arange(paths.size, dtype=slot.dtype)
        heads = slot[self.starts].astype(np.int64)
        return paths[ranges(heads[self.order], np.diff(heads, append=paths.size)[self.order])]


def partition(tour: np.ndarray, cells: np.ndarray) -> TourPartition:
    """Cut a tour, shape (n,), where its ``cells`` change, an integer for each position.

    Paths of one city, and cells of fewer than `FEWEST` cities, are left out.
    """
    n = tour.size
    changes = np.flatnonzero(cells != np.roll(cells, 1))
    if not changes.size:
        return whole(tour)
    first = int(changes[0])
    tour, cells, heads = np.roll(tour, -first), np.roll(cells, -first), changes - first
    lengths = np.diff(heads, append=n)
    _, cell = np.unique(cells[heads], return_inverse=True)
    cell[lengths < 2] = heads.size
    sizes = np.bincount(cell, weights=lengths)
    cell[sizes[cell] < FEWEST] = heads.size
    order = np.argsort(cell, kind="stable")
    paths = tour[ranges(heads[order], lengths[order])]
    in_cells = order[cell[order] < heads.size]
    used, counts = np.unique(cell[in_cells], return_counts=True)
    begin = np.append(0, np.cumsum(sizes.astype(np.int64)[used]))
    members = numbered_members(paths, begin, counts, lengths[in_cells])
    slot = np.empty(n, np.int32)
    slot[members] = np.arange(n, dtype=np.int32)
    starts = paths[np.cumsum(lengths[order]) - lengths[order]]
    return TourPartition(
        begin.astype(np.int32), (2 * counts).astype(np.int32), members, slot, paths, starts, np.argsort(order)
    )


def whole(tour: np.ndarray) -> TourPartition:
    """Return a tour as one cell without ends."""
    slot = np.empty(tour.size, np.int32)
    slot[tour] = np.arange(tour.size, dtype=np.int32)
    begin = np.array([0, tour.size], np.int32)
    return TourPartition(begin, np.zeros(1, np.int32), tour, slot, tour, tour[:1], np.zeros(1, np.int64))


def numbered_members(paths: np.ndarray, begin: np.ndarray, counts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the cities of each cell by their number: the ends of its paths first, from the end of the first path on.

    ``counts`` has the number of paths of each cell, ``lengths`` that of cities of each path; shape as ``paths``.
    """
    inside = int(begin[-1])
    last = np.cumsum(lengths) - 1
    is_end = np.zeros(inside, bool)
    is_end[last] = is_end[last - lengths + 1] = True
    cell = np.repeat(np.arange(counts.size), np.diff(begin))
    ends_before = np.cumsum(is_end) - is_end
    ends_before -= ends_before[begin[:-1]][cell]
    ends = 2 * counts[cell]
    others = ends + np.arange(inside) - begin[cell] - ends_before
    number = np.where(is_end, (ends_before - 1) % ends, others)
    members = paths.copy()
    members[begin[cell] + number] = paths[:inside]
    return members
