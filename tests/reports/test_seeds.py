"""Runs of several seeds as one."""

import pytest

from reports.comparison.seeds import merge_seeds

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
