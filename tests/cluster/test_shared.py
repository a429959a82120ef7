"""The counter and the least value that all ranks share, on ranks that talk to nobody and on ranks that do."""

from pathlib import Path

import pytest

from cluster import Solo
from cluster.shared import MOST
from cluster.timed import Rehearsal, Timed

LEAST = -(2**63)
SHARING = Path(__file__).with_name("sharing.py")


class OneOfMany(Solo):
    """The third of four ranks."""

    rank, size, local_rank = 2, 4, 2


ALONE = {
    "solo": Solo,
    "timed": lambda: Timed(Solo()),
    "rehearsal": lambda: Rehearsal(OneOfMany()),
    "rehearsal of a timed": lambda: Rehearsal(Timed(OneOfMany())),
    "timed rehearsal": lambda: Timed(Timed(Rehearsal(OneOfMany()))),
}


@pytest.mark.parametrize("alone", ALONE)
def test_a_rank_that_answers_itself_has_numbers_of_its_own(alone):
    ranks = ALONE[alone]()
    counter, other = ranks.counter(), ranks.counter()
    assert [counter.take(), counter.take(5), counter.take(2), counter.take()] == [0, 1, 6, 8]
    assert other.take() == 0
    counter.reset()
    assert [counter.take(3), counter.take()] == [0, 3]
    counter.close()


@pytest.mark.parametrize("alone", ALONE)
def test_a_rank_that_answers_itself_keeps_its_own_least_value(alone):
    least = ALONE[alone]().least(MOST)
    assert [least.lower(value) for value in (MOST, 7, 9, 7, LEAST, 3)] == [MOST, 7, 7, 7, LEAST, LEAST]
    least.reset(5)
    assert [least.lower(value) for value in (6, 4)] == [5, 4]
    least.reset()
    assert least.lower(MOST) == MOST
    least.close()


@pytest.mark.parametrize("count", [0, -1])
def test_nothing_and_less_cannot_be_taken(count):
    counter = Solo().counter()
    with pytest.raises(ValueError, match=f"a count of {count}"):
        counter.take(count)
    assert counter.take() == 0


@pytest.mark.parametrize("value", [LEAST - 1, MOST + 1])
def test_a_value_that_does_not_fit_64_bits_is_refused(value):
    least = Solo().least(MOST)
    for refuse in (least.lower, least.reset):
        with pytest.raises(OverflowError, match=str(value)):
            refuse(value)


@pytest.mark.parametrize("ranks", [3, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 2, 7))])
def test_ranks_take_every_number_once_and_learn_the_least_value(ranks, mpirun, tmp_path):
    """Also where rank 0 computes meanwhile, where a counter is timed, and where one rank rehearses."""
    done = mpirun(ranks, SHARING, tmp_path / "done")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["well"] * ranks
