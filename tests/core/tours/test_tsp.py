"""The instance class of tours, the scorer, and tour files."""

import pickle

import numpy as np
import pytest

from core import tours as tsp
from core.instances.errors import InstanceError
from core.tours import tour_files

SQUARE = np.array([[0.0, 0.0], [0.0, 3.0], [4.0, 3.0], [4.0, 0.0]])


def test_tour_length_closes_the_tour():
    instance = tsp.TspInstance("rectangle", coordinates=SQUARE)
    assert tsp.tour_length(instance.distances, [0, 1, 2, 3]) == 3 + 4 + 3 + 4
    assert tsp.tour_length(instance.distances, [0, 2, 1, 3]) == 5 + 4 + 5 + 4
    assert instance.tour_length([0, 2, 1, 3]) == 18
    assert instance.distances is instance.distances  # computed once


def test_tour_length_does_not_overflow_narrow_storage():
    distances = np.full((50, 50), 65535, dtype=np.uint16)
    assert tsp.tour_length(distances, np.arange(50, dtype=np.uint8)) == 50 * 65535
    distances = np.full((50, 50), 2**31 - 1, dtype=np.uint32)
    assert tsp.tour_length(distances, np.arange(50, dtype=np.int32)) == 50 * (2**31 - 1)


def test_matrix_beyond_memory_is_refused_but_tours_are_still_scored():
    points = np.zeros((60_000, 2))
    points[:, 0] = np.arange(60_000)
    instance = tsp.TspInstance("line", coordinates=points)
    with pytest.raises(InstanceError, match="found 60000 cities with distances of 6.7 GiB"):
        _ = instance.distances
    assert instance.tour_length(np.arange(60_000)) == 2 * 59_999


@pytest.mark.parametrize("kind", ["coordinates", "distances"])
def test_pickled_instance_is_small_and_equal(kind):
    points = np.random.default_rng(1).integers(0, 1000, (200, 2)).astype(float)
    instance = tsp.TspInstance("many", coordinates=points, optimum=5, source="here")
    if kind == "distances":
        instance = tsp.TspInstance("many", distances=instance.distances, optimum=5, source="here")
    before = instance.distances
    message = pickle.dumps(instance)
    received = pickle.loads(message)
    # 16 bytes per city travel, or 2 per distance
    assert len(message) < 1000 + (200 * 16 if kind == "coordinates" else 200 * 200 * 2)
    np.testing.assert_array_equal(received.distances, before)
    for name in ("name", "n", "sha256", "optimum", "source", "edge_weight_type"):
        assert getattr(received, name) == getattr(instance, name)


def test_digest_tells_content_apart_and_nothing_else():
    instance = tsp.TspInstance("a", coordinates=SQUARE)
    assert tsp.TspInstance("b", coordinates=SQUARE.copy(), source="elsewhere").sha256 == instance.sha256
    moved = SQUARE.copy()
    moved[3, 1] = 1e-9
    others = [
        tsp.TspInstance("a", coordinates=moved),
        tsp.TspInstance("a", coordinates=SQUARE, edge_weight_type="CEIL_2D"),
        tsp.TspInstance("a", distances=instance.distances),
    ]
    assert len({instance.sha256, *(other.sha256 for other in others)}) == 4


def test_display_puts_longitude_to_the_right():
    geographical = tsp.TspInstance("burma", coordinates=SQUARE, edge_weight_type="GEO")
    np.testing.assert_array_equal(geographical.display, SQUARE[:, ::-1])
    np.testing.assert_array_equal(tsp.TspInstance("flat", coordinates=SQUARE).display, SQUARE)
    assert tsp.TspInstance("explicit", distances=np.zeros((3, 3), int)).display is None


TOUR = "NAME : five.opt\nTYPE : TOUR\nDIMENSION : 5\nTOUR_SECTION\n1 3 5\n2\n4\n-1\nEOF\n"


def read_text(tmp_path, text):
    (tmp_path / "some.tour").write_text(text)
    return tour_files.read(tmp_path / "some.tour")


def test_file_holds_cities_from_one(tmp_path):
    tour_files.write(tmp_path / "a.tour", np.array([2, 0, 1], np.int32), name="three", comment="length 7")
    written = (tmp_path / "a.tour").read_text()
    assert written.startswith("NAME : three\nCOMMENT : length 7\nTYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n")
    assert written.endswith("TOUR_SECTION\n3\n1\n2\n-1\nEOF\n")
    assert tour_files.read(tmp_path / "a.tour", 3).tolist() == [2, 0, 1]
    with pytest.raises(InstanceError, match=r"a.tour:4: found a tour of 3 cities, expected 6"):
        tour_files.read(tmp_path / "a.tour", 6)


def test_tsplib95_reads_the_written_file(tmp_path):
    tsplib95 = pytest.importorskip("tsplib95")
    order = np.random.default_rng(3).permutation(100)
    tour_files.write(tmp_path / "a.tour", order, name="many")
    assert tsplib95.load(tmp_path / "a.tour").tours == [(order + 1).tolist()]


@pytest.mark.parametrize(
    "text", [TOUR, TOUR.replace("DIMENSION : 5\n", ""), TOUR.replace("-1", "-1\n-1"), TOUR.replace("EOF\n", "")]
)
def test_usual_variants_are_read(tmp_path, text):
    assert read_text(tmp_path, text).tolist() == [0, 2, 4, 1, 3]


@pytest.mark.parametrize("order", [[0, 1, 1], [1, 2, 3], [[0, 1, 2]]])
def test_only_a_permutation_is_written(tmp_path, order):
    with pytest.raises(ValueError, match="found"):
        tour_files.write(tmp_path / "a.tour", order, name="three")
    assert not (tmp_path / "a.tour").exists()


def test_name_cannot_smuggle_in_lines(tmp_path):
    with pytest.raises(ValueError, match="expected one line each"):
        tour_files.write(tmp_path / "a.tour", [0, 1, 2], name="three\nTYPE : TSP")
