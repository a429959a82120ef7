"""Drivers of tables that are ended or killed, and go on from their state to the answer of an undisturbed run."""

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import written

ROOT = Path(__file__).parents[2]
LONG = {
    "lcs": "--instance random:80000:seed=1",
    "knapsack": "--items 4000 --capacity 1000000 --seed 1",
    "heldkarp": "--instance uniform:24:seed=1",
}
"""Work of a second or two of a core, by driver."""
SMALL = {
    "lcs": "--instance random:2000:seed=1",
    "knapsack": "--items 40 --capacity 9000 --seed 1",
    "heldkarp": "--instance uniform:12:seed=1",
}
every_table = pytest.mark.parametrize("driver", LONG)
one_table_quickly = pytest.mark.parametrize(
    "driver", [pytest.param(name, marks=[] if name == "lcs" else pytest.mark.slow) for name in LONG]
)


def command(driver, work, *more):
    common = ("--backend", "cpu", "--no-progress")
    return [sys.executable, "-m", f"drivers.{driver}", *work.split(), *common, *map(str, more)]


def hash_of(said):
    (found,) = re.findall(r"hash ([0-9a-f]{16})", said)
    return found


def finished(arguments, environment):
    done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return hash_of(done.stdout)


def ended(arguments, environment, seconds, number):
    """Start a run and send it a signal so many seconds after it has begun to keep states; the process that ended."""
    run = subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    state = Path(arguments[arguments.index("--state") + 1])
    before = written(state)
    while run.poll() is None and written(state) in (None, before):
        time.sleep(0.002)
    time.sleep(seconds)
    run.send_signal(number)
    began = time.monotonic()
    said, error = run.communicate(timeout=60)
    return run.returncode, said, error, time.monotonic() - began


@every_table
def test_sigterm_ends_a_run_with_143_and_resume_goes_on_to_the_same_answer(driver, environment, tmp_path):
    undisturbed = finished(command(driver, LONG[driver]), environment)
    state = tmp_path / "state"
    keeping = command(driver, LONG[driver], "--state", state, "--state-every", "0.05")
    code, said, error, seconds = ended(keeping, environment, 0.0, signal.SIGTERM)
    assert (code, said.count("hash")) == (143, 0), error
    assert error.splitlines()[-1] == f"ended by SIGTERM; {state} has the state: --resume goes on from it"
    assert seconds < 10  # about a second, on a machine that has nothing else to do
    assert finished([*keeping, "--resume"], environment) == undisturbed
    assert not state.exists()


@pytest.mark.slow
@every_table
def test_a_run_that_is_killed_ten_times_comes_to_the_same_answer(driver, environment, tmp_path):
    undisturbed = finished(command(driver, LONG[driver]), environment)
    state = tmp_path / "state"
    keeping = command(driver, LONG[driver], "--state", state, "--state-every", "0.01", "--resume")
    drawn = random.Random(driver)
    for _ in range(10):
        code, said, _, _ = ended(keeping, environment, drawn.random() * 0.3, signal.SIGKILL)
        if code == 0:  # it was quicker, and removed its state
            assert hash_of(said) == undisturbed
        else:
            assert code == -signal.SIGKILL
    assert finished(keeping, environment) == undisturbed


@one_table_quickly
def test_ranks_go_on_where_one_rank_was_ended(driver, environment, mpirun, tmp_path):
    state = tmp_path / "state"
    keeping = command(driver, LONG[driver], "--state", state, "--state-every", "0.05")
    assert ended(keeping, environment, 0.0, signal.SIGTERM)[0] == 143
    again = mpirun(2, "-m", f"drivers.{driver}", "--share", "always", *keeping[3:], "--resume")
    assert again.returncode == 0, again.stderr
    assert hash_of(again.stdout) == finished(command(driver, LONG[driver]), environment)


@one_table_quickly
@pytest.mark.parametrize("way", [("--mapping", "published"), ("--tiling", "none")], ids=" ".join)
def test_a_mapping_without_states_says_so_in_one_line(driver, way, environment, tmp_path):
    arguments = command(driver, SMALL[driver], *way, "--state", tmp_path / "state")
    done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("note:")]
    assert line.startswith(f"error: --state with {' '.join(way)}: no state of it is kept: expected --")
