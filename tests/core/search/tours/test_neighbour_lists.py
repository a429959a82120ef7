"""Neighbour lists against a stable sort of all squared distances, where many are equal or nearly so."""

import numpy as np
import pytest

from core.problems.tsp import TspInstance
from core.search.tours.neighbour_lists import list_distances, neighbour_lists

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
