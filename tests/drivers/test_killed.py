"""Runs killed at random moments, on changing backends and ranks, resume until they are done, without losses."""

import itertools
import json
import random
import subprocess
import sys
import time

import psutil
import pytest

from tests.drivers.small_runs import driver_of
from tests.patience import soon, written

REPETITIONS = 2
RUNS = {
    "ppp": "--instance 31-31:seed=5 --iterations 20000",
    "qap": "--instance taillard:20:seeds=1,2 --walks 4 --iterations 60000",
    "tsp": "--instance uniform:60:seed=1 --iterations 50000",
    "ihc": "--instance uniform:60:seed=1 --climbers 6000",
    "aco": "--instance uniform:60:seed=1 --ants 64 --iterations 3000",
    "exact": "--instance uniform:15:seed=1 --bound edges --count",
}
SHORT = "--instance taillard:12:seeds=1,2 --walks 4 --iterations 60000"
WAYS = (("cpu", 1), ("threads", 1), ("cpu", 2), ("cpu", 3))
"""Backends and numbers of ranks of successive parts of a run."""
LONGEST_S = 120.0


class Killed:
    """A run of one driver that is killed `kills` times, at most `longest_wait_s` after its first checkpoint."""

    longest_wait_s = 0.6

    def __init__(self, folder, driver, work, environment):
        self.state, self.record = folder / "run.state", folder / "run.jsonl"
        self.driver, self.work, self.environment = driver, work.split(), environment
        self.draw, self.kills = random.Random(driver), 0

    def command(self, backend, ranks):
        mpirun = ["mpirun", "-n", str(ranks), "--oversubscribe"] if ranks > 1 else []
        keeping = [
            "--record",
            str(self.record),
            "--checkpoint",
            str(self.state),
            "--checkpoint-every",
            "0.05",
            "--resume",
        ]
        repeated = ["--backend", backend, "--repeats", str(REPETITIONS), "-q"]
        return [*mpirun, sys.executable, "-m", f"drivers.{self.driver}", *self.work, *repeated, *keeping]

    def once(self, way, spared):
        """Start or resume, and kill everything at a random moment unless `spared`. True if the run ended before."""
        before = written(self.state)
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        process = subprocess.Popen(self.command(*way), env=self.environment, **pipes)
        if not spared:
            self.wait(process, before)
        if not spared and process.poll() is None:
            self.kill(process.pid)
            self.kills += 1
            process.communicate()
            return False
        _, said = process.communicate(timeout=LONGEST_S)
        assert process.returncode == 0, said.decode()
        return True

    def wait(self, process, before):
        """Wait for a random moment, mostly after the run has written a checkpoint."""
        until = time.monotonic() + (LONGEST_S if self.draw.random() < 0.8 else 0.0)
        while process.poll() is None and written(self.state) == before and time.monotonic() < until:
            time.sleep(0.005)
        until = time.monotonic() + self.draw.uniform(0.0, self.longest_wait_s)
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)

    def kill(self, pid):
        """Kill the launcher, which starts no more ranks once it is suspended, and all ranks."""
        launcher = psutil.Process(pid)
        launcher.suspend()
        tree = [*launcher.children(recursive=True), launcher]
        for one in tree:
            one.kill()
        assert soon(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in tree))

    def until(self, kills, ways, expected):
        """Run and kill until ``kills`` kills have hit, and then until all work is done."""
        for way in itertools.cycle(ways):
            enough = self.kills >= kills
            if not self.once(way, spared=enough):
                continue
            rows = [json.loads(line) for line in self.record.read_text().splitlines()]
            assert sum(len(row["repetitions"]) for row in rows) == REPETITIONS
            assert {row["hash"] for row in rows} == {expected}
            assert not self.state.exists()
            if enough:
                return
            self.record.unlink()


@pytest.fixture
def killed(drive, environment, tmp_path):
    """Kill a run a number of times, with these backends and ranks in turn."""

    def run(driver, work, kills, ways):
        record = tmp_path / "undisturbed.jsonl"
        arguments = [*work.split(), "--backend", "cpu", "--record", record]
        assert drive(*arguments, driver=driver_of(driver))[0] == 0
        # Open MPI leaves its own files behind where it is killed.
        job = Killed(tmp_path, driver, work, environment | {"TMPDIR": str(tmp_path)})
        job.until(kills, ways, json.loads(record.read_text())["hash"])
        return job.kills

    return run


def test_a_run_that_is_killed_finds_the_same(killed, monkeypatch):
    monkeypatch.setattr(Killed, "longest_wait_s", 0.1)  # a repetition takes 0.2 s
    assert killed("qap", SHORT, 1, WAYS[:1]) == 1


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("mpirun")
@pytest.mark.parametrize(("driver", "kills"), [(driver, 17 if driver != "ppp" else 15) for driver in RUNS])
def test_runs_that_are_killed_a_hundred_times_in_all_find_the_same(driver, kills, killed):
    assert killed(driver, RUNS[driver], kills, WAYS) >= kills
