"""Records sorted by work and device, and which of them are tested against each other."""

import pytest
from msgspec.structs import replace

from reports.comparison.algorithms import group_by_instance, name_algorithms
from reports.records.files import RecordError, UnequalWorkError
from reports.records.schema import Repetition


@pytest.fixture
def seeds_of(make_record):
    def make(costs, seconds=1.0, ended=(9.0, 1000), **changes):
        runs = []
        for seed, cost in enumerate(costs):
            history = [[0, 0, 0.1, 900], [1, 10 * seed + 100, seconds + 0.01 * seed, cost]]
            samples = (Repetition(0.0, 0.0, ended[0], ended[0], history=history),)
            own = {"seed": seed, "best_cost": cost, "hash": f"{cost:04x}", "repetitions": samples}
            counted = {"workload": "qap", "evaluations": ended[1], "hash_scope": "moves", "evaluation_unit": "moves"}
            runs.append(make_record(**(counted | own | changes)))
        return runs

    return make


TABU, ILS = {"algorithm": "tabu", "tenure": 27}, {"algorithm": "ils", "strength": 3}
GOOD, BAD = range(100, 110), range(200, 210)


def by_question(field):
    return {
        of.split(",")[0].split(" to ")[0].split(" after ")[0]: list(pairs.itertuples())
        for of, pairs in field.tests.items()
    }


def test_costs_are_tested_between_works_once_and_times_on_each_device(seeds_of):
    records = [
        *seeds_of(GOOD, 1.0, parameters=TABU),
        *seeds_of(BAD, 2.0, parameters=ILS),
        *seeds_of(GOOD, 0.5, parameters=TABU, backend="threads"),
        *seeds_of(BAD, 0.6, parameters=ILS, backend="threads"),
    ]
    (field,) = group_by_instance(records)
    places = [(work, place) for place in ("cpu", "threads") for work in ("tabu", "ils")]
    assert list(zip(field.rows["work"], field.rows["place"], strict=True)) == places
    by_kind = by_question(field)
    assert list(by_kind) == ["final costs", "seconds"]
    (costs,) = by_kind["final costs"]
    assert (costs.one, costs.other, costs.verdict) == ("tabu", "ils", "tabu is better")
    pairs = [(one.one, one.other) for one in by_kind["seconds"]]
    assert pairs == [("tabu, cpu", "ils, cpu"), ("tabu, threads", "ils, threads")]


def test_unequal_costs_of_one_work_and_seed_are_refused(seeds_of):
    with pytest.raises(UnequalWorkError, match="unequal work"):
        group_by_instance([*seeds_of(GOOD), *seeds_of(BAD, backend="threads")])


def test_runs_that_the_clock_ended_may_differ_and_are_tested_by_device(seeds_of):
    clocked = {"parameters": TABU | {"seconds": 2.0}}
    (field,) = group_by_instance([*seeds_of(GOOD, **clocked), *seeds_of(BAD, backend="threads", **clocked)])
    (test,) = by_question(field)["final costs"]
    assert (test.one, test.other, test.verdict) == ("tabu, cpu", "tabu, threads", "tabu, cpu is better")


def test_unequal_budgets_are_told_and_costs_are_compared_after_equal_ones_too(seeds_of):
    few = seeds_of(BAD, ended=(9.0, 400), parameters=ILS)
    (field,) = group_by_instance([*seeds_of(GOOD, ended=(9.0, 1000), parameters=TABU), *few])
    assert any("unequal numbers of evaluations, at most tabu 1,000, ils 400" in caution for caution in field.cautions())
    tests = field.tests["best costs after 400 moves, as many as the shortest run made"]
    # After 195 evaluations at the latest every run has its best cost.
    assert list(tests["a12"]) == [1.0]
    (equal,) = group_by_instance([*seeds_of(GOOD, parameters=TABU), *seeds_of(BAD, parameters=ILS)])
    assert not list(equal.cautions())


def test_costs_at_equal_evaluations_are_those_that_were_known_then(seeds_of):
    (field,) = group_by_instance([*seeds_of(GOOD, parameters=TABU), *seeds_of([300], ended=(9.0, 145), parameters=ILS)])
    (tests,) = by_question(field)["best costs"]
    # Seed s improves at 100 + 10 s evaluations, so half of the costs are still 900, and the other run has found 300.
    assert tests.a12 == 0.5


def test_costs_of_runs_that_stopped_at_a_cost_are_not_tested(seeds_of):
    stopped = {"parameters": ILS | {"target": 250}}
    (field,) = group_by_instance([*seeds_of(GOOD, parameters=TABU), *seeds_of(BAD, **stopped)])
    assert list(by_question(field)) == ["seconds"]
    assert any("ils: stopped at a target cost" in caution for caution in field.cautions())
    (asked,) = group_by_instance([*seeds_of(GOOD, parameters=TABU), *seeds_of(BAD, **stopped)], 150)
    assert any("stopped at the cost 250, above the target" in caution for caution in asked.cautions())


def test_times_are_tested_to_a_target_that_half_the_runs_of_a_row_reach(seeds_of):
    (field,) = group_by_instance([*seeds_of([800] + [807] * 9, parameters=TABU), *seeds_of([832] * 10, parameters=ILS)])
    assert any(of.startswith("seconds to the best found + 1 % (808)") for of in field.tests)


def test_units_that_differ_are_not_compared(seeds_of):
    selected = seeds_of(BAD, workload="aco", ended=(9.0, 5), evaluation_unit="selections")
    (field,) = group_by_instance([*seeds_of(GOOD, parameters=TABU), *selected])
    assert field.units == ["moves", "selections"]
    assert not any("after" in of for of in field.tests)


def test_unconfirmed_runs_are_left_out_and_told(seeds_of):
    wrong = [replace(run, verified=False) for run in seeds_of(BAD, parameters=ILS)[:1]]
    (field,) = group_by_instance([*seeds_of(GOOD, parameters=TABU), *wrong])
    assert len(field.rows) == 1
    assert "did not confirm its best cost: left out" in field.notes[0]
    with pytest.raises(RecordError, match="no records"):
        group_by_instance([])


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ([TABU, ILS], ["tabu", "ils"]),
        ([TABU, TABU | {"tenure": 9}], ["tenure = 27", "tenure = 9"]),
        ([TABU, TABU | {"tenure": 9}, ILS], ["tabu, tenure = 27", "tabu, tenure = 9", "ils"]),
        ([{"variant": "as"}, {"variant": "mmas"}], ["as", "mmas"]),
        ([{"climbers": 4}], ["qap"]),
    ],
)
def test_works_are_named_by_what_tells_them_apart(make_record, asked, names):
    runs = [make_record(workload="qap", parameters=parameters) for parameters in asked]
    assert list(name_algorithms(runs).values()) == names


def test_rows_of_one_work_and_device_are_told_apart_by_their_ways_and_machines(seeds_of, make_record):
    other = {"environment": make_record().environment | {"cpu_model": "Other CPU"}}
    levels = {"level": "iteration"}, {"level": "solution"}
    records = [*seeds_of(GOOD, execution=levels[0]), *seeds_of(GOOD, execution=levels[1])]
    (field,) = group_by_instance([*records, *seeds_of(GOOD, execution=levels[0], **other)])
    places = ["cpu (level = iteration, machine A)", "cpu (level = solution, machine A)", "cpu (machine B)"]
    assert list(field.rows["place"]) == places
