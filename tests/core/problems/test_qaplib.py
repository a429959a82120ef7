"""QAPLIB's files, broken ones included, and the cost of a permutation."""

import gzip
import itertools
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.problems import qaplib
from core.problems.errors import InstanceError

SMALL = "3\n\n0 1 2\n3 0 4\n5 6 0\n\n 0 7 8\n 9 0 10\n 11 12 0\n"
BEYOND_31_BITS = {"tai15b", "tai30b", "tai60b", "tai80b", "tai100b"}

ENTRIES = st.integers(-1000, 1000)
BLANKS = st.text(" \t\n\r\f\v", min_size=1, max_size=3)


@st.composite
def matrices(draw, entries=ENTRIES):
    n = draw(st.integers(1, 6))
    numbers = draw(st.lists(entries, min_size=2 * n * n, max_size=2 * n * n))
    return np.array(numbers).reshape(2, n, n)


def double_loop(flows, distances, permutation):
    n = len(permutation)
    return sum(int(flows[i][j]) * int(distances[permutation[i]][permutation[j]]) for i in range(n) for j in range(n))


def solution(path):
    """Return the stated cost and the permutation, from 0, of a .sln file."""
    n, stated, *permutation = map(int, path.read_text().split())
    # tai40a counts from 0, all others from 1
    location = np.array(permutation) - min(permutation)
    assert sorted(location) == list(range(n))
    return stated, location


@given(matrices(), st.data())
def test_any_layout_of_blanks_is_read(pair, data):
    numbers = [len(pair[0]), *pair.ravel().tolist()]
    text = data.draw(st.sampled_from(["", "\n\n", " "]))
    for number in numbers:
        text += str(number) + data.draw(BLANKS)
    instance = qaplib.parse(text if data.draw(st.booleans()) else text.rstrip())
    assert (instance.flows == pair[0]).all() and (instance.distances == pair[1]).all()
    assert instance.flows.dtype == instance.distances.dtype == np.int32
    assert instance.n == len(pair[0])


@given(matrices(st.integers(-(10**4), 10**4)), st.data())
def test_cost_is_the_double_sum(pair, data):
    instance = qaplib.QapInstance("small", *pair)
    permutation = data.draw(st.permutations(range(instance.n)))
    assert qaplib.cost(instance, permutation) == double_loop(*pair, permutation)


@given(matrices(st.integers(-3, 3)))
def test_bound_holds_for_every_permutation(pair):
    costs = [double_loop(*pair, permutation) for permutation in itertools.permutations(range(len(pair[0])))]
    bound = qaplib.largest_difference(*pair)
    assert max(map(abs, costs)) <= bound and max(costs) - min(costs) <= bound


def test_first_matrix_stays_and_second_is_permuted():
    instance = qaplib.parse(SMALL)
    # facility 0 at location 2, 1 at 0, 2 at 1
    expected = 1 * 11 + 2 * 12 + 3 * 8 + 4 * 7 + 5 * 10 + 6 * 9
    assert qaplib.cost(instance, [2, 0, 1]) == expected


def test_digest_ignores_the_layout_and_not_the_content():
    instance = qaplib.parse(SMALL)
    assert instance.sha256 == qaplib.parse(SMALL.replace("\n", "\r\n  "), name="other").sha256
    assert instance.sha256 != qaplib.parse(SMALL.replace("12", "13")).sha256
    exchanged = qaplib.QapInstance("exchanged", instance.distances, instance.flows)
    assert instance.sha256 != exchanged.sha256
    assert pickle.loads(pickle.dumps(instance)).sha256 == instance.sha256


def test_packed_file_is_read_under_its_name(tmp_path):
    with gzip.open(tmp_path / "small.dat.gz", "wt") as file:
        file.write(SMALL)
    instance = qaplib.read(tmp_path / "small.dat.gz")
    assert instance.name == "small" and instance.flows.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert qaplib.load("small", tmp_path).sha256 == instance.sha256


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("", 1, "an empty file, expected n"),
        (" \n\n", 1, "an empty file"),
        ("\n0\n", 2, "n '0', expected an integer from 1 to 4096"),
        ("-3\n", 1, "n '-3'"),
        ("4097\n", 1, "n '4097'"),
        ("three\n", 1, "n 'three'"),
        ("3.0\n", 1, "n '3.0'"),
        ("3\n", 1, "the end after 0 entries, expected 18 entries, two matrices of 3 by 3"),
        (SMALL.replace("12 0", "12"), 9, "the end after 17 entries"),
        (SMALL + "\n4\n", 11, "'4' after them, expected 18 entries"),
        (SMALL.replace("3", "2", 1), 5, "'0' after them, expected 8 entries"),
        (SMALL.replace("10", "1O"), 8, "entry '1O', expected an integer from -2147483647 to 2147483647"),
        (SMALL.replace("10", "10.0"), 8, "entry '10.0'"),
        (SMALL.replace("10", "1,0"), 8, "entry '1,0'"),
        (SMALL.replace("10", "1_0"), 8, "entry '1_0'"),
        (SMALL.replace("10", "\u0661"), 8, "entry '\u0661'"),
        (SMALL.replace("10", "2147483648"), 8, "entry '2147483648'"),
        (SMALL.replace("10", "-2147483648"), 8, "entry '-2147483648'"),
        (SMALL.replace("10", "9" * 5000), 8, "entry '9999"),
        (SMALL.replace("10", "400000000"), None, "could differ by 2400000154, expected at most 2147483647"),
    ],
)
def test_broken_file_is_refused_at_its_line(tmp_path, text, line, words):
    path = tmp_path / "broken.dat"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InstanceError) as raised:
        qaplib.read(path)
    assert raised.value.line == line and raised.value.path == str(path)
    assert words in str(raised.value) and len(str(raised.value)) < 300


@pytest.mark.parametrize("length", range(len(SMALL) - 2))
def test_file_cut_anywhere_is_refused(length):
    with pytest.raises(InstanceError, match=r"^text:\d+: found .*, expected "):
        qaplib.parse(SMALL[:length])


def test_costs_up_to_31_bits_are_accepted():
    large = 2**31 - 1
    instance = qaplib.QapInstance("large", [[0, large], [0, 0]], [[0, 1], [0, 0]])
    assert qaplib.cost(instance, [0, 1]) == large and qaplib.cost(instance, [1, 0]) == 0
    with pytest.raises(InstanceError, match="could differ by 2147483648"):
        qaplib.QapInstance("larger", [[1, large], [0, 0]], [[1, 1], [0, 0]])
    # the costs of this one are 2**30 and -2**30
    with pytest.raises(InstanceError, match="could differ by 2147483648"):
        qaplib.QapInstance("signed", [[0, 2**30], [0, 0]], [[0, 1], [-1, 0]])
    largest = np.full((1000, 1000), large)
    assert qaplib.largest_difference(largest, largest) == 10**6 * large**2


@pytest.mark.parametrize(
    "flows, distances, words",
    [
        ([[1, 2]], [[1]], "flows of shape (1, 2), expected a square matrix"),
        ([[1]], [1], "distances of shape (1,)"),
        (np.zeros((0, 0), int), [[1]], "expected 1 to 4096 rows"),
        ([[1.0]], [[1]], "flows of float64, expected integers"),
        ([[1]], [[-(2**31)]], "distances of -2147483648"),
        ([[1]], np.zeros((2, 2), int), "1 facilities, 2 locations"),
    ],
)
def test_wrong_matrices_are_refused(flows, distances, words):
    with pytest.raises(InstanceError) as raised:
        qaplib.QapInstance("wrong", flows, distances)
    assert str(raised.value).startswith("wrong: ") and words in str(raised.value)


@pytest.mark.parametrize(
    "permutation, words",
    [
        ([0, 1], r"shape \(2,\), expected \(3,\)"),
        ([[0, 1, 2]], r"shape \(1, 3\)"),
        ([0.0, 1.0, 2.0], "float64, expected integers"),
        ([1, 2, 3], "location 3, expected 0 to 2"),
        ([0, -1, 2], "location -1"),
        ([0, 2, 2], "location 2 repeated and 1 missing"),
    ],
)
def test_only_a_permutation_has_a_cost(permutation, words):
    with pytest.raises(ValueError, match=words):
        qaplib.cost(qaplib.parse(SMALL), permutation)


@pytest.fixture(autouse=True)
def nothing_at_hand(tmp_path, monkeypatch):
    """Play a user without QAPLIB."""
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))


def test_name_is_looked_up_in_the_folder_the_environment_and_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TSPLIB_DIR", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'environment'}")
    for n, place in enumerate(("cache/qaplib/own.dat", "environment/own.dat", "data/qaplib/own.dat"), 1):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(f"{n}\n{'7 ' * 2 * n * n}")
        if not place.startswith("data"):
            assert qaplib.load("own").n == n
    assert qaplib.load("own", tmp_path / "data").n == 3 and qaplib.load("own").n == 2


def test_name_is_looked_up_in_the_folder_and_else_generated(tmp_path):
    generated = qaplib.load("tai12a", tmp_path)
    assert generated.best_known == 224416 and generated.source.startswith("Taillard's generator")
    (tmp_path / "qaplib").mkdir()
    (tmp_path / "qaplib" / "tai12a.dat").write_text(SMALL)
    found = qaplib.load("tai12a", tmp_path)
    assert found.n == 3 and found.name == "tai12a" and found.best_known is None
    assert qaplib.load(str(tmp_path / "qaplib" / "tai12a.dat")).sha256 == found.sha256


@pytest.mark.parametrize(
    "spec, words",
    [
        ("nug3O", "no such instance in {} or the cache ({}/cache) (did you mean nug30?)"),
        ("nug30", "(`python -m core.problems fetch qaplib nug30` gets it), expected a file"),
        ("", "no such instance in {}"),
        ("absent.dat", "no such file, expected a QAPLIB file"),
        ("absent/nug30", "no such file"),
    ],
)
def test_absent_instance_is_an_error_with_advice(tmp_path, spec, words):
    with pytest.raises(InstanceError) as raised:
        qaplib.load(spec, tmp_path)
    assert words.format(tmp_path, tmp_path) in str(raised.value)


def test_absent_folder_is_named(tmp_path):
    with pytest.raises(InstanceError, match="absent: found no such folder"):
        qaplib.load("nug30", tmp_path / "absent")


def test_every_solution_of_qaplib_costs_what_it_states(shared_data):
    inverse, others = set(), set()
    paths = sorted((shared_data / "qaplib").glob("*.sln"))
    for path in paths:
        name = path.stem
        if name in BEYOND_31_BITS:
            continue
        stated, permutation = solution(path)
        instance = qaplib.load(name, shared_data)
        if qaplib.cost(instance, permutation) == stated:
            continue
        # some authors wrote the facility at each location
        (inverse if qaplib.cost(instance, np.argsort(permutation)) == stated else others).add(name)
    assert len(paths) == 128
    assert inverse == {"esc128", "kra30a", "kra30b", "ste36c", "tai60a", "tai80a", "tho150", "tho30"}
    # its permutation is better than the cost that the file states
    assert others == {"kra32"}


def test_published_values_are_those_of_the_solutions(shared_data):
    rows = {row.name: row for row in qaplib.published().values()}
    files = {path.stem: path for path in (shared_data / "qaplib").glob("*.dat")}
    assert rows.keys() == files.keys() - BEYOND_31_BITS
    for name, path in files.items():
        if name in BEYOND_31_BITS:
            with pytest.raises(InstanceError, match="since costs have 32 bits"):
                qaplib.read(path)
            continue
        instance = qaplib.read(path)
        assert instance.best_known == rows[name].best_known and instance.n == rows[name].n
        if path.with_suffix(".sln").is_file():
            permutation = solution(path.with_suffix(".sln"))[1]
            costs = [qaplib.cost(instance, order) for order in (permutation, np.argsort(permutation))]
            assert instance.best_known == min(costs)


def test_inverse_permutation_costs_as_much_with_the_matrices_exchanged():
    instance = qaplib.parse(SMALL)
    exchanged = qaplib.QapInstance("exchanged", instance.distances, instance.flows)
    for order in itertools.permutations(range(3)):
        assert qaplib.cost(instance, order) == qaplib.cost(exchanged, np.argsort(order))
