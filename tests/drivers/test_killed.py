"""Runs that are killed at random moments, on changing backends and ranks, and go on until they are done: nothing is lost."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

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
"""About two seconds of a core each."""
WAYS = (("cpu", 1), ("threads", 1), ("cpu", 2), ("cpu", 3))
"""Backends and numbers of ranks on which a run goes on in turn."""
LONGEST_S = 120.0


class Killed:
    """A run of one driver that is killed again and again.

    Parameters
    ----------
    folder
        Where its state and its record are.
    driver
        One of `RUNS`.
    environment
        Of its processes.
    seed
        Decides the moments.

    Attributes
    ----------
    kills : int
        How many have hit.

    """

    def __init__(self, folder, driver, environment, seed):
        self.folder, self.driver, self.environment = Path(folder), driver, environment
        self.draw = random.Random(seed)
        self.kills, self.number = 0, 0

    @property
    def state(self):
        return self.folder / f"{self.driver}{self.number}.state"

    @property
    def record(self):
        return self.folder / f"{self.driver}{self.number}.jsonl"

    def command(self, backend, ranks):
        """The driver's command line, of so many ranks."""
        mpirun = [shutil.which("mpirun") or "mpirun", "-n", str(ranks), "--oversubscribe"] if ranks > 1 else []
        share = ["--share", "always"] if ranks > 1 else []
        return [
            *mpirun, sys.executable, "-m", f"drivers.{self.driver}", *RUNS[self.driver].split(), *share,
            "--backend", backend, "--repeats", str(REPETITIONS), "--record", str(self.record),
            "--state", str(self.state), "--state-every", "0.05", "--resume", "-q",
        ]  # fmt: skip

    def once(self, way):
        """Start or go on, and kill everything at a random moment; whether the run was done before."""
        before = written(self.state)
        process = subprocess.Popen(
            self.command(*way),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=self.environment,
        )
        began = time.monotonic()
        if self.draw.random() < 0.8:
            # Most runs get as far as to keep a state of their own.
            while process.poll() is None and written(self.state) == before and time.monotonic() - began < LONGEST_S:
                time.sleep(0.005)
        end = time.monotonic() + self.draw.uniform(0.0, 0.6)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        if process.poll() is None:
            self.kill(process.pid)
            self.kills += 1
            process.communicate()
            return False
        _, said = process.communicate()
        assert process.returncode == 0, said.decode()
        return True

    def kill(self, pid):
        """Kill the launcher, and all ranks, and wait until they are gone."""
        first = psutil.Process(pid)
        every = [first, *first.children(recursive=True)]
        for one in every:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                continue
        # Ranks that were started a moment ago.
        assert soon(lambda: not self.left_behind(pid))

    def left_behind(self, launcher):
        """Processes of this run that are still there, after another attempt to kill them."""
        found = []
        for one in psutil.process_iter(["pid", "cmdline", "status"]):
            mine = str(self.state) in (one.info["cmdline"] or [])
            if mine and one.info["status"] != psutil.STATUS_ZOMBIE and one.info["pid"] != launcher:
                one.kill()
                found.append(one)
        return found

    def recorded(self):
        """The record's repetitions, and the hashes of all of them."""
        rows = [json.loads(line) for line in self.record.read_text().splitlines()]
        return sum(len(row["samples"]) for row in rows), {row["trajectory_hash"] for row in rows}

    def until(self, kills, ways, expected):
        """Run and kill until so many kills have hit, and then until what was begun is done."""
        turn = 0
        while True:
            done = self.once(ways[turn % len(ways)])
            turn += 1
            if done:
                assert self.recorded() == (REPETITIONS, expected)
                assert not self.state.exists()
                if self.kills >= kills:
                    return
                self.number += 1
            elif self.kills >= kills:
                subprocess.run(self.command(*ways[0]), env=self.environment, check=True, capture_output=True)
                assert self.recorded() == (REPETITIONS, expected)
                assert not self.state.exists()
                return


def undisturbed(driver, folder, environment):
    """The hash of a run that nobody kills, and that keeps no state."""
    record = Path(folder) / f"{driver}-undisturbed.jsonl"
    command = [sys.executable, "-m", f"drivers.{driver}", *RUNS[driver].split(), "--backend", "cpu"]
    subprocess.run([*command, "--record", str(record), "-q"], env=environment, check=True, capture_output=True)
    return {json.loads(record.read_text())["trajectory_hash"]}


@pytest.fixture
def surroundings(environment):
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment


def test_a_run_that_is_killed_five_times_finds_the_same(tmp_path, surroundings):
    killed = Killed(tmp_path, "qap", surroundings, 1)
    killed.until(5, WAYS[:1], undisturbed("qap", tmp_path, surroundings))
    assert killed.kills == 5


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize(("driver", "kills"), [(driver, 17 if driver != "ppp" else 15) for driver in RUNS])
def test_runs_that_are_killed_a_hundred_times_in_all_find_the_same(driver, kills, tmp_path, surroundings):
    ways = [way for way in WAYS if way[1] == 1 or shutil.which("mpirun")]
    killed = Killed(tmp_path, driver, surroundings, driver)
    killed.until(kills, ways, undisturbed(driver, tmp_path, surroundings))
    print(f"{driver}: {killed.kills} kills, {killed.number + 1} runs of {REPETITIONS} repetitions")
    assert killed.kills >= kills
