"""Program of a rank: every method of a communicator answers what plain Python computes from all ranks' words.

mpirun -n 3 python tests/cluster/conversation.py
"""

import random
import sys

import numpy as np

from cluster import default_communicator

MOST = 2**64 - 1
EDGES = [-(2**63), -1, 0, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, MOST - 1, MOST]


def rounds_of_pairs(dice, size):
    """Values of each rank, with many ties, near the limits of 64 bits, and beyond the precision of a double."""
    ranks = range(size)
    rounds = [[(dice.choice([5, 6]), dice.randrange(2**64)) for _ in ranks] for _ in range(8)]
    rounds += [[(dice.choice(EDGES), dice.choice([0, 2**32, MOST])) for _ in ranks] for _ in range(8)]
    return [*rounds, [(2**63 + rank, size - rank) for rank in ranks], [(7, 9 - rank) for rank in ranks]]


def equal(received, expected):
    return np.array_equal(received, expected) and received.dtype == expected.dtype


def main():
    ranks = default_communicator()
    rank, size, dice = ranks.rank, ranks.size, random.Random(ranks.size)
    for pairs in rounds_of_pairs(dice, size):
        assert ranks.minloc(*pairs[rank]) == min(pairs)
    summands = [dice.randrange(2**63, 2**70) for _ in range(size)]
    assert ranks.sum(summands[rank]) == sum(summands)
    wrapped = ranks.sum(np.uint64(summands[rank] % 2**64))
    assert int(wrapped) == sum(summands) % 2**64 and isinstance(wrapped, np.uint64)
    tables = np.array([[dice.randrange(-(2**20), 2**20) for _ in range(6)] for _ in range(size)], np.int32)
    tables = tables.reshape(size, 2, 3)
    assert equal(ranks.sum(tables[rank]), tables.sum(axis=0, dtype=np.int32))
    for kind in (np.uint32, np.uint64, np.int64):
        limits = np.iinfo(kind)
        numbers = np.array(
            [
                [dice.choice([limits.min, limits.max // 2, limits.max - 1, limits.max]) for _ in range(5)]
                for _ in range(size)
            ],
            kind,
        )
        for as_signed in (False, True) if size > 1 else ():
            ranks._least_is_signed |= as_signed  # as in MPICH 4.0.2
            least = numbers[rank].copy()
            ranks.reduce(least, "least")
            assert equal(least, numbers.min(axis=0))

    grid = np.arange(12, dtype=np.int16).reshape(3, 4).T
    assert equal(ranks.bcast(grid if rank == 0 else None), grid)
    assert ranks.bcast(np.zeros((0, 5)) if rank == 0 else None).shape == (0, 5)
    assert ranks.bcast({"from": rank}) == {"from": 0}
    passed = np.full((2, 3), 100 * rank + 7, np.uint16)  # along the ranks, each adds one to what it receives
    if rank > 0:
        ranks.receive(passed, rank - 1)
        passed += 1
    if rank < size - 1:
        ranks.send(passed, rank + 1)
    assert (passed == 7 + rank).all()
    joined = np.concatenate([np.arange(3 * k, dtype=np.uint16) for k in range(size)])
    assert equal(ranks.join(np.arange(3 * rank, dtype=np.uint16)), joined)
    assert ranks.gather({"rank": rank}) == ([{"rank": k} for k in range(size)] if rank == 0 else None)
    ranks.barrier()
    print(f"{ranks.local_rank} of {size}{' by MPI' if 'mpi4py' in sys.modules else ''}", flush=True)


main()
