"""The processes of the joblib backend and their shared memory: nothing is left of them, however they end."""

import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import psutil
import pytest

import backends
from backends.cpu import shared_memory
from backends.cpu.joblib import JoblibBackend
from backends.cpu_info import cpu_device
from backends.device import Launch, OutOfMemory, Unavailable
from tests.backends import kernels
from tests.patience import PATIENCE_S, soon

MEGABYTE = 1 << 20

pytest.importorskip("joblib")
on_linux = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")


@pytest.fixture
def joblib_backend():
    backend = backends.create("joblib")
    yield backend
    backend.close()


others: set[int] = set()


@pytest.fixture(autouse=True)
def remember_others():
    """Other tests' backends may have workers in this process."""
    others.clear()
    others.update(child.pid for child in psutil.Process().children(recursive=True))


def test_what_the_system_refuses_is_named_with_what_helps(monkeypatch):
    def refuse(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(shared_memory, "_new_file", refuse)
    with pytest.raises(Unavailable, match="Too many open files; expected a higher limit"):
        shared_memory.SharedBuffer.create(4, "u4")
    monkeypatch.setattr("multiprocessing.context.BaseContext.Lock", refuse)
    with pytest.raises(Unavailable, match="needs semaphores in /dev/shm: Too many open files; .*--backend threads"):
        backends.create("joblib")


def workers():
    """The test's workers, without the tracker of semaphores, which lives as long as this process."""
    children = [child for child in psutil.Process().children(recursive=True) if child.pid not in others]
    return [child for child in children if not any("resource_tracker" in word for word in child.cmdline())]


def shared_bytes():
    """Shared memory that this process and its workers map and may write."""
    total = 0
    for one in [psutil.Process(), *workers()]:
        for line in Path(f"/proc/{one.pid}/maps").read_text().splitlines():
            bounds, rights = line.split()[:2]
            begin, end = (int(bound, 16) for bound in bounds.split("-"))
            total += end - begin if rights == "rw-s" else 0
    return total


def grown(backend, count):
    values = backend.upload(np.arange(count, dtype=np.uint32))
    backend.launch(kernels.grow, backend.workers, 1, values, count, 3)
    return values


@pytest.mark.parametrize("teams", [3, 7])
def test_workers_share_all_teams(teams, monkeypatch):
    backend = JoblibBackend(cpu_device()._replace(compute_units=4))
    slices = []
    monkeypatch.setattr(backend, "work_in_parallel", lambda function, parts: slices.extend(part[1:3] for part in parts))
    backend.execute(Launch("machine code", teams, ()))
    assert [team for begin, end in slices for team in range(begin, end)] == [*range(teams)]
    assert len(slices) == min(teams, 4)


@pytest.mark.slow
@on_linux
def test_a_buffer_that_nobody_refers_to_gives_its_memory_back(joblib_backend):
    values = joblib_backend.upload(np.arange(4 * MEGABYTE, dtype=np.uint32))
    seen = os.open(values.segment.path, os.O_RDONLY)
    try:
        view = values.handle[3:5]
        del values
        gc.collect()
        assert os.fstat(seen).st_blocks * 512 == 16 * MEGABYTE, "a view of it is still here"
        assert view.tolist() == [3, 4]
        del view
        gc.collect()
        assert os.fstat(seen).st_blocks == 0
    finally:
        os.close(seen)


@on_linux
def test_workers_give_back_memory_when_they_open_other_buffers_and_when_they_end():
    before, backend = shared_bytes(), backends.create("joblib")
    values = grown(backend, 4 * MEGABYTE)
    assert backend.read(values, 5, 2).tolist() == [16, 19]
    assert shared_bytes() - before >= 16 * MEGABYTE
    del values
    with backend.record() as sequence:  # of which every worker has a part
        grown(backend, 100)
    sequence.replay()
    assert shared_bytes() - before < 16 * MEGABYTE
    backend.close()
    assert not workers()
    assert shared_bytes() - before < MEGABYTE


@pytest.mark.slow
def test_large_buffers_are_no_leak_of_the_workers(joblib_backend):
    small = grown(joblib_backend, 100)
    values = joblib_backend.allocate(80 * MEGABYTE, np.uint32)
    at_first = sorted(worker.pid for worker in workers())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Each worker reads and writes a part of every page.
        joblib_backend.launch(kernels.grow, joblib_backend.workers, 1, values, values.size, 3)
        time.sleep(1.1)  # loky looks at most once a second
        joblib_backend.launch(kernels.grow, joblib_backend.workers, 1, small, small.size, 3)
    assert sorted(worker.pid for worker in workers()) == at_first


@on_linux
def test_more_memory_than_a_container_may_use_is_refused(joblib_backend, tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text(str(100 * MEGABYTE))
    (tmp_path / "memory.current").write_text(str(90 * MEGABYTE))
    monkeypatch.setattr(shared_memory, "CGROUP", str(tmp_path))
    assert joblib_backend.allocate(8 * MEGABYTE, np.uint8).size == 8 * MEGABYTE
    with pytest.raises(OutOfMemory, match=r"12,582,912 bytes of shared memory .* 10,485,760 bytes are free"):
        joblib_backend.allocate(12 * MEGABYTE, np.uint8)
    (tmp_path / "memory.max").write_text("max\n")
    assert joblib_backend.allocate(12 * MEGABYTE, np.uint8).size == 12 * MEGABYTE


def test_memory_that_cannot_be_reserved_is_refused_at_once(joblib_backend):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    descriptors = psutil.Process().num_fds()
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, before[1]))
    try:
        with pytest.raises(OutOfMemory, match="2,097,152 bytes of shared memory"):
            joblib_backend.allocate(2 * MEGABYTE, np.uint8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert psutil.Process().num_fds() == descriptors
    assert joblib_backend.allocate(2 * MEGABYTE, np.uint8).size == 2 * MEGABYTE


def test_without_nameless_files_a_name_goes_with_its_segment(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_memory, "HAS_NAMELESS_FILES", False)
    monkeypatch.setattr(shared_memory.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shared_memory, "_opened", {})
    memory, first = shared_memory.create_segment(100)
    memory[:3] = b"abc"
    assert shared_memory.open_segment(first)[:3] == b"abc"
    assert len(list(tmp_path.iterdir())) == 1
    del memory
    assert list(tmp_path.iterdir()) == []
    kept, second = shared_memory.create_segment(100)
    shared_memory.open_segment(second)
    assert list(shared_memory._opened) == [(second.path, second.number)]
    shared_memory.unlink_opened()
    assert list(tmp_path.iterdir()) == []
    assert kept[:1] == b"\0"


def test_a_worker_that_fails_does_not_leave_the_others_waiting(joblib_backend):
    grown(joblib_backend, 100)
    with pytest.raises(TypeError):
        joblib_backend.work_in_parallel(time.sleep, [("no number",), (60.0,)])
    assert not workers()
    assert grown(joblib_backend, 100).handle[1] == 4


def test_a_worker_killed_in_a_replay_ends_it(joblib_backend):
    with joblib_backend.record() as sequence:
        grown(joblib_backend, 100)
    sequence.replay()
    victim = workers()[0].pid
    timer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
    timer.start()
    try:
        with pytest.raises(RuntimeError, match="terminated"):
            sequence.replay(1 << 30)
    finally:
        timer.join()
    assert not workers()
    assert grown(joblib_backend, 100).handle[1] == 4


# --- the whole program ends ---

PROGRAM = """
import numpy as np
import psutil
import backends
from tests.backends import kernels

backend = backends.create("joblib")
values = backend.upload(np.zeros(100, np.uint32))
with backend.record() as sequence:
    backend.launch(kernels.grow, 2, 1, values, 100, 3)
sequence.replay()
print(*[one.pid for one in psutil.Process().children(recursive=True)], flush=True)
"""
REPLAY = "sequence.replay(1 << 30)"


def left_of(process, children):
    alive = [pid for pid in children if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]
    folder = Path("/dev/shm")
    names = [path.name for path in folder.iterdir() if f"-{process.pid}-" in path.name] if folder.is_dir() else []
    return alive + names


@pytest.mark.parametrize(
    ("last", "sent"),
    [
        pytest.param("", None, id="not closed"),
        pytest.param("import time; time.sleep(600)", signal.SIGTERM, id="terminated", marks=pytest.mark.slow),
        pytest.param(REPLAY, signal.SIGINT, id="interrupted", marks=pytest.mark.slow),
        pytest.param(REPLAY, signal.SIGKILL, id="killed", marks=pytest.mark.long),
    ],
)
def test_nothing_is_left_of_a_program_that_is(last, sent, environment):
    command, pipes = [sys.executable, "-c", PROGRAM + last], {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, env=environment, start_new_session=True, text=True, **pipes)
    try:
        children = [int(word) for word in process.stdout.readline().split()]
        assert len(children) >= 2
        if sent:
            time.sleep(0.2)
            (os.killpg if sent == signal.SIGINT else os.kill)(process.pid, sent)
        _, said = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.communicate()
    assert soon(lambda: not left_of(process, children)), left_of(process, children)
    if sent is None:
        assert (process.returncode, said) == (0, "")
    if sent == signal.SIGINT:
        assert said.count("Traceback") == 1 and said.splitlines()[-1] == "KeyboardInterrupt"


def test_shared_memory_takes_none_of_the_room_for_shared_files(joblib_backend):
    """A container has 64 MiB for shared files."""
    values = joblib_backend.allocate(MEGABYTE, np.uint32)
    assert os.stat(values.segment.path).st_dev != os.stat("/dev/shm").st_dev
