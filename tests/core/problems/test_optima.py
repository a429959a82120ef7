"""Searches find the best of all solutions of small instances, and what is published of larger ones."""

import numpy as np
import pytest

from cluster import Solo
from core.problems.more.flow_shop.problem import FlowShop
from core.problems.more.labs.problem import Labs
from core.problems.more.linear_ordering.problem import LinearOrdering
from core.problems.more.max_cut.k_cut import MaxKCut
from core.problems.more.max_cut.problem import MaxCut
from core.problems.more.max_sat.problem import MaxSat
from core.problems.ppp import perceptron
from core.problems.ppp.problem import Ppp
from core.problems.qap.problem import Qap
from core.search.local_search import IteratedLocalSearch, Iterations, LocalSearch, TabuSearch, Target
from tests.core.problems.drawn import solutions


def search_until(backend, problem, algorithm, name, target, iterations, **how):
    search = LocalSearch(backend, Solo(), problem, algorithm, name, **how)
    outcome = search.run(Iterations(iterations) | Target(int(target)))
    assert outcome.cost == problem.cost(outcome.solution)
    return outcome


SMALL = {
    "shop": (lambda: FlowShop("taillard:7:4:seed=2"), IteratedLocalSearch(2), "insert"),
    "ordering": (lambda: LinearOrdering("random:7:seed=4"), TabuSearch(), "insert"),
    "bits cut": (lambda: MaxCut("random:12:weights=-5..5:seed=2"), TabuSearch(), "flip1"),
    "cut": (lambda: MaxKCut.load("maxcut:8:3:seed=2:weights=-9..9"), TabuSearch(3, 5), "assign"),
    "sat": (lambda: MaxSat("random:12:ratio=6:seed=2"), TabuSearch(), "flip1"),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_search_finds_the_best_of_all_solutions(cpu, name):
    make, algorithm, neighbourhood = SMALL[name]
    problem = make()
    least = problem.costs(np.array(solutions(problem.encoding))).min()
    outcome = search_until(cpu, problem, algorithm, neighbourhood, least, 300, level="algorithm", walks=8)
    assert outcome.cost == least


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 2), (2, 1), (3, 3), (70, 2)])
def test_the_smallest_perceptrons_are_solved(cpu, m, n):
    problem = Ppp(perceptron.generate(m, n, 5))
    least = problem.costs(np.array(solutions(problem.encoding))).min()
    assert search_until(cpu, problem, TabuSearch(0, 0), "flip1", least, 2**n).cost == least


@pytest.mark.parametrize("n", [13, pytest.param(20, marks=pytest.mark.slow), pytest.param(27, marks=pytest.mark.slow)])
def test_tabu_search_finds_the_published_optimum_of_labs(cpu, n):
    problem = Labs(n)
    outcome = search_until(
        cpu, problem, TabuSearch(), "flip1", problem.optimum, 3000, level="algorithm", walks=64, seed=1
    )
    assert outcome.cost == problem.optimum


@pytest.mark.slow
def test_tabu_search_finds_the_best_known_solution(cpu):
    assert search_until(cpu, Qap.load("tai30a"), TabuSearch(), "exchange2", 1818146, 5000, seed=3).cost == 1818146
    assert search_until(cpu, Ppp.load("73-73"), TabuSearch(), "flip2", 0, 1500, seed=3).cost == 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "optimum"), [("ta001", 1278), ("ta011", 1582)])
def test_a_search_comes_close_to_the_published_optimum_and_not_below(cpu, name, optimum):
    problem = FlowShop(name)
    assert problem.optimum == optimum
    cost = search_until(cpu, problem, IteratedLocalSearch(2), "insert", optimum, 150, level="algorithm", walks=24).cost
    assert optimum <= cost <= 1.02 * optimum
