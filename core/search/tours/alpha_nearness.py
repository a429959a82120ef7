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
    _, edges, edge_of = np.unique(
        np.minimum(first, second) * n + np.maximum(first, second), return_index=True, return_inverse=True
    )
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
    """Return the edges of a minimum spanning forest (Boruvka), of equal lengths those with the smaller number.

    The forest of the `LIGHT` n lightest edges comes first. Most others are within one of its trees.
    """
    count, light = lengths.size, LIGHT * n
    keys = lengths * count + np.arange(count)
    label, chosen = np.arange(n), []
    parts = [np.arange(count)]
    if count > 2 * light:
        is_light = keys <= np.partition(keys, light)[light]
        parts = [np.flatnonzero(is_light), np.flatnonzero(~is_light)]
    for edges in parts:
        a, b = label[ends[0, edges]], label[ends[1, edges]]
        while True:
            apart = a != b
            edges, a, b = edges[apart], a[apart], b[apart]
            if not edges.size:
                break
            least = np.full(n, np.iinfo(np.int64).max)
            np.minimum.at(least, a, keys[edges])
            np.minimum.at(least, b, keys[edges])
            roots = np.flatnonzero(least != np.iinfo(np.int64).max)
            lightest = least[roots] % count
            parent = np.arange(n)
            parent[roots] = label[ends[0, lightest]] + label[ends[1, lightest]] - roots
            # Of two trees that chose the same edge the one with the smaller number is the root.
            mutual = (parent[parent] == np.arange(n)) & (np.arange(n) < parent)
            parent[mutual] = np.flatnonzero(mutual)
            chosen.append(lightest[parent[roots] != roots])
            while not np.array_equal(parent, above := parent[parent]):
                parent = above
            label, a, b = parent[label], parent[a], parent[b]
    return np.concatenate(chosen) if chosen else np.zeros(0, np.int64)


def heaviest_on_paths(
    n: int, ends: np.ndarray, weights: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return the weight of the heaviest edge on the forest's path between cities, up to `MOST_STEPS` from each end.

    ``ends``, shape (2, m), and ``weights``, shape (m,), are edges of the forest; ``first`` and ``second``, shape
    (pairs,), the cities of each pair.
    """
    parent, weight, depth = rooted(n, ends, weights)
    heaviest = np.full(first.size, np.iinfo(np.int64).min)
    pairs, a, b = np.arange(first.size), first, second
    for _ in range(2 * MOST_STEPS):
        apart = a != b
        pairs, a, b = pairs[apart], a[apart], b[apart]
        if not pairs.size:
            break
        lower = depth[a] >= depth[b]
        moved = np.where(lower, a, b)
        heaviest[pairs] = np.maximum(heaviest[pairs], weight[moved])
        a, b = np.where(lower, parent[moved], a), np.where(lower, b, parent[moved])
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
