"""Alpha-nearness of neighbours: increase of a minimum spanning tree that must have an edge.

Helsgaun, "An effective implementation of the Lin-Kernighan traveling salesman heuristic", European Journal of
Operational Research 126(1), 2000, section 4. Weights of cities are added to the lengths of their edges until the tree
is nearly a path (Held, Karp, "The traveling-salesman problem and minimum spanning trees: part II", Mathematical
Programming 1, 1971). Here the tree may have edges to the nearest cities only, and the path between two cities is
followed for `MOST_STEPS`. All numbers are integers, so lists are equal on all machines.
"""

from __future__ import annotations

import numpy as np

SCALE = 100
"""Units of a length, so that weights are finer than lengths."""
ROUNDS, LARGE_ROUNDS, LARGE = 60, 20, 5_000
"""Adjustments of the weights; fewer for instances of at least `LARGE` cities."""
LIGHT = 2
"""Edges for each city that a spanning forest is made of first."""
SAMPLED = 16
"""One edge of so many is sampled for the length of the last light edge."""
MOST_STEPS = 100
"""Edges of a tree's path that are followed from each end."""


def alpha_nearest(near: np.ndarray, distances: np.ndarray, count: int) -> np.ndarray:
    """Choose the neighbours of least alpha-nearness, of equal ones the nearest.

    Parameters
    ----------
    near : ndarray, shape (n, k), int
        The nearest other cities of each city, the nearest first.
    distances : ndarray, shape (n, k), int
        Their distances.
    count
        Neighbours to choose, at most k.

    Returns
    -------
    ndarray, shape (n, count), int
        Columns of the neighbours in ``near``, ascending.
    """
    n, k = near.shape
    if count >= k:
        return np.tile(np.arange(k), (n, 1))
    first, second = np.repeat(np.arange(n), k), near.reshape(-1).astype(np.int64)
    keys = np.minimum(first, second) * n + np.maximum(first, second)
    order = np.argsort(keys)
    is_new = np.diff(keys[order], prepend=-1) > 0
    edges, edge_of = np.minimum.reduceat(order, np.flatnonzero(is_new)), np.empty(n * k, np.int64)
    edge_of[order] = np.cumsum(is_new) - 1
    ends, lengths = np.stack([first[edges], second[edges]]), SCALE * distances.reshape(-1)[edges].astype(np.int64)
    weighted = lengths + adjusted_weights(n, ends, lengths)[ends].sum(axis=0)
    tree = spanning_forest(n, ends, weighted)
    alpha = (weighted - heaviest_on_paths(n, ends[:, tree], weighted[tree], *ends))[edge_of.reshape(n, k)]
    return np.sort(np.argsort(alpha, axis=1, kind="stable")[:, :count], axis=1)


def adjusted_weights(n: int, ends: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return weights of cities with which a minimum spanning tree is nearly a path, by subgradient ascent.

    ``ends``, shape (2, m), has the cities of each edge; ``lengths``, shape (m,), is int64.
    """
    weights, best = np.zeros(n, np.int64), np.zeros(n, np.int64)
    bound, before = None, np.zeros(n, np.int64)
    rounds = ROUNDS if n < LARGE else LARGE_ROUNDS
    shortest = np.full(n, lengths.max())
    for end in ends:
        np.minimum.at(shortest, end, lengths)
    step = int(shortest.mean()) // 2
    for number in range(rounds):
        weighted = lengths + weights[ends[0]] + weights[ends[1]]
        tree = spanning_forest(n, ends, weighted)
        surplus = np.bincount(ends[:, tree].reshape(-1), minlength=n) - 2
        length = int(weighted[tree].sum() - 2 * weights.sum())
        if bound is None or length > bound:
            bound, best = length, weights
        weights = weights + step * (7 * surplus + 3 * before) * (rounds - number) // (10 * rounds)
        before = surplus
    return best


def spanning_forest(n: int, ends: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the edges of a minimum spanning forest (Boruvka), ascending; of equal lengths the smaller number is less.

    The forest of about `LIGHT` n of the lightest edges comes first. Most others are within one of its trees.
    """
    count = lengths.size
    keys = lengths * count + np.arange(count)
    last = min(LIGHT * n, count - 1) // SAMPLED
    lightest = np.flatnonzero(keys <= np.partition(keys[::SAMPLED], last)[last])
    trees, tree_of, chosen = n, np.arange(n), []
    for part in (lightest, slice(None)):
        key, a, b = keys[part], tree_of[ends[0, part]], tree_of[ends[1, part]]
        while (apart := np.flatnonzero(a != b)).size:
            key, a, b = key[apart], a[apart], b[apart]
            least = np.full(trees, np.iinfo(np.int64).max)
            np.minimum.at(least, a, key)
            np.minimum.at(least, b, key)
            joining = np.flatnonzero((key == least[a]) | (key == least[b]))
            chosen.append(key[joining])
            # The tree that chose the edge becomes a part of the other; if both did, the one with the larger number.
            one, other = a[joining], b[joining]
            is_one = (least[one] == chosen[-1]) & ((least[other] != chosen[-1]) | (one > other))
            parent = np.arange(trees)
            parent[np.where(is_one, one, other)] = np.where(is_one, other, one)
            roots = parent == np.arange(trees)
            while not np.array_equal(parent, above := parent[parent]):
                parent = above
            # New numbers of the trees: arrays get shorter with every round.
            trees, parent = np.count_nonzero(roots), (np.cumsum(roots) - 1)[parent]
            tree_of, a, b = parent[tree_of], parent[a], parent[b]
    return np.sort(np.concatenate(chosen) % count)


def heaviest_on_paths(
    n: int, ends: np.ndarray, weights: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return the weight of the heaviest edge on the forest's path between cities, up to `MOST_STEPS` from each end.

    ``ends``, shape (2, m), and ``weights``, shape (m,), are edges of the forest; ``first`` and ``second``, shape
    (pairs,), the cities of each pair, in one tree. `2 * MOST_STEPS` edges are followed, always from the deeper end.
    """
    parent, weight, depth = rooted(n, ends, weights)
    # The ancestor of each city by 2**k edges, and the heaviest of these edges.
    above, heavy = [parent], [weight]
    while len(above) < (2 * MOST_STEPS).bit_length():
        heavy.append(np.maximum(heavy[-1], heavy[-1][above[-1]]))
        above.append(above[-1][above[-1]])
    heaviest = np.full(first.size, np.iinfo(np.int64).min)

    def climb(cities: np.ndarray, steps: np.ndarray) -> np.ndarray:
        for k, (ancestor, most) in enumerate(zip(above, heavy, strict=True)):
            moved = np.flatnonzero(steps >> k & 1)
            below = cities[moved]
            heaviest[moved] = np.maximum(heaviest[moved], most[below])
            cities[moved] = ancestor[below]
        return cities

    deeper = depth[first] - depth[second]
    a = climb(first.copy(), np.clip(deeper, 0, 2 * MOST_STEPS))
    b = climb(second.copy(), np.clip(-deeper, 0, 2 * MOST_STEPS))
    # The height of their common ancestor above cities of equal depth.
    height, (c, d) = np.zeros(first.size, np.int64), (a, b)
    for k in reversed(range(len(above) - 1)):
        apart = above[k][c] != above[k][d]
        height += apart << k
        c, d = np.where(apart, above[k][c], c), np.where(apart, above[k][d], d)
    height += c != d
    left = np.maximum(2 * MOST_STEPS - np.abs(deeper), 0)
    climb(a, np.minimum(height, (left + 1) // 2))
    climb(b, np.minimum(height, left // 2))
    return heaviest


def rooted(n: int, ends: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each city's parent in a forest, the weight of the edge to it, and its depth; a root is its own parent."""
    tails, heads = np.concatenate([ends[0], ends[1]]), np.concatenate([ends[1], ends[0]])
    order = np.argsort(tails, kind="stable")
    heads, along = heads[order], np.concatenate([weights, weights])[order]
    begin = np.searchsorted(tails[order], np.arange(n + 1))
    parent, depth, weight = np.full(n, -1), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for root in range(n):
        if parent[root] >= 0:
            continue
        parent[root], level = root, np.array([root])
        while level.size:
            sizes = begin[level + 1] - begin[level]
            above = np.repeat(level, sizes)
            places = np.arange(sizes.sum()) + np.repeat(begin[level] - np.cumsum(sizes) + sizes, sizes)
            fresh = parent[heads[places]] < 0
            level, above, places = heads[places][fresh], above[fresh], places[fresh]
            parent[level], weight[level], depth[level] = above, along[places], depth[above] + 1
    return parent, weight, depth
