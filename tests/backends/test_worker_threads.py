"""Threads that wait for launches: each launch runs every team once, however threads come and go between launches."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from backends.cpu import worker_threads
from backends.cpu.threads import ThreadsBackend
from backends.cpu_info import cpu_device
from core.lang import team_rank
from core.lang.decorators import kernel
from core.lang.types import Array, i32

TEAMS = 7


@kernel
def count_visits(visits: Array[i32], amount: i32):
    visits[team_rank()] += amount


@pytest.fixture
def four_cores():
    made = ThreadsBackend(cpu_device()._replace(compute_units=4))
    yield made
    made.close()


def no_visits(backend):
    visits = backend.allocate((TEAMS,), np.int32)
    visits.handle[:] = 0
    return visits


def launch_often(backend, visits, times, teams=(TEAMS,)):
    for k in range(times):
        backend.launch(count_visits, teams[k % len(teams)], 1, visits, 1)


def test_every_launch_runs_each_team_once_while_threads_join_and_leave(four_cores, monkeypatch):
    visits = no_visits(four_cores)
    for polls in (0, 1, 50, worker_threads.POLLS):
        monkeypatch.setattr(worker_threads, "POLLS", polls)
        visits.handle[:] = 0
        launch_often(four_cores, visits, 40, teams=(1, 2, TEAMS, 3))
        expected = [10 * sum(rank < teams for teams in (1, 2, TEAMS, 3)) for rank in range(TEAMS)]
        assert visits.handle.tolist() == expected, polls


def test_launches_and_recordings_take_turns(four_cores):
    visits = no_visits(four_cores)
    launch_often(four_cores, visits, 1, teams=(2,))
    with four_cores.record() as recording:
        launch_often(four_cores, visits, 3)
    for _ in range(20):
        recording.replay(5)
        launch_often(four_cores, visits, 1)
    assert visits.handle.tolist() == [20 * 16 + (rank < 2) for rank in range(TEAMS)]


def test_several_threads_may_launch_on_one_backend(four_cores):
    own = [no_visits(four_cores) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda visits: launch_often(four_cores, visits, 50), own))
    assert [visits.handle.tolist() for visits in own] == [[50] * TEAMS] * 3


def test_a_thread_that_cannot_start_ends_the_launch_and_not_the_next_one(four_cores, monkeypatch):
    visits = no_visits(four_cores)
    start, started = four_cores.threads.pool.submit, []

    def submit(*call):
        started.append(call)
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        return start(*call)

    monkeypatch.setattr(four_cores.threads.pool, "submit", submit)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        launch_often(four_cores, visits, 1)
    assert visits.handle.tolist() == [0] * TEAMS
    launch_often(four_cores, visits, 2)
    assert visits.handle.tolist() == [2] * TEAMS


def test_threads_sleep_after_the_last_launch(four_cores):
    launch_often(four_cores, no_visits(four_cores), 1)
    awake, ends = list(four_cores.threads.awake), time.monotonic() + 30
    assert len(awake) == 3
    while not all(one.done() for one in awake) and time.monotonic() < ends:
        time.sleep(0.001)
    assert all(one.done() for one in awake)
