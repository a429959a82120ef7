"""Program of a rank: counters and least values of all ranks; rank 0 prints what all were answered.

mpirun -n 3 python tests/cluster/sharing.py FILE
"""

import json
import random
import sys
from pathlib import Path

from cluster import communicator
from cluster.shared import MOST
from cluster.timed import Rehearsal, Timed


def taken(ranks):
    """Take portions of various sizes until the numbers are used up, twice."""
    counter = ranks.counter()
    dice = random.Random(ranks.rank)
    everything = []
    for end in (3000, 500):
        mine = []
        while not mine or mine[-1][0] < end:
            count = dice.randrange(1, 9)
            mine.append((counter.take(count), count))
        everything.append(ranks.gather(mine))
        counter.reset()
    counter.close()
    return everything


def lowered(ranks):
    """Offer values, twice; then only ask."""
    least = ranks.least(MOST)
    dice = random.Random(ranks.rank)
    everything = []
    for low, high in ((-(2**63), 2**63), (5, 5000)):
        offered = [dice.randrange(low, high) for _ in range(2000)]
        answers = [least.lower(value) for value in offered]
        ranks.barrier()
        everything.append(ranks.gather((offered, answers, least.lower(MOST))))
        least.reset(4000)
    reset = ranks.gather(least.lower(MOST))
    least.close()
    return everything, reset


def while_rank_0_computes(ranks, done):
    """Let rank 1 take numbers and lower a value, while rank 0 makes no call of MPI until a file says that it has."""
    counter, least = ranks.counter(), ranks.least(MOST)
    answers = None
    if ranks.rank == 0 and ranks.size > 1:
        while not done.exists():
            sum(range(10_000))
    elif ranks.rank == 1:
        answers = counter.take(5), counter.take(2), least.lower(9), least.lower(12)
        done.touch()
    ranks.barrier()
    assert ranks.size == 1 or (counter.take() >= 7, least.lower(10)) == (True, 9)
    counter.close()
    least.close()
    return ranks.gather(answers)


def check_side_by_side(ranks):
    """Have several at once; one that only some ranks rehearse; and the clock."""
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


def main():
    ranks = communicator()
    said = {"taken": [taken(ranks), taken(Timed(ranks))]}
    said["lowered"], said["reset"] = lowered(ranks)
    said["while rank 0 computes"] = while_rank_0_computes(ranks, Path(sys.argv[1]))
    if ranks.size > 1:
        check_side_by_side(ranks)
    if ranks.rank == 0:
        print(json.dumps(said))


if __name__ == "__main__":
    main()
