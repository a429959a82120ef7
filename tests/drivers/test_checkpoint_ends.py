"""Ends of runs that keep their state: SIGTERM, and ranks that are lost before the first state."""

import os
import signal
import subprocess
import sys
import time

import msgspec
import numpy as np
import pytest

from cluster import Solo
from core.run.checkpoint import Terminated
from drivers.options.declaration import Options
from drivers.runs import reference_solvers
from drivers.runs.checkpoint_file import write_checkpoint
from drivers.runs.checkpointing import RecoveryState, RunCheckpoints
from tests.drivers.small_runs import found
from tests.drivers.test_checkpointing import RUN, STATE, WHOSE
from tests.patience import written


def test_who_is_asked_to_end_after_the_last_state_of_a_repetition_begins_no_other(tmp_path):
    run = RunCheckpoints(Options(checkpoint=str(tmp_path / "state"), repeats=2, record="r"), Solo())
    run.begin(lambda: WHOSE)
    with run.handling_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
    assert run.checkpointer.asked
    with pytest.raises(Terminated):
        run.begin(lambda: WHOSE)


def test_ranks_that_are_left_before_the_first_state_go_on_where_the_file_was(tmp_path):
    class Surviving(Solo):
        survives = True

    options = Options(checkpoint=str(tmp_path / "state"), resume=True)
    write_checkpoint(options.checkpoint, msgspec.structs.replace(WHOSE, resumed=2), STATE)
    memory = RecoveryState()
    memory.attempts = 1
    RunCheckpoints(options, Surviving(), memory).begin(lambda: WHOSE)
    os.unlink(options.checkpoint)
    memory.attempts = 2
    again = RunCheckpoints(options, Surviving(), memory)
    again.begin(lambda: WHOSE)
    assert (again.resumed, again.before_s) == (3, 1.5)
    other = RunCheckpoints(options, Surviving(), memory)
    other.begin(lambda: msgspec.structs.replace(WHOSE, history=True))
    assert other.before_s == 0.0


def test_a_process_is_not_older_than_the_time_since_its_start():
    began = time.monotonic()
    code = "from drivers.runs.reference_solvers import process_age_s; print(process_age_s())"
    age_s = float(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)
    assert 0 < age_s < time.monotonic() - began + 0.02  # two ticks of the system's times of processes


def test_what_a_run_took_before_it_went_on_is_no_start_of_its_process(monkeypatch):
    monkeypatch.setattr(reference_solvers, "process_age_s", lambda: 3.0)
    solvers = reference_solvers.ReferenceSolvers.__new__(reference_solvers.ReferenceSolvers)
    solvers.races, solvers.measured, solvers.own_s, solvers.peers = [], [], [], []
    solvers.problem, solvers.first_seed, solvers.proves = None, 1, False
    list(solvers.verdicts(found(""), 12.0, 10.0))
    assert solvers.startup_s == 1.0


def ended_by_sigterm(command, environment, path):
    """Start a run, send SIGTERM after its first state; return exit code and output."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while written(path) is None and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


LONG = [*RUN, "--iterations", "1000000000", "--checkpoint-every"]


def test_sigterm_keeps_the_state_and_ends_the_run(tmp_path, environment):
    path = tmp_path / "state"
    command = [sys.executable, "-m", "drivers.qap", *LONG, "0.2", "--checkpoint", str(path)]
    code, said = ended_by_sigterm(command, environment, path)
    assert code == 143
    assert said.endswith(f"ended by SIGTERM; the checkpoint is in {path}: --resume continues\n")
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.usefixtures("mpirun")
def test_sigterm_to_a_launcher_keeps_the_state_of_all_ranks(tmp_path, environment):
    path = tmp_path / "state"
    ranks = ["mpirun", "-n", "2", "--oversubscribe", sys.executable, "-m", "drivers.qap"]
    command = [*ranks, *LONG, "2", "--walks", "4", "--checkpoint", str(path)]
    began = time.time()
    # Open MPI's launcher prints nothing then, and has another exit code.
    code, _ = ended_by_sigterm(command, environment, path)
    assert code != 0
    with np.load(path) as state:
        assert len(state["control"]) == 4
    # The launcher may end before a rank has written its last state, or be killed meanwhile.
    assert path.stat().st_mtime > began
