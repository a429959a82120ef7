"""`check` finds every kind of error in a user-defined problem, and reports it in the user's terms."""

import importlib
import itertools
import pkgutil
import re

import numpy as np
import pytest

import core
from core import local_search
from core.local_search import Evaluation, ProblemError, check
from core.local_search.checks import validation, whole_neighbourhoods
from core.local_search.checks.cost import check_costs
from core.local_search.checks.evaluation import EvaluationCheck, likely_cause
from core.local_search.checks.executors import CheckExecutor, DeviceExecutor
from core.local_search.checks.interpreter import InterpreterExecutor
from core.local_search.checks.move_sequences import MoveSequence
from drivers.library.validation import open_usable_backends
from tests.core.local_search import weighted, wrong
from tests.core.local_search.scored import BLOCKS, Ordering
from tests.core.local_search.table import PROBLEMS
from tests.core.local_search.wrong import RingCut

PLACE = r"\(.*wrong.py:\d+: "


pytestmark = pytest.mark.usefixtures("little_is_tried")


@pytest.fixture(scope="module")
def devices():
    with open_usable_backends() as opened:
        yield {one.name: one for one in opened}


@pytest.fixture(params=["cpu", pytest.param("opencl", marks=pytest.mark.slow)])
def device(request, devices):
    if request.param not in devices:
        pytest.skip(f"no {request.param} here")
    return devices[request.param]


def along(problem, name, executor):
    """Let an executor alone make the moves, without plain Python before it."""
    EvaluationCheck(MoveSequence(check_costs(problem, 0), name, 0, 64, 16, 6), executor).run(24, (0, 3))


def said_of(mistake, problem, *asked, **how):
    """Report of `check` for a problem with this error, in one line."""
    with pytest.raises(ProblemError) as caught:
        check(problem, *asked, **how)
    assert type(caught.value) is getattr(local_search, mistake)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def said_by(device, mistake, problem, name):
    """Report of a device without the reference interpreter."""
    with pytest.raises(getattr(local_search, mistake)) as caught:
        along(problem, name, DeviceExecutor(device, problem, name, "only", 1))
    return str(caught.value)


# --- delta ---


@pytest.mark.parametrize(
    ("name", "delta", "cause"),
    [
        ("flip1", wrong.whole, "every one of 24 tried is the neighbour's whole cost: "),
        (
            "flip2",
            wrong.one_by_one,
            r"every one of \d+ tried is the sum over the changed elements, each as if the others",
        ),
        ("flip1", wrong.wrong_for_one, ""),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_wrong_delta_is_told_with_its_place_and_a_cause_that_the_numbers_show(name, delta, cause):
    said = said_of("WrongDelta", RingCut(delta=delta), name)
    words = rf"{name} \((\d+(?:, \d+)*)\) from seed 0(?:, after \d+ moves?)?: delta says (-?\d+), cost says (-?\d+)"
    move, claimed, true = re.match(words, said).groups()
    assert claimed != true
    assert re.search(rf"{PLACE}{delta.name}, ring:24, evaluation only, in plain Python", said)
    assert re.search(cause, said) if cause else "every one" not in said
    assert len(move.split(", ")) == int(name[-1])


def test_that_fewer_elements_were_right_is_told_where_nothing_else_explains_it():
    said = said_of("WrongDelta", RingCut(delta=wrong.wrong_for_several))
    assert re.search(r"; all \d+ tried are wrong, while moves of flip1 were right \(", said)


def test_a_value_is_held_to_the_same(device):
    right, problem = (RingCut(delta=None, value=value) for value in (wrong.whole, wrong.one_too_many))
    assert check(right, "flip2").moves > 0
    along(right, "flip2", DeviceExecutor(device, right, "flip2", "only", 1))
    said = said_of("WrongDelta", problem, "flip2")
    claimed, cost = map(int, re.search(r"value says (\d+), cost says (\d+)", said).groups())
    assert claimed == cost + 1  # whole costs, as the user wrote it, and not what the move adds
    assert re.search(rf"^flip2 .*: .* is 1 too large {PLACE}one_too_many", said)
    said = said_by(device, "WrongDelta", problem, "flip2")
    assert re.search(rf"value says .*; every one .*one_too_many.*on {device.name}\)$", said)


def test_a_neighbourhood_of_one_s_own_is_tried_by_its_own_moves(device):
    checked = check(Ordering(5), BLOCKS, backends=[device])
    assert [one.place for one in checked.tried] == [validation.PLAIN, device.name]
    assert min(one.moves for one in checked.tried) > 16


def test_what_is_no_move_for_one_evaluation_is_none_for_all():
    problem = PROBLEMS["tsp"]()
    sequence = MoveSequence(check_costs(problem, 0), "2opt", 0, 64, 16, 6)
    trial = EvaluationCheck(sequence, InterpreterExecutor(problem, "2opt", "table"))
    trial.run(0)
    i, j = sequence.point(0).moves[:, :2].T
    is_none = (j == i + 1) | (j == i + problem.encoding.n - 1)  # these positions are adjacent in the tour
    assert is_none.any() and sequence.point(0).claims.tolist() == is_none.tolist()
    sequence.point(0).claims[:] = 1 - sequence.point(0).claims
    with pytest.raises(local_search.WrongDelta, match=r"says NEVER \(no move\), cost says|though it says NEVER"):
        trial.run(0)


# --- whole neighbourhoods ---


def test_one_wrong_move_of_1770_is_found(device, monkeypatch):
    problem = weighted.Weighted(range(60), **weighted.ONE_OF_1770)
    monkeypatch.setattr(validation, "WHOLE", 1)
    assert check(problem, "flip2", backends=[device]).tried[-1].swept == 1
    monkeypatch.setattr(validation, "WHOLE", 10_000)
    said = said_of("WrongDelta", problem, "flip2", backends=[device])
    assert re.match(
        r"flip2 \(17, 41\) from seed 0: delta says -?\d+, cost says -?\d+ .*wrong_for_one_pair, .*on ", said
    )


def test_a_mistake_at_a_local_optimum_is_found(device):
    problem = weighted.Weighted(range(1, 31), only=Evaluation(weighted.wrong_where_all_is_zero))
    said = said_of("WrongDelta", problem, "flip1", backends=[device])
    assert re.match(r"flip1 \(\d+\) from seed 0, near a local optimum: delta says -?\d+, cost says", said)


def test_neighbours_that_there_is_no_time_to_score_are_not_counted(device, monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(validation.time, "process_time", lambda: next(ticks))
    monkeypatch.setattr(whole_neighbourhoods, "CHUNK", 24 * 10)
    monkeypatch.setattr(validation, "SCORING_SECONDS", 14)
    trial = check(RingCut(), "flip2", backends=[device]).tried[-1]
    assert (trial.swept, trial.size) == (70, 276)


# --- every kind of mistake ---

KEPT_HOOKS = {"begin": weighted.begin, "update": weighted.update}
QUICK_HOOKS = {"quick": weighted.quick, "refresh": weighted.refresh, "quick_for": ("flip1",)}


def kept(**changes):
    return Evaluation(weighted.added_kept, **KEPT_HOOKS | changes)


MISTAKES = [
    ("WrongDelta", "flip3", Evaluation(weighted.forgets_the_third),
     r"every one of \d+ tried is that of the first two elements alone: is move.k forgotten\? "
     r"\(.*weighted.py:\d+: forgets_the_third, weighted:12, evaluation only, in plain Python\)$"),
    ("WrongSubscript", "flip1", Evaluation(weighted.reads_beyond),
     r"weighted.py:\d+: reads_beyond: index 12 outside an array of 12 .*\(weighted:12, flip1, evaluation only, in pl"),
    ("ProblemError", "flip1", Evaluation(weighted.asserts), r"py:\d+: asserts: assertion failed: .*: too many \(weighted"),
    ("WrongNumber", "flip2", Evaluation(weighted.overflows), r"weighted.py:\d+: overflows: .*overflow"),
    ("WrongWrite", "flip1", Evaluation(weighted.writes), r"py:\d+: writes: it writes where it should only read"),
    ("WrongDelta", "flip1", kept(begin=weighted.begins_all_but_one),
     r"delta says .*\(.*: added_kept, begin .*weighted.py:\d+, weighted:12"),
    ("WrongState", "flip2", kept(update=weighted.updates_without_the_second),
     r"after \d+ moves?: row 'terms' holds (-?\d+) at \d+, begin gives (?!\1\b)-?\d+; delta says .*, cost says .* "
     r"\(.*: updates_without_the_second, begin .*weighted.py:\d+, "),
    ("WrongState", "flip2", kept(update=None), "nothing follows a move: is update missing"),
    ("WrongLanes", "flip1", kept(update=weighted.meets_alone), "barrier"),
    ("WrongLanes", "flip1", kept(begin=weighted.begins_with_a_race),
     "in plain Python with 3 lanes.*; with one lane it is right: do lanes share"),
    ("WrongState", "flip2", Evaluation(weighted.added, move=weighted.moves_elsewhere),
     r"the move leaves [01] at \d+ of the solution, expected [01] \(.*: moves_elsewhere"),
    ("WrongDelta", "flip1", Evaluation(weighted.added, **QUICK_HOOKS | {"refresh": weighted.refreshes_too_little}),
     r"quick says .*, delta says .*: quick, refresh .*weighted.py:\d+"),
    ("WrongLanes", "flip2", Evaluation(weighted.added, partial=weighted.counts_twice),
     "partial says .*, delta says .*counts_twice.* with 3 lanes"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "name", "evaluation", "words"), MISTAKES)
def test_a_wrong_function_is_found_and_named(mistake, name, evaluation, words):
    assert re.search(words, said_of(mistake, weighted.Weighted(weighted.TWELVE, only=evaluation), name))


@pytest.mark.parametrize("way", weighted.RIGHT)
def test_a_right_problem_passes(way):
    check(weighted.Weighted(weighted.TWELVE), None, way)


# --- data ---


def test_data_of_another_type_are_told_with_who_reads_them_and_what_helps():
    class Wide(RingCut):
        delta = wrong.added

        def data_for(self, evaluation):
            return wrong.Ring(np.arange(24) * scale, 24)

    scale = 1
    said = said_of("WrongData", Wide())
    assert re.match(r"ring:24: data 'weights' is int64: added\(\) expects Array\[i32\], use .astype\(np.int32\) ", said)
    assert re.search(rf"{PLACE}added\)$", said)
    scale = 2**31
    assert "but values from 0 to 49392123904 do not fit" in said_of("WrongData", Wide())
    with pytest.raises(local_search.WrongData, match=r"data 'weights' is float64: expected Array\[i32\], use .astype"):
        RingCut(weights=np.ones(24))


# --- state ---


def test_a_row_that_a_move_does_not_keep_is_named(device):
    problem = weighted.Weighted(weighted.TWELVE, only=kept(update=weighted.updates_without_the_second))
    assert f"on {device.name}" in said_by(device, "WrongState", problem, "flip2")


def test_rows_in_another_order_are_no_mistake_but_noted(monkeypatch):
    """Lists may be kept in any order if every difference is right."""
    problem = weighted.Weighted(range(24), only=kept())
    monkeypatch.setattr(EvaluationCheck, "difference_of_rows", lambda *_: "row 'cut' holds 1 at 2, begin gives 0")
    note = check(problem, "flip1").notes[0]
    assert re.match(r"row 'cut' .* after 3 moves \(flip1, evaluation only, in plain .*; none of 24 moves adds", note)


# --- choice ---


def test_another_choice_is_told(monkeypatch):
    monkeypatch.setattr(CheckExecutor, "chosen", lambda self, size: size - 1)
    said = said_of("WrongChoice", RingCut(), "flip1")
    assert re.search(r"a scan takes neighbour 23 of \(23\), expected neighbour \d+ of \(\d+\), the first", said)


# --- costs ---


def write(self, bits):
    bits[3] = 1 - bits[3]
    return 0


COUNTS = iter(range(10**6))
WRONG_COSTS = [
    (lambda self, bits: 2.5, {}, r"`cost` gives 2.5, float: expected an int; count in units"),
    (lambda self, bits: None, {}, "`cost` gives None, NoneType: expected an int; is there a return?"),
    (lambda self, bits: bits[0] == 1, {}, r"`cost` gives .*(True|False).*, bool_?: expected an int"),
    (write, {}, r"`cost` changes its solution, element 3 from (\d) to (?!\1)\d: expected that it only reads"),
    (lambda self, bits: next(COUNTS), {}, r"`cost` returns 0 for a solution, and 1 on the second call"),
    (RingCut.cost, {"costs": lambda self, s: np.zeros(len(s))}, r"`costs` gives an array of float64, \(3,\) for 3"),
    (RingCut.cost, {"costs": lambda self, s: np.zeros(len(s), int)}, "`costs` says 0 of a solution: expected [1-9]"),
    (RingCut.cost, {"cost_range": lambda self: (0, 9)}, r"a solution costs \d+: expected 0 to 9, as `cost_range` says"),
]


@pytest.mark.parametrize(("cost", "more", "words"), WRONG_COSTS, ids=[str(k) for k in range(len(WRONG_COSTS))])
def test_a_wrong_cost_is_told_with_its_place(cost, more, words):
    problem = type("Mine", (RingCut,), {"cost": cost, **more})()
    assert re.match(rf"ring:24: {words}.*\(.*\.py:\d+: cost", said_of("WrongCost", problem))


# --- causes ---


def test_a_cause_is_named_only_where_all_numbers_show_it():
    added = np.array([3, -1, 4, 0, 5])
    assert "opposite sign" in likely_cause(-added, added, 9, {})
    assert "opposite" not in likely_cause(np.append(-added, 7), np.append(added, 7), 9, {})
    assert likely_cause(-added[:3], added[:3], 9, {}) == ""
    assert likely_cause(np.full(5, 1), np.full(5, -1), 9, {}) == ""  # one number shows nothing
    assert "a half of" in likely_cause(added, 2 * added, 9, {})
    assert "2 too small" in likely_cause(added - 2, added, 9, {})
    assert "adds 0" in likely_cause(0 * added, added, 9, {})
    assert likely_cause(added + 1, added, 9, {"another thing": added + 1}) == "every one of 5 tried is another thing"


# --- what is right ---


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name != "colours" else ()) for name in PROBLEMS]
)
def test_every_problem_of_the_suite_passes_on_every_device(name, devices):
    problem = PROBLEMS[name]()
    checked = check(problem, backends=list(devices.values()))
    assert {one.place for one in checked.tried} == {validation.PLAIN, *devices}
    assert not checked.notes


def all_below(base):
    return {found for one in base.__subclasses__() for found in (one, *all_below(one))}


def test_exactly_the_problems_that_these_tests_check_are_marked():
    for module in pkgutil.walk_packages(core.__path__, "core."):
        importlib.import_module(module.name)
    ours = {one for one in all_below(local_search.Problem) if one.__module__.startswith("core.")}
    checked = {type(make()) for make in PROBLEMS.values()} & ours
    assert checked == ours == {one for one in ours if vars(one).get("tested")}


def test_what_was_tried_is_printed_as_a_table(device):
    checked = check(RingCut(), backends=[device])
    first, head, *rows = str(checked).splitlines()
    assert re.match(r"ring:24: [\d,]+ moves tried, all right; costs from \d+ to \d+; \d+\.\d s$", first)
    assert head.split() == ["neighbourhood", "evaluation", "plain", "Python", device.name, "of", "one", "solution"]
    assert [row.split()[:2] for row in rows] == [["flip1", "only"], ["flip2", "only"], ["flip3", "only"]]
    assert [row.split()[-3:] for row in rows] == [["24", "of", "24"], ["276", "of", "276"], ["400", "of", "2,024"]]


def test_an_instance_too_large_for_plain_python_is_noted(monkeypatch):
    monkeypatch.setattr(validation, "READS", 300)
    checked = check(RingCut(2000), "flip1", moves=64)
    assert (checked.moves, checked.notes) == (0, [validation.TOO_SLOW])
    assert str(checked).endswith("subscripts and overflow were not checked: check a smaller one too")


def test_the_same_moves_are_tried_again():
    first, second, other = (check(RingCut(10), "flip2", seed=seed)._replace(seconds=0) for seed in (7, 7, 8))
    assert first == second
    assert first.costs != other.costs


def test_a_solution_without_neighbours_is_right():
    assert check(RingCut(1, weights=np.ones(1, np.int32)), "flip2").moves == 0
