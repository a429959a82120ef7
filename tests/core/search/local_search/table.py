"""Tiny searches that cover every problem, encoding, algorithm, neighbourhood, evaluation and parallel model."""

from core.problems.flow_shop import FlowShop
from core.problems.labs import Labs
from core.problems.linear_ordering import LinearOrdering
from core.problems.max_cut import MaxCut
from core.problems.max_k_cut import MaxKCut
from core.problems.max_sat import MaxSat
from core.problems.ppp import Ppp
from core.problems.qap import Qap
from core.problems.tsp_moves import TspTour
from core.problems.weierstrass import Weierstrass
from core.search.local_search import (
    HillClimbing,
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    SimulatedAnnealing,
    TabuSearch,
    VariableNeighbourhoodSearch,
)
from tests.core.search.local_search.scored import Ordering

PROBLEMS = {
    "qap": lambda: Qap.load("taillard:6:seeds=1,2"),
    "ppp": lambda: Ppp.load("9-11"),
    "tsp": lambda: TspTour.load("uniform:9:seed=3"),
    "cut": lambda: MaxKCut.load("maxcut:9:3:seed=1"),
    "order": lambda: Ordering(5),
    "labs": lambda: Labs(11),
    "shop": lambda: FlowShop("taillard:6:3:seed=2"),
    "ordering": lambda: LinearOrdering("random:7:seed=2"),
    "bits cut": lambda: MaxCut("random:11:seed=1:weights=-3..9"),
    "sat": lambda: MaxSat("random:11:ratio=6:seed=3"),
    "weierstrass": lambda: Weierstrass.load("3", points=12),
    "weierstrass64": lambda: Weierstrass.load("3", points=12, dtype="float64"),
}
ALGORITHMS = {
    "hill": HillClimbing(),
    "first": HillClimbing(first=True),
    "tabu": TabuSearch(),
    "tabu of moves": TabuSearch(remember="moves"),
    "ils": IteratedLocalSearch(strength=2),
    "vns": VariableNeighbourhoodSearch(strength=3),
    "annealing": SimulatedAnnealing(plateau=7, batch=5),
}
# problem, neighbourhoods, evaluation, algorithm, how
ROWS = [
    ("qap", "exchange2", "kept", "tabu", {}),
    ("qap", "exchange2+exchange3", "kept", "vns", {}),
    ("qap", "exchange2", "linear", "annealing", {}),
    ("qap", "exchange2", "kept", "tabu of moves", {"level": "algorithm", "walks": 5, "exchange": 4}),
    ("ppp", "flip2", "words", "tabu", {}),
    ("ppp", "flip1", "words", "ils", {}),
    ("ppp", "flip3", "linear", "first", {}),
    ("tsp", "exchange2", "plane", "tabu", {}),
    ("tsp", "2opt", "table", "ils", {"level": "algorithm", "walks": 4}),
    ("cut", "assign", "ties", "tabu", {}),
    ("weierstrass", "crowns", "full", "tabu", {}),
    ("weierstrass", "crowns", "full", "hill", {"level": "solution"}),
    ("weierstrass64", "crowns", "full", "tabu", {}),
    ("ppp", "flip2", "words", "tabu", {"level": "solution"}),
    ("weierstrass", "crowns", "full", "annealing", {}),
    ("qap", "exchange2", "linear", "tabu", {"level": "solution"}),
    ("tsp", "exchange2", "full", "tabu", {"level": "solution"}),
    ("tsp", "2opt", "full", "ils", {"level": "solution"}),
    ("order", "insert", "value", "tabu", {}),
    ("order", "reverse", "value", "ils", {"level": "algorithm", "walks": 2}),
    ("order", "blocks", "value", "first", {}),
    ("labs", "flip1", "correlations", "tabu", {}),
    ("labs", "flip2", "correlations", "annealing", {}),
    ("sat", "flip1", "counts", "tabu", {"level": "algorithm", "walks": 3}),
    ("sat", "flip1", "plain", "ils", {}),
    ("bits cut", "flip1", "fields", "tabu", {}),
    ("bits cut", "flip2", "fields", "ils", {}),
    ("shop", "insert", "ends", "tabu", {}),
    ("shop", "exchange2", "value", "annealing", {}),
    ("ordering", "insert", "sums", "tabu", {"level": "algorithm", "walks": 3}),
    ("ordering", "insert", "linear", "ils", {}),
]
SLOW_ROWS = [
    (problem, name, evaluation, algorithm, {})
    for problem, names, evaluations in (
        ("qap", ("exchange2", "exchange3"), ("kept", "linear")),
        ("ppp", ("flip1", "flip2", "flip3"), ("words", "linear", "histogram")),
        ("tsp", ("exchange2", "exchange3", "2opt"), ("table", "plane", "full")),
        ("cut", ("assign",), ("ties", "linear")),
        ("order", ("exchange2", "insert", "reverse", "blocks", "adjacent"), ("value",)),
        ("weierstrass", ("crowns",), ("full",)),
        ("labs", ("flip1", "flip2", "flip3"), ("correlations", "plain")),
        ("sat", ("flip1",), ("counts", "plain")),
        ("bits cut", ("flip1", "flip2", "flip3"), ("fields", "linear")),
        ("shop", ("insert", "exchange2", "exchange3", "reverse"), ("ends", "value")),
        ("ordering", ("insert",), ("sums", "linear")),
    )
    for name in names
    for evaluation in evaluations
    for algorithm in ALGORITHMS
]
ITERATIONS = 14


def search(backend, communicator, row, **more):
    """The search of a row."""
    problem, names, evaluation, algorithm, how = row
    return LocalSearch(
        backend, communicator, PROBLEMS[problem](), ALGORITHMS[algorithm], names.split("+"),
        evaluation=evaluation, seed=3, **how, **more,
    )  # fmt: skip


def found(search, stop=None):
    """All that a search finds, as plain numbers that compare."""
    outcome = search.run(stop or Iterations(ITERATIONS))
    return (*outcome[:6], outcome.solution.tolist())


def named(row):
    """A row's name among tests."""
    return "-".join([*map(str, row[:4]), *map(str, row[4].values())]).replace(" ", "_")
