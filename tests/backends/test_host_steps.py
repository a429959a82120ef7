"""Host steps between recorded launches: order, thread and errors."""

import gc
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest

import backends
from backends.device import Collective
from core.lang import Array, atomic_add, i32, kernel, team_count, team_rank

CELLS = 1000


@kernel
def add_one(cells: Array[i32]):
    for k in range(team_rank(), CELLS, team_count()):
        cells[k] += 1


@kernel
def count_unequal(cells: Array[i32], unequal: Array[i32]):
    for k in range(team_rank(), CELLS, team_count()):
        if cells[k] != cells[0]:
            atomic_add(unequal, 0, 1)


@pytest.fixture(params=[("cpu", None), ("threads", 3), ("joblib", 2)], ids=str)
def crowd(request, monkeypatch):
    monkeypatch.setattr("backends.cpu_info.available_cores", lambda: 3)
    name, cores = request.param
    backend = backends.create(name, "0", cores)
    yield backend
    backend.close()


def recorded(backend, step, steps=1):
    cells, unequal = backend.upload(np.zeros(CELLS, np.int32)), backend.upload(np.zeros(1, np.int32))
    with backend.record() as sequence:
        backend.launch(add_one, 7, 1, cells)
        for _ in range(steps):
            backend.queue_collective(Collective(lambda: step(cells), False))
        backend.launch(count_unequal, 7, 1, cells, unequal)
        backend.launch(add_one, 7, 1, cells)
    return sequence, cells, unequal


def test_the_host_sees_all_of_the_launch_before_and_nothing_of_the_next(crowd):
    seen, threads = [], set()

    def step(cells):
        seen.append(sorted(set(crowd.download(cells).tolist())))
        threads.add(threading.current_thread())

    sequence, cells, unequal = recorded(crowd, step, 2)
    sequence.replay(100)
    assert seen == [[2 * turn + 1] for turn in range(100) for _ in range(2)]
    assert threads == {threading.current_thread()}  # MPI is initialised for calls by the main thread only
    assert crowd.download(unequal).tolist() == [0]
    assert set(crowd.download(cells).tolist()) == {200}


def test_the_parts_of_a_recording_take_turns():
    backend, done = backends.create("python"), []
    with backend.record() as sequence:
        for part in "ab":
            backend.queue_collective(Collective(partial(done.append, part), False))
    sequence.replay(2)
    assert done == ["a", "b", "a", "b"]


@pytest.mark.parametrize("error", [ValueError("lost"), KeyboardInterrupt()], ids=repr)
def test_an_error_of_the_host_ends_the_replay_at_once_and_the_recording_can_run_again(crowd, error):
    failing = [3]

    def step(cells):
        failing[0] -= 1
        if failing[0] == 0:
            raise error

    sequence, cells, unequal = recorded(crowd, step)
    with pytest.raises(type(error)) as caught:
        sequence.replay(1_000_000)
    assert caught.value is error
    assert set(crowd.download(cells).tolist()) == {5}
    sequence.replay(2)
    assert set(crowd.download(cells).tolist()) == {9}
    assert crowd.download(unequal).tolist() == [0]


def test_a_step_of_the_host_does_not_count_as_kernel_time(crowd):
    sequence, _, _ = recorded(crowd, lambda cells: time.sleep(0.02))
    sequence.replay(1)
    crowd.timings.reset()
    began = time.perf_counter()
    sequence.replay(3)
    assert 0 < crowd.timings.kernel_s <= time.perf_counter() - began - 3 * 0.02


def test_what_a_recording_holds_is_given_back_without_a_search_for_cycles(crowd):
    held = np.zeros(1)
    gone = weakref.ref(held)
    gc.disable()
    try:
        sequence, cells, unequal = recorded(crowd, lambda cells, kept=held: None)
        sequence.replay(1)
        del held, sequence, cells, unequal
        assert gone() is None
    finally:
        gc.enable()
