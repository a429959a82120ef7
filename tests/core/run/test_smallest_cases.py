"""The smallest instances of every workload on the reference interpreter, which raises for indices outside an array."""

import itertools

import numpy as np
import pytest

from backends.python import PythonBackend
from cluster import Solo
from core import local_search
from core.ant_colony import STRATEGIES, AntColony, Settings
from core.hill_climbing.search import HillClimbing
from core.ppp.problem import Ppp
from core.qap.problem import Qap
from core.run.stop import Iterations
from core.tables.held_karp.search import HeldKarp
from core.tours import tour_length
from core.tours.problem import TspTour
from core.weierstrass.problem import Weierstrass
from tests.core.hill_climbing.test_ihc import plain_climb
from tests.core.local_search.scored import Colours, Ordering


def oracle(lanes):
    """Kernels and shapes depend on one lane or several."""
    backend = PythonBackend(PythonBackend.devices()[0])
    backend.capabilities = backend.capabilities._replace(max_team_size=lanes, lanes_resident=lanes, compute_units=2)
    return backend


ONE_LANE, FEW_LANES, MANY_LANES = oracle(1), oracle(4), oracle(32)
slow = pytest.mark.slow
some_lanes = pytest.mark.parametrize("device", [pytest.param(ONE_LANE, marks=slow), FEW_LANES], ids=["one", "few"])
whole_warps = pytest.mark.parametrize("device", [pytest.param(ONE_LANE, marks=slow), MANY_LANES], ids=["one", "many"])


def distances_of(n, seed=0, directed=False):
    lengths = np.random.default_rng([n, seed]).integers(1, 9, (n, n))
    if not directed:
        lengths = np.triu(lengths, 1) + np.triu(lengths, 1).T
    np.fill_diagonal(lengths, 0)
    return lengths


def tours_of(n):
    return [(0, *rest) for rest in itertools.permutations(range(1, n))]


def shortest(distances):
    return min(tour_length(distances, np.array(tour)) for tour in tours_of(len(distances)))


def warmed_up(search):
    search.warm_up()
    return search


# --- tours ---


@pytest.mark.parametrize(
    "way", [{"scan": "pruned"}, {"scan": "full", "start": "philox"}, {"published": "auto"}], ids=str
)
@whole_warps
def test_one_climber_through_five_cities(device, way):
    distances = distances_of(5).astype(np.uint16)
    search = warmed_up(HillClimbing(device, Solo(), distances, **way))
    outcome = search.run(Iterations(1))
    tour = search.tour_of(0)
    assert (outcome.climber, outcome.length) == (0, tour_length(distances, tour))
    assert plain_climb(distances, tour)[1] == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("mapping", "directed"), [("native", True), ("published", False)])
@some_lanes
def test_held_and_karp_from_one_city_on(device, n, mapping, directed):
    distances = distances_of(n, directed=directed)
    search = warmed_up(HeldKarp(device, Solo(), distances, mapping=mapping))
    outcome = search.run()
    assert outcome.length == shortest(distances) == tour_length(distances, outcome.tour)
    assert outcome.transitions == search.work


@pytest.mark.parametrize(
    ("n", "settings", "mapping"),
    [
        *((3, settings, {}) for settings in ({}, {"candidates": 1}, {"candidates": 32}, {"variant": "mmas"})),
        (5, {"variant": "mmas", "candidates": 1, "local_search": "2opt"}, {}),
        (5, {"local_search": "2opt-near"}, {}),
        (5, {"local_search": "3opt"}, {}),
        *((3, {}, {"strategy": strategy, "mapping": "published"}) for strategy in STRATEGIES),
    ],
)
@whole_warps
def test_one_ant_through_the_fewest_cities(device, n, settings, mapping):
    distances = distances_of(n).astype(np.uint16)
    search = warmed_up(AntColony(device, Solo(), distances, Settings(ants=1, **settings), **mapping))
    outcome = search.run(Iterations(2))
    assert outcome.length == outcome.curve.min() == tour_length(distances, outcome.tour)
    if n == 3:
        assert outcome.length == shortest(distances)


# --- local search ---

LEAST = {
    "qap": (lambda: Qap.load("taillard:2:seeds=1,2"), "exchange2"),
    "ppp": (lambda: Ppp.load("1-1"), "flip1"),
    "ppp of two": (lambda: Ppp.load("3-2"), "flip2"),
    "tsp": (lambda: TspTour.load("uniform:3:seed=1"), "exchange2"),
    "tsp of four": (lambda: TspTour.load("uniform:4:seed=1"), "exchange3"),
    "tsp by 2opt": (lambda: TspTour.load("uniform:4:seed=1"), "2opt"),
    "order of two": (lambda: Ordering(2), "insert"),
    "order of three": (lambda: Ordering(3), "insert"),
    "order by segments": (lambda: Ordering(3), "reverse"),
    "colours of two": (lambda: Colours(2, 2), "assign"),
    "weierstrass": (lambda: Weierstrass.load("1", points=1), "crowns"),
}
ALGORITHMS = {
    "hill": local_search.HillClimbing(),
    "tabu": local_search.TabuSearch(tenure=0, tenure_span=0),
    "ils": local_search.IteratedLocalSearch(strength=1),
    "annealing": local_search.SimulatedAnnealing(plateau=2, batch=2),
}


CROSS = list(itertools.product(LEAST, ALGORITHMS))


@pytest.mark.parametrize(
    ("least", "algorithm"),
    [pytest.param(*one, marks=() if k % 4 == k // 4 % 4 else slow) for k, one in enumerate(CROSS)],
)
def test_one_walk_through_the_smallest_solutions(least, algorithm):
    make, neighbourhood = LEAST[least]
    problem = make()
    for name in problem.evaluations(neighbourhood):
        arguments = problem, ALGORITHMS[algorithm], neighbourhood
        search = warmed_up(local_search.LocalSearch(FEW_LANES, Solo(), *arguments, evaluation=name))
        outcome = search.run(Iterations(2))
        tolerance = problem.tolerance() if least == "weierstrass" else 0
        assert abs(outcome.cost - problem.cost(outcome.solution)) <= tolerance
        if algorithm == "hill" and problem.encoding.name == "permutation" and problem.encoding.n < 4:
            solutions = itertools.permutations(range(problem.encoding.n))
            assert outcome.cost == min(problem.cost(np.array(one)) for one in solutions)


# --- knapsack ---


# --- strings ---
