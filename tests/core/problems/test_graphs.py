"""Graphs to be cut: the cost by loops, generated graphs, rudy files and refusals."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.problems import graphs
from core.problems.errors import InstanceError
from tests.core.problems.test_generators import split_mix

# a square with one diagonal
TEXT = "4 5\n1 2 3\n2 3 -1\n3 4\n4 1 5\n1 3 2\n"
EDGES = {(0, 1): 3, (1, 2): -1, (2, 3): 1, (0, 3): 5, (0, 2): 2}


@st.composite
def cuts(draw):
    n, k = draw(st.integers(1, 8)), draw(st.integers(2, 5))
    weights = np.zeros((n, n), dtype=np.int64)
    for i, j in itertools.combinations(range(n), 2):
        weights[i, j] = weights[j, i] = draw(st.integers(-50, 50))
    values = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    return graphs.GraphInstance("drawn", weights, k), values


@given(cuts())
def test_cost_is_what_loops_sum_up(cut):
    instance, values = cut
    pairs = itertools.combinations(range(instance.n), 2)
    expected = sum(int(instance.weights[i, j]) for i, j in pairs if values[i] == values[j])
    assert graphs.cost(instance, values) == expected


@given(cuts())
def test_cost_and_cut_make_up_all_weights(cut):
    instance, values = cut
    across = np.not_equal.outer(values, values)
    assert 2 * graphs.cost(instance, values) + instance.weights[across].sum() == instance.weights.sum()


def test_known_graphs_have_their_known_cuts():
    complete = np.ones((6, 6), dtype=int) - np.eye(6, dtype=int)
    for k, inside in ((2, 6), (3, 3), (6, 0)):
        instance = graphs.GraphInstance("K6", complete, k)
        costs = [graphs.cost(instance, values) for values in itertools.product(range(min(k, 3)), repeat=6)]
        assert graphs.cost(instance, np.arange(6) % k) == inside
        assert k > 3 or min(costs) == inside
    ring = np.roll(np.eye(8, dtype=int), 1, axis=1)
    assert graphs.cost(graphs.GraphInstance("ring", ring + ring.T, 2), np.arange(8) % 2) == 0


def test_a_single_vertex_costs_nothing():
    assert graphs.cost(graphs.load("maxcut:1:2"), [1]) == 0


def test_sums_do_not_wrap_around_in_32_bits():
    weights = np.array([[0, 2**31 - 1], [2**31 - 1, 0]])
    assert graphs.cost(graphs.GraphInstance("heavy", weights, 2), [1, 1]) == 2**31 - 1


def test_generated_weights_are_the_words_scaled():
    instance = graphs.generate("maxcut:30:3:seed=9:density=0.3:weights=-4..7")
    expected = np.zeros((30, 30), dtype=int)
    for word, (i, j) in zip(split_mix(9, 435), itertools.combinations(range(30), 2), strict=True):
        if word >> 32 < 3 * 2**32 // 10:
            expected[i, j] = expected[j, i] = -4 + ((word & 2**32 - 1) * 12 >> 32)
    np.testing.assert_array_equal(instance.weights, expected)
    assert instance.weights.dtype == np.int32 and instance.k == 3


def test_density_and_weights_are_as_asked():
    upper = np.triu_indices(300, 1)
    drawn = graphs.generate("maxcut:300:2:density=0.25:weights=2..5").weights[upper]
    assert abs(np.count_nonzero(drawn) / len(drawn) - 0.25) < 0.01
    np.testing.assert_allclose(np.bincount(drawn)[2:], len(drawn) / 16, rtol=0.1)
    assert (graphs.generate("maxcut:300:2:density=1:weights=1..1").weights[upper] == 1).all()
    assert not graphs.generate("maxcut:300:2:density=0").weights.any()


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


@pytest.mark.parametrize(
    "text, words",
    [
        ("\n", "file.txt:1: found an empty file, expected a line 'n m'"),
        ("4\n", "file.txt:1: found '4', expected two integers 'n m'"),
        ("4 five\n", "file.txt:1: found '4 five', expected two integers 'n m'"),
        ("0 0\n", "file.txt:1: found 0 vertices, expected 1 to 20000"),
        ("20001 0\n", "file.txt:1: found 20001 vertices, expected 1 to 20000"),
        ("4 7\n", "file.txt:1: found 7 edges, expected 0 to 6, as there are 4 vertices"),
        ("4 -1\n", "file.txt:1: found -1 edges"),
        (TEXT.replace("4 5", "4 6"), "file.txt:6: found the end after 5 edges, expected 6 edges"),
        (TEXT.replace("4 5", "4 4"), "file.txt:6: found '1 3 2' after them, expected 4 edges"),
        (TEXT.replace("3 4", "3"), "file.txt:4: found '3', expected integers 'i j w' or 'i j'"),
        (TEXT.replace("3 4", "3 4 1 1"), "file.txt:4: found '3 4 1 1', expected integers"),
        (TEXT.replace("3 4", "3 4 1.5"), "file.txt:4: found '3 4 1.5', expected integers"),
        (TEXT.replace("3 4", "3 5"), "file.txt:4: found vertex 5, expected 1 to 4"),
        (TEXT.replace("3 4", "0 4"), "file.txt:4: found vertex 0, expected 1 to 4"),
        (TEXT.replace("3 4", "3 3"), "file.txt:4: found a loop at vertex 3"),
        (TEXT.replace("3 4", "2 1 3"), "file.txt:4: found edge 2 1 again, as on line 2, expected it once"),
        (TEXT.replace("3 4", "3 4 2147483648"), "file.txt:4: found weight 2147483648"),
        (TEXT.replace("3 4", "3 4 2147483637"), "file.txt: found weights whose sizes sum up to 2147483648"),
    ],
)
def test_malformed_file_is_refused_with_its_line(tmp_path, text, words):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(InstanceError) as raised:
        graphs.load(str(path))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "spec, words",
    [
        ("square.txt", "found no such file, expected a file, or maxcut:N:K"),
        ("maxcut:10", "no size or no number of parts"),
        ("maxcut:0:2", "size '0', expected an integer from 1 to 20000"),
        ("maxcut:20001:2", "size '20001'"),
        ("maxcut:10:1", "number of parts '1', expected an integer from 2 to 100000"),
        ("maxcut:10:x", "number of parts 'x'"),
        ("maxcut:10:2:seed=-1", "seed '-1'"),
        ("maxcut:10:2:seed=9223372036854775808", "seed '9223372036854775808'"),
        ("maxcut:10:2:density=1.5", "density '1.5', expected a decimal number from 0 to 1"),
        ("maxcut:10:2:density=.5", "density '.5'"),
        ("maxcut:10:2:density=nan", "density 'nan'"),
        ("maxcut:10:2:weights=5", "weights '5', expected LOW..HIGH"),
        ("maxcut:10:2:weights=5..4", "weights '5..4'"),
        ("maxcut:10:2:weights=0..2147483648", "weights '0..2147483648'"),
        ("maxcut:10:2:weights=2147483647..2147483647", "weights whose sizes sum up to"),
        ("maxcut:10:2:seed=1:seed=1", "option 'seed=1' (again)"),
        ("maxcut:10:2:sed=1", "option 'sed=1' (unknown)"),
    ],
)
def test_wrong_specification_is_refused(spec, words):
    with pytest.raises(InstanceError) as raised:
        graphs.load(spec)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "weights, k, words",
    [
        (np.zeros((2, 3), dtype=int), 2, "shape"),
        (np.zeros((0, 0), dtype=int), 2, "0 vertices, expected 1 to 20000"),
        (np.zeros((2, 2)), 2, "float64, expected integers"),
        ([[0, 1], [2, 0]], 2, "weight 1 from vertex 0 to 1 and 2 back"),
        ([[0, 1], [1, 4]], 2, "a loop of weight 4 at vertex 1"),
        ([[0, -(2**31)], [-(2**31), 0]], 2, "weight -2147483648"),
        ([[0, 1], [1, 0]], 1, "1 parts, expected an integer from 2 to 100000"),
        ([[0, 1], [1, 0]], 100_001, "100001 parts"),
        ([[0, 1], [1, 0]], 2.5, "2.5 parts, expected an integer from 2"),
        ([[0, 1.5], [1.5, 0]], 2, "weights of float64, expected integers"),
        ([[0, 2**64], [2**64, 0]], 2, "weights of object, expected integers"),
        (np.array([[0, 2**63], [2**63, 0]], np.uint64), 2, "weight 9223372036854775808, expected"),
    ],
)
def test_wrong_parts_are_refused(weights, k, words):
    with pytest.raises(InstanceError, match=words):
        graphs.GraphInstance("given", weights, k)


def test_number_of_parts_of_a_file_is_checked(tmp_path):
    (tmp_path / "square.txt").write_text(TEXT)
    with pytest.raises(InstanceError, match="1 parts, expected an integer from 2"):
        graphs.load("square.txt", tmp_path, k=1)
    with pytest.raises(InstanceError, match="no such folder"):
        graphs.load("square.txt", tmp_path / "none")


@pytest.mark.parametrize(
    "values, words",
    [
        ([0, 1, 0], "shape"),
        ([0, 1, 0, 2], "value 2, expected 0 to 1"),
        ([0, -1, 0, 1], "value -1"),
        ([0.0] * 4, "float64"),
    ],
)
def test_wrong_solution_is_refused(values, words):
    with pytest.raises(ValueError, match=words):
        graphs.cost(graphs.parse(TEXT), values)
