"""A problem's functions are compared with its scorer: by `check`, before a search, and after it."""

import re

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.local_search import Evaluation, HillClimbing, Iterations, LocalSearch, ProblemError, TabuSearch, Unconfirmed
from core.local_search.checks import evaluation, validation
from tests.core.local_search import weighted
from tests.core.local_search.table import PROBLEMS
from tests.core.local_search.weighted import TWELVE, Weighted

pytestmark = pytest.mark.usefixtures("little_is_tried")


def wrong(delta):
    return Weighted(TWELVE, only=Evaluation(delta))


# --- before a search ---


def searched(problem, python, name="flip1", **how):
    return LocalSearch(python, Solo(), problem, TabuSearch(), name, **how)


@pytest.fixture
def tried_first(monkeypatch):
    tried = []
    run = evaluation.EvaluationCheck.run

    def noted(trial, moves):
        tried.append((trial.executor.problem.name, trial.executor.name, trial.executor.evaluation.name))
        run(trial, moves)

    monkeypatch.setattr(evaluation.EvaluationCheck, "run", noted)
    return tried


def test_a_search_tries_a_new_problem_first(python):
    with pytest.raises(ProblemError, match="^flip3 .*: delta says .*: forgets_the_third, weighted:12"):
        searched(wrong(weighted.forgets_the_third), python, "flip3").run(Iterations(5))
    with pytest.raises(ProblemError, match="reads_beyond: index 12 outside"):
        searched(wrong(weighted.reads_beyond), python).warm_up()


def test_a_problem_is_tried_once_for_each_neighbourhood_and_evaluation(python, tried_first):
    for _ in range(2):
        search = LocalSearch(python, Solo(), Weighted(TWELVE), HillClimbing(), ["flip1", "flip2"])
        search.warm_up()
        search.run(Iterations(3))
        searched(Weighted(TWELVE), python, evaluation="incremental").run(Iterations(3))
    assert tried_first == [
        ("weighted:12", *one) for one in (("flip1", "delta"), ("flip2", "delta"), ("flip1", "incremental"))
    ]


def test_a_problem_too_slow_for_plain_python_is_tried_for_a_moment_only(python, tried_first):
    problem = Weighted([1] * 6000, only=Evaluation(weighted.wrong_where_all_is_zero))
    searched(problem, python).check_problem()
    assert len(tried_first) == 1


def test_a_check_that_is_cut_short_says_so_before_and_after_the_search(python, monkeypatch):
    monkeypatch.setattr(validation, "FIRST_READS", 40)
    search = searched(wrong(weighted.wrong_where_all_is_zero), python)
    search.warm_up()
    (note,) = search.notes
    assert note.startswith("evaluation only of flip1: the check before the search was cut short by time at move 3: ")
    assert note.endswith("by --check or ok.check(problem, neighbourhood='flip1', evaluation='only')")
    with pytest.raises(
        Unconfirmed, match=f"^weighted:12, .*{re.escape(note)}: the search claims .*--check, or ok.check"
    ):
        searched(wrong(weighted.wrong_where_all_is_zero), python).run(Iterations(20))
    assert searched(Weighted(TWELVE), python, evaluation="incremental").notes == []


def test_problems_of_the_suite_are_not_tried_again_but_subclasses_are(python, tried_first):
    problem = PROBLEMS["qap"]()
    LocalSearch(python, Solo(), problem, TabuSearch(), "exchange2").run(Iterations(2))
    assert tried_first == []
    mine = type("Mine", (type(problem),), {})(problem.instance)
    LocalSearch(python, Solo(), mine, TabuSearch(), "exchange2").run(Iterations(2))
    assert len(tried_first) == 1


# --- after a search ---


def test_a_search_does_not_return_what_the_scorer_does_not_confirm(python):
    problem = wrong(weighted.wrong_where_all_is_zero)
    with pytest.raises(
        Unconfirmed, match=r"weighted:12, tabu by flip1, evaluation only: .* costs -\d+, but `cost`"
    ) as e:
        searched(problem, python).run(Iterations(20))
    assert e.value.exit_code == 1
    assert e.value.outcome.cost < 0 <= e.value.cost == problem.cost(e.value.outcome.solution)


# --- costs ---


def with_range(problem, bounds):
    problem.cost_range = lambda: bounds
    return problem


def test_a_stated_range_beyond_32_bits_is_refused_before_anything_is_compiled(python):
    words = r"weighted:12: costs from -1 to 2147483647 are possible: expected costs and differences of costs below 2147483647"
    with pytest.raises(UserError, match=words):
        searched(with_range(Weighted(TWELVE), (-1, 2**31 - 1)), python)
    with pytest.raises(UserError, match="costs from -1500000000 to 1500000000 are possible"):
        searched(with_range(Weighted(TWELVE), (-1_500_000_000, 1_500_000_000)), python)


def test_costs_up_to_the_limit_are_searched_where_the_range_is_stated(python):
    heavy = [2**31 // 13] * 12
    search = searched(with_range(Weighted(heavy), (0, sum(heavy))), python)
    assert search.run(Iterations(40), initial=np.ones(12, np.int32)).cost == 0


def test_a_start_out_of_range_is_refused(python):
    heavy = Weighted([2**31 // 13] * 12)
    words = r"weighted:12: a start solution costs 1982292588: expected -1073741823 to 1073741823, since costs"
    with pytest.raises(UserError, match=words):
        searched(heavy, python).run(Iterations(4), initial=np.ones(12, np.int32))
    with pytest.raises(UserError, match="a start solution costs 52: expected 0 to 51, as its cost_range says"):
        searched(with_range(Weighted(TWELVE), (0, 51)), python).run(Iterations(4), initial=np.ones(12, np.int32))


def test_a_walk_that_leaves_32_bits_ends_the_search(python):
    """Tabu search without a descent climbs: 30 bits of 10^8 exceed 2^31 within 22 steps."""
    search = LocalSearch(python, Solo(), Weighted([10**8] * 30), TabuSearch(tenure=29), "flip1")
    with pytest.raises(ProblemError, match="weighted:30: a walk came to a cost out of range: expected -1073741823"):
        search.run(Iterations(30), initial=np.zeros(30, np.int32))
