"""Times to targets: read from histories, censored where a run ended before, with expected times and distributions."""

import math

import pytest

from reports.records.schema import Repetition
from reports.statistics.targets import SeedFamily, Target, choose_targets, read_samples, stop_cost, success_rate


@pytest.fixture
def searched(make_record):
    """A run with these histories; the last row of each is its best cost."""

    def make(*histories, ended=(10.0, 1000), **changes):
        seconds, evaluations = ended
        samples = tuple(Repetition(0.0, 0.0, seconds, seconds, history=history) for history in histories)
        known = next((history for history in histories if history), [[0, 0, 0.0, 99]])
        return make_record(
            **({"repetitions": samples, "best_cost": known[-1][3], "evaluations": evaluations} | changes)
        )

    return make


@pytest.fixture
def three(searched):
    """Three seeds, two of which reach 5: after 2 s and 200 evaluations, and after 4 s and 300; the third ends at 7."""
    return [
        searched([[0, 0, 0.5, 20], [1, 100, 1.0, 9], [2, 200, 2.0, 5]], seed=0),
        searched([[0, 0, 0.5, 20], [3, 300, 4.0, 4]], seed=1, ended=(8.0, 800)),
        searched([[0, 0, 0.5, 20], [3, 350, 3.0, 7]], seed=2),
    ]


def tries(runs, cost):
    return SeedFamily.of("row", runs).tries(Target(cost, "the target"))


def test_expected_time_is_all_that_was_spent_over_how_many_succeeded(three):
    attempts = tries(three, 5)
    spent = list(attempts.spent.itertuples(index=False, name=None))
    assert spent == [(True, 2.0, 200), (True, 4.0, 300), (False, 10.0, 1000)]
    assert attempts.expected("seconds").value == pytest.approx((2.0 + 4.0 + 10.0) / 2)
    assert attempts.expected("evaluations").value == pytest.approx((200 + 300 + 1000) / 2)


def test_the_interval_of_an_expected_time_covers_it_and_is_open_where_all_resamples_may_fail(three):
    half = tries(three, 5).expected("seconds")
    # The third run is drawn three times in one of 27 cases: more often than 2.5 %.
    assert half.low < half.value < half.high == math.inf
    whole = tries(three, 20).expected("seconds")
    assert (whole.low, whole.value, whole.high) == (0.5, 0.5, 0.5)
    assert tries(three[:2], 5).expected("seconds").low is None


def test_a_distribution_steps_at_each_success_and_without_one_there_is_none(three):
    assert tries(three, 5).distribution("seconds") == ([2.0, 4.0], pytest.approx([1 / 3, 2 / 3]))
    assert tries(three, 20).distribution("evaluations") == ([0.0], [1.0])
    assert tries(three, 3).distribution("seconds") == ([], [])
    assert tries(three, 3).expected("seconds") is None


def test_a_run_that_ended_early_weighs_on_later_steps_as_kaplan_and_meier_say(searched):
    runs = [
        searched([[0, 0, 1.0, 5]], seed=0),
        searched([[0, 0, 1.0, 9]], seed=1, ended=(2.0, 100)),
        searched([[0, 0, 1.0, 9], [1, 200, 3.0, 5]], seed=2),
    ]
    at, high = tries(runs, 5).distribution("seconds")
    # One of three at 1 s; of the two thirds that are left, one run is still searching at 3 s, and it succeeds.
    assert (at, high) == ([1.0, 3.0], pytest.approx([1 / 3, 1.0]))
    from scipy.stats import CensoredData, ecdf

    theirs = ecdf(CensoredData(uncensored=[1.0, 3.0], right=[2.0])).cdf
    assert [float(theirs.evaluate(x)) for x in (1.0, 2.5, 3.0)] == pytest.approx([1 / 3, 1 / 3, 1.0])


def test_a_success_rate_has_wilsons_interval():
    from scipy.stats import binomtest

    for successes, tries_ in ((0, 10), (2, 3)):
        theirs = binomtest(successes, tries_).proportion_ci(0.95, method="wilson")
        rate = success_rate(successes, tries_)
        assert (rate.value, rate.low, rate.high) == pytest.approx((successes / tries_, theirs.low, theirs.high))


def test_a_runs_time_is_the_median_of_its_repetitions_and_a_run_counts_once(searched):
    def history(seconds):
        return [[0, 0, 0.1, 20], [1, 100, seconds, 5]]

    attempts = tries([searched(history(1.0), history(2.0), history(9.0))], 5)
    assert (attempts.amounts("seconds"), attempts.amounts("evaluations")) == ([2.0], [100])


def test_costs_hold_until_the_next_improvement(three):
    family = SeedFamily.of("row", three)
    assert family.costs_at([250, 0], "evaluations").tolist() == [[5, 20, 20], [20, 20, 20]]
    assert family.costs_at([3.0], "seconds").tolist() == [[5, 20, 7]]
    assert all(math.isnan(cost) for cost in family.costs_at([0.4], "seconds")[0])


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (None, "no history was recorded"),
        ([], "its history is empty"),
        ([[0, 0, 0.0, 9], [1, 5, 0.1, 12], [2, 6, 0.2, 9]], "rises from 9 to 12 in row 2"),
        ([[0, 0, 0.0, 20], [1, 5, 0.1, 12]], "ends at 12 and not at the best cost 9"),
    ],
)
def test_a_history_that_cannot_be_used_is_left_out_and_told(searched, history, said):
    run = searched([[0, 0, 0.0, 20], [1, 5, 0.1, 9]], history, best_cost=9, seed=3)
    rows, (trouble,) = read_samples(run)
    assert {row[1] for row in rows} == {1}
    assert trouble.startswith("seed 3, repetition 2: ") and said in trouble
    family = SeedFamily.of("row", [run])
    assert family.tries(Target(9, "the target")).reached == 1
    assert family.notes == (f"row, {trouble}: left out",)


def test_times_are_not_known_if_one_seed_is_without_history_but_successes_are(searched):
    runs = [searched([[0, 0, 0.0, 9]], seed=0), searched([], seed=1, best_cost=9)]
    family = SeedFamily.of("row", runs)
    assert family.tries(Target(9, "the target")) is None
    assert family.reached(Target(9, "the target")) == 2
    assert family.notes[-1] == "row: seed 1 has no history that can be used, so times to targets are not known"
    unrecorded = SeedFamily.of("row", [searched(None, seed=0)])
    assert unrecorded.notes == ("row: no history was recorded (`--history`), so times to targets are not known",)


def test_the_end_of_a_run_is_never_before_its_last_row(searched):
    run = searched([[0, 0, 0.0, 9], [1, 5000, 11.0, 8]])
    rows, _ = read_samples(run)
    assert rows[-1] == (0, 1, 11.0, 5000, 8, True)


# --- which targets ---


def costs_and_names(targets):
    return [(one.cost, one.name) for one in targets.all]


def test_the_optimum_is_the_target_if_a_run_reached_it(make_record):
    runs = [make_record(best_cost=cost, details={"optimum": 1000}) for cost in (1000, 1040)]
    targets = choose_targets(runs)
    assert costs_and_names(targets) == [(1000, "the optimum"), (1010, "the optimum + 1 %"), (1050, "the optimum + 5 %")]
    assert "the known optimum 1,000, which a run reached" in targets.why


def test_else_the_best_that_any_run_found(make_record):
    runs = [make_record(best_cost=cost, details={"optimum": 1000}) for cost in (1030, 1004)]
    assert costs_and_names(choose_targets(runs))[0] == (1004, "the best found")
    assert "no run reached the known optimum 1,000" in choose_targets(runs).why
    assert "no optimum is known" in choose_targets([make_record(best_cost=7)]).why


@pytest.mark.parametrize(
    ("best", "costs"),
    [(0, [0]), (-100, [-100, -99, -95]), (7, [7]), (99.5, [99.5, 100.495, 104.475])],
)
def test_gaps_are_parts_of_the_absolute_cost_and_whole_where_costs_are(make_record, best, costs):
    targets = choose_targets([make_record(best_cost=best, details={"optimum": best})])
    assert [one.cost for one in targets.all] == pytest.approx(costs)
    assert targets.first.name == "the optimum"


def test_no_run_is_asked_for_less_than_what_it_was_told_to_stop_at(make_record):
    stopping = make_record(best_cost=1090, parameters={"target": 1100})
    assert stop_cost(stopping) == 1100
    targets = choose_targets([stopping, make_record(best_cost=1000)])
    assert targets.first.cost == 1100
    assert "the cost at which runs stopped" in targets.why
    asked = choose_targets([make_record()], 21500)
    assert costs_and_names(asked) == [(21500, "the target")], "the user's target is the only one"
