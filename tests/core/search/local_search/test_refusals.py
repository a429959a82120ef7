"""What local search refuses, in one line that says what was found and what was expected."""

import numpy as np
import pytest

from backends.cpu import CpuBackend
from cluster import Solo
from core.errors import UserError
from core.problems.ppp import Ppp
from core.problems.qap import Qap
from core.problems.weierstrass import Weierstrass
from core.search.local_search import (
    HillClimbing,
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    NoImprovement,
    Permutation,
    Seconds,
    SimulatedAnnealing,
    TabuSearch,
    Target,
    Values,
)

TABU = TabuSearch()


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.mark.parametrize(
    ("algorithm", "names", "how", "words"),
    [
        (
            TABU,
            "flip1",
            {},
            "neighbourhood 'flip1' for a permutation encoding: expected exchange2, exchange3, insert, reverse, 2opt",
        ),
        (TABU, "2opt", {}, "neighbourhood '2opt': .* knows exchange2, exchange3"),
        (TABU, ["exchange2", "exchange3"], {}, "2 neighbourhoods for tabu, which uses one"),
        (TABU, [], {}, "expected a neighbourhood, or 1 to 3"),
        (TabuSearch(tenure=15), "exchange2", {}, "a tenure of up to 15 iterations .* 15 neighbours"),
        (TabuSearch(remember="attributes"), "2opt", {}, "'2opt'"),
        (TABU, "exchange2", {"evaluation": "guess"}, "evaluation 'guess': .* has kept, linear"),
        (TABU, "exchange2", {"level": "grid"}, "level 'grid': expected iteration, algorithm, solution"),
        (TABU, "exchange2", {"level": "solution", "evaluation": "kept"}, "evaluates a neighbour in one piece"),
        (TABU, "exchange2", {"walks": 2}, "2 walks: expected 1 at the iteration level"),
        (TABU, "exchange2", {"level": "algorithm", "walks": 0}, "0 walks: expected 1 or more"),
        (TABU, "exchange2", {"exchange": 5}, "use level algorithm"),
        (TABU, "exchange2", {"seed": -1}, "seed -1: expected 0 to 2147483647"),
        (TABU, "exchange2", {"select": "nowhere"}, "select on 'nowhere': expected device or host"),
        (TABU, "exchange2", {"generate": "host"}, "expected select host too"),
        (SimulatedAnnealing(), "exchange2", {"select": "host"}, "expected select device"),
        (TABU, "exchange2", {"tables": "paper"}, "tables in 'paper' memory: expected global"),
    ],
)
def test_what_does_not_fit_is_refused(cpu, algorithm, names, how, words):
    with pytest.raises(UserError, match=words):
        LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), algorithm, names, **how)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TabuSearch(tenure=-1), "tenure=-1: expected an integer of at least 0"),
        (lambda: TabuSearch(remember="all"), "remembers 'all'"),
        (lambda: IteratedLocalSearch(strength=0), "shake of 0 random moves: expected 1 to 255"),
        (lambda: SimulatedAnnealing(cooling=0), "cooling factor of 0"),
        (lambda: SimulatedAnnealing(temperature=-1), "temperature -1"),
        (lambda: SimulatedAnnealing(temperature=float("nan")), "temperature=nan: expected a number"),
        (lambda: SimulatedAnnealing(temperature=float("inf")), "temperature inf: expected 0 .* to 1e"),
        (lambda: SimulatedAnnealing(plateau=0), "plateau 0"),
        (lambda: SimulatedAnnealing(plateau=2**40), "plateau 1099511627776 .*: expected 1 to 2147483647"),
        (lambda: Values(5, 1), "over 1 values; expected 2 to 2147483647"),
        (lambda: Permutation(0), "0 elements; expected 1 to 65535"),
        (lambda: Iterations(0).check(), "0 iterations: expected 1"),
        (lambda: NoImprovement(0).check(), "0 patience"),
        (lambda: Seconds(0).check(), "0 seconds: expected more than 0"),
        (lambda: Target(-(2**31)).check(), "expected -2147483647"),
        (lambda: Weierstrass.load("3", points=0), "0 random points"),
        (lambda: Weierstrass.load("3", dtype="float16"), "precision 'float16': expected float32 or float64"),
    ],
)
def test_bad_numbers_are_refused(make, words):
    with pytest.raises(UserError, match=words):
        make()


def test_a_neighbourhood_beyond_32_bits_is_refused(cpu):
    problem = Ppp.load("3-2955")
    with pytest.raises(UserError, match=r"flip3 on 2955 elements has 4296157285 neighbours: expected 1 to 4294967295"):
        LocalSearch(cpu, Solo(), problem, HillClimbing(), "flip3")


def test_a_start_of_another_size_is_refused(cpu):
    search = LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), TABU, "exchange2")
    with pytest.raises(UserError, match=r"a start solution of shape \(5,\): expected \(6,\)"):
        search.run(Iterations(3), start=np.arange(5))
    with pytest.raises(UserError, match=r"a start solution with 6 at 2: expected 0 to 5"):
        search.run(Iterations(3), start=np.array([0, 1, 6, 3, 4, 5]))
    with pytest.raises(UserError, match=r"a start solution that has 4 twice: expected a permutation of 0 to 5"):
        search.run(Iterations(3), start=np.array([0, 1, 4, 3, 4, 5]))
