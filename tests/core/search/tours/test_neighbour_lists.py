"""Neighbour lists against a stable sort of all squared distances, where many are equal or nearly so."""

import numpy as np
import pytest

from core.problems.tsp import TspInstance
from core.search.tours.neighbour_lists import least_columns, neighbour_lists

RNG = np.random.default_rng(5)
GRID = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=2).reshape(-1, 2)
POINTS = {
    "a grid": RNG.permutation(GRID) * 3,
    "a grid of decimals": RNG.permutation(GRID) * 0.1,
    "a turned grid": RNG.permutation(GRID) @ [[0.6, 0.8], [-0.8, 0.6]],
    "one place": np.full((300, 2), 5.0),
    "few places": RNG.integers(0, 5, (400, 2)).astype(float),
    "a line": np.stack([RNG.permutation(np.arange(300.0)), np.zeros(300)], axis=1),
    "clusters far apart": np.concatenate([RNG.random((37, 2)), 1e6 + RNG.random((300, 2))]),
    "three axes": RNG.integers(0, 9, (500, 3)).astype(float),
    "three cities": np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]),
}


@pytest.mark.parametrize("name", POINTS)
def test_lists_are_those_of_a_stable_sort(name):
    points = POINTS[name]
    kind = "EUC_3D" if points.shape[1] == 3 else "EUC_2D"
    squares = sum((axis[:, None] - axis) ** 2 for axis in points.T)
    np.fill_diagonal(squares, np.inf)
    for count in {min(count, len(points) - 1) for count in (1, 10, 40)}:
        lists = neighbour_lists(TspInstance(name, coordinates=points, edge_weight_type=kind), count)
        assert lists.dtype == np.int32
        assert (lists == np.argsort(squares, axis=1, kind="stable")[:, :count]).all()


def test_columns_are_ranked_by_the_last_bits_of_values():
    values = 1.0 + np.random.default_rng(6).integers(0, 20, (200, 30)) * np.finfo(float).eps
    assert (least_columns(values, 9) == np.argsort(values, axis=1, kind="stable")[:, :9]).all()
