"""Properties of all local search problems: the range of costs, and a digest of the data."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core import tours as tsp
from core.errors import UserError
from core.lang import Array, Generic, Row, boolean, bundle, f32, i32, i64, u32
from core.local_search import Evaluation
from core.local_search.algorithms import HillClimbing, SimulatedAnnealing, TabuSearch
from core.local_search.encodings import Bits, Permutation, Values
from core.local_search.plan import Plan
from core.local_search.problem import Problem
from core.qap.problem import Qap
from core.qap.qaplib import QapInstance
from core.tours.problem import TspTour
from core.weierstrass.problem import Weierstrass
from tests.core.instances.drawn import symmetric
from tests.core.local_search import weighted
from tests.core.local_search.table import PROBLEMS
from tests.core.local_search.weighted import Weighted

ROOT = Path(__file__).parents[3]
WEIGHTS = [3, 1, 4, 1, 5]
G = Generic("G")


def test_the_range_of_the_largest_weierstrass_function_holds_its_values():
    problem = Weierstrass.load("341")
    least, most = problem.cost_range()
    assert most - least < 2**31 - 1
    point = np.full(341, 0.58)  # near the largest value of one coordinate
    assert least < problem.cost(-point) < 0 < problem.cost(point) < most


# --- costs beyond 32 bits ---


def far_apart(n, largest):
    distances = symmetric(np.random.default_rng(7), n, 1, largest + 1)
    distances[0, 1] = distances[1, 0] = largest
    return TspTour(tsp.TspInstance("far", distances=distances))


def test_costs_that_may_pass_31_bits_are_refused_before_the_search():
    with pytest.raises(UserError, match=r"far: costs from 0 to \d{10} are possible: expected .* below 2147483647"):
        Plan.make(far_apart(14, 357_000_000), HillClimbing(), "exchange2")
    Plan.make(far_apart(14, 153_391_689), HillClimbing(), "exchange2")  # 14 times that is just below
    # cities up to 46,340 apart, without a table of distances
    points = np.random.default_rng(4).integers(0, 32_000, (65_000, 2)).astype(float)
    wide = TspTour(tsp.TspInstance("wide", coordinates=points))
    with pytest.raises(UserError, match=r"wide: costs from 0 to 29\d{8} are possible"):
        Plan.make(wide, HillClimbing(), "2opt", evaluation="coordinates")
    assert wide.instance._distances is None


# --- digests ---


@bundle
class Clauses:
    clauses: Array[i32]


def clauses_with(kind, name="fine", first=False, row=None):
    """A class of clauses with one more field, last or first; ``row`` is the field's `Row`."""

    class More:
        """A bundle by `bundle` below."""

    fields = {name: kind, "clauses": Array[i32]} if first else {"clauses": Array[i32], name: kind}
    More.__annotations__ = fields
    if row is not None:
        setattr(More, name, row)
    return bundle(More)


class Satisfied(Problem):
    delta = weighted.added

    def __init__(self, name, seed, encoding=None, more=Clauses):
        clauses = np.random.default_rng(seed).integers(0, 20, (30, 3)).astype(np.int32)
        super().__init__(name, encoding or Bits(20), more(clauses=clauses))


class SatisfiedBy(Satisfied):
    delta = weighted.forgets_the_third


def fined(kind, value, name="fine", **how):
    return Satisfied("3sat", 1, more=partial(clauses_with(kind, name, **how), **{name: value}))


def test_other_data_or_functions_are_another_problem():
    problems = [
        Satisfied("3sat", 1),
        Satisfied("3sat", 2),
        Satisfied("3sat", 1, Bits(21)),
        Satisfied("3sat", 1, Values(20, 2)),
        Satisfied("3sat", 1, Permutation(20)),
        fined(i32, 1, "penalty"),
        fined(i32, 2, "penalty"),
        fined(i64, 2, "penalty"),
        fined(f32, 2, "penalty"),
        fined(f32, 2.5, "penalty"),
        fined(i32, 1),
        fined(Array[i32], np.ones(1, np.int32)),
        fined(Array[u32], np.ones(1, np.uint32)),
        fined(Array[i32], np.ones(2, np.int32)),
        fined(Array[G], np.ones(1, np.int32)),
        fined(Array[G], np.ones(1, np.uint32)),
        fined(Array[i32], None, row=Row(1)),
        fined(Array[i32], None, row=Row(2)),
        SatisfiedBy("3sat", 1),
    ]
    digests = [problem.sha256 for problem in problems]
    assert len(set(digests)) == len(digests)
    assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)


def test_equal_content_is_one_problem_whatever_it_and_its_class_are_called_and_in_whatever_order():
    named = Satisfied("3sat:20:30:1", 1)
    assert named.sha256 == Satisfied("other", 1).sha256
    assert fined(i32, 2).sha256 == fined(i32, 2, first=True).sha256
    assert fined(i32, 2).sha256 == fined(i32, np.int64(2)).sha256
    assert fined(f32, 2).sha256 == fined(f32, np.float64(2)).sha256
    assert fined(boolean, True).sha256 == fined(boolean, np.bool_(True)).sha256 != fined(boolean, False).sha256
    strided = Satisfied("strided", 1)
    strided.data.clauses = np.repeat(strided.data.clauses, 2)[::2]
    assert not strided.data.clauses.flags.c_contiguous
    assert strided.sha256 == named.sha256


def test_an_evaluation_s_own_data_and_functions_count():
    right = Weighted(WEIGHTS)
    faster = Weighted(WEIGHTS, plain=Evaluation(weighted.added, partial=weighted.counts_twice))
    assert Weighted(WEIGHTS).sha256 == right.sha256 != faster.sha256
    assert TspTour.load("uniform:5:seed=1").sha256 != TspTour.load("uniform:5:seed=2").sha256


def test_another_process_finds_the_same_digest():
    program = f"from tests.core.local_search.weighted import Weighted; print(Weighted({WEIGHTS}).sha256)"
    command, there = [sys.executable, "-c", program], os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    printed = subprocess.check_output(command, cwd=ROOT, env=there, text=True, timeout=60)
    assert printed.strip() == Weighted(WEIGHTS).sha256


# --- data that functions could not read ---


@bundle
class Own:
    weights: Array[i32]
    values: Array[G]
    n: i32
    share: f32
    strict: boolean
    kept: Array[i32] = Row("n")
    fixed: Array[u32] = Row(3)


OWN = {"weights": np.ones(3, np.int32), "values": np.ones(2, np.float64), "n": 2, "share": 0.5, "strict": False}


@bundle
class Nested:
    inner: Clauses
    n: i32


@bundle
class AnyRow:
    kept: Array[G] = Row(3)


@bundle
class NoRow:
    kept: Array[i32] = Row(0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"n": 5}, r"mine: data are {'n': 5}: expected a @bundle of arrays and numbers"),
        (Own, r"mine: data are <class .*Own'>: expected a @bundle"),
        ({"weights": np.ones(3)},
         r"mine: data 'weights' is float64: expected Array\[i32\], use .astype\(np.int32\)$"),
        ({"weights": [1, 2, 3]}, r"data 'weights' is \[1, 2, 3\]: expected Array\[i32\], a NumPy array"),
        ({"values": np.ones(3, np.float16)}, r"data 'values' is an array of float16: expected one of int8, int16"),
        ({"n": np.array([2])}, r"Own.n is an array of int64: expected i32, a number"),
        ({"n": 2**31}, r"mine: Own.n is 2147483648, which does not fit i32"),
        ({"n": "2"}, r"Own.n is '2': expected i32, a number"),
        ({"share": 1e39}, r"Own.share is 1e\+39, which does not fit f32"),
        ({"strict": 2}, r"Own.strict is 2, which does not fit boolean"),
        ({"n": -4}, "Own.kept: rows of -4 elements; expected 0 or more"),
        ({"n": 0}, r"mine: Own.kept is a row of 0 elements: expected 1 or more"),
        ({"kept": np.zeros(2, np.int32)}, r"Own.kept is given: expected nothing, since rows are memory"),
        (Nested(Clauses(np.ones(3, np.int32)), 3),
         r"Nested.inner is a bundle: expected arrays and numbers; inherit from Clauses instead"),
        (NoRow(), r"mine: NoRow.kept is a row of 0 elements: expected 1 or more"),
        (AnyRow(), r"AnyRow.kept is a row of any type G: expected one type, such as i32"),
    ],
)  # fmt: skip
def test_data_that_functions_could_not_read_are_refused_in_one_line(data, words):
    data = Own(**OWN | data) if isinstance(data, dict) and data != {"n": 5} else data
    with pytest.raises(UserError, match=words) as refusal:
        Problem("mine", Bits(3), data)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith(("mine: ", "Own.kept: "))


def test_numbers_may_be_numpy_s_and_arrays_have_any_shape():
    weights = np.arange(6, dtype=np.int32).reshape(2, 3)
    own = Own(**OWN | {"weights": weights.T, "n": np.uint8(5), "share": np.float64(0.25), "strict": np.bool_(True)})
    data = Problem("mine", Bits(3), own).data
    assert data.weights.tolist() == [0, 3, 1, 4, 2, 5]
    assert (data.n, data.share, data.strict) == (5, 0.25, True)
    assert [type(one) for one in (data.n, data.share, data.strict)] == [int, float, bool]
    assert own.weights is not data.weights  # the user's own bundle stays as it is


def test_data_for_an_evaluation_are_held_to_the_same():
    class Mine(Satisfied):
        def data_for(self, evaluation):
            return Clauses(self.data.clauses.astype(np.int64))

    with pytest.raises(UserError, match=r"3sat: data 'clauses' is int64: \w+\(\) expects Array\[i32\]"):
        Plan.make(Mine("3sat", 1), HillClimbing(), "flip1")
    with pytest.raises(UserError, match="none: data are None: expected a @bundle"):
        Plan.make(Problem("none", Bits(3), None), HillClimbing(), "flip1")


# --- what decides the work, and what the speed ---


def plan(algorithm, name="exchange2", **how):
    return Plan.make(Qap.load("taillard:6:seeds=1,2"), algorithm, name, **how)


def test_ways_that_change_only_the_speed_are_no_parameters():
    base = plan(TabuSearch())
    for how in ({"evaluation": "linear"}, {"mapping": "published", "select": "host"}, {"data_memory": "readonly"}):
        other = plan(TabuSearch(), **how)
        assert other.parameters == base.parameters
        assert other.execution != base.execution
    assert plan(SimulatedAnnealing(batch=8)).parameters == plan(SimulatedAnnealing(batch=9)).parameters
    assert plan(SimulatedAnnealing(batch=8)).execution != plan(SimulatedAnnealing(batch=9)).execution
    assert not base.parameters.keys() & base.execution.keys()
    # equal memories are equal parameters, however they were asked for
    assert base.parameters == plan(TabuSearch(tabu_memory="attributes")).parameters
    assert base.parameters != plan(TabuSearch(tabu_memory="moves")).parameters
    assert plan(TabuSearch(2, 1)).parameters["tenure"] == 2


@pytest.mark.parametrize("name", ["qap", "ppp", "tsp"])
def test_an_instance_whose_digest_is_kept_cannot_be_changed(name):
    instance = PROBLEMS[name]().instance
    arrays = [one for one in vars(instance).values() if isinstance(one, np.ndarray)]
    assert arrays and instance.sha256
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array.reshape(-1)[0] = 1


def test_an_instance_does_not_hold_the_callers_array():
    flows = np.array([[0, 1], [1, 0]], np.int32)
    instance = QapInstance("mine", flows, flows)
    flows[0, 1] = flows[1, 0] = 7
    assert instance.flows.tolist() == [[0, 1], [1, 0]]
