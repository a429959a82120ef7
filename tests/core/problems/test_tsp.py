"""The instance class and the scorer."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from core.problems import tsp
from core.problems.errors import InstanceError

SQUARE = np.array([[0.0, 0.0], [0.0, 3.0], [4.0, 3.0], [4.0, 0.0]])


def test_tour_length_closes_the_tour():
    instance = tsp.Instance("rectangle", coordinates=SQUARE)
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
    instance = tsp.Instance("line", coordinates=points)
    with pytest.raises(InstanceError, match="found 60000 cities, whose distances take 6.7 GiB"):
        _ = instance.distances
    assert instance.tour_length(np.arange(60_000)) == 2 * 59_999


@pytest.mark.parametrize("kind", ["coordinates", "distances"])
def test_pickled_instance_is_small_and_equal(kind):
    points = np.random.default_rng(1).integers(0, 1000, (200, 2)).astype(float)
    instance = tsp.Instance("many", coordinates=points, optimum=5, source="here")
    if kind == "distances":
        instance = tsp.Instance("many", distances=instance.distances, optimum=5, source="here")
    before = instance.distances
    message = pickle.dumps(instance)
    received = pickle.loads(message)
    # 16 bytes per city travel, or 2 per distance
    assert len(message) < 1000 + (200 * 16 if kind == "coordinates" else 200 * 200 * 2)
    np.testing.assert_array_equal(received.distances, before)
    for name in ("name", "n", "sha256", "optimum", "source", "edge_weight_type"):
        assert getattr(received, name) == getattr(instance, name)


def test_a_rank_that_receives_an_instance_imports_no_parser():
    message = pickle.dumps(tsp.Instance("rectangle", coordinates=SQUARE)).hex()
    program = (
        "import pickle, sys\n"
        f"instance = pickle.loads(bytes.fromhex('{message}'))\n"
        "print(instance.tour_length([0, 1, 2, 3]), instance.distances.sum())\n"
        "heavy = {'tsplib95', 'networkx', 'tomllib', 'requests', 'tarfile', 'argparse'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["14 48", "[]"]


def test_digest_tells_content_apart_and_nothing_else():
    instance = tsp.Instance("a", coordinates=SQUARE)
    assert tsp.Instance("b", coordinates=SQUARE.copy(), source="elsewhere").sha256 == instance.sha256
    moved = SQUARE.copy()
    moved[3, 1] = 1e-9
    others = [
        tsp.Instance("a", coordinates=moved),
        tsp.Instance("a", coordinates=SQUARE, edge_weight_type="CEIL_2D"),
        tsp.Instance("a", coordinates=SQUARE, fixed_edges=[(0, 1)]),
        tsp.Instance("a", distances=instance.distances),
    ]
    assert len({instance.sha256, *(other.sha256 for other in others)}) == 5


def test_display_puts_longitude_to_the_right():
    geographical = tsp.Instance("burma", coordinates=SQUARE, edge_weight_type="GEO")
    np.testing.assert_array_equal(geographical.display, SQUARE[:, ::-1])
    np.testing.assert_array_equal(tsp.Instance("flat", coordinates=SQUARE).display, SQUARE)
    assert tsp.Instance("explicit", distances=np.zeros((3, 3), int)).display is None
