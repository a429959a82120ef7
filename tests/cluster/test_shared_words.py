"""The counter and the least value that all ranks share, and the communicators that measure and rehearse."""

import time
from pathlib import Path

import numpy as np
import pytest

from cluster import Solo
from cluster.mpi.proxies import Rehearsal, TimedCommunicator
from cluster.mpi.shared_words import MAX_VALUE

LEAST = -(2**63)
TEN = np.arange(10, dtype=np.int32)
SHARING = Path(__file__).with_name("sharing.py")


class Third(Solo):
    """The third of four ranks; its calls reach no other rank."""

    rank, size, local_rank = 2, 4, 1

    def send(self, items, to):
        self.sent = items.tolist(), to

    def receive(self, items, source):
        items[:] = source

    def sum(self, summand):
        return summand * self.size


ALONE = {
    "solo": Solo,
    "timed": lambda: TimedCommunicator(Solo()),
    "rehearsal": lambda: Rehearsal(Third()),
    "rehearsal of a timed": lambda: Rehearsal(TimedCommunicator(Third())),
    "timed rehearsal": lambda: TimedCommunicator(TimedCommunicator(Rehearsal(Third()))),
}


@pytest.mark.parametrize("alone", ALONE)
def test_a_rank_that_answers_itself_has_numbers_of_its_own(alone):
    ranks = ALONE[alone]()
    counter, other = ranks.counter(), ranks.counter()
    assert [counter.take(), counter.take(5), counter.take(2), counter.take()] == [0, 1, 6, 8]
    assert other.take() == 0
    counter.word.reset(0)
    assert [counter.take(3), counter.take()] == [0, 3]
    counter.close()


@pytest.mark.parametrize("alone", ALONE)
def test_a_rank_that_answers_itself_keeps_its_own_least_value(alone):
    least = ALONE[alone]().least(MAX_VALUE)
    assert [least.lower(value) for value in (MAX_VALUE, 7, 9, 7, LEAST, 3)] == [MAX_VALUE, 7, 7, 7, LEAST, LEAST]
    least.word.reset(5)
    assert [least.lower(value) for value in (6, 4)] == [5, 4]
    least.word.reset(MAX_VALUE)
    assert least.lower(MAX_VALUE) == MAX_VALUE
    least.close()


@pytest.mark.parametrize("count", [0, -1])
def test_nothing_and_less_cannot_be_taken(count):
    counter = Solo().counter()
    with pytest.raises(ValueError, match=f"a count of {count}"):
        counter.take(count)
    assert counter.take() == 0


@pytest.mark.parametrize("value", [LEAST - 1, MAX_VALUE + 1])
def test_a_value_that_does_not_fit_64_bits_is_refused(value):
    least = Solo().least(MAX_VALUE)
    for refuse in (least.lower, Solo().least):
        with pytest.raises(OverflowError, match=str(value)):
            refuse(value)


@pytest.mark.parametrize("ranks", [3, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 2, 7))])
def test_ranks_take_every_number_once_and_learn_the_least_value(ranks, mpirun, tmp_path):
    """Also if rank 0 computes meanwhile, a counter is timed, or one rank rehearses."""
    done = mpirun(ranks, SHARING, tmp_path / "done")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["well"] * ranks


# --- the communicator that measures, and the one that rehearses ---


def test_calls_are_passed_on_and_the_time_inside_them_is_counted(monkeypatch):
    clock = iter([10.0, 10.5, 90.0, 92.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock, 0.0))
    timed = TimedCommunicator(Third())
    timed.barrier()
    timed.assemble()
    assert timed.seconds == 0.5 + 2.0
    timed.reset()
    assert timed.seconds == 0.0
    assert (timed.rank, timed.size, timed.local_rank) == (2, 4, 1)
    items = np.array([4, 5])
    timed.receive(items, 1)
    assert (items.tolist(), timed.sum(5)) == ([1, 1], 20)


@pytest.mark.parametrize(
    ("call", "sent_bytes"),
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
def test_the_bytes_that_a_rank_gives_to_others_are_counted(call, sent_bytes):
    timed, alone = TimedCommunicator(Third()), TimedCommunicator(Solo())
    call(timed)
    assert timed.sent_bytes == sent_bytes
    alone.join(TEN)
    alone.bcast(TEN)
    assert alone.sent_bytes == 0


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
