"""Amounts and numbers of repetitions of a measurement, with a made-up clock."""

import random

import pytest

from drivers.runs.measuring import MOST_AMOUNT, FixedAmount, MeasuringRule, RateMeasurement, Work
from drivers.workload.run_time import WorkUnit
from reports.records.schema import Repetition

CLIMBS, RUNS = WorkUnit("climbs", 2000, option="climbers"), WorkUnit()


def measured(clock, rule=None, unit=CLIMBS, proof_s=4.9):
    """Measure a rate by a clock (work -> seconds); return the measurement, and the work of every warm repetition."""
    rate = RateMeasurement(rule or MeasuringRule(), unit)
    assert rate.next_work() == Work(unit.amount) and rate.add(proof_s) == "proof"
    works = []
    while (work := rate.next_work()) is not None:
        works.append(work)
        rate.add(clock(work))
    return rate, works


def recorded(*seconds, kind="rate", turn=0, work=8000):
    return [Repetition(0.0, 0.0, one, one, kind=kind, turn=turn, work=work) for one in seconds]


def test_a_fixed_amount_is_repeated_as_often_as_is_left():
    plan = FixedAmount(Work(7), most=3)
    assert plan.resume([*recorded(1.0), *recorded(1.0, kind="fixed")]) == "1 of 3", "a rate is no repetition of it"
    kinds = []
    while plan.next_work() is not None:
        kinds.append((plan.next_work(), plan.add(0.1)))
    assert kinds == [(Work(7), "fixed")] * 2


def test_the_amount_grows_until_a_repetition_takes_a_second():
    rate, works = measured(lambda work: work.total / 7660)
    assert works[0] == Work(2000), "warm, on the proof's amount"
    assert len(works) == 7 and len({*works[1:]}) == 1, "the first long one counts, and five follow"
    assert 1 <= rate.seconds[0] < 1.05
    assert rate.rate.value == pytest.approx(7660) and rate.rate.half_width == pytest.approx(0)


def test_a_device_with_a_long_launch_needs_several_trials():
    rate, works = measured(lambda work: 0.01 + work.total / 1e7)
    assert [work.amount for work in works] == sorted(work.amount for work in works)
    assert 1 <= rate.seconds[0] < 1.1
    assert len(works) - len(rate.seconds) <= 4


def test_a_proof_that_takes_a_second_is_the_rates_amount():
    assert measured(lambda work: work.total / 1000)[1] == [Work(2000)] * 6


def test_after_a_long_proof_the_rates_amount_is_smaller():
    assert measured(lambda work: work.total / 100, proof_s=20.0)[1] == [Work(100)] * 6
    assert measured(lambda work: 20.0 * work.runs, unit=RUNS, proof_s=20.0)[1] == [Work(1)] * 6, "not cut"
    again = RateMeasurement(MeasuringRule(), CLIMBS)
    again.resume(recorded(*[1.0] * 6, work=8000))
    assert again.add(20.0) == "proof" and again.work == Work(8000), "another turn has the amount of the first"


def test_whole_runs_repeat_inside_a_repetition():
    cells = WorkUnit("cells", each=14_400)
    rate, works = measured(lambda work: 0.002 * work.runs, MeasuringRule.of(cells, 10.0), cells)
    assert {work.amount for work in works} == {1}
    assert 0.3 <= rate.seconds[0] < 0.33
    _, works = measured(lambda work: 0.1 * work.runs, MeasuringRule.of(CLIMBS, 10.0, amount=500), proof_s=20.0)
    assert works == [Work(500), *[Work(500, 4)] * 6], "of a given amount, after any proof"
    assert rate.rate.value == pytest.approx(14_400 / 0.002)


@pytest.mark.parametrize(
    ("option", "budget_s", "shortest_s"),
    [("iterations", 6.0, 1.0), ("iterations", 1.0, 1 / 6), ("iterations", 0.3, 0.1), ("", 3.0, 0.3), ("", 1.0, 1 / 6)],
)
def test_a_budget_below_six_seconds_has_shorter_repetitions(option, budget_s, shortest_s):
    rule = MeasuringRule.of(WorkUnit("units", option=option), budget_s)
    assert rule.shortest_s == pytest.approx(shortest_s)


def test_a_search_that_ends_by_itself_does_not_grow_for_ever():
    rate, works = measured(lambda work: 0.01 * work.runs)
    assert max(work.amount for work in works) == MOST_AMOUNT, "no amount makes it longer, so runs repeat"
    assert rate.seconds[0] >= 1


@pytest.mark.parametrize(
    ("noise", "repetitions"), [(0.0, 6), (0.01, 6), (0.5, 30)], ids=["quiet", "little noise", "never narrow"]
)
def test_repetitions_end_with_a_narrow_interval_or_their_largest_number(noise, repetitions):
    random_numbers = random.Random(3)
    rate, _ = measured(lambda work: 1 + noise * random_numbers.random(), MeasuringRule(budget_s=1000))
    assert len(rate.seconds) == repetitions


def test_a_budget_ends_repetitions_but_never_below_six():
    random_numbers = random.Random(3)
    rate, _ = measured(lambda work: 1 + random_numbers.random(), MeasuringRule(budget_s=12))
    assert 6 < len(rate.seconds) < 10 and sum(rate.seconds) >= 12
    rate, _ = measured(lambda work: 50 + 50 * random_numbers.random(), MeasuringRule(budget_s=12))
    assert len(rate.seconds) == 6


@pytest.mark.parametrize(("unit", "work"), [(CLIMBS, Work(8000)), (CLIMBS, Work(500, 16)), (RUNS, Work(1, 40))])
def test_a_measurement_goes_on_with_the_repetitions_of_an_earlier_process(unit, work):
    rate = RateMeasurement(MeasuringRule(amount=work.amount if work.runs > 1 else 0), unit)
    assert rate.resume(recorded(*[1.0] * 4, work=work.total)) == "4 warm" and rate.add(9.0) == "proof"
    assert (rate.next_work(), rate.turn) == (work, 0)
    assert rate.add(0.99) == "rate" and not rate.is_done, "of the same amount, it counts if it is a little short too"
    assert rate.add(1.0) == "rate" and rate.next_work() is None
    assert len(rate.seconds) == 6


def test_after_a_complete_measurement_another_one_begins_with_its_amount():
    rate = RateMeasurement(MeasuringRule(), CLIMBS)
    turns = [*recorded(*[1.0] * 6, work=4000), *recorded(*[1.0] * 7, turn=1)]
    assert rate.resume(turns) == "" and rate.add(9.0) == "proof"
    assert (rate.next_work(), rate.turn, rate.seconds) == (Work(8000), 2, [])


def test_short_repetitions_of_a_smaller_budget_are_not_continued():
    rate = RateMeasurement(MeasuringRule(), CLIMBS)
    assert rate.resume(recorded(0.9, 0.17, 0.17, 0.18)) == "" and rate.add(9.0) == "proof"
    assert rate.turn == 1 and rate.add(0.17) == "trial"
