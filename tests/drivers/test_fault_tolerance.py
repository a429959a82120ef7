"""Under `mpirun --with-ft ulfm` the other ranks do a killed rank's part: the same answer for any rank and time."""

import json
import random
import re
from pathlib import Path

import pytest

from tests.drivers.small_runs import driver_of

PROGRAM = Path(__file__).with_name("lost_rank.py")
ULFM = ("--with-ft", "ulfm")
SHARED = ("--backend", "cpu", "--no-progress")
WORK = {
    "ihc": ("--instance", "uniform:60:seed=1", "--climbers", "12000"),
    "qap": ("--instance", "taillard:30:seeds=1,2", "--walks", "9", "--iterations", "100000"),
    "ppp": ("--instance", "73-73", "--iterations", "30000"),
    "aco": ("--instance", "uniform:60:seed=1", "--colonies", "6", "--iterations", "600"),
    "exact": ("--instance", "uniform:13:seed=1", "--bound", "none"),
}
"""Work of seconds on one core, by driver; all but ppp's needs no communication."""


def any_of(seed):
    """A driver, one or two of four ranks, and the seconds until they are killed."""
    draw = random.Random(seed)
    who = ",".join(map(str, draw.sample(range(4), 2 if draw.random() < 0.25 else 1)))
    return draw.choice(list(WORK)), who, f"running:{draw.uniform(0.0, 2.0):.2f}"


def hashes(said):
    return re.findall(r"hash ([0-9a-f]{16})", said)


@pytest.mark.parametrize(
    ("driver", "who"),
    [
        *(pytest.param(driver, who, marks=pytest.mark.slow) for driver, who in (("ihc", 0), ("qap", 2))),
        *(pytest.param(driver, who, marks=pytest.mark.long) for driver in ("ppp", "aco", "exact") for who in (0, 2)),
    ],
)
def test_the_others_do_the_share_of_a_rank_that_is_killed(driver, who, mpirun, drive, tmp_path):
    _, plain, _ = drive(*SHARED, *WORK[driver], driver=driver_of(driver))
    record = tmp_path / "runs.jsonl"
    arguments = (*SHARED, *WORK[driver], "--record", record)
    done = mpirun(3, PROGRAM, "running", who, tmp_path / "when", driver, *arguments, options=ULFM)
    assert done.returncode == 0, done.stderr
    assert f"note: lost rank {who}; the other 2 continue" in done.stderr
    assert hashes(done.stdout) == hashes(plain) != []
    (line,) = record.read_text().splitlines()
    recorded = json.loads(line)
    (sample,) = recorded["repetitions"]
    assert recorded["ranks"] == 3 and sample["conditions"]["lost_ranks"] == [who]
    assert sample.get("rank_s") is None


@pytest.mark.slow
def test_repetitions_that_were_recorded_are_not_made_again(mpirun, tmp_path):
    record = tmp_path / "runs.jsonl"
    arguments = (*SHARED, *WORK["ihc"], "--repeats", "2", "--record", record)
    done = mpirun(3, PROGRAM, "running", 0, tmp_path / "when", "ihc", *arguments, options=ULFM)
    assert done.returncode == 0, done.stderr
    assert sum(len(json.loads(line)["repetitions"]) for line in record.read_text().splitlines()) == 2


@pytest.mark.long
@pytest.mark.parametrize(("driver", "who", "how"), [any_of(seed) for seed in range(60)])
def test_ranks_that_are_killed_at_random_moments_change_nothing(driver, who, how, mpirun, drive, tmp_path):
    _, plain, _ = drive(*SHARED, *WORK[driver], driver=driver_of(driver))
    done = mpirun(4, PROGRAM, how, who, tmp_path / "when", driver, *SHARED, *WORK[driver], options=ULFM)
    assert done.returncode == 0, done.stderr
    assert hashes(done.stdout) == hashes(plain) != []
