"""Interrupted or killed programs of tables resume from their checkpoint to the answer of an undisturbed run."""

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drivers.cli.exit_codes import run_driver
from tests.drivers.small_runs import driver_of
from tests.patience import written

ROOT = Path(__file__).parents[2]
TABLES = {
    "lcs": "--instance random:50000:seed=1",
    "knapsack": "--items 2500 --capacity 1000000 --seed 1",
    "heldkarp": "--instance uniform:23:seed=1",
}
every_table = pytest.mark.parametrize("driver", TABLES)
one_table_quickly = pytest.mark.parametrize(
    "driver", [name if name == "lcs" else pytest.param(name, marks=pytest.mark.long) for name in TABLES]
)


def arguments(driver, *more):
    return [*TABLES[driver].split(), "--backend", "cpu", "--no-progress", *map(str, more)]


@pytest.fixture
def hash_of(capsys):
    def run(driver, *more):
        assert run_driver(driver_of(driver).main, arguments(driver, *more)) == 0
        (digest,) = re.findall(r"hash ([0-9a-f]{16})", capsys.readouterr().out)
        return digest

    return run


@pytest.fixture
def ended(environment):
    """Start a run and send it a signal some seconds after its first checkpoint; return the ended process."""

    def run(driver, state, number, *more, seconds=0.0):
        command = [sys.executable, "-m", f"drivers.{driver}", *arguments(driver, "--checkpoint", state, *more)]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        before = written(state)
        while process.poll() is None and written(state) in (None, before):
            time.sleep(0.002)
        time.sleep(seconds)
        process.send_signal(number)
        said, error = process.communicate(timeout=60)
        return process.returncode, said, error

    return run


@one_table_quickly
def test_sigterm_ends_a_run_with_143_and_it_goes_on_to_the_same_answer_on_one_rank_or_two(
    driver, hash_of, ended, mpirun, tmp_path
):
    undisturbed = hash_of(driver)
    state, kept = tmp_path / "state", tmp_path / "kept"
    code, said, error = ended(driver, state, signal.SIGTERM, "--checkpoint-every", "0.05")
    assert (code, said.count("hash")) == (143, 0), error
    assert error.splitlines()[-1] == f"ended by SIGTERM; the checkpoint is in {state}: --resume continues"
    kept.write_bytes(state.read_bytes())
    assert hash_of(driver, "--checkpoint", state, "--resume") == undisturbed
    assert not state.exists()
    resumed = arguments(driver, "--distribute", "always", "--checkpoint", kept, "--resume")
    done = mpirun(2, "-m", f"drivers.{driver}", *resumed)
    assert done.returncode == 0, done.stderr
    assert f"hash {undisturbed}" in done.stdout


@pytest.mark.long
@every_table
def test_a_run_that_is_killed_ten_times_comes_to_the_same_answer(driver, hash_of, ended, tmp_path):
    undisturbed = hash_of(driver)
    state, drawn = tmp_path / "state", random.Random(driver)
    for _ in range(10):
        how = ("--checkpoint-every", "0.01", "--resume")
        code, said, _ = ended(driver, state, signal.SIGKILL, *how, seconds=drawn.random() * 0.3)
        assert code == -signal.SIGKILL or f"hash {undisturbed}" in said  # it was quicker, and removed its state
    assert hash_of(driver, "--checkpoint", state, "--checkpoint-every", "0.01", "--resume") == undisturbed
