"""Linear ordering: worths by loops and brute force, kept sums behind walks, LOLIB's files and refusals."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import orderings
from core.problems.errors import InstanceError
from core.problems.linear_ordering import LinearOrdering
from core.search.local_search import IteratedLocalSearch, Iterations, LocalSearch, SimulatedAnnealing, TabuSearch, check
from tests.core.problems.neighbours import after_a_walk, by_kernels, rescored
from tests.core.problems.test_generators import split_mix

EVALUATIONS = ("sums", "linear")
TEXT = "four sectors of 1975\n 4\n 9 1 2 3\n 4 9 5 6\n 7 8 9 1\n 2 3 -4 9\n"


@pytest.fixture(scope="module", params=[CpuBackend, PythonBackend])
def device(request):
    return request.param(request.param.devices()[0])


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@st.composite
def orders(draw):
    n = draw(st.integers(2, 7))
    weights = draw(st.lists(st.integers(-50, 50), min_size=n * n, max_size=n * n))
    return np.array(weights).reshape(n, n), draw(st.permutations(range(n)))


@given(orders())
def test_cost_is_minus_what_loops_sum_up(drawn):
    weights, order = drawn
    above = sum(int(weights[a, b]) for a, b in itertools.combinations(order, 2))
    assert LinearOrdering(orderings.OrderingInstance("drawn", weights)).cost(np.array(order)) == -above


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@settings(max_examples=25, deadline=None)
@given(drawn=orders())
def test_every_difference_is_that_of_rescoring(device, evaluation, drawn):
    weights, order = drawn
    problem = LinearOrdering(orderings.OrderingInstance("drawn", weights))
    assert by_kernels(device, problem, "insert", evaluation, order) == rescored(problem, "insert", order)


def test_every_evaluation_passes_the_check():
    check(LinearOrdering("random:7"), moves=12)


@pytest.mark.parametrize(
    "algorithm", [TabuSearch(), IteratedLocalSearch(), SimulatedAnnealing(plateau=5)], ids=lambda a: a.name
)
def test_kept_sums_stay_right_behind_a_walk(cpu, algorithm):
    problem = LinearOrdering("random:11:seed=3")
    search = LocalSearch(cpu, Solo(), problem, algorithm, "insert", evaluation="sums", seed=5)
    for length in (1, 2, 30):
        search.run(Iterations(length))
        found, solution = after_a_walk(search)
        assert found == rescored(problem, "insert", solution)


def test_search_finds_the_best_of_all_orders_of_eight(cpu):
    problem = LinearOrdering("random:8:seed=4")
    least = problem.costs(np.array(list(itertools.permutations(range(8))))).min()
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "insert", level="algorithm", walks=8)
    outcome = search.run(Iterations(60))
    assert outcome.cost == least == problem.cost(outcome.solution)


def test_an_order_that_contradicts_nothing_is_found(cpu):
    hidden = np.random.default_rng(5).permutation(25)
    weights = np.zeros((25, 25), int)
    weights[np.ix_(hidden, hidden)] = np.triu(np.ones((25, 25), int), 1)
    problem = LinearOrdering(orderings.OrderingInstance("hidden", weights))
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "insert")
    outcome = search.run(Iterations(100))
    assert (outcome.cost, outcome.solution.tolist()) == (-300, hidden.tolist())
    assert problem.cost_range() == (-300, 0)


# --- instances ---


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.split("\n", 1)[1], TEXT.replace("\n 4 9", " 4\r\n9").replace(" 2 3 -4", "\n\n2 3 -4")]
)
def test_a_text_is_read_with_a_title_or_without_in_any_layout(tmp_path, text):
    (tmp_path / "lolib").mkdir()
    (tmp_path / "lolib" / "four.mat").write_bytes(text.encode())
    instance = orderings.load("four", tmp_path)
    assert (instance.name, instance.n) == ("four", 4)
    assert instance.weights.tolist() == [[9, 1, 2, 3], [4, 9, 5, 6], [7, 8, 9, 1], [2, 3, -4, 9]]
    assert orderings.load(str(tmp_path / "lolib" / "four.mat")).sha256 == instance.sha256
    assert LinearOrdering("four", tmp_path).cost(np.array([0, 1, 2, 3])) == -18


def test_generated_weights_are_the_words_scaled():
    instance = orderings.generate("random:9:largest=20:seed=6")
    drawn = np.array([(word >> 32) * 21 >> 32 for word in split_mix(6, 81)]).reshape(9, 9)
    np.fill_diagonal(drawn, 0)
    assert instance.weights.tolist() == drawn.tolist()
    assert (instance.name, orderings.load("random:5").name) == (
        "random:9:largest=20:seed=6",
        "random:5:largest=100:seed=1",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "f.mat:1: found no number, expected a title or none, then n"),
        ("title\n", "f.mat:1: found no number"),
        ("title\n0\n", "f.mat:2: found number of elements '0', expected an integer from 1 to 4096"),
        ("2\n1 2\n3 x\n", "f.mat:3: found entry 'x'"),
        ("2\n1 2\n3\n", "f.mat:3: found the end after 3 entries, expected 4 of a square matrix"),
        ("2\n1 2\n3 4\n5\n", "f.mat:4: found '5' after them, expected 4 entries"),
        ("title\nagain\n2\n", "f.mat:2: found number of elements 'again'"),
        ("2\n1 2147483647\n3 4\n", "f.mat: found weights whose sizes sum up to 2147483655 or more"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path, text, words):
    (tmp_path / "f.mat").write_text(text)
    with pytest.raises(InstanceError) as refusal:
        orderings.load(str(tmp_path / "f.mat"))
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: orderings.OrderingInstance("m", np.ones((2, 3), int)), "weights of shape"),
        (lambda: orderings.OrderingInstance("m", np.ones((2, 2))), "weights of float64, expected integers"),
        (lambda: orderings.OrderingInstance("m", np.full((2, 2), 2**40)), "sum up to 1099511627776 or more"),
        (lambda: LinearOrdering("nowhere"), "no such instance in .* a generator such as random:40:seed=1"),
        (lambda: LinearOrdering("random:0"), "elements '0'"),
    ],
)
def test_what_is_no_matrix_is_refused(make, words):
    with pytest.raises(InstanceError, match=words):
        make()
