"""The communicator that measures, and the one that rehearses."""

import time

import numpy as np
import pytest

from cluster import Solo
from cluster.timed import Rehearsal, Timed

TEN = np.arange(10, dtype=np.int32)


class Third(Solo):
    """The third of four ranks, whose calls reach nobody."""

    rank, size, local_rank = 2, 4, 1

    def send(self, items, to):
        self.sent = items.tolist(), to

    def receive(self, items, source):
        items[:] = source

    def sum(self, summand):
        return summand * self.size


def test_calls_are_passed_on_and_the_time_inside_them_is_counted(monkeypatch):
    clock = iter([10.0, 10.5, 90.0, 92.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock, 0.0))
    third = Third()
    timed = Timed(third)
    timed.barrier()
    timed.assemble()
    assert (timed.seconds, timed.calls) == (0.5 + 2.0, 2)
    timed.reset()
    assert (timed.seconds, timed.calls) == (0.0, 0)
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


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda timed: timed.send(TEN, 3), 40),
        (lambda timed: timed.join(TEN), 40),
        (lambda timed: timed.sum(np.uint64(3)), 8),
        (lambda timed: timed.gather(TEN), 40),
        (lambda timed: timed.minloc(7, 3), 24),
        (lambda timed: timed.bcast(TEN), 0),  # rank 0 gives, this one receives
        (lambda timed: timed.receive(TEN.copy(), 1), 0),
        (lambda timed: timed.sum(5), 0),  # pickled, and so not counted
    ],
)
def test_the_bytes_that_a_rank_gives_to_others_are_counted(call, given):
    timed = Timed(Third())
    call(timed)
    assert timed.sent_bytes == given


def test_a_process_alone_sends_nothing():
    timed = Timed(Solo())
    timed.join(TEN)
    timed.minloc(7, 3)
    timed.bcast(TEN)
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
