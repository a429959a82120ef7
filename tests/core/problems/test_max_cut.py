"""Max-cut and QUBO: values by loops and by brute force, kept fields behind walks, graphs and matrices as instances."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import graphs, quadratic
from core.problems.errors import InstanceError
from core.problems.max_cut import MaxCut, Qubo
from core.problems.max_k_cut import MaxKCut
from core.search.local_search import Iterations, LocalSearch, SimulatedAnnealing, TabuSearch, check
from tests.core.problems.neighbours import after_a_walk, by_kernels, rescored

EVALUATIONS = ("fields", "linear")


@pytest.fixture(scope="module", params=[CpuBackend, PythonBackend])
def device(request):
    return request.param(request.param.devices()[0])


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 7))
    numbers = draw(st.lists(st.integers(-50, 50), min_size=n * n, max_size=n * n))
    return np.array(numbers).reshape(n, n), draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))


def all_bits(n):
    return np.array(list(itertools.product((0, 1), repeat=n)))


@given(matrices())
def test_a_value_is_what_loops_sum_up(drawn):
    matrix, bits = drawn
    problem = Qubo(quadratic.of_matrix("drawn", matrix))
    pairs = itertools.product(range(len(bits)), repeat=2)
    assert problem.cost(np.array(bits)) == sum(int(matrix[i, j]) * bits[i] * bits[j] for i, j in pairs)


@given(matrices())
def test_a_cut_is_what_its_edges_weigh(drawn):
    matrix, bits = drawn
    weights = np.triu(matrix, 1) + np.triu(matrix, 1).T
    pairs = itertools.combinations(range(len(bits)), 2)
    cut = sum(int(weights[i, j]) for i, j in pairs if bits[i] != bits[j])
    assert MaxCut(graphs.GraphInstance("drawn", weights, 2)).cost(np.array(bits)) == -cut


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@pytest.mark.parametrize("name", ["flip1", "flip2"])
@settings(max_examples=15, deadline=None)
@given(drawn=matrices())
def test_every_difference_is_that_of_rescoring(device, name, evaluation, drawn):
    matrix, bits = drawn
    problem = Qubo(quadratic.of_matrix("drawn", matrix))
    assert by_kernels(device, problem, name, evaluation, bits) == rescored(problem, name, bits)


def test_every_evaluation_passes_the_check():
    check(MaxCut("random:7:weights=-9..9"), moves=8)
    check(Qubo(quadratic.of_matrix("drawn", np.random.default_rng(1).integers(-9, 9, (6, 6)))), moves=8)


def test_coefficients_up_to_31_bits_are_added_exactly(cpu):
    large = 2**29 - 1
    problem = Qubo(quadratic.of_matrix("large", np.array([[large, large, 0], [0, -large, -large], [0, 0, 0]])))
    for bits, evaluation in itertools.product(all_bits(3), EVALUATIONS):
        assert by_kernels(cpu, problem, "flip2", evaluation, bits) == rescored(problem, "flip2", bits)


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [(TabuSearch(), "flip1"), (SimulatedAnnealing(plateau=5), "flip3")],
    ids=["tabu", "annealing"],
)
def test_kept_fields_stay_right_behind_a_walk(cpu, algorithm, name):
    problem = MaxCut("random:14:weights=-9..9:seed=7")
    search = LocalSearch(cpu, Solo(), problem, algorithm, name, evaluation="fields", seed=5)
    for length in (1, 2, 30):
        search.run(Iterations(length))
        found, solution = after_a_walk(search)
        assert found == rescored(problem, name, solution)


@pytest.mark.parametrize("spec", ["random:16:density=0.4", "random:16:weights=-5..5:seed=2"])
def test_tabu_search_finds_the_best_of_all_cuts_of_16_vertices(cpu, spec):
    problem = MaxCut(spec)
    costs = problem.costs(all_bits(16))
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "flip1", level="algorithm", walks=16)
    outcome = search.run(Iterations(300))
    assert outcome.cost == costs.min() == problem.cost(outcome.solution)


def test_known_graphs_have_their_known_cuts():
    ring = np.roll(np.eye(8, dtype=int), 1, axis=1)
    assert MaxCut(graphs.GraphInstance("ring", ring + ring.T, 2)).costs(all_bits(8)).min() == -8
    complete = np.ones((9, 9), dtype=int) - np.eye(9, dtype=int)
    assert MaxCut(graphs.GraphInstance("K9", complete, 2)).costs(all_bits(9)).min() == -20


def test_a_cut_and_what_it_leaves_make_up_all_weights():
    graph = graphs.load("random:12:seed=3")
    bits = all_bits(12)[::37]
    left = [MaxKCut(graph).cost(one) for one in bits]
    assert (MaxCut(graph).costs(bits) + graph.weights.sum() // 2).tolist() == left


def test_more_rows_than_are_multiplied_at_a_time(monkeypatch):
    form = quadratic.of_graph(graphs.load("random:30:weights=-3..9"))
    bits = np.random.default_rng(4).integers(0, 2, (5, 30))
    expected = form.values(bits).tolist()
    monkeypatch.setattr(quadratic, "ROWS", 7)
    assert form.values(bits).tolist() == expected


def test_a_graph_is_found_by_path_name_and_generator(tmp_path):
    (tmp_path / "gset").mkdir()
    (tmp_path / "gset" / "G0").write_text("3 2\n1 2 5\n2 3 -7\n")
    problems = [MaxCut(str(tmp_path / "gset" / "G0")), MaxCut("G0", tmp_path)]
    assert [(one.name, one.cost(np.array([0, 1, 1]))) for one in problems] == [("G0", -5)] * 2
    named = MaxCut("random:9:density=0.3")
    assert named.name == "maxcut:9:2:seed=0:density=0.3:weights=1..10"
    assert MaxCut(named.name).sha256 == named.sha256 != problems[0].sha256


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: quadratic.of_matrix("m", np.ones((2, 3), int)), "a matrix of shape"),
        (
            lambda: quadratic.QuadraticForm("m", np.array([[1, 2], [3, 4]])),
            "not symmetric, expected .* see `of_matrix`",
        ),
        (lambda: quadratic.QuadraticForm("m", np.ones((2, 2))), "coefficients of float64, expected integers"),
        (lambda: quadratic.QuadraticForm("m", np.zeros((0, 0), int)), "shape .*0, 0.*, expected a square matrix of 1"),
        (lambda: quadratic.QuadraticForm("m", np.diag([2**31 - 1, -1])), "sum up to 2147483648, expected at most"),
        (lambda: MaxCut(graphs.GraphInstance("g", np.array([[0, 2**30], [2**30, 0]]), 2)), "2147483648 of an edge's"),
        (lambda: MaxCut("nowhere"), "nowhere: found no such file, expected a file"),
        (lambda: MaxCut("random:0"), "random:0: found size '0'"),
        (lambda: MaxCut("maxcut:9:3"), "found 3 parts, expected 2; `MaxKCut` divides in more"),
    ],
)
def test_what_is_no_form_is_refused(make, words):
    with pytest.raises(InstanceError, match=words):
        make()
