"""Neighbour lists: nearest cities against a stable sort, alpha-nearness against plain computations."""

import numpy as np
import pytest

from core import tours as tsp
from core.tours import TspInstance
from core.tours.alpha_nearness import MOST_STEPS, alpha_nearest, heaviest_on_paths, rooted, spanning_forest
from core.tours.neighbour_lists import list_distances, neighbour_lists
from core.tours.small_tours import held_karp


def random_graph(n, edges, most, seed):
    rng = np.random.default_rng(seed)
    pairs = np.array([(a, b) for a in range(n) for b in range(a + 1, n)])
    chosen = np.sort(rng.permutation(len(pairs))[:edges])
    return pairs[chosen].T, rng.integers(1, most, edges)


def kruskal(n, ends, lengths):
    part, chosen = list(range(n)), []
    for edge in np.lexsort([np.arange(lengths.size), lengths]):
        a, b = (part[city] for city in ends[:, edge])
        if a != b:
            part = [a if one == b else one for one in part]
            chosen.append(int(edge))
    return sorted(chosen)


GRAPHS = [(30, 100, 1000, 1), (40, 200, 4, 2), (50, 40, 9, 3), (2, 1, 5, 4)]
"""One has many equal lengths, and one has several parts."""


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_spanning_forest_is_kruskals(graph):
    ends, lengths = random_graph(*graph)
    assert np.sort(spanning_forest(graph[0], ends, lengths)).tolist() == kruskal(graph[0], ends, lengths)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_heaviest_edge_of_a_path_is_the_one_that_joins_its_ends(graph):
    n = graph[0]
    ends, lengths = random_graph(*graph)
    tree = spanning_forest(n, ends, lengths)
    heaviest = heaviest_on_paths(n, ends[:, tree], lengths[tree], *ends)
    for (a, b), found in zip(ends.T, heaviest, strict=True):
        # Edges below this length leave the two apart; edges up to it join them.
        for most, is_joined in ((found, False), (found + 1, True)):
            left = lengths[tree] < most
            part = list(range(n))
            for c, d in ends[:, tree[left]].T:
                part = [part[c] if one == part[d] else one for one in part]
            assert (part[a] == part[b]) == is_joined


def walked(parent, weight, depth, a, b):
    """Heaviest edge of a path, by single steps from the deeper end, of equal depths from the first one."""
    steps, heaviest = 0, np.iinfo(np.int64).min
    while a != b and steps < 2 * MOST_STEPS:
        moved = a if depth[a] >= depth[b] else b
        heaviest, steps = max(heaviest, weight[moved]), steps + 1
        a, b = (parent[a], b) if moved == a else (a, parent[b])
    return heaviest


@pytest.mark.parametrize("most_back", [1, 2, 40])
def test_long_paths_are_followed_in_turns_from_the_deeper_end(most_back):
    n, rng = 700, np.random.default_rng(most_back)
    names = rng.permutation(n)
    above = [max(0, city - int(rng.integers(1, most_back + 1))) for city in range(1, n)]
    ends, weights = np.stack([names[1:], names[above]]), rng.integers(-50, 10**6, n - 1)
    first, second = rng.integers(0, n, (2, 500))
    found = heaviest_on_paths(n, ends, weights, first, second)
    tree = rooted(n, ends, weights)
    assert found.tolist() == [walked(*tree, a, b) for a, b in zip(first, second, strict=True)]


def nearest(instance, count):
    lists = np.argsort(instance.distances + np.diag(np.full(instance.n, 10**6)), axis=1, kind="stable")[:, :count]
    return lists, np.take_along_axis(instance.distances, lists, axis=1)


def test_lists_hold_more_edges_of_the_shortest_tour_than_as_many_nearest_cities():
    instance = tsp.load("clustered:12:seed=3")
    tour = np.asarray(held_karp(instance.distances)[1])
    near, lengths = nearest(instance, 9)
    chosen = alpha_nearest(near, lengths, 4)
    assert chosen.shape == (12, 4) and (np.diff(chosen, axis=1) > 0).all()

    def held(lists):
        return sum(int(b in lists[a]) + int(a in lists[b]) for a, b in zip(tour, np.roll(tour, -1), strict=True))

    assert held(np.take_along_axis(near, chosen, axis=1)) > held(near[:, :4])
    assert alpha_nearest(near, lengths, 9).tolist() == [list(range(9))] * 12


RNG = np.random.default_rng(5)
GRID = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=2).reshape(-1, 2)
POINTS = {
    "a grid of decimals": RNG.permutation(GRID) * 0.1,
    "one place": np.full((300, 2), 5.0),
    "few places": RNG.integers(0, 5, (400, 2)).astype(float),
    "clusters far apart": np.concatenate([RNG.random((37, 2)), 1e6 + RNG.random((300, 2))]),
    "three axes": RNG.integers(0, 9, (500, 3)).astype(float),
    "three cities": np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]),
}


@pytest.mark.parametrize("name", POINTS)
def test_lists_are_those_of_a_stable_sort(name):
    points = POINTS[name]
    squares = sum((axis[:, None] - axis) ** 2 for axis in points.T)
    np.fill_diagonal(squares, np.inf)
    instance = TspInstance(name, coordinates=points, edge_weight_type=f"EUC_{points.shape[1]}D")
    for count in {min(count, len(points) - 1) for count in (1, 10, 40)}:
        lists = neighbour_lists(instance, count)
        assert lists.dtype == np.int32
        assert (lists == np.argsort(squares, axis=1, kind="stable")[:, :count]).all()


def test_lists_of_a_matrix_are_those_of_a_stable_sort():
    half = np.triu(RNG.integers(1, 40, (30, 30)), 1)
    instance = TspInstance("matrix", distances=half + half.T)
    order = np.argsort(instance.distances + 99 * np.eye(30), axis=1, kind="stable")[:, :7]
    lists = neighbour_lists(instance, 7)
    assert (lists == order).all()
    assert (list_distances(instance, lists) == np.take_along_axis(instance.distances, order, 1)).all()
