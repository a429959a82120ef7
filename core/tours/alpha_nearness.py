"""Alpha-nearness of neighbours: increase of a minimum spanning tree that must have an edge.

Helsgaun, "An effective implementation of the Lin-Kernighan traveling salesman heuristic", European Journal of
Operational Research 126(1), 2000, section 4. Weights of cities are added to the lengths of their edges until the tree
is nearly a path (Held, Karp, "The traveling-salesman problem and minimum spanning trees: part II", Mathematical
Programming 1, 1971). Here the tree may have edges to the nearest cities only, and the path between two cities is
followed for `MOST_STEPS`. All numbers are integers, so lists are equal on all machines.
"""

from __future__ import annotations

import numpy as np

from core.tours.neighbour_lists import ranges

SCALE = 100
"""Units of a length, so that weights are finer than lengths."""
ROUNDS, LARGE_ROUNDS, LARGE = 60, 20, 5_000
"""Adjustments of the weights; fewer for instances of at least `LARGE` cities."""
LIGHT, SAMPLED = 2, 64
"""Edges for each city that a spanning forest is made of first; edges for each one of the sample that finds them."""
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
    order = np.argsort(keys, kind="stable")
    is_new = np.diff(keys[order], prepend=-1) > 0
    edges, edge_of = order[is_new], np.empty(n * k, np.int64)
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
    np.minimum.at(shortest, ends.reshape(-1), np.tile(lengths, 2))
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
    """Return the edges of a minimum spanning forest (Boruvka), ascending. Of equal ones the smaller number is lighter.

    The forest of about `LIGHT` n of the lightest edges comes first. Most others are within one of its trees.
    """
    count = lengths.size
    keys = lengths * count + np.arange(count)
    lightest = np.flatnonzero(keys <= np.sort(keys[::SAMPLED])[: LIGHT * n // SAMPLED + 1][-1])
    trees, tree_of, chosen = n, np.arange(n), np.zeros(count, bool)
    for part in (lightest, slice(None)):
        key, a, b = keys[part], tree_of[ends[0, part]], tree_of[ends[1, part]]
        while (apart := np.flatnonzero(a != b)).size:
            key, a, b = key[apart], a[apart], b[apart]
            least, parent = np.full(trees, np.iinfo(np.int64).max), np.arange(trees)
            np.minimum.at(least, a, key)
            np.minimum.at(least, b, key)
            joining = np.flatnonzero((key == least[a]) | (key == least[b]))
            links, one, other = key[joining], a[joining], b[joining]
            chosen[links % count] = True
            # A tree that chose an edge becomes a part of the other; of two that did, the one with the larger number.
            is_one = (least[one] == links) & ((least[other] != links) | (one > other))
            parent[np.where(is_one, one, other)] = np.where(is_one, other, one)
            roots = parent == np.arange(trees)
            while not np.array_equal(parent, above := parent[parent]):
                parent = above
            # Trees get new numbers, so that arrays are shorter in every round.
            trees, parent = int(roots.sum()), (np.cumsum(roots) - 1)[parent]
            tree_of, a, b = parent[tree_of], parent[a], parent[b]
    return np.flatnonzero(chosen)


def heaviest_on_paths(
    n: int, ends: np.ndarray, weights: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return the weight of the heaviest edge on the forest's path between cities, up to `MOST_STEPS` from each end.

    ``ends``, shape (2, m), and ``weights``, shape (m,), are edges of the forest; ``first`` and ``second``, shape
    (pairs,), the cities of each pair, in one tree. Steps to the parent are always from the deeper end, of equal depths
    from the first one, ``2 * MOST_STEPS`` at most.
    """
    parent, weight, depth = rooted(n, ends, weights)
    # Ancestors 2**k edges up, and the weight of the heaviest of these edges.
    above, most = [parent], [weight]
    while len(above) < (2 * MOST_STEPS).bit_length():
        most.append(np.maximum(most[-1], most[-1][above[-1]]))
        above.append(above[-1][above[-1]])
    heaviest = np.full(first.size, np.iinfo(np.int64).min)

    def climb(cities: np.ndarray, pairs: np.ndarray, k: int) -> None:
        """Replace the cities of some pairs by their ancestors 2**k edges up."""
        heaviest[pairs] = np.maximum(heaviest[pairs], most[k][cities[pairs]])
        cities[pairs] = above[k][cities[pairs]]

    down = depth[first] - depth[second]
    lower, steps = np.where(down > 0, first, second), np.minimum(np.abs(down), 2 * MOST_STEPS)
    for k in range(len(above)):
        climb(lower, np.flatnonzero((steps & 1 << k) != 0), k)
    a, b, left = np.where(down > 0, lower, first), np.where(down > 0, second, lower), 2 * MOST_STEPS - steps
    apart = np.flatnonzero((a != b) & (left > 0))
    for k in reversed(range(len(above) - 1)):
        pairs = apart[(above[k][a[apart]] != above[k][b[apart]]) & (left[apart] >= 2 << k)]
        climb(a, pairs, k)
        climb(b, pairs, k)
        left[pairs] -= 2 << k
    # Parents are the common ancestor, or at most one step is left.
    climb(a, apart[left[apart] > 0], 0)
    climb(b, apart[left[apart] > 1], 0)
    return heaviest


def rooted(n: int, ends: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each city's parent in a forest, the weight of the edge to it, and its depth; a root is its own parent."""
    order = np.argsort(ends.reshape(-1), kind="stable")
    tails, heads, along = (part.reshape(-1)[order] for part in (ends, ends[::-1], np.tile(weights, 2)))
    begin = np.searchsorted(tails, np.arange(n + 1))
    parent, depth, weight = np.full(n, -1), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for root in range(n):
        if parent[root] >= 0:
            continue
        parent[root], level = root, np.array([root])
        while level.size:
            places = ranges(begin[level], begin[level + 1] - begin[level])
            places = places[parent[heads[places]] < 0]
            level, above = heads[places], tails[places]
            parent[level], weight[level], depth[level] = above, along[places], depth[above] + 1
    return parent, weight, depth
