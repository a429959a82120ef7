"""Searches find the best of all solutions of small instances, and what is published of larger ones."""

import numpy as np
import pytest

from cluster import Solo
from core.local_search import Iterations, LocalSearch, TabuSearch, Target
from core.ppp import perceptron
from core.ppp.problem import Ppp
from core.qap.problem import Qap
from tests.core.instances.drawn import solutions


def solve(backend, problem, algorithm, name, target, iterations, **how):
    search = LocalSearch(backend, Solo(), problem, algorithm, name, **how)
    outcome = search.run(Iterations(iterations) | Target(int(target)))
    assert outcome.cost == problem.cost(outcome.solution)
    return outcome


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 2), (2, 1), (3, 3), (70, 2)])
def test_the_smallest_perceptrons_are_solved(cpu, m, n):
    problem = Ppp(perceptron.generate(m, n, 5))
    least = problem.costs(np.array(solutions(problem.encoding))).min()
    assert solve(cpu, problem, TabuSearch(0, 0), "flip1", least, 2**n).cost == least


@pytest.mark.slow
def test_tabu_search_finds_the_best_known_solution(cpu):
    assert solve(cpu, Qap.load("tai30a"), TabuSearch(), "exchange2", 1818146, 5000, seed=3).cost == 1818146
    assert solve(cpu, Ppp.load("73-73"), TabuSearch(), "flip2", 0, 1500, seed=3).cost == 0
