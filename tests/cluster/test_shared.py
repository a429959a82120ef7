"""The counter and the least value that all ranks share, on ranks that talk to nobody and on ranks that do."""

import json
import textwrap

import pytest

from cluster import Solo
from cluster.shared import MOST
from cluster.timed import Rehearsal, Timed

LEAST = -(2**63)


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
# Every rank takes portions of various sizes until the numbers are used up, twice, and says which it got.
TAKING = """
    import json, random
    from cluster import communicator
    from cluster.timed import Timed

    ranks = communicator()
    {wrap}
    counter = ranks.counter()
    dice = random.Random(ranks.rank)
    everything = []
    for end in (3000, 500):
        mine = []
        while True:
            count = dice.randrange(1, 9)
            first = counter.take(count)
            mine.append((first, count))
            if first >= end:
                break
        everything.append(ranks.gather(mine))
        counter.reset()
    counter.close()
    if ranks.rank == 0:
        print(json.dumps(everything))
"""
# Every rank offers values and says what it was answered, twice; then it only asks.
LOWERING = """
    import json, random
    from cluster import communicator
    from cluster.shared import MOST

    ranks = communicator()
    least = ranks.least(MOST)
    dice = random.Random(ranks.rank)
    everything = []
    for low, high in ((-2**63, 2**63), (5, 5000)):
        offered = [dice.randrange(low, high) for _ in range(2000)]
        answers = [least.lower(value) for value in offered]
        ranks.barrier()
        everything.append(ranks.gather((offered, answers, least.lower(MOST))))
        least.reset(4000)
    everything.append(ranks.gather(least.lower(MOST)))
    least.close()
    if ranks.rank == 0:
        print(json.dumps(everything))
"""
# Rank 0 computes, without a call of MPI, until rank 1 has taken a number and lowered a value.
BUSY = """
    import sys
    from pathlib import Path
    from cluster import communicator
    from cluster.shared import MOST

    ranks, done = communicator(), Path(sys.argv[1])
    counter, least = ranks.counter(), ranks.least(MOST)
    if ranks.rank == 0:
        while not done.exists():
            sum(range(10_000))
    elif ranks.rank == 1:
        answer = counter.take(5), counter.take(2), least.lower(9), least.lower(12)
        done.write_text(repr(answer))
    ranks.barrier()
    assert (counter.take() >= 7, least.lower(10)) == (True, 9)
    counter.close()
    least.close()
"""
# Several at once; one that only some ranks rehearse; and the clock.
SIDE_BY_SIDE = """
    from cluster import communicator
    from cluster.shared import MOST
    from cluster.timed import Rehearsal, Timed

    ranks = communicator()
    timed = Timed(Timed(ranks))
    first, second, least = timed.counter(), ranks.counter(), timed.least(MOST)
    if ranks.rank == 1:
        rehearsed, tried = Rehearsal(timed).counter(), Timed(Rehearsal(ranks)).least(MOST)
        assert [rehearsed.take(3), rehearsed.take()] == [0, 3]
        rehearsed.reset()
        assert rehearsed.take() == 0
        assert tried.lower(-5) == -5
        rehearsed.close()
        tried.close()
    timed.reset()
    timed.ranks.reset()
    first.take(10)
    least.lower(ranks.rank + 20)
    assert timed.calls == timed.ranks.calls == 2 and timed.seconds >= timed.ranks.seconds > 0
    ranks.barrier()
    assert second.take(1) < ranks.size
    assert first.take() >= 10 * ranks.size
    assert least.lower(1000) == 20
    for one in (second, least, first):
        one.close()
    print("well", flush=True)
"""
# A rank fails while the others hold windows open and wait.
FAILING = """
    from cluster import communicator

    ranks = communicator()
    counter = ranks.counter()
    if counter.take() == 1:
        raise RuntimeError("the second item is broken")
    ranks.barrier()
    counter.close()
"""


@pytest.fixture
def program(tmp_path):
    """Write a rank's program and return its path."""

    def write(source: str):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        return path

    return write


def said(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
    with pytest.raises(OverflowError, match=str(value)):
        least.lower(value)
    with pytest.raises(OverflowError, match=str(value)):
        least.reset(value)


@pytest.mark.parametrize("wrap", ["", "ranks = Timed(ranks)"], ids=["plain", "timed"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_every_number_is_taken_once(ranks, wrap, program, mpirun):
    for portions, end in zip(said(mpirun(ranks, program(TAKING.format(wrap=wrap)))), (3000, 500), strict=True):
        assert len(portions) == ranks
        assert all(mine == sorted(mine) for mine in portions)
        expected = 0
        for first, count in sorted(portion for mine in portions for portion in mine):
            assert first == expected
            expected += count
        assert expected > end


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_every_rank_learns_the_least_value(ranks, program, mpirun):
    *rounds, last = said(mpirun(ranks, program(LOWERING)))
    for number, heard in enumerate(rounds):
        start = MOST if number == 0 else 4000
        possible = {start}.union(*(offered for offered, _, _ in heard))
        for offered, answers, end in heard:
            assert end == min(possible)
            assert possible.issuperset(answers)
            assert answers == sorted(answers, reverse=True)
            assert all(answer <= min(start, value) for value, answer in zip(offered, answers, strict=True))
    assert last == [4000] * ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_nobody_waits_for_a_rank_0_that_computes(ranks, program, mpirun, tmp_path):
    done = mpirun(ranks, program(BUSY), tmp_path / "done")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "done").read_text() == "(0, 5, 9, 9)"


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_several_live_side_by_side_and_rehearsals_touch_none(ranks, program, mpirun):
    done = mpirun(ranks, program(SIDE_BY_SIDE))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["well"] * ranks


def test_a_rank_that_fails_ends_the_others(program, mpirun):
    done = mpirun(3, program(FAILING))
    assert done.returncode == 1
    assert "RuntimeError: the second item is broken" in done.stderr
