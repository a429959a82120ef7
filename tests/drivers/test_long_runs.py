"""Runs that keep their state: what is refused, what a file has to be, and how SIGTERM ends them."""

import io
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
import zipfile

import numpy as np
import pytest

from core import whole_files
from core.errors import UserError
from core.search.states import Keeper, Terminated
from drivers import aco, knapsack, qap
from drivers.long_runs import LongRun
from drivers.options import Options
from drivers.state_file import VERSION, About, StateFile
from tests.patience import written

DRIVER = qap
RUN = ["--instance", "taillard:12:seeds=1,2", "--iterations", "40000", "--backend", "cpu", "--state-every", "0"]
WHOSE = About("qap", "nug5", "ab" * 32, 7, {"iterations": 3, "sizes": (1, 2)}, repetition=1)
STATE = {"done": np.array(3), "rows": np.arange(12, dtype=np.uint32).reshape(3, 4), "seconds": np.array(1.5)}


class CutOffError(Exception):
    """Where a run is cut off, after so many states."""


@pytest.fixture
def cut_off(monkeypatch):
    """Let runs end after so many states, as if their process had been killed."""
    write = StateFile.write

    def after(states):
        left = [states]

        def writing(self, about, state):
            write(self, about, state)
            left[0] -= 1
            if not left[0]:
                raise CutOffError

        monkeypatch.setattr(StateFile, "write", writing)

    yield after
    monkeypatch.undo()


def found(said):
    """The hash that a run has printed."""
    return re.search(r"hash ([0-9a-f]{16})", said)[1]


def test_a_run_that_was_cut_off_goes_on_and_forgets_its_state(drive, tmp_path, cut_off, monkeypatch):
    path, record = tmp_path / "state", tmp_path / "record"
    expected = found(drive(*RUN)[1])
    cut_off(3)
    assert drive(*RUN, "--state", path)[0] == 1 and path.exists()
    monkeypatch.undo()
    code, said, notes = drive(*RUN, "--state", path, "--resume", "--record", record)
    assert (code, found(said)) == (0, expected)
    assert re.search(r"state: the run goes on after \d+\.\d s", notes)
    assert not path.exists() and not list(tmp_path.glob("*.unfinished"))
    (sample,) = json.loads(record.read_text())["samples"]
    assert sample["conditions"]["resumed"] == 1


def test_a_state_that_is_there_is_not_overwritten(drive, tmp_path):
    path = tmp_path / "state"
    path.write_bytes(b"of hours of work")
    code, _, said = drive(*RUN, "--state", path)
    assert code == 2
    assert said == (f"error: --state {path}: a state is there: expected --resume to go on from it, or another file\n")
    assert path.read_bytes() == b"of hours of work"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--resume"], "--resume without --state: expected the file of the state to go on from"),
        (["--state", "s", "--repeats", "2"], "--state with --repeats 2: expected --record too, which tells the runs"),
        (["--state", "s", "--seeds", "3"], "--state with --seeds: expected"),
    ],
)
def test_options_by_which_work_would_be_lost_are_refused(drive, arguments, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, said = drive(*RUN, *arguments)
    assert code == 2 and said.startswith(f"error: {expected}") and said.count("\n") == 1


def test_to_resume_without_a_state_begins(drive, tmp_path):
    path = tmp_path / "state"
    code, said, notes = drive(*RUN, "--state", path, "--resume")
    assert (code, found(said)) == (0, found(drive(*RUN)[1]))
    assert f"{path}: there is no state yet, so the run begins" in notes


def test_the_state_of_a_repetition_that_is_recorded_is_ignored(drive, tmp_path, cut_off, monkeypatch):
    path, record = tmp_path / "state", tmp_path / "record"
    cut_off(2)
    drive(*RUN, "--state", path, "--repeats", 2, "--record", record)
    monkeypatch.undo()
    left = path.read_bytes()
    assert drive(*RUN, "--record", record)[0] == 0  # the first repetition is done, and nobody removed its state
    path.write_bytes(left)
    code, said, notes = drive(*RUN, "--state", path, "--resume", "--repeats", 2, "--record", record)
    assert code == 0 and "goes on after" not in notes and "1 of 2 repetitions are in" in said
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert sum(len(row["samples"]) for row in rows) == 2 and len({row["trajectory_hash"] for row in rows}) == 1


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (["--iterations", "9"], "found iterations 40000, expected 9"),
        (["--seed", "9"], "found seed 0, expected 9"),
        (["--instance", "taillard:13:seeds=1,2"], "found instance taillard:12:seeds=1,2"),
        (["--algorithm", "hill"], "found algorithm tabu, expected hill"),
    ],
)
def test_a_state_of_other_work_is_refused_and_remains(drive, tmp_path, cut_off, monkeypatch, other, said):
    path = tmp_path / "state"
    cut_off(1)
    drive(*RUN, "--state", path)
    monkeypatch.undo()
    left = path.read_bytes()
    code, _, error = drive(*RUN, *other, "--state", path, "--resume")
    assert code == 2 and error.startswith(f"error: {path}: the state of another run: {said}")
    assert error.count("\n") == 1 and path.read_bytes() == left


def test_the_state_of_another_workload_is_refused(drive, tmp_path, cut_off, monkeypatch):
    path = tmp_path / "state"
    cut_off(1)
    drive(*RUN, "--state", path)
    monkeypatch.undo()
    code, _, said = drive("--ants", 2, "--iterations", 3, "--backend", "cpu", "--state", path, "--resume", driver=aco)
    assert code == 2 and said == f"error: {path}: the state of another run: found workload qap, expected aco\n"


def test_the_yardstick_of_the_knapsack_keeps_its_state_too(drive, tmp_path, cut_off, monkeypatch):
    path = tmp_path / "state"
    run = [
        "--class",
        "strongly-correlated",
        "--items",
        "60",
        "--seed",
        "3",
        "--method",
        "bb",
        "--nodes",
        "30000000",
        "--backend",
        "cpu",
    ]
    expected = found(drive(*run, driver=knapsack)[1])
    cut_off(1)
    drive(*run, "--state", path, "--state-every", 0, driver=knapsack)
    monkeypatch.undo()
    code, said, notes = drive(*run, "--state", path, "--resume", driver=knapsack)
    assert (code, found(said)) == (0, expected) and "the run goes on after" in notes


def test_repetitions_of_another_way_to_do_the_work_count(drive, tmp_path):
    path, record = tmp_path / "state", tmp_path / "record"
    asked = [*RUN, "--state", path, "--record", record, "--repeats", 2]
    assert drive(*RUN, "--record", record)[0] == 0
    code, said, _ = drive(*asked, "--backend", "threads", "--resume")
    assert code == 0 and "1 of 2 repetitions are in" in said
    assert sum(len(json.loads(line)["samples"]) for line in record.read_text().splitlines()) == 2


# --- the file ---


def test_a_state_is_read_as_it_was_written(tmp_path):
    file = StateFile(str(tmp_path / "state"))
    file.write(WHOSE, STATE)
    about, state = file.read(WHOSE)
    assert about.work == WHOSE._replace(parameters={"iterations": 3, "sizes": [1, 2]}).work
    assert about.repetition == 1 and list(state) == list(STATE)
    for name, array in STATE.items():
        assert state[name].dtype == array.dtype and state[name].tolist() == array.tolist()


def test_a_state_of_another_version_is_refused(tmp_path):
    file = StateFile(str(tmp_path / "state"))
    file.write(WHOSE._replace(version=VERSION + 1), STATE)
    with pytest.raises(UserError, match=f"state: found a state of version {VERSION + 1}, expected {VERSION}$"):
        file.read(WHOSE)


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_damaged_state_is_one_error_or_the_state(tmp_path, count):
    file = StateFile(str(tmp_path / "state"))
    file.write(WHOSE, STATE)
    good = (tmp_path / "state").read_bytes()
    outcomes = set()
    for k in range(count):
        draw = random.Random(k)
        content = bytearray(good)
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(len(content) + 1)
            kind = draw.choice(("cut", "byte", "zeros", "double"))
            if kind == "cut":
                del content[place:]
            elif kind == "byte":
                content[place : place + 1] = bytes([draw.randrange(256)])
            elif kind == "zeros":
                content[place : place + 30] = bytes(len(content[place : place + 30]))
            else:
                content[place:place] = content[place : place + 20]
        (tmp_path / "state").write_bytes(content)
        try:
            with warnings.catch_warnings(action="error"):
                _, state = file.read(WHOSE)
            assert all(np.array_equal(state[name], array) for name, array in STATE.items()), k
            outcomes.add("read")
        except UserError as error:
            assert str(error).startswith(str(tmp_path / "state")) and str(error).isprintable(), k
            outcomes.add("refused")
        except Exception as error:
            error.add_note(f"damage {k}")
            raise
    assert "refused" in outcomes


def test_what_is_no_file_of_ours_is_refused(tmp_path):
    path = tmp_path / "state"
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], object), allow_pickle=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("about.npy", "[")
    number = io.BytesIO()
    np.save(number, np.zeros(3))
    for content in (b"", b"x", b"PK\x03\x04", pickled.getvalue(), number.getvalue(), packed.getvalue()):
        path.write_bytes(content)
        with pytest.raises(UserError, match="state: expected the state of a run, found a damaged file") as refusal:
            StateFile(str(path)).read(WHOSE)
        assert "\n" not in str(refusal.value)


def test_a_disk_that_is_full_ends_nothing_and_leaves_the_state_before(tmp_path, monkeypatch):
    file = StateFile(str(tmp_path / "state"))
    file.write(WHOSE, STATE)
    good = (tmp_path / "state").read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_files.os, "fsync", full)
    keeper = Keeper(lambda state: file.write(WHOSE, state), every_s=0.0)
    from cluster import Solo

    with pytest.warns(UserWarning, match="cannot keep the state: No space left on device: no state is kept"):
        keeper.keep(Solo(), {"done": np.array(9)})
    assert (tmp_path / "state").read_bytes() == good and os.listdir(tmp_path) == ["state"]
    keeper.asked = True
    with pytest.raises(UserError, match="No space left on device"):
        keeper.keep(Solo(), {"done": np.array(9)})


def test_a_run_on_a_full_disk_goes_on_with_a_warning(drive, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    (tmp_path / "state.unfinished").symlink_to("/dev/full")
    code, said, notes = drive(*RUN, "--state", tmp_path / "state")
    assert (code, found(said)) == (0, found(drive(*RUN)[1]))
    assert "cannot keep the state: No space left on device: no state is kept, the run goes on" in notes


# --- SIGTERM ---


def test_who_is_asked_to_end_after_the_last_state_of_a_repetition_begins_no_other(tmp_path):
    from cluster import Solo

    run = LongRun(Options(state=str(tmp_path / "state"), repeats=2, record="r"), Solo())
    run.begin(lambda: WHOSE)
    with run.listening():
        os.kill(os.getpid(), signal.SIGTERM)
    assert run.keeper.asked
    with pytest.raises(Terminated):
        run.begin(lambda: WHOSE)


def ended_by_sigterm(command, environment, path):
    """Start a run, send SIGTERM when it has kept its first state; its exit code and what it says."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while written(path) is None and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


LONG = ["--instance", "taillard:12:seeds=1,2", "--iterations", "1000000000", "--backend", "cpu", "--state-every", "0.2"]


def test_sigterm_keeps_the_state_and_ends_the_run(tmp_path, environment):
    path = tmp_path / "state"
    command = [sys.executable, "-m", "drivers.qap", *LONG, "--state", str(path)]
    code, said = ended_by_sigterm(command, environment, path)
    assert code == 143
    assert said.endswith(f"ended by SIGTERM; {path} has the state: --resume goes on from it\n")
    assert "Traceback" not in said


@pytest.mark.xdist_group("mpi")
def test_sigterm_to_a_launcher_keeps_the_state_of_all_ranks(tmp_path, environment):
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun")
    path = tmp_path / "state"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    command = ["mpirun", "-n", "2", "--oversubscribe", sys.executable, "-m", "drivers.qap", *LONG, "--walks", "4",
               "--share", "always", "--state", str(path), "--state-every", "2"]  # fmt: skip
    began = time.time()
    # Open MPI's launcher says nothing any more then, and has an exit code of its own.
    code, _ = ended_by_sigterm(command, environment | root, path)
    assert code != 0
    with np.load(path) as state:
        assert len(state["control"]) == 4
    # The launcher may be gone before a rank has written its last state whole, or has been killed meanwhile.
    assert path.stat().st_mtime > began


def test_a_wall_clock_that_jumps_changes_nothing(drive, monkeypatch, tmp_path):
    _, plain, _ = drive(*RUN)
    record = tmp_path / "runs.jsonl"
    days = itertools.cycle((0.0, -86_400.0, 86_400.0 * 365))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + next(days))
    code, said, error = drive(*RUN, "--state", tmp_path / "state", "--record", record)
    monkeypatch.undo()
    assert code == 0 and found(said) == found(plain), error
    (sample,) = json.loads(record.read_text())["samples"]
    assert 0 < sample["total_s"] < 60
