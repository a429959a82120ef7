"""Runs of several seeds as one row, and what they found."""

import statistics

import pytest
from msgspec import structs

from reports.comparison.seeds import SeedQuality, merge_seeds

COSTS = (21282, 21300, 21282, 21400)


@pytest.fixture
def runs(make_record):
    def run(seed, cost):
        own = {"seed": seed, "best_cost": cost, "hash": f"{seed:04x}", "evaluations": 100 + seed}
        return make_record([1.0 + seed, 1.5 + seed], details={"optimum": 21282}, **own)

    return [run(seed, cost) for seed, cost in enumerate(COSTS)]


def test_a_family_has_all_repetitions_the_best_cost_and_a_hash_of_its_own(runs):
    merged = merge_seeds(runs)
    assert (merged.best_cost, merged.evaluations, len(merged.repetitions)) == (21282, 102, 8)
    assert merged.parameters["seeds"] == "0 to 3"
    assert merged.hash not in {run.hash for run in runs}
    assert merge_seeds(runs[:1]) is runs[0]


def test_families_of_other_hashes_are_other_work(runs, make_record):
    other = [*runs[:3], make_record(seed=3, best_cost=21400, hash="ffff")]
    assert merge_seeds(runs).hash != merge_seeds(other).hash


def test_mean_and_sample_standard_deviation_stand_beside_the_median(runs):
    said = str(SeedQuality.of(runs))
    mean, deviation = statistics.mean(COSTS), statistics.stdev(COSTS)
    assert f"best cost over 4 seeds: mean {mean:,.0f}, sample standard deviation {deviation:.1f}, median 21,291" in said
    assert "from 21,282 to 21,400; the mean is 0.16 % above the optimum 21,282, which 2 of 4 seeds reached" in said


def test_equal_costs_need_no_deviation(make_record):
    equal = [make_record(seed=seed, details={"optimum": 21282}) for seed in range(3)]
    assert str(SeedQuality.of(equal)) == "best cost 21,282 with each of 3 seeds; it is the optimum"


def test_a_family_that_is_not_confirmed_as_a_whole_enters_no_ratio(runs, make_record, section_of):
    wrong = [make_record(**(structs.asdict(run) | {"backend": "threads", "verified": run.seed != 2})) for run in runs]
    section = section_of([*runs, *wrong])
    assert [row.name for row in section.comparison.rows] == ["cpu"]
    assert [one.backend for one in section.comparison.not_run if one.wrong] == ["threads"]
