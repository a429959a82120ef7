"""The smallest instances of every workload on the reference interpreter, which raises for indices outside an array."""

import functools
import itertools

import numpy as np
import pytest

from backends.python import PythonBackend
from cluster import Solo
from core import local_search
from core.ant_colony import STRATEGIES, AntColony, Settings
from core.exact import ExactSearch
from core.hill_climbing.search import HillClimbing
from core.ppp.problem import Ppp
from core.qap.problem import Qap
from core.run.stop import Iterations
from core.tables.held_karp.balas_simonetti import BalasSimonettiSearch
from core.tables.held_karp.search import HeldKarp
from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.search import KnapsackSearch
from core.tables.lcs.search import LongestCommonSubsequence
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


@pytest.mark.parametrize(("n", "k"), [(1, 2), (2, 2), (3, 14), (4, 2), (4, 3), (5, 14)])
@some_lanes
def test_restricted_tours_from_one_city_and_the_smallest_k_on(device, n, k):
    distances = distances_of(n, directed=True)
    search = warmed_up(BalasSimonettiSearch(device, Solo(), distances, k, np.arange(n)))
    outcome = search.run()
    assert outcome.length == tour_length(distances, outcome.tour) <= tour_length(distances, np.arange(n))
    assert outcome.length == shortest(distances) or k < n
    assert outcome.cells == search.work


WAYS = [{"bound": bound} for bound in ("one-tree", "edges", "none")]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way.values()))
@some_lanes
def test_exact_search_from_one_city_on(device, n, way):
    distances = distances_of(n)
    search = warmed_up(ExactSearch(device, Solo(), distances, count=True, **way))
    outcome = search.run()
    lengths = [tour_length(distances, np.array(tour)) for tour in tours_of(n)]
    assert outcome.length == min(lengths) == tour_length(distances, outcome.tour)
    assert outcome.optimal_tours == max(1, lengths.count(min(lengths)) // (2 if n > 2 else 1))
    if search.method is not None and way["bound"] == "none":
        assert search.work == outcome.nodes.sum()


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

ITEMS = ([(7, 6), (7, 9), (7, 8)], [(0, 0)], [(3, 2), (9, 9)], [(5, 0), (2, 1), (1, 1)])


@pytest.mark.parametrize("mapping", ["native", "published", "bound"])
@pytest.mark.parametrize("capacity", [0, 1, 5])
@pytest.mark.parametrize("items", ITEMS, ids=str)
@some_lanes
def test_knapsacks_of_no_item_and_few(device, items, capacity, mapping):
    values, weights = zip(*items, strict=True)
    instance = Knapsack("least", np.array(weights), np.array(values), capacity)
    make = KnapsackBranchAndBound if mapping == "bound" else functools.partial(KnapsackSearch, mapping=mapping)
    search = warmed_up(make(device, Solo(), instance))
    for _ in range(2):
        outcome = search.run()
        selections = [np.array(chosen, bool) for chosen in itertools.product((0, 1), repeat=len(items))]
        scores = [instance.weight_and_value(chosen) for chosen in selections]
        assert outcome.value == max(value for weight, value in scores if weight <= capacity)
        assert instance.weight_and_value(outcome.chosen) == (outcome.weight, outcome.value)
        assert outcome.weight <= capacity


# --- strings ---


@pytest.mark.parametrize("mapping", ["native", "published"])
@pytest.mark.parametrize(("a", "b"), list(itertools.product([b"", b"a", b"ab"], repeat=2)), ids=str)
@some_lanes
def test_strings_of_no_letter_and_few(device, a, b, mapping):
    strings = (np.frombuffer(one, np.uint8) for one in (a, b))
    search = LongestCommonSubsequence(device, Solo(), *strings, mapping=mapping)
    outcome = search.run()
    pieces = [{bytes(piece) for r in range(3) for piece in itertools.combinations(one, r)} for one in (a, b)]
    assert outcome.length == max(map(len, pieces[0] & pieces[1])) == search.run(trace=False).length
    assert bytes(a[i] for i, _ in outcome.pairs) == bytes(b[j] for _, j in outcome.pairs)
    assert search.work == len(a) * len(b)
