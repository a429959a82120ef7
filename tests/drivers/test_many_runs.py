"""Runs of one process, one after another over the same ranks, hold no more than the first."""

import json
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("many_runs.py")
RANKS = 2


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.slow, id="plain"),
        pytest.param(("--with-ft", "ulfm"), marks=pytest.mark.long, id="ulfm"),
    ],
)
def test_runs_in_one_process_hold_no_more_than_the_first_and_give_all_back(options, mpirun):
    done = mpirun(RANKS, PROGRAM, options=options)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ends = [one for one in lines if "begin" in one]
    runs = [one for one in lines if "begin" not in one]
    assert len(ends) == len(runs) == RANKS
    for of_rank in runs:
        for name, one in of_rank.items():
            assert len(set(one["hashes"])) == 1, name
            assert one["after"] == one["before"], name
    assert [one["end"] for one in ends] == [one["begin"] for one in ends]
