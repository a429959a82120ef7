"""The nearest cities of every city, and an order of cities in which neighbours have near numbers.

Lists of points come from blocks of a k-d tree (Bentley, "K-d trees for semidynamic point sets", SCG 1990), others from
the rows of the matrix. The order is a Hilbert curve, or a tour by nearest neighbours.
"""

from __future__ import annotations

import numpy as np

from core.problems.tsp import TspInstance
from core.problems.tsp.distances import edge_lengths
from core.search.hill_climbing.start_tours import nearest_neighbour_tour

BLOCK = 32
"""Cities of a block at most."""
HILBERT_BITS = 16


def city_order(instance: TspInstance) -> np.ndarray:
    """Return the cities along a Hilbert curve, or from city 0 always to the nearest one: shape (n,), int64."""
    if instance.coordinates is None:
        return nearest_neighbour_tour(instance.distances)
    return np.argsort(hilbert_places(instance.coordinates[:, :2]), kind="stable")


def hilbert_places(points: np.ndarray) -> np.ndarray:
    """Return each point's place on a Hilbert curve: (n, 2) -> (n,), int64."""
    low = points.min(axis=0)
    extent = max(float((points - low).max()), np.finfo(float).tiny)
    most = (1 << HILBERT_BITS) - 1
    x, y = ((points - low) / extent * most).astype(np.int64).T
    places = np.zeros(len(points), np.int64)
    for bit in reversed(range(HILBERT_BITS)):
        right, upper = (x >> bit) & 1, (y >> bit) & 1
        places = places * 4 + ((3 * right) ^ upper)
        turned = (upper == 0) & (right == 1)
        x, y = np.where(turned, most - x, x), np.where(turned, most - y, y)
        x, y = np.where(upper == 0, y, x), np.where(upper == 0, x, y)
    return places


def neighbour_lists(instance: TspInstance, count: int) -> np.ndarray:
    """Return the ``count`` nearest other cities of every city, of equals the smallest: shape (n, count), int32."""
    if instance.coordinates is None or instance.edge_weight_type not in ("EUC_2D", "CEIL_2D", "ATT", "EUC_3D"):
        return nearest_by_rows(instance.distances, count)
    return nearest_by_blocks(instance.coordinates, count)


def nearest_by_rows(distances: np.ndarray, count: int) -> np.ndarray:
    """Return the same from a matrix."""
    lists = np.empty((len(distances), count), np.int32)
    for city, row in enumerate(distances):
        keys = row.astype(np.int64) * len(row) + np.arange(len(row))
        keys[city] = np.iinfo(np.int64).max
        lists[city] = np.sort(np.partition(keys, count - 1)[:count]) % len(row)
    return lists


def nearest_by_blocks(points: np.ndarray, count: int) -> np.ndarray:
    """Return the same for points, shape (n, axes), from the blocks that can have a nearer point; ``count`` < n."""
    blocks = split_blocks(points, max(BLOCK, count + 1))
    low = np.array([points[block].min(axis=0) for block in blocks])
    high = np.array([points[block].max(axis=0) for block in blocks])
    lists = np.empty((len(points), count), np.int32)
    for k, block in enumerate(blocks):
        within = squared_distances(points[block], points[block])
        reach = np.partition(within, count, axis=1)[:, count].max()
        gap = np.maximum(0.0, np.maximum(low - high[k], low[k] - high))
        others = np.sort(np.concatenate([blocks[b] for b in np.flatnonzero((gap**2).sum(axis=1) <= reach)]))
        far = squared_distances(points[block], points[others])
        far[block[:, None] == others] = np.inf
        lists[block] = others[least_columns(far, count)]
    return lists


def least_columns(values: np.ndarray, count: int) -> np.ndarray:
    """Return the columns of each row's least ``count`` values in ascending order, of equal values the first column."""
    most = min(2 * count, values.shape[1] - 1)
    columns = np.sort(np.argpartition(values, most, axis=1)[:, : most + 1], axis=1)
    least = np.take_along_axis(values, columns, axis=1)
    ranked = np.argsort(least, axis=1, kind="stable")
    chosen = np.take_along_axis(columns, ranked[:, :count], axis=1)
    # Values as large as the greatest of the part may be missing from it.
    greatest = least.max(axis=1)
    doubtful = np.take_along_axis(values, chosen[:, -1:], axis=1)[:, 0] == greatest
    chosen[doubtful] = np.argsort(values[doubtful], axis=1, kind="stable")[:, :count]
    return chosen


def split_blocks(points: np.ndarray, most: int) -> list[np.ndarray]:
    """Split points at the median of their wider axis until a block has at most ``most``, and more than a third."""
    undone, blocks = [np.arange(len(points))], []
    while undone:
        block = undone.pop()
        if len(block) <= 2 * most:
            blocks.append(block)
            continue
        members = points[block]
        axis = int(np.argmax(np.ptp(members, axis=0)))
        middle = len(block) // 2
        ranked = np.argpartition(members[:, axis], middle)
        undone += [block[ranked[:middle]], block[ranked[middle:]]]
    return blocks


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the squares of the distances of all points of two sets: (n, axes), (m, axes) -> (n, m)."""
    squares: np.ndarray = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    return squares


def list_distances(instance: TspInstance, lists: np.ndarray) -> np.ndarray:
    """Return the distances from every city to those of its list: shape of ``lists``, int32."""
    if instance.coordinates is None:
        return instance.distances[np.arange(instance.n)[:, None], lists].astype(np.int32)
    return np.column_stack([
        edge_lengths(instance.coordinates, instance.edge_weight_type,
                     np.stack([np.arange(instance.n), column], axis=1))[:, 0]
        for column in lists.T
    ]).astype(np.int32)  # fmt: skip
