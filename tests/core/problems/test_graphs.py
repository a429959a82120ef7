"""Graphs to be cut: known cuts, generated graphs and rudy files."""

import itertools
import pickle

import numpy as np
import pytest

from core.problems.instances.errors import InstanceError
from core.problems.more.max_cut import graphs
from tests.core.problems.test_generators import split_mix

# a square with one diagonal
TEXT = "4 5\n1 2 3\n2 3 -1\n3 4\n4 1 5\n1 3 2\n"
EDGES = {(0, 1): 3, (1, 2): -1, (2, 3): 1, (0, 3): 5, (0, 2): 2}


def test_generated_weights_are_the_words_scaled():
    instance = graphs.generate("maxcut:30:3:seed=9:density=0.3:weights=-4..7")
    expected = np.zeros((30, 30), dtype=int)
    for word, (i, j) in zip(split_mix(9, 435), itertools.combinations(range(30), 2), strict=True):
        if word >> 32 < 3 * 2**32 // 10:
            expected[i, j] = expected[j, i] = -4 + ((word & 2**32 - 1) * 12 >> 32)
    np.testing.assert_array_equal(instance.weights, expected)
    assert instance.weights.dtype == np.int32 and instance.k == 3
    for density, edges in ((0, 0), (1, 435)):
        dense = graphs.generate(f"maxcut:30:2:density={density}:weights=1..1")
        assert dense.weights.sum() == 2 * edges


def test_seed_changes_the_graph_and_the_name_says_all():
    first, again, other = (
        graphs.load(*given) for given in (("maxcut:9:2:seed=5",), ("maxcut:9:2", None, 5), ("maxcut:9:2",))
    )
    assert first.name == again.name == "maxcut:9:2:seed=5:density=0.5:weights=1..10"
    assert first.sha256 == again.sha256 != other.sha256
    assert graphs.load(other.name, seed=5).sha256 == other.sha256
    assert graphs.load("maxcut:9:3:seed=5").sha256 != first.sha256
    assert pickle.loads(pickle.dumps(first)).sha256 == first.sha256


def test_rudy_file_gives_its_edges(tmp_path):
    (tmp_path / "square.txt").write_text(TEXT)
    for instance in (graphs.load(str(tmp_path / "square.txt"), k=3), graphs.load("square.txt", tmp_path, k=3)):
        assert (instance.name, instance.n, instance.k, instance.optimum) == ("square", 4, 3, None)
        expected = np.zeros((4, 4), dtype=int)
        for (i, j), weight in EDGES.items():
            expected[i, j] = expected[j, i] = weight
        np.testing.assert_array_equal(instance.weights, expected)


def test_digest_survives_order_and_white_space():
    lines = TEXT.splitlines()
    shuffled = "\r\n\r\n".join([lines[0], *reversed(lines[1:])]).replace("2 3 -1", " 3\t2  -1 ")
    assert graphs.parse(shuffled, path="other").sha256 == graphs.parse(TEXT).sha256
    assert graphs.parse(TEXT, k=3).sha256 != graphs.parse(TEXT).sha256


def test_number_of_parts_of_a_file_is_checked(tmp_path):
    (tmp_path / "square.txt").write_text(TEXT)
    with pytest.raises(InstanceError, match="1 parts, expected an integer from 2"):
        graphs.load("square.txt", tmp_path, k=1)
