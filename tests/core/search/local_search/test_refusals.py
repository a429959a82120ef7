"""Refusals of local search: one line with the value found and the value expected."""

import re

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.problems import encodings
from core.problems.qap import problem
from core.problems.weierstrass import problem as weierstrass_problem
from core.search import local_search

TABU = local_search.TabuSearch()


@pytest.mark.parametrize(
    ("algorithm", "names", "how", "words"),
    [
        (TABU, "flip1", {}, "'flip1' for a permutation encoding: expected exchange2, exchange3, insert, reverse, 2opt"),
        (TABU, [], {}, "expected a neighbourhood, or 1 to 3"),
        (local_search.TabuSearch(tenure=15), "exchange2", {}, "a tenure of up to 15 iterations .* 15 neighbours"),
        (local_search.TabuSearch(tabu_memory="attributes"), "2opt", {}, "'2opt'"),
        (TABU, "exchange2", {"evaluation": "guess"}, "evaluation 'guess': .* has incremental, linear"),
        (TABU, "exchange2", {"level": "solution", "evaluation": "incremental"}, "evaluates a neighbour in one piece"),
        (TABU, "exchange2", {"seed": -1}, "seed=-1: expected an integer from 0 to 2147483647"),
        (TABU, "exchange2", {"select": "nowhere"}, "select='nowhere': expected one of device, host"),
        (TABU, "exchange2", {"generate": "host"}, "expected select host too"),
        (TABU, "exchange2", {"data_memory": "paper"}, "data_memory='paper': expected one of global"),
        (local_search.SimulatedAnnealing(), "exchange2", {"select": "host"}, "expected select device"),
    ],
)
def test_what_does_not_fit_is_refused(cpu, algorithm, names, how, words):
    with pytest.raises(UserError, match=words):
        local_search.LocalSearch(cpu, Solo(), problem.Qap.load("taillard:6:seeds=1,2"), algorithm, names, **how)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: local_search.TabuSearch(tenure=-1), "tenure=-1: expected an integer from 0 to 2147483647"),
        (lambda: local_search.IteratedLocalSearch(strength=0), "strength=0: expected an integer from 1 to 255"),
        (lambda: local_search.SimulatedAnnealing(cooling=0), "cooling=0: expected a number above 0, at most 1"),
        (lambda: local_search.SimulatedAnnealing(temperature=float("nan")), "temperature=nan: expected a number"),
        (
            lambda: local_search.SimulatedAnnealing(plateau=2**40),
            "plateau=1099511627776: expected an integer from 1 to 2147483647",
        ),
        (
            lambda: weierstrass_problem.Weierstrass.load("3", dtype="float16"),
            "precision 'float16': expected float32 or",
        ),
        (lambda: encodings.Values(5, 1), "choices=1: expected an integer from 2 to 2147483647"),
        (lambda: encodings.Values(5, "3"), "choices='3': expected an integer from 2"),
        (lambda: encodings.Reals(5, "int8"), "dtype='int8': expected one of float32, float64"),
        (lambda: local_search.Iterations(2**40).check(), "iterations=1099511627776: expected an integer from 1 to"),
        (lambda: local_search.Target(-(2**31)).check(), "target=-2147483648: expected an integer from -2147483647"),
    ],
)
def test_bad_numbers_are_refused(make, words):
    with pytest.raises(UserError, match=words):
        make()


@pytest.mark.parametrize(
    ("encoding", "start", "words"),
    [
        (encodings.Bits(3), [0.5, 0, 1], "with 0.5 at 0: expected integers"),
        (encodings.Bits(3), np.array([2**32, 0, 1]), "with 4294967296 at 0: expected 0 to 1"),
        (encodings.Bits(3), [2**70, 0, 1], "that is [1180591620717411303424, 0, 1]: expected 3 numbers"),
        (encodings.Permutation(3), [0.0, 1.0, 1.0], "that has 1 twice: expected a permutation of 0 to 2"),
        (encodings.Permutation(3), np.arange(5), "of shape (5,): expected (3,)"),
        (encodings.Reals(3), [0, np.inf, 1], "with inf at 1: expected -1 to 1"),
    ],
)
def test_a_start_that_is_no_solution_is_refused(encoding, start, words):
    with pytest.raises(UserError, match=re.escape(f"a start solution {words}")):
        encoding.check(start)


def test_a_start_in_other_types_is_the_same_solution():
    for start in ([1, 0, 1], (True, False, True), np.array([1, 0, 1], np.uint64), [1.0, 0.0, 1.0]):
        checked = encodings.Bits(3).check(start)
        assert checked.dtype == np.int32 and checked.tolist() == [1, 0, 1]
    assert encodings.Reals(2).check([1, -0.1]).dtype == np.float32


def test_an_unknown_setting_is_refused_with_the_near_one(cpu):
    with pytest.raises(UserError, match=r"walk=3 \(did you mean walks\?\): found no such option of LocalSearch"):
        local_search.LocalSearch(cpu, Solo(), problem.Qap.load("taillard:6:seeds=1,2"), TABU, "exchange2", walk=3)


def test_a_search_refuses_a_start_before_it_reaches_the_device(cpu):
    search = local_search.LocalSearch(cpu, Solo(), problem.Qap.load("taillard:6:seeds=1,2"), TABU, "exchange2")
    with pytest.raises(UserError, match=r"a start solution with 6 at 2: expected 0 to 5"):
        search.run(local_search.Iterations(3), initial=np.array([0, 1, 6, 3, 4, 5]))
