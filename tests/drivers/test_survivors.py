"""Under `mpirun --with-ft ulfm` the others do a killed rank's share: the same answer, whoever is killed and when."""

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from drivers.configurations import mpirun as launcher
from tests.drivers.small_runs import driver_of

PROGRAM = Path(__file__).with_name("lost_rank.py")
ULFM = ("--with-ft", "ulfm")
SHARED = ("--backend", "cpu", "--no-progress", "--share", "always")
WORK = {
    "ihc": ("--instance", "uniform:60:seed=1", "--climbers", "12000"),
    "qap": ("--instance", "taillard:30:seeds=1,2", "--walks", "9", "--iterations", "200000"),
    "ppp": ("--instance", "73-73", "--iterations", "30000"),
    "aco": ("--instance", "uniform:60:seed=1", "--colonies", "6", "--iterations", "600"),
    "exact": ("--instance", "uniform:13:seed=1", "--bound", "none"),
}
"""Work of seconds on one core, by driver; all but that of ppp needs no word between ranks."""
KILLS, MOST_S = 100, 120.0
STARTING = ("a rank was killed while MPI started", "ompi_mpi_init")
"""What is said of a rank that is killed while MPI starts, in the last moments of which Open MPI crashes itself."""


def hashes(said):
    return re.findall(r"hash ([0-9a-f]{16})", said)


@pytest.mark.parametrize(
    ("driver", "who"),
    [
        ("ihc", 0),
        pytest.param("qap", 2, marks=pytest.mark.slow),
        *(pytest.param(driver, who, marks=pytest.mark.long) for driver in ("ppp", "aco", "exact") for who in (0, 2)),
    ],
)
def test_the_others_do_the_share_of_a_rank_that_is_killed(driver, who, mpirun, drive, tmp_path):
    _, plain, _ = drive(*SHARED, *WORK[driver], driver=driver_of(driver))
    record = tmp_path / "runs.jsonl"
    given = (*SHARED, *WORK[driver], "--record", record)
    done = mpirun(3, PROGRAM, "running", who, tmp_path / "when", driver, *given, options=ULFM)
    assert done.returncode == 0, done.stderr
    assert f"note: lost rank {who}; the other 2 go on" in done.stderr
    assert hashes(done.stdout) == hashes(plain) != []
    (line,) = record.read_text().splitlines()
    told = json.loads(line)
    (sample,) = told["samples"]
    assert told["ranks"] == 3 and sample["conditions"]["lost_ranks"] == [who]
    assert sample.get("rank_seconds") is None


@pytest.mark.slow
def test_repetitions_that_were_recorded_are_not_made_again(mpirun, tmp_path):
    record = tmp_path / "runs.jsonl"
    given = (*SHARED, *WORK["ihc"], "--repeats", "2", "--record", record)
    done = mpirun(3, PROGRAM, "running", 0, tmp_path / "when", "ihc", *given, options=ULFM)
    assert done.returncode == 0, done.stderr
    assert sum(len(json.loads(line)["samples"]) for line in record.read_text().splitlines()) == 2


class Job:
    """A job from which somebody takes ranks, at random moments."""

    def __init__(self, ranks, *arguments):
        command = [launcher(), *ULFM, "-n", str(ranks), sys.executable, *arguments]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.job = subprocess.Popen(command, text=True, start_new_session=True, **streams)

    def ranks(self):
        """Those that are alive, and no processes of theirs."""
        try:
            return psutil.Process(self.job.pid).children()
        except psutil.Error:
            return []

    def kill(self, chance):
        """Kill one of several; whether there were several."""
        alive = [one for one in self.ranks() if one.status() != psutil.STATUS_ZOMBIE]
        if len(alive) < 2:
            return False
        chance.choice(alive).kill()
        return True

    def said(self):
        """What it printed, once it is over; None: it hangs."""
        try:
            return self.job.communicate(timeout=MOST_S)[0]
        except subprocess.TimeoutExpired:
            for one in (*self.ranks(), psutil.Process(self.job.pid)):
                one.kill()
            return None


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ranks_are_killed_a_hundred_times_at_random_moments(mpirun):
    chance = random.Random(2013)
    plain = {driver: mpirun(1, "-m", f"drivers.{driver}", *SHARED, *work) for driver, work in WORK.items()}
    right = {driver: set(hashes(done.stdout)) for driver, done in plain.items()}
    killed, starting, wrong = 0, 0, []
    while killed < KILLS:
        driver = chance.choice(list(WORK))
        job = Job(4, "-m", f"drivers.{driver}", *SHARED, *WORK[driver])
        time.sleep(chance.uniform(0.3, 5.0))
        kills = job.kill(chance)
        if chance.random() < 0.25:
            time.sleep(chance.uniform(0.0, 1.0))
            kills += job.kill(chance)
        said = job.said()
        if said is not None and any(words in said for words in STARTING):
            # Nobody can go on then; what it said tells whether it ended in order or Open MPI crashed.
            print(driver, job.job.returncode, said, flush=True)
            starting += 1
            continue
        killed += kills
        if said is None or job.job.returncode or set(hashes(said)) != right[driver]:
            wrong.append((driver, "hangs" if said is None else said))
            print(*wrong[-1], flush=True)
        print(f"{killed} kills, {len(wrong)} wrong or hung; besides, {starting} while MPI started", flush=True)
    assert not wrong
