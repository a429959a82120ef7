"""MAX-SAT: weights by loops and by brute force, kept counts behind walks, and formulas as texts or objects."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import sat
from core.problems.max_sat import MaxSat
from core.search.local_search import (
    Iterations,
    LocalSearch,
    SimulatedAnnealing,
    TabuSearch,
    Target,
    check,
)
from tests.core.problems.neighbours import after_a_walk, by_kernels, rescored

EVALUATIONS = ("counts", "plain")


@pytest.fixture(scope="module", params=[CpuBackend, PythonBackend])
def device(request):
    return request.param(request.param.devices()[0])


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@st.composite
def formulas(draw):
    n = draw(st.integers(1, 6))
    literal = st.integers(1, n) | st.integers(-n, -1)
    clauses = draw(st.lists(st.lists(literal, min_size=1, max_size=5), min_size=1, max_size=9))
    weights = draw(st.lists(st.integers(1, 99), min_size=len(clauses) + 1, max_size=len(clauses) + 1))
    bits = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return n, [*clauses, [-n]], weights, bits  # one clause at least can be violated


def violated(clauses, weights, bits):
    """The weight of the clauses without a true literal, by loops over the clauses as they were given."""
    holds = [any((literal > 0) == bool(bits[abs(literal) - 1]) for literal in clause) for clause in clauses]
    return sum(weight for weight, one in zip(weights, holds, strict=True) if not one)


@given(formulas())
def test_cost_is_what_loops_sum_up(formula):
    n, clauses, weights, bits = formula
    problem = MaxSat(sat.SatInstance("drawn", n, clauses, weights))
    assert problem.cost(np.array(bits)) == violated(clauses, weights, bits)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@settings(max_examples=25, deadline=None)
@given(formula=formulas())
def test_every_difference_is_that_of_rescoring(device, evaluation, formula):
    n, clauses, weights, bits = formula
    problem = MaxSat(sat.SatInstance("drawn", n, clauses, weights))
    assert by_kernels(device, problem, "flip1", evaluation, bits) == rescored(problem, "flip1", bits)


def test_every_evaluation_passes_the_check():
    check(MaxSat("random:8:ratio=3:length=4"), moves=8)
    check(MaxSat(sat.SatInstance("mixed", 4, [[1, -2], [2, 2, 3], [1, -1], [-4], [-1, -2, -3, 4]], [3, 1, 9, 2, 5])))


@pytest.mark.parametrize(
    ("algorithm", "evaluation"),
    [(TabuSearch(), "counts"), (TabuSearch(), "plain"), (SimulatedAnnealing(plateau=5), "counts")],
    ids=["tabu", "tabu plain", "annealing"],
)
def test_differences_stay_right_behind_a_walk(cpu, algorithm, evaluation):
    problem = MaxSat("random:15:ratio=5:seed=7")
    search = LocalSearch(cpu, Solo(), problem, algorithm, "flip1", evaluation=evaluation, seed=5)
    for length in (1, 2, 30):
        search.run(Iterations(length))
        found, solution = after_a_walk(search)
        assert found == rescored(problem, "flip1", solution)


@pytest.mark.parametrize(("seed", "ratio"), [(1, "4.2"), (2, "6")])
def test_tabu_search_finds_the_best_of_all_assignments_of_20_variables(cpu, seed, ratio):
    problem = MaxSat(f"random:20:ratio={ratio}:seed={seed}")
    # Bit v of the word that is an assignment's number is variable v: each clause rules some of the words out.
    words, costs = np.arange(2**20, dtype=np.int32), np.zeros(2**20, np.int16)
    for first, end in itertools.pairwise(problem.instance.starts):
        broken = np.ones(2**20, bool)
        for literal in problem.instance.literals[first:end]:
            broken &= (words >> (literal >> 1) & 1) == (literal & 1)
        costs += broken
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "flip1", level="algorithm", walks=16)
    outcome = search.run(Iterations(1000) | Target(int(costs.min())))
    assert outcome.cost == costs.min() == costs[int(outcome.solution @ (1 << np.arange(20)))]


def test_a_formula_that_can_be_satisfied_is(cpu):
    """Clauses that one hidden assignment satisfies, four times as many as variables."""
    random = np.random.default_rng(3)
    hidden = random.integers(0, 2, 50)
    clauses = []
    while len(clauses) < 200:
        chosen = random.choice(50, 3, replace=False)
        signs = random.integers(0, 2, 3)
        if (signs == hidden[chosen]).any():
            clauses.append([int(v + 1 if sign else -(v + 1)) for v, sign in zip(chosen, signs, strict=True)])
    problem = MaxSat(sat.SatInstance("hidden", 50, clauses))
    assert problem.cost(hidden) == 0
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "flip1", level="algorithm", walks=32)
    assert search.run(Iterations(2000) | Target(0)).cost == 0


def test_a_problem_is_made_of_an_instance_or_of_what_names_one(tmp_path):
    (tmp_path / "two.cnf").write_text("p cnf 2 2\n1 0\n-1 -2 0\n")
    problems = [MaxSat(sat.SatInstance("two", 2, [[1], [-1, -2]])), MaxSat(str(tmp_path / "two.cnf"))]
    problems += [MaxSat("two", tmp_path), MaxSat("two.cnf", tmp_path)]
    assert {problem.name for problem in problems} == {"two"}
    assert len({problem.sha256 for problem in problems}) == 1
    assert [problems[0].cost(np.array(bits)) for bits in itertools.product((0, 1), repeat=2)] == [1, 1, 0, 1]
