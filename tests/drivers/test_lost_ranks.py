"""A rank that is lost ends the job, within seconds, with one message that says which and why."""

import re
import time
from pathlib import Path

import pytest

from tests.drivers.lost_rank import REFUSED

PROGRAM = Path(__file__).with_name("lost_rank.py")
SOON_S = 5.0
SHARED = ("--backend", "cpu", "--no-progress")
LONG = {
    "ppp": ("--walks", "1", "--iterations", "10000000"),
    "lcs": ("--instance", "random:2000000", "--no-trace"),
    "aco": ("--instance", "uniform:60:seed=1", "--iterations", "1000000"),
    "ihc": ("--instance", "uniform:60:seed=1", "--climbers", "10000000"),
    "exact": ("--instance", "uniform:19:seed=1", "--bound", "none"),
    "knapsack": ("--capacity", "50000000", "--no-trace"),
    "heldkarp": ("--instance", "uniform:26:seed=1"),
}
TIERS = {"ppp": (), "lcs": pytest.mark.slow}
every_workload = pytest.mark.parametrize(
    "driver", [pytest.param(name, marks=TIERS.get(name, pytest.mark.long)) for name in LONG]
)


@pytest.fixture
def lose(mpirun, tmp_path):
    """Run a driver on three ranks and lose one; return the exit code and error lines, if quick."""

    def run(how, who, driver, *arguments):
        path = tmp_path / "when"
        done = mpirun(3, PROGRAM, how, who, path, driver, *arguments)
        assert time.time() - float(path.read_text()) < SOON_S
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    return run


def killed(error):
    """Ranks that the launcher reports as killed."""
    return re.findall(r"process rank (\d+) with PID \d+ on node \S+ exited on\s+signal 9", error)


@every_workload
def test_a_rank_that_is_killed_while_ranks_work_ends_the_job(driver, lose):
    code, error = lose("running", 1, driver, *SHARED, *LONG[driver])
    assert code == 128 + 9 and killed(error) == ["1"] and "error" not in error


@pytest.mark.slow
def test_a_rank_that_is_killed_while_others_start_ends_the_job(lose):
    code, error = lose("before", 2, "ppp", *SHARED, *LONG["ppp"])
    assert code == 128 + 9 and killed(error) == ["2"] and "error" not in error


@every_workload
@pytest.mark.slow
@pytest.mark.parametrize("how", ["full", "building"])
def test_a_rank_whose_device_is_full_ends_the_job_with_one_line(how, driver, lose):
    code, error = lose(how, 1, driver, *SHARED, *LONG[driver])
    assert code == 2
    (line,) = re.findall("^error.*", error, re.MULTILINE)
    assert line.startswith("error (rank 1): ") and REFUSED in line


@pytest.mark.slow
def test_the_first_rank_whose_device_is_full_wakes_those_that_sleep(lose):
    code, error = lose("building", 0, "ppp", *SHARED, *LONG["ppp"])
    assert code == 2
    helps = "expected a smaller instance, fewer walks, ants, climbers or ranks, or less --device-memory"
    assert error.count(f"error: out of memory: {REFUSED}; {helps}") == 1
