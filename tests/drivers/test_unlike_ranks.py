"""Ranks that were given unlike command lines end with one line and exit code 2, before any work is done."""

import re
import sys

import pytest

IHC = ("-m", "drivers.ihc", "--instance", "uniform:20:seed=1", "--climbers", "20")


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ((*IHC, "--climbers", "40"), "--climbers: found 20 on rank 0 and 40 on rank 1"),
        ((*IHC, "--help"), "--help: found not given on rank 0 and given on rank 1"),
        (("-m", "drivers.qap"), "program: found python -m drivers.ihc on rank 0 and python -m drivers.qap on rank 1"),
    ],
    ids=["an option", "help", "another driver"],
)
def test_ranks_that_were_not_started_alike_do_nothing(second, told, mpirun):
    done = mpirun(1, *IHC, ":", "-n", "1", sys.executable, *second)
    assert (done.returncode, done.stdout) == (2, "")
    # mpirun's own lines may stand on the same line.
    assert re.findall("error.*?expected the same|error|Traceback", done.stderr) == [f"error: {told}, expected the same"]


def test_ranks_may_work_on_unlike_devices(mpirun):
    alike = mpirun(1, *IHC)
    unlike = mpirun(1, *IHC, ":", "-n", "1", sys.executable, *IHC, "--backend", "threads", "--no-progress")
    assert (alike.returncode, unlike.returncode) == (0, 0), unlike.stderr
    for done in (alike, unlike):
        assert " confirmed by the scorer" in done.stdout
    alone, together = (re.findall("hash ([0-9a-f]{16})", done.stdout) for done in (alike, unlike))
    assert len(alone) == 1 and alone == together
