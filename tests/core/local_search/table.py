"""Tiny searches that cover every problem, encoding, algorithm, neighbourhood, evaluation and parallel model."""

from dataclasses import astuple

import numpy as np
import pytest

from core import local_search
from core.ppp.problem import Ppp
from core.qap.problem import Qap
from core.tours.problem import TspTour
from core.weierstrass.problem import Weierstrass
from tests.core.local_search import rules
from tests.core.local_search.scored import Colours, Ordering, Spins

PROBLEMS = {
    "qap": lambda: Qap.load("taillard:6:seeds=1,2"),
    "ppp": lambda: Ppp.load("9-11"),
    "tsp": lambda: TspTour.load("uniform:7:seed=3"),
    "order": lambda: Ordering(5),
    "colours": lambda: Colours(9, 3),
    "spins": lambda: Spins(11),
    "weierstrass": lambda: Weierstrass.load("3", points=12),
    "weierstrass64": lambda: Weierstrass.load("3", points=12, dtype="float64"),
}
ALGORITHMS = {
    "hill": local_search.HillClimbing(),
    "first": local_search.HillClimbing(first=True),
    "tabu": local_search.TabuSearch(),
    "tabu of moves": local_search.TabuSearch(tabu_memory="moves"),
    "ils": local_search.IteratedLocalSearch(strength=2),
    "vns": local_search.VariableNeighbourhoodSearch(strength=3),
    "annealing": local_search.SimulatedAnnealing(plateau=7, batch=5),
}
MORE_ALGORITHMS = {
    "late acceptance": local_search.Rule(rules.late, lag=3, batch=5),
    "late again": local_search.Rule(rules.late, lag=3, batch=5, restart=7),
    "ils again": local_search.IteratedLocalSearch(strength=2, first=True, restart=3),
    "vns again": local_search.VariableNeighbourhoodSearch(strength=3, restart=2),
    "tabu again": local_search.TabuSearch(restart=3),
    "first again": local_search.HillClimbing(first=True, restart=1),
    "annealing again": local_search.SimulatedAnnealing(plateau=2, batch=3, restart=3),
    "threshold again": local_search.Rule(
        rules.below_threshold, rules.Threshold(np.array([90, 20, 0], np.int32), 2), batch=3, restart=4
    ),
}
# problem, neighbourhoods, evaluation, algorithm, how
KEPT = ("qap", "exchange2", "incremental", "tabu", {})
IN_TURN = ("qap", "exchange2+exchange3", "incremental", "vns", {})
TOGETHER = ("qap", "exchange2", "incremental", "tabu of moves", {"level": "algorithm", "walks": 5, "exchange": 4})
ANNEALED = ("qap", "exchange2", "linear", "annealing", {})
WORDS = ("ppp", "flip2", "bit-parallel", "tabu", {})
FIRST = ("ppp", "flip3", "linear", "first", {})
IN_PARTS = ("weierstrass", "crowns", "full", "hill", {"level": "solution"})
RULED = ("ppp", "flip2", "bit-parallel", "late acceptance", {})
RULED_AGAIN = ("qap", "exchange2", "linear", "late again", {"level": "algorithm", "walks": 5, "exchange": 4})
QUICK_ROWS = [
    KEPT,
    IN_TURN,
    TOGETHER,
    IN_PARTS,
    ("ppp", "flip1", "column-sums", "ils", {}),
    ("tsp", "exchange2", "table", "first", {}),
    ("colours", "assign", "delta", "tabu", {}),
    ("order", "insert", "value", "tabu", {}),
    ("spins", "flip1", "delta", "annealing", {}),
    RULED,
    RULED_AGAIN,
    ("qap", "exchange2", "incremental", "tabu again", {"level": "algorithm", "walks": 2}),
]
"""Each problem and each algorithm at least once."""
MORE_ROWS = [
    ANNEALED,
    WORDS,
    FIRST,
    ("tsp", "exchange2", "coordinates", "tabu", {}),
    ("tsp", "2opt", "table", "ils", {"level": "algorithm", "walks": 4}),
    ("weierstrass64", "crowns", "full", "tabu", {}),
    ("weierstrass", "axes", "kept", "annealing", {}),
    ("ppp", "flip2", "bit-parallel", "tabu", {"level": "solution"}),
    ("tsp", "2opt", "full", "ils", {"level": "solution"}),
    ("order", "reverse", "value", "ils", {"level": "algorithm", "walks": 2}),
    ("order", "blocks", "value", "first", {}),
    ("ppp", "flip1", "linear", "threshold again", {"level": "algorithm", "walks": 3}),
    ("qap", "exchange2", "linear", "annealing again", {}),
    ("tsp", "2opt", "table", "first again", {}),
    ("ppp", "flip1", "bit-parallel", "ils again", {}),
    ("order", "insert", "value", "late again", {}),
    ("qap", "exchange2+exchange3", "linear", "vns again", {"level": "algorithm", "walks": 7}),
    ("tsp", "2opt", "full", "late again", {"level": "solution"}),
]
ROWS = QUICK_ROWS + MORE_ROWS
MOVES = [
    (problem, name, evaluation)
    for problem, names, evaluations in (
        ("qap", ("exchange2", "exchange3"), ("incremental", "linear")),
        ("ppp", ("flip1", "flip2", "flip3"), ("bit-parallel", "linear", "histogram")),
        ("ppp", ("flip1",), ("column-sums",)),
        ("tsp", ("exchange2", "exchange3", "2opt"), ("table", "coordinates", "full")),
        ("colours", ("assign",), ("delta", "value")),
        ("order", ("exchange2", "insert", "reverse", "blocks", "adjacent"), ("value",)),
        ("weierstrass", ("crowns",), ("full",)),
        ("weierstrass", ("axes",), ("kept", "full")),
    )
    for name in names
    for evaluation in evaluations
]
CROSS = [(*moves, algorithm, {}) for moves in MOVES for algorithm in ALGORITHMS]
ITERATIONS = 8


def search(backend, communicator, row, seed=3, **more):
    problem, names, evaluation, algorithm, how = row
    return local_search.LocalSearch(
        backend, communicator, PROBLEMS[problem](), (ALGORITHMS | MORE_ALGORITHMS)[algorithm], names.split("+"),
        evaluation=evaluation, seed=seed, **how, **more,
    )  # fmt: skip


def result_of(search, stop=None):
    outcome = search.run(stop or local_search.Iterations(ITERATIONS))
    return (*astuple(outcome)[:6], outcome.solution.tolist())


def named(row):
    parts = [str(one) for part in row for one in (part.values() if isinstance(part, dict) else [part])]
    return "-".join(parts).replace(" ", "_")


def cases(quick, slow=(), long=()):
    """Rows as parameters of tests, some only for `make test-all` or `make test-long`."""
    marked = ((quick, ()), (slow, pytest.mark.slow), (long, pytest.mark.long))
    return [pytest.param(row, marks=marks, id=named(row)) for rows, marks in marked for row in rows]
