"""Climbers, walks and subtrees over ranks of any number and speed: the same outcome, and less for the slow ones."""

import json

import pytest

from cluster import Solo
from tests.core.run import unlike_ranks

MUCH = "climbers=800,walks=20,subtrees=11"
LITTLE = "climbers=2,walks=3,subtrees=8"


def run(mpirun, works, times):
    """Do work on ranks slowed down by these factors; compare outcomes, return each rank's share."""
    done = mpirun(len(times.split()), unlike_ranks.__file__, works, *times.split())
    assert done.returncode == 0, done.stderr
    shares_of = {}
    for kind, count, outcome, shares, (steps, expected_steps) in map(json.loads, done.stdout.splitlines()):
        alone, everything, _ = unlike_ranks.KINDS[kind](unlike_ranks.SlowBackend(1), Solo(), count)
        assert outcome == json.loads(json.dumps(alone)), kind
        assert steps == expected_steps  # of the bar, which the first rank shows
        # The number of pruned nodes depends on the time of the incumbent.
        assert kind == "subtrees" or sum(shares) == everything == count
        shares_of[kind] = shares
    return shares_of


@pytest.mark.parametrize("times", ["1 20", pytest.param("1 1 1", marks=pytest.mark.slow)])
def test_a_slow_rank_gets_less_and_ranks_that_are_alike_get_as_much(mpirun, times):
    shares = run(mpirun, MUCH, times)
    for kind in ("climbers", "walks"):
        first, *others = shares[kind]
        assert others[0] < first / 2 if times == "1 20" else max(shares[kind]) - min(shares[kind]) <= 1


@pytest.mark.parametrize(
    ("works", "times"),
    [
        (LITTLE, "1 30 2"),
        pytest.param(MUCH, "1 30 2 1 8 1 3", marks=pytest.mark.long),
        pytest.param(MUCH, "8 1 1 2 1", marks=pytest.mark.long),
    ],
)
def test_ranks_of_all_speeds_find_what_one_finds(mpirun, works, times):
    run(mpirun, works, times)
