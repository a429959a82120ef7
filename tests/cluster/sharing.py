"""Program of a rank: counters and least values that all ranks share.

mpirun -n 3 python tests/cluster/sharing.py FILE
"""

import random
import sys
from pathlib import Path

from cluster import default_communicator
from cluster.mpi.proxies import Rehearsal, TimedCommunicator
from cluster.mpi.shared_words import MAX_VALUE


def check_counter(ranks):
    """Take portions of various sizes until the numbers are used up, twice."""
    counter = ranks.counter()
    dice = random.Random(ranks.rank)
    for end in (3000, 500):
        mine = []
        while not mine or mine[-1][0] < end:
            count = dice.randrange(1, 9)
            mine.append((counter.take(count), count))
        assert mine == sorted(mine)
        expected = 0
        for first, count in sorted(portion for portions in ranks.gather(mine) or () for portion in portions):
            assert first == expected
            expected += count
        assert ranks.rank or expected > end
        counter.word.reset(0)
    counter.close()


def check_least(ranks):
    """Offer values, twice: all ranks get the least one at the end, and offered values before."""
    least = ranks.least(MAX_VALUE)
    dice = random.Random(ranks.rank)
    for low, high, start in ((-(2**63), 2**63, MAX_VALUE), (5, 5000, 4000)):
        offered = [dice.randrange(low, high) for _ in range(2000)]
        answers = [least.lower(value) for value in offered]
        ranks.barrier()
        possible = ranks.bcast({start}.union(*(ranks.gather(offered) or ())))
        assert least.lower(MAX_VALUE) == min(possible)
        assert possible.issuperset(answers) and answers == sorted(answers, reverse=True)
        assert all(answer <= min(start, value) for value, answer in zip(offered, answers, strict=True))
        least.word.reset(4000)
    assert least.lower(MAX_VALUE) == 4000
    least.close()


def check_that_rank_0_may_compute(ranks, done):
    """Let rank 1 take numbers and lower a value, while rank 0 makes no call of MPI until a file exists."""
    counter, least = ranks.counter(), ranks.least(MAX_VALUE)
    if ranks.rank == 0:
        while not done.exists():
            sum(range(10_000))
    elif ranks.rank == 1:
        assert (counter.take(5), counter.take(2), least.lower(9), least.lower(12)) == (0, 5, 9, 9)
        done.touch()
    ranks.barrier()
    assert (counter.take() >= 7, least.lower(10)) == (True, 9)
    counter.close()
    least.close()


def check_side_by_side(ranks):
    """Use several at once, one that only some ranks rehearse, and the clock."""
    timed = TimedCommunicator(TimedCommunicator(ranks))
    first, second, least = timed.counter(), ranks.counter(), timed.least(MAX_VALUE)
    if ranks.rank == 1:
        rehearsed, tried = Rehearsal(timed).counter(), TimedCommunicator(Rehearsal(ranks)).least(MAX_VALUE)
        assert [rehearsed.take(3), rehearsed.take()] == [0, 3]
        rehearsed.word.reset(0)
        assert rehearsed.take() == 0
        assert tried.lower(-5) == -5
        rehearsed.close()
        tried.close()
    timed.reset()
    timed.wrapped.reset()
    first.take(10)
    least.lower(ranks.rank + 20)
    assert timed.seconds >= timed.wrapped.seconds > 0
    ranks.barrier()
    assert second.take(1) < ranks.size
    assert first.take() >= 10 * ranks.size
    assert least.lower(1000) == 20
    for one in (second, least, first):
        one.close()


def main():
    ranks = default_communicator()
    check_counter(ranks)
    check_counter(TimedCommunicator(ranks))
    check_least(ranks)
    if ranks.size > 1:
        check_that_rank_0_may_compute(ranks, Path(sys.argv[1]))
        check_side_by_side(ranks)
    print("well", flush=True)


main()
