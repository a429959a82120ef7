"""Programs over ranks: unlike command lines, fewer items than ranks, and many runs in one process."""

import json
import re
import sys
from pathlib import Path

import pytest

OTHER = "program: found python -m drivers.ihc on rank 0 and python -m drivers.qap on rank 1"
IHC = ("-m", "drivers.ihc", "--instance", "uniform:20:seed=1", "--climbers", "20")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        pytest.param((*IHC, "--climbers", "40"), "--climbers: found 20 on rank 0 and 40 on rank 1", id="an option"),
        pytest.param((*IHC, "--help"), "--help: found not given on rank 0 and given on rank 1", marks=pytest.mark.slow),
        pytest.param(("-m", "drivers.qap"), OTHER, id="another driver", marks=pytest.mark.slow),
    ],
)
def test_ranks_that_were_not_started_alike_do_nothing(second, message, mpirun):
    done = mpirun(1, *IHC, ":", "-n", "1", sys.executable, *second)
    assert (done.returncode, done.stdout) == (2, "")
    # mpirun's output may be on the same line.
    assert re.findall("error.*?expected the same|error|Traceback", done.stderr) == [
        f"error: {message}, expected the same"
    ]


@pytest.mark.slow
def test_ranks_may_work_on_unlike_devices(mpirun):
    alike = mpirun(1, *IHC)
    unlike = mpirun(1, *IHC, ":", "-n", "1", sys.executable, *IHC, "--backend", "threads", "--no-progress")
    assert (alike.returncode, unlike.returncode) == (0, 0), unlike.stderr
    for done in (alike, unlike):
        assert " confirmed by the scorer" in done.stdout
    alone, together = (re.findall("hash ([0-9a-f]{16})", done.stdout) for done in (alike, unlike))
    assert len(alone) == 1 and alone == together


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.slow, id="plain"),
        pytest.param(("--with-ft", "ulfm"), marks=pytest.mark.long, id="ulfm"),
    ],
)
def test_runs_in_one_process_hold_no_more_than_the_first_and_give_all_back(options, mpirun):
    done = mpirun(2, Path(__file__).with_name("many_runs.py"), options=options)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ends = [line for line in lines if "begin" in line]
    runs = [line for line in lines if "begin" not in line]
    assert len(ends) == len(runs) == 2
    for of_rank in runs:
        for name, results in of_rank.items():
            assert len(set(results["hashes"])) == 1, name
            assert results["after"] == results["before"], name
    assert [end["end"] for end in ends] == [end["begin"] for end in ends]
