"""Climbers, walks and subtrees over ranks of any number and speed: the same outcome, and less for the slow ones."""

import json
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("unlike_ranks.py")
WORK = {"climbers": 1500, "walks": 40, "subtrees": 12}
JOBS = {
    "three alike": "1 1 1",
    "fast and slow": "1 20",
    "slow and fast": "20 1",
    "five": "8 1 1 2 1",
    "seven": "1 30 2 1 8 1 3",
}
LITTLE = {"climbers": 2, "walks": 3, "subtrees": 8}
pytestmark = pytest.mark.xdist_group("mpi")


@pytest.fixture(scope="module")
def known():
    """What earlier tests found."""
    return {}


@pytest.fixture
def run(mpirun, known):
    """Do some work on ranks that are so many times as slow as a core; the outcome, what each did, and what each told."""

    def of(kind, count, times):
        done = mpirun(len(times.split()), PROGRAM, kind, count, *times.split())
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def alone(kind, count):
        if (kind, count) not in known:
            known[kind, count] = of(kind, count, "1")
        return known[kind, count]

    def compared(kind, count, times):
        outcome, shares, told = of(kind, count, times)
        expected, (everything,), _ = alone(kind, count)
        assert outcome == expected
        steps, expected_steps = told[0]  # of the bar, which the first rank shows
        assert steps == expected_steps
        # How many nodes a bound leaves depends on when an incumbent came.
        assert kind == "subtrees" or sum(shares) == everything == count
        return shares

    return compared


@pytest.mark.parametrize("job", [pytest.param(job, marks=pytest.mark.slow) if job == "five" else job for job in JOBS])
@pytest.mark.parametrize("kind", WORK)
def test_ranks_of_all_speeds_find_what_one_finds(run, kind, job):
    shares = run(kind, WORK[kind], JOBS[job])
    if job == "three alike" and kind != "subtrees":
        assert max(shares) - min(shares) <= 1
    if job == "fast and slow" and kind != "subtrees":
        assert shares[1] < shares[0] / 2
    if job == "slow and fast" and kind != "subtrees":
        assert shares[0] < shares[1] / 2


@pytest.mark.parametrize(
    "times", [pytest.param("1 1 1 1 1", marks=pytest.mark.slow), "1 30 2 1 8 1 3"], ids=["alike", "unlike"]
)
@pytest.mark.parametrize("kind", LITTLE)
def test_more_ranks_than_work_find_what_one_finds(run, kind, times):
    run(kind, LITTLE[kind], times)
