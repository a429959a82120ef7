"""The nearest cities of every city, and an order of cities in which neighbours have near numbers.

Lists of points come from blocks of a k-d tree (Bentley, "K-d trees for semidynamic point sets", SCG 1990), others from
the rows of the matrix. The order is a Hilbert curve, or a tour by nearest neighbours.
"""

from __future__ import annotations

import numpy as np

from core.tours import TspInstance
from core.tours.distances import edge_lengths
from core.tours.start_tours import nearest_neighbour_tour

BLOCK = 32
"""Cities of a block at least, if the instance has as many."""
GUESS = 2.0
"""First guess of the squared length of a block's lists, in units of that of its centre."""
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
    """Return the same for points, shape (n, axes), from those that are near the box of a block; ``count`` < n."""
    axes = np.ascontiguousarray(points.T)
    blocks = split_block(axes, np.arange(len(points)), max(BLOCK, count + 1))
    low, high = (np.stack([bound(points[block], axis=0) for block in blocks], axis=1) for bound in (np.min, np.max))
    lists = np.empty((len(points), count), np.int32)
    for block, *box in zip(blocks, low.T[:, :, None], high.T[:, :, None], strict=True):
        members, rows = axes.take(block, axis=1), np.arange(block.size)
        # The squared distance up to which points are candidates: a guess, then the longest that was found.
        reach, farthest = -1.0, GUESS * np.partition(squared_distances((box[0] + box[1]) / 2, members)[0], count)[count]
        while farthest > reach:
            reach = farthest
            others = np.concatenate([blocks[k] for k in np.flatnonzero(squared_gaps(*box, low, high) <= reach)])
            candidates = axes.take(others, axis=1)
            others = np.sort(others[squared_gaps(*box, candidates, candidates) <= reach])
            far = squared_distances(members, axes.take(others, axis=1))
            far[rows, np.searchsorted(others, block)] = np.inf
            columns = least_columns(far, count)
            farthest = far[rows, columns[:, -1]].max()
        lists[block] = others[columns]
    return lists


def least_columns(values: np.ndarray, count: int) -> np.ndarray:
    """Return the columns of each row's least ``count`` values in ascending order, of equal values the first column.

    Values are float64 of at least 0, more than ``count`` in a row. A key, int64, has the bits of a value, of which the
    last are replaced by the column.
    """
    replaced = (1 << values.shape[1].bit_length()) - 1
    keys = (values.view(np.int64) & ~replaced) | np.arange(values.shape[1])
    keys = np.sort(np.partition(keys, count, axis=1)[:, : count + 1], axis=1)
    columns = keys & replaced
    # Values that differ only in replaced bits may be in the wrong order.
    is_cut = (np.take_along_axis(values, columns, axis=1).view(np.int64) & replaced).any(axis=1)
    doubtful = is_cut & (keys[:, 1:] ^ keys[:, :-1] <= replaced).any(axis=1)
    columns[doubtful, :count] = np.argsort(values[doubtful], axis=1, kind="stable")[:, :count]
    return columns[:, :count]


def split_block(axes: np.ndarray, block: np.ndarray, most: int) -> list[np.ndarray]:
    """Split points, shape (axes, n), at the median of their wider axis into blocks of at most 2 ``most``."""
    if block.size <= 2 * most:
        return [block]
    members, middle = axes.take(block, axis=1), block.size // 2
    ranked = block[np.argpartition(members[np.argmax(np.ptp(members, axis=1))], middle)]
    return split_block(axes, ranked[:middle], most) + split_block(axes, ranked[middle:], most)


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the squares of the distances of all points of two sets: (axes, n), (axes, m) -> (n, m)."""
    return ((a[:, :, None] - b[:, None, :]) ** 2).sum(axis=0)


def squared_gaps(low: np.ndarray, high: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the squares of the distances of a box, (axes, 1), to boxes: (axes, m) -> (m,)."""
    return (np.maximum(0.0, np.maximum(low - upper, lower - high)) ** 2).sum(axis=0)


def list_distances(instance: TspInstance, lists: np.ndarray) -> np.ndarray:
    """Return the distances from every city to those of its list: shape of ``lists``, int32."""
    if instance.coordinates is None:
        return instance.distances[np.arange(instance.n)[:, None], lists].astype(np.int32)
    return np.column_stack([
        edge_lengths(instance.coordinates, instance.edge_weight_type,
                     np.stack([np.arange(instance.n), column], axis=1))[:, 0]
        for column in lists.T
    ]).astype(np.int32)  # fmt: skip


def ranges(heads: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the integers from each head on, ``lengths`` of them, one range after the other."""
    return np.arange(lengths.sum()) + np.repeat(heads - np.cumsum(lengths) + lengths, lengths)
