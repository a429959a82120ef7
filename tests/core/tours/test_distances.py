"""Distance matrices against a slow transcription of TSPLIB 95's C fragments, and published tour lengths."""

import functools
import math
import operator
import warnings

import numpy as np
import pytest

from core import tours as tsp
from core.instances import tsplib
from core.instances.errors import InstanceError
from core.tours import distances, tour_files
from tests.core.instances import samples


def added(values) -> float:
    """Sum from left to right, as C does; Python's `sum` rounds better since 3.12."""
    return functools.reduce(operator.add, values)


def scalar_distance(kind: str, a: tuple, b: tuple) -> int:
    """One distance as section 2 of TSPLIB 95 defines it, with `int` for C's truncation."""
    deltas = [p - q for p, q in zip(a, b, strict=True)]
    if kind in ("EUC_2D", "EUC_3D"):
        return int(math.sqrt(added(d * d for d in deltas)) + 0.5)
    if kind == "CEIL_2D":
        return math.ceil(math.sqrt(added(d * d for d in deltas)))
    if kind in ("MAN_2D", "MAN_3D"):
        return int(added(abs(d) for d in deltas) + 0.5)
    if kind in ("MAX_2D", "MAX_3D"):
        return max(int(abs(d) + 0.5) for d in deltas)
    if kind == "ATT":
        rij = math.sqrt((deltas[0] * deltas[0] + deltas[1] * deltas[1]) / 10.0)
        tij = int(rij + 0.5)
        return tij + 1 if tij < rij else tij
    assert kind == "GEO"
    radians = []
    for degrees_minutes in (*a, *b):
        degrees = int(degrees_minutes)
        minutes = degrees_minutes - degrees
        radians.append(3.141592 * (degrees + 5.0 * minutes / 3.0) / 180.0)
    latitude_a, longitude_a, latitude_b, longitude_b = radians
    q1 = math.cos(longitude_a - longitude_b)
    q2 = math.cos(latitude_a - latitude_b)
    q3 = math.cos(latitude_a + latitude_b)
    return int(6378.388 * math.acos(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)) + 1.0)


@pytest.mark.parametrize("kind", distances.FORMULAS)
def test_matrix_follows_the_definition(kind):
    axes = distances.FORMULAS[kind][0]
    span = (89.0, 179.0) if kind == "GEO" else (800.0, 90.0, 30.0)[:axes]
    for decimals in (0, 1, 3):
        points = np.round(np.random.default_rng(decimals).uniform(-1, 1, (40, axes)) * span, decimals)
        expected = [[scalar_distance(kind, a, b) for b in points.tolist()] for a in points.tolist()]
        np.fill_diagonal(expected := np.array(expected), 0)
        np.testing.assert_array_equal(distances.matrix(points, kind), expected)


@pytest.mark.parametrize("degrees", ["360.01", "-361", "1.7e308"])
def test_places_beyond_a_turn_of_the_globe_are_refused_at_their_line(degrees):
    text = samples.GEOGRAPHICAL.replace("94.44", degrees)
    with warnings.catch_warnings(action="error"):
        with pytest.raises(
            InstanceError, match=r"^text:9: found a latitude or longitude of \S+ degrees, expected at most 360"
        ):
            tsplib.parse(text)
        with pytest.raises(InstanceError, match="three: found a latitude or longitude of"):
            points = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, float(degrees)]])
            tsp.TspInstance("three", coordinates=points, edge_weight_type="GEO")
        # up to one turn nothing is lost: sines and cosines define a place
        turned = tsplib.parse(text.replace(degrees, "-265.16")).distances
    assert abs(turned.astype(int) - tsplib.parse(samples.GEOGRAPHICAL).distances).max() <= 20


def test_coincident_cities_are_one_kilometre_apart_in_geo_and_zero_elsewhere():
    points = np.array([[10.3, 20.2], [10.3, 20.2], [11.0, 21.0]])
    assert distances.matrix(points, "GEO")[0, 1] == 1
    assert distances.matrix(points, "EUC_2D")[0, 1] == 0


@pytest.mark.parametrize("largest, dtype", [(65535, np.uint16), (65536, np.uint32)])
def test_storage_is_16_bits_exactly_where_the_largest_distance_allows(largest, dtype):
    # the box's diagonal is longer than any distance, and must not decide
    points = np.array([[0.0, 0.0], [largest, 0.0], [largest / 2, 3.0]])
    matrix = distances.matrix(points, "EUC_2D")
    assert matrix.dtype == dtype and matrix.max() == largest and matrix.flags.c_contiguous
    explicit = np.array([[0, largest, 1], [largest, 0, 1], [1, 1, 0]])
    assert tsp.TspInstance("three", distances=explicit).distances.dtype == dtype


def test_matrix_of_many_row_blocks_is_complete():
    points = np.random.default_rng(5).integers(0, 3000, (1500, 2)).astype(np.float64)
    matrix = distances.matrix(points, "EUC_2D").astype(np.int64)
    x, y = points.T
    squared = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
    # d is the integer nearest to the root, without taking the root
    assert ((2 * matrix - 1) * np.abs(2 * matrix - 1) <= 4 * squared).all()
    assert (4 * squared < (2 * matrix + 1) ** 2).all()


@pytest.mark.parametrize(
    "layout, weights",
    [
        ("FULL_MATRIX", [0, 12, 13, 14, 12, 0, 23, 24, 13, 23, 0, 34, 14, 24, 34, 0]),
        ("UPPER_ROW", [12, 13, 14, 23, 24, 34]),
        ("LOWER_ROW", [12, 13, 23, 14, 24, 34]),
        ("UPPER_DIAG_ROW", [0, 12, 13, 14, 0, 23, 24, 0, 34, 0]),
        ("LOWER_DIAG_ROW", [0, 12, 0, 13, 23, 0, 14, 24, 34, 0]),
        ("UPPER_COL", [12, 13, 23, 14, 24, 34]),
        ("LOWER_COL", [12, 13, 14, 23, 24, 34]),
        ("UPPER_DIAG_COL", [0, 12, 0, 13, 23, 0, 14, 24, 34, 0]),
        ("LOWER_DIAG_COL", [0, 12, 13, 14, 0, 23, 24, 0, 34, 0]),
    ],
)
def test_every_layout_of_explicit_weights_gives_the_same_matrix(layout, weights):
    text = (
        "NAME: four\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: {layout}\nEDGE_WEIGHT_SECTION\n{' '.join(map(str, weights))}\nEOF\n"
    )
    expected = [[0, 12, 13, 14], [12, 0, 23, 24], [13, 23, 0, 34], [14, 24, 34, 0]]
    np.testing.assert_array_equal(tsplib.parse(text).distances, expected)


def test_every_optimal_tour_has_the_published_length(shared_data):
    kinds = []
    for file in sorted((shared_data / "tsplib" / "opt_tours").glob("*.opt.tour")):
        instance = tsplib.load(shared_data / "tsplib" / f"{file.name.removesuffix('.opt.tour')}.tsp")
        tour = tour_files.read(file, instance.n)
        assert tsp.tour_length(instance.distances, tour) == instance.tour_length(tour) == instance.optimum, file
        kinds.append(instance.edge_weight_type)
    assert len(kinds) >= 30 and set(kinds) >= {"EUC_2D", "GEO", "ATT", "EXPLICIT"}
