"""Runs that keep their state: what is refused, what a file has to be, and how SIGTERM ends them."""

import errno
import io
import itertools
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import warnings

import msgspec
import numpy as np
import pytest

from cluster import Solo
from core import atomic_files
from core.errors import UserError
from core.run.checkpoint import Checkpointer
from drivers import aco, qap
from drivers.options.declaration import Options
from drivers.runs import checkpoint_file
from drivers.runs.checkpoint_file import (
    VERSION,
    CheckpointIdentity,
    RunCheckpointLock,
    read_checkpoint,
    write_checkpoint,
)
from drivers.runs.checkpointing import RecoveryState
from tests.reports.test_damaged_records import mutated

DRIVER = qap
PLAIN = ["--instance", "taillard:12:seeds=1,2", "--iterations", "40000", "--backend", "cpu"]
RUN = [*PLAIN, "--checkpoint-every", "0"]
WHOSE = CheckpointIdentity("qap", "nug5", "ab" * 32, 7, {"iterations": 3, "sizes": (1, 2)}, repetition=1)
STATE = {"done": np.array(3), "rows": np.arange(12, dtype=np.uint32).reshape(3, 4), "seconds": np.array(1.5)}


def printed_hash(said):
    return re.search(r"hash ([0-9a-f]{16})", said)[1]


@pytest.fixture
def interrupted(drive, tmp_path, cut_off, monkeypatch):
    """End a run after some checkpoints; return the file of the last one."""

    def run(states, *more):
        cut_off(states)
        assert drive(*RUN, "--checkpoint", tmp_path / "state", *more)[0] == 1
        monkeypatch.undo()
        return tmp_path / "state"

    return run


def test_a_run_that_was_cut_off_goes_on_and_forgets_its_state(drive, tmp_path, interrupted):
    record = tmp_path / "record"
    path = interrupted(3)
    code, said, notes = drive(*RUN, "--checkpoint", path, "--resume", "--record", record)
    assert (code, printed_hash(said)) == (0, printed_hash(drive(*PLAIN)[1]))
    assert re.search(r"state: the run resumes after \d+\.\d s", notes)
    assert re.search(r" s \(\d+\.\d+ before it resumed, then compile ", said)
    assert not path.exists() and not list(tmp_path.glob("*.unfinished"))
    (repetition,) = json.loads(record.read_text())["repetitions"]
    assert repetition["conditions"]["resume_count"] == 1
    # Measurements of a part are not recorded as those of the whole run.
    assert "energy_j" not in repetition and "bytes_moved" not in repetition
    assert 0 < repetition["kernel_s"] <= repetition["total_s"]


def test_the_state_of_a_repetition_that_is_recorded_is_ignored(drive, tmp_path, interrupted):
    record = tmp_path / "record"
    path = interrupted(2, "--repeats", 2, "--record", record)
    left = path.read_bytes()
    assert drive(*PLAIN, "--record", record)[0] == 0  # the first repetition is done, and its checkpoint was not removed
    path.write_bytes(left)
    code, said, notes = drive(*RUN, "--checkpoint", path, "--resume", "--repeats", 2, "--record", record)
    assert code == 0 and "resumes after" not in notes and "1 of 2 repetitions are in" in said
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert sum(len(row["repetitions"]) for row in rows) == 2 and len({row["hash"] for row in rows}) == 1


@pytest.mark.parametrize(
    ("driver", "other", "said"),
    [
        (qap, ["--iterations", "9"], "found iterations 40000, expected 9"),
        (qap, ["--seed", "9"], "found seed 0, expected 9"),
        (qap, ["--instance", "taillard:13:seeds=1,2"], "found instance taillard:12:seeds=1,2"),
        (aco, ["--instance", "uniform:9:seed=1"], "found workload qap, expected aco"),
    ],
)
def test_a_state_of_other_work_is_refused_and_remains(drive, interrupted, driver, other, said):
    path = interrupted(1)
    left = path.read_bytes()
    code, _, error = drive(*RUN, *other, "--checkpoint", path, "--resume", driver=driver)
    assert code == 2 and error.startswith(f"error: {path}: a checkpoint of another run: {said}")
    assert error.count("\n") == 1 and path.read_bytes() == left


# --- the file ---


def test_a_state_of_another_version_is_refused(tmp_path):
    file = str(tmp_path / "state")
    write_checkpoint(file, msgspec.structs.replace(WHOSE, version=VERSION + 1), STATE)
    with pytest.raises(UserError, match=f"state: found a checkpoint of version {VERSION + 1}, expected {VERSION}$"):
        read_checkpoint(file, WHOSE)


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.long)])
def test_a_damaged_state_is_one_error_or_the_state(tmp_path, count):
    path = tmp_path / "state"
    write_checkpoint(str(path), WHOSE, STATE)
    good = path.read_bytes()
    refused = 0
    for k in range(count):
        path.write_bytes(mutated(good, random.Random(k)))
        try:
            with warnings.catch_warnings(action="error"):
                _, state = read_checkpoint(str(path), WHOSE)
            assert all(np.array_equal(state[name], array) for name, array in STATE.items()), k
        except UserError as error:
            assert str(error).startswith(str(path)) and str(error).isprintable(), k
            refused += 1
        except Exception as error:
            error.add_note(f"damage {k}")
            raise
    assert refused


def test_what_is_no_file_of_ours_is_refused(tmp_path):
    path = tmp_path / "state"
    contents = [b"", b"x", b"PK\x03\x04"]
    for array in (np.array([{}], object), np.zeros(3)):
        saved = io.BytesIO()
        np.save(saved, array, allow_pickle=True)
        contents.append(saved.getvalue())
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(UserError, match="state: expected a checkpoint, found a damaged file") as refusal:
            read_checkpoint(str(path), WHOSE)
        assert "\n" not in str(refusal.value)


def test_a_disk_that_is_full_ends_nothing_and_leaves_the_state_before(tmp_path, monkeypatch):
    file = str(tmp_path / "state")
    write_checkpoint(file, WHOSE, STATE)
    good = (tmp_path / "state").read_bytes()

    monkeypatch.setattr(atomic_files.os, "fsync", refusing(errno.ENOSPC))
    checkpointer = Checkpointer(lambda state: write_checkpoint(file, WHOSE, state), every_s=0.0)
    with pytest.warns(UserWarning, match="cannot save the checkpoint: No space left on device: no state is kept"):
        checkpointer.keep(Solo(), {"done": np.array(9)})
    assert (tmp_path / "state").read_bytes() == good and os.listdir(tmp_path) == ["state"]
    checkpointer.asked = True
    with pytest.raises(UserError, match="No space left on device"):
        checkpointer.keep(Solo(), {"done": np.array(9)})


def edited(path, name, change):
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = change(arrays[name])
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def test_an_edited_state_is_damaged(tmp_path):
    path = str(tmp_path / "state")
    write_checkpoint(path, WHOSE, STATE)
    edited(path, "rows", lambda array: array.astype(np.float64))
    with pytest.raises(UserError, match="state: expected a checkpoint, found a damaged file .*sha256 digest"):
        read_checkpoint(path, WHOSE)


WRONG = (("resumed", None), ("resumed", 5), ("repetition", 5), ("parameters", []))


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_an_edited_description_of_a_run_is_refused(field, value, tmp_path):
    path = str(tmp_path / "state")
    write_checkpoint(path, WHOSE, STATE)

    def change(words):
        return np.frombuffer(json.dumps(json.loads(bytes(words)) | {field: value}).encode(), np.uint8)

    edited(path, "about", change)
    with pytest.raises(UserError, match="state: (expected a checkpoint|a checkpoint of another run)") as refusal:
        read_checkpoint(path, WHOSE)
    assert str(refusal.value).isprintable()


def test_a_sealed_state_that_is_no_state_of_the_search_is_one_line(drive, interrupted):
    path = interrupted(2)
    with np.load(path) as file:
        about = json.loads(bytes(file["about"]))
        state = {name: file[name] for name in about.pop("arrays")}
    write_checkpoint(str(path), CheckpointIdentity(**about), {**state, "done": np.array(10**6)})
    code, said, error = drive(*RUN, "--checkpoint", path, "--resume")
    assert code == 2 and "hash" not in said
    assert error.splitlines()[-1] == f"error: {path}: array 'done': found 1000000, expected 1 to 40000"


def test_the_state_of_a_later_repetition_is_not_overwritten(drive, tmp_path, interrupted):
    record = tmp_path / "record"
    assert drive(*PLAIN, "--record", record)[0] == 0
    path = interrupted(1, "--repeats", 2, "--record", record)
    left = path.read_bytes()
    code, _, error = drive(*RUN, "--checkpoint", path, "--resume", "--repeats", 2, "--record", tmp_path / "another")
    assert code == 2 and path.read_bytes() == left
    assert error.splitlines()[-1] == (
        f"error: {path}: found a checkpoint of repetition 2, expected one of repetition 1: the record lacks the earlier "
        "ones"
    )


# --- the lock ---

HOLD = """
import sys, time
from drivers.runs.checkpoint_file import RunCheckpointLock
lock = RunCheckpointLock(sys.argv[1])
print("locked", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(environment):
    started = []

    def start(path):
        command = [sys.executable, "-c", HOLD, str(path)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "locked\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_resumed_run_waits_for_a_rank_that_still_ends(drive, tmp_path, holder):
    other = holder(tmp_path / "state")
    timer = threading.Timer(0.3, other.kill)
    timer.start()
    code, _, error = drive(*RUN, "--checkpoint", tmp_path / "state", "--resume")
    timer.join()
    assert code == 0 and "found no checkpoint" in error


def test_two_runs_do_not_keep_their_states_in_one_file(drive, tmp_path, holder, monkeypatch):
    monkeypatch.setattr(checkpoint_file, "RESUME_WAIT_S", 0.0)
    path, alias = tmp_path / "state", tmp_path / "alias"
    alias.symlink_to(path)
    other = holder(path)
    for name in (path, alias):
        for more in ([], ["--resume"]):
            code, said, error = drive(*RUN, "--checkpoint", name, *more)
            assert (code, said) == (2, "")
            assert re.fullmatch(
                rf"error: --checkpoint {name}: found another run that uses it \(process {other.pid} on \S+\), expected its "
                "end or another file\n",
                error,
            )
    assert drive(*RUN, "--checkpoint", tmp_path / "another")[0] == 0
    other.kill()
    other.wait()
    assert sorted(os.listdir(tmp_path)) == ["alias", "state.lock"]  # the lock file of a killed process has no effect
    assert drive(*RUN, "--checkpoint", path)[0] == 0
    assert os.listdir(tmp_path) == ["alias"]


@pytest.mark.parametrize(
    "arguments", ["--checkpoint s", "--checkpoint s --repeats 2", "--checkpoint s --walks 0", "--checkpoint ."]
)
def test_a_run_leaves_no_lock_however_it_ends(drive, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    for more in (["--iterations", "9"], ["--instance", "none"]):
        code, _, error = drive(*RUN, *arguments.split(), *more)
        assert code in (0, 2) and "Traceback" not in error
        assert os.listdir(tmp_path) == []


def test_a_rank_that_is_the_first_one_now_waits_for_the_lock_of_the_lost_one(tmp_path, holder):
    options = Options(checkpoint=str(tmp_path / "state"))
    other = holder(options.checkpoint)
    with RecoveryState() as memory:
        threading.Timer(0.2, other.kill).start()
        for memory.attempts in (2, 3):
            memory.claim(options)
            assert memory.lock.descriptor is not None
    assert os.listdir(tmp_path) == []


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    path = str(tmp_path / "state")
    lock_descriptor = checkpoint_file.lock_descriptor

    def removed_before(descriptor, *, blocking):
        monkeypatch.setattr(checkpoint_file, "lock_descriptor", lock_descriptor)
        os.unlink(path + ".lock")  # the run that had it has ended between our open and our lock
        return lock_descriptor(descriptor, blocking=blocking)

    monkeypatch.setattr(checkpoint_file, "lock_descriptor", removed_before)
    lock = RunCheckpointLock(path)
    with pytest.raises(UserError, match="found another run"):
        RunCheckpointLock(path)
    lock.free()
    lock.free()
    assert os.listdir(tmp_path) == []


def refusing(code):
    def refuse(*arguments, **named):
        raise OSError(code, os.strerror(code))

    return refuse


def test_a_file_system_without_locks_is_said_in_a_line(drive, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_file, "lock_descriptor", refusing(errno.ENOLCK))
    code, _, error = drive(*RUN, "--checkpoint", tmp_path / "state")
    assert code == 0 and os.listdir(tmp_path) == []
    assert "state: this file system has no locks (No locks available): no other run may use the file\n" in error


def test_a_folder_in_which_no_lock_can_be_made_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_file.os, "open", refusing(errno.EROFS))
    with pytest.raises(UserError, match=r"^--checkpoint \S+: cannot make \S+state\.lock: Read-only file system$"):
        RunCheckpointLock(str(tmp_path / "state"))


def test_a_wall_clock_that_jumps_changes_nothing(drive, monkeypatch, tmp_path):
    _, plain, _ = drive(*PLAIN)
    record = tmp_path / "runs.jsonl"
    days = itertools.cycle((0.0, -86_400.0, 86_400.0 * 365))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + next(days))
    code, said, error = drive(*RUN, "--checkpoint", tmp_path / "state", "--record", record)
    monkeypatch.undo()
    assert code == 0 and printed_hash(said) == printed_hash(plain), error
    (repetition,) = json.loads(record.read_text())["repetitions"]
    assert 0 < repetition["total_s"] < 60
