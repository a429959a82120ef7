"""The communicator that measures, and the one that rehearses."""

import time

import numpy as np
import pytest

from cluster import Solo
from cluster.timed import Rehearsal, Timed


class Third(Solo):
    """The third of four ranks, whose calls reach nobody."""

    rank, size, local_rank = 2, 4, 1

    def send(self, items, to):
        self.sent = items.tolist(), to

    def receive(self, items, source):
        items[:] = source

    def sum(self, summand):
        return summand * self.size


def test_calls_are_passed_on_and_their_results_returned():
    third = Third()
    timed = Timed(third)
    assert (timed.rank, timed.size, timed.local_rank) == (2, 4, 1)
    assert timed.minloc(7, 3) == (7, 3)
    assert timed.sum(5) == 20
    assert timed.bcast("word") == "word"
    assert timed.gather("word") == ["word"]
    items = np.array([4, 5])
    timed.send(items, 3)
    timed.receive(items, 1)
    assert third.sent == ([4, 5], 3) and items.tolist() == [1, 1]
    assert timed.join(items).tolist() == [1, 1]
    assert timed.calls == 7


def test_the_time_inside_calls_is_counted_and_the_time_between_them_is_not(monkeypatch):
    clock = iter([10.0, 10.5, 90.0, 92.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    timed = Timed(Third())
    timed.barrier()
    timed.barrier()
    assert timed.seconds == 0.5 + 2.0
    timed.reset()
    assert (timed.seconds, timed.calls) == (0.0, 0)


def test_the_bytes_that_a_rank_gives_to_others_are_counted():
    timed = Timed(Third())
    items = np.arange(10, dtype=np.int32)
    sent = []
    for call in (
        lambda: timed.send(items, 3),
        lambda: timed.join(items),
        lambda: timed.sum(np.uint64(3)),
        lambda: timed.gather(items),
        lambda: timed.minloc(7, 3),
        lambda: timed.bcast(items),  # rank 0 gives, this one receives
        lambda: timed.receive(items, 1),
        lambda: timed.sum(5),  # pickled, and so not counted
        timed.barrier,
    ):
        call()
        sent.append(timed.sent_bytes)
        timed.reset()
    assert sent == [40, 40, 8, 40, 24, 0, 0, 0, 0]


def test_a_process_alone_sends_nothing():
    timed = Timed(Solo())
    timed.join(np.arange(10))
    timed.minloc(7, 3)
    timed.bcast(np.arange(10))
    assert timed.sent_bytes == 0


@pytest.mark.parametrize("summand", [3, np.array([1, 2], np.uint64)])
def test_a_rehearsal_shows_the_jobs_shape_and_waits_for_nobody(summand):
    alone = Rehearsal(Third())
    assert (alone.rank, alone.size, alone.local_rank) == (2, 4, 1)
    assert np.array_equal(alone.sum(summand), summand)
    assert alone.gather("word") == ["word"]
    alone.barrier()
    kept = np.array([4, 5])
    alone.send(kept, 3)
    alone.receive(kept, 1)
    assert kept.tolist() == [4, 5]
