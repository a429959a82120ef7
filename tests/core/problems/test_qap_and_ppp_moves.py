"""What a neighbour of a QAP or PPP solution costs is what rescoring says, from scratch and after a walk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from cluster import Solo
from core.kernels.moves import NEVER
from core.problems import perceptron
from core.problems.ppp import Ppp
from core.problems.qap import Qap
from core.problems.qaplib import QapInstance
from core.search.local_search import Iterations, LocalSearch, TabuSearch
from tests.core.problems.neighbours import rescored

SIZES = st.integers(3, 7)


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def matrices(n, symmetric):
    """Two matrices with diagonals, small enough to make many ties."""
    entries = st.lists(st.integers(-9, 9), min_size=n * n, max_size=n * n)
    square = entries.map(lambda flat: np.array(flat, np.int32).reshape(n, n))
    if symmetric:
        square = square.map(lambda m: np.tril(m) + np.tril(m, -1).T)
    return st.tuples(square, square)


def scanned(search, start, iterations):
    """All differences as the scan sees them after so many iterations of a walk from ``start``."""
    stop = Iterations(10**6)
    search.begin(stop, start)
    search.iterate(iterations)
    solution = search.backend.download(search.walkers.solution)
    loop = search.host_loop
    search.launch_refresh()
    loop.evaluate(0, 0, search.sizes[0])
    return search.backend.download(loop.fitnesses)[: search.sizes[0]].tolist(), solution


def check(search, start, iterations):
    problem, name = search.problem, search.neighbourhoods[0].name
    found, solution = scanned(search, start, iterations)
    assert NEVER not in found
    assert found == rescored(problem, name, solution)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("name", "evaluation"), [("exchange2", "kept"), ("exchange2", "linear"), ("exchange3", "linear")]
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_exchange_costs_what_rescoring_says(cpu, symmetric, name, evaluation, data):
    n = data.draw(SIZES)
    flows, distances = data.draw(matrices(n, symmetric))
    problem = Qap(QapInstance("drawn", flows, distances))
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(0, 0), name, evaluation=evaluation, select="host")
    check(search, data.draw(st.permutations(range(n))), data.draw(st.integers(0, 6)))


@pytest.mark.parametrize("evaluation", ["words", "linear", "histogram"])
@pytest.mark.parametrize("name", ["flip1", "flip2", "flip3"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_flip_costs_what_rescoring_says(cpu, name, evaluation, data):
    m, n = data.draw(st.integers(1, 40)), data.draw(st.integers(4, 7))
    weights = data.draw(st.sampled_from([(30, 1), (1, 7), (0, 1)]))
    problem = Ppp(perceptron.generate(m, n, data.draw(st.integers(0, 99)), *weights))
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(0, 0), name, evaluation=evaluation, select="host")
    check(search, data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), data.draw(st.integers(0, 6)))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 2), (2, 1), (3, 3), (70, 2)])
def test_the_smallest_perceptrons_are_solved(cpu, m, n):
    problem = Ppp(perceptron.generate(m, n, 5))
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(0, 0), "flip1")
    assert search.run(Iterations(2**n)).cost == min(
        problem.cost(np.array([v >> p & 1 for p in range(n)])) for v in range(2**n)
    )


def test_tabu_search_finds_the_best_known_assignment_of_tai30a(cpu):
    search = LocalSearch(cpu, Solo(), Qap.load("tai30a"), TabuSearch(), "exchange2", seed=3)
    assert search.run(Iterations(5000)).cost == 1818146


def test_tabu_search_solves_the_perceptron_of_73_rows(cpu):
    problem = Ppp.load("73-73")
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "flip2", seed=3)
    found = search.run(Iterations(1500))
    assert (found.cost, problem.cost(found.solution)) == (0, 0)
