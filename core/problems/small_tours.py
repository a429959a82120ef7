"""Tours of few cities, in NumPy alone: the heuristic that exact search starts from, and two proofs to check it by.

Greedy edges and 2-opt as in `xavier2022`, section 2.3; dynamic programming after M. Held and R. Karp, "A dynamic
programming approach to sequencing problems", Journal of SIAM 10, 1962, and R. Bellman, Journal of the ACM 9, 1962.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from core.errors import UserError

MOST_FOR_ALL_TOURS = 10
MOST_FOR_DYNAMIC_PROGRAMMING = 20


def greedy_edge_tour(distances: np.ndarray) -> np.ndarray:
    """Take edges by ascending (length, i, j) that make no third edge at a city and no cycle; close the path.

    Parameters
    ----------
    distances : ndarray, shape (n, n)
        Symmetric.

    Returns
    -------
    ndarray, shape (n,), int64
        The tour, from city 0.

    """
    n = len(distances)
    rows, columns = np.triu_indices(n, 1)
    order = np.argsort(np.asarray(distances)[rows, columns], kind="stable")
    roots = list(range(n))
    neighbours: list[list[int]] = [[] for _ in range(n)]

    def root(city: int) -> int:
        while roots[city] != city:
            roots[city] = city = roots[roots[city]]
        return city

    edges = 0
    for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        if edges == n - 1:
            break
        if len(neighbours[i]) < 2 and len(neighbours[j]) < 2:
            one, other = root(i), root(j)
            if one != other:
                roots[one] = other
                neighbours[i].append(j)
                neighbours[j].append(i)
                edges += 1
    city = next((c for c in range(n) if len(neighbours[c]) < 2), 0)
    tour, before = [city], -1
    while len(tour) < n:
        ahead = next(c for c in neighbours[city] if c != before)
        before, city = city, ahead
        tour.append(city)
    return np.roll(np.array(tour, np.int64), -tour.index(0))


def improved_by_2opt(distances: np.ndarray, tour: np.ndarray) -> np.ndarray:
    """Reverse the part of the tour that shortens it most (ties: smallest i, then j), until none does.

    Parameters
    ----------
    distances : ndarray, shape (n, n)
        Symmetric integers.
    tour : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n,), int64
        The local optimum; position 0 keeps its city.

    """
    lengths = np.asarray(distances).astype(np.int64)
    tour = np.array(tour, np.int64)
    n = len(tour)
    if n < 4:
        return tour
    out_of_reach = np.tril(np.ones((n, n), bool), 1)
    while True:
        after = np.roll(tour, -1)
        edges = lengths[tour, after]
        gains = edges[:, None] + edges - lengths[tour[:, None], tour] - lengths[after[:, None], after]
        gains[out_of_reach] = 0
        i, j = divmod(int(gains.argmax()), n)
        if gains[i, j] <= 0:
            return tour
        tour[i + 1 : j + 1] = tour[i + 1 : j + 1][::-1].copy()


def all_tours(distances: np.ndarray) -> tuple[int, np.ndarray, int]:
    """Measure every tour.

    Parameters
    ----------
    distances : ndarray, shape (n, n)
        Symmetric integers; up to 10 cities.

    Returns
    -------
    length : int
        Of a shortest tour.
    tour : ndarray, shape (n,), int64
        The first such tour by the cities' numbers.
    optimal_tours : int
        How many tours are as short, directions not told apart.

    """
    lengths = np.asarray(distances).astype(np.int64)
    n = len(lengths)
    if n > MOST_FOR_ALL_TOURS:
        raise UserError(f"full search of {n} cities: at most {MOST_FOR_ALL_TOURS}")
    if n < 4:
        return int(lengths[np.arange(n), np.roll(np.arange(n), -1)].sum() if n > 1 else 0), np.arange(n), 1
    ends = np.array(list(permutations(range(1, n))), np.int8)
    ends = ends[ends[:, 0] < ends[:, -1]]
    total = lengths[0, ends[:, 0]] + lengths[ends[:, -1], 0]
    for k in range(n - 2):
        total += lengths[ends[:, k], ends[:, k + 1]]
    best = int(total.argmin())
    tour = np.concatenate([[0], ends[best].astype(np.int64)])
    return int(total[best]), tour, int((total == total[best]).sum())


def held_karp(distances: np.ndarray) -> tuple[int, np.ndarray, int]:
    """Dynamic programming over sets of cities: the shortest way through a set from city 0 to each of its cities.

    Parameters
    ----------
    distances : ndarray, shape (n, n)
        Integers, symmetric or not; up to 20 cities, about 12 bytes * n * 2^(n - 1).

    Returns
    -------
    length : int
    tour : ndarray, shape (n,), int64
        From city 0.
    optimal_tours : int
        How many tours are as short: directions not told apart if the distances are symmetric.

    """
    lengths = np.asarray(distances).astype(np.int64)
    n = len(lengths)
    if n > MOST_FOR_DYNAMIC_PROGRAMMING:
        raise UserError(f"dynamic programming of {n} cities: at most {MOST_FOR_DYNAMIC_PROGRAMMING}")
    if n < 4 and np.array_equal(lengths, lengths.T):
        return all_tours(lengths)
    if n < 3:
        return int(lengths[0, n - 1] + lengths[n - 1, 0]) if n > 1 else 0, np.arange(n), 1
    others = n - 1
    far = np.iinfo(np.int64).max // 4
    sets = np.arange(1 << others, dtype=np.int64)
    sizes = sum((sets >> city) & 1 for city in range(others))
    costs = np.full((1 << others, others), far, np.int64)
    ways = np.zeros((1 << others, others), np.int64)
    costs[1 << np.arange(others), np.arange(others)] = lengths[0, 1:]
    ways[1 << np.arange(others), np.arange(others)] = 1
    for size in range(2, others + 1):
        layer = sets[sizes == size]
        for last in range(others):
            ending = layer[(layer >> last) & 1 == 1]
            before = ending ^ (1 << last)
            candidates = costs[before] + lengths[1:, last + 1]
            best = candidates.min(axis=1)
            costs[ending, last] = best
            ways[ending, last] = np.where(candidates == best[:, None], ways[before], 0).sum(axis=1)
    closed = costs[-1] + lengths[1:, 0]
    length = int(closed.min())
    optimal_tours = int(ways[-1][closed == length].sum())
    tour, chosen = [int(closed.argmin())], int(sets[-1])
    while len(tour) < others:
        last = tour[-1]
        chosen ^= 1 << last
        tour.append(int((costs[chosen] + lengths[1:, last + 1]).argmin()))
    if np.array_equal(lengths, lengths.T):
        optimal_tours //= 2
    return length, np.array([0, *(city + 1 for city in reversed(tour))], np.int64), optimal_tours
