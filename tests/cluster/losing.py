"""Program of a rank of a job in which one rank after another is killed: the others detect it and continue.

mpirun --with-ft ulfm -n 11 python tests/cluster/losing.py
"""

import os
import signal
import time

import numpy as np

from cluster import default_communicator
from cluster.mpi.failures.survivors import RankLost

WAIT_S = 30
SHARED = np.arange(5)


def until(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, f"found no change for {WAIT_S} s"
        time.sleep(0.001)


def check_words(ranks):
    """Add, lower, reset and close words that ranks share by messages."""
    ringing, least = ranks.word(), ranks.least(1000)
    ringing.reset(0)
    assert ringing.add(0) == 0
    ranks.barrier()
    ringing.add(ranks.rank + 1)
    until(lambda: ringing.add(0) == ranks.size * (ranks.size + 1) // 2)
    ranks.barrier()
    # Messages sent before a reset belong to the old word.
    ringing.add(100)
    ringing.reset(3)
    assert ringing.add(0) == 3
    assert least.lower(500 - ranks.rank) >= 501 - ranks.size
    until(lambda: least.lower(10**9) == 501 - ranks.size)
    counter = ranks.counter()
    assert [counter.take(2), counter.take(1)] == [0, 2]
    ranks.barrier()
    ringing.close()
    least.close()
    again = ranks.word()
    again.reset(7)
    assert again.lower(9) == 7 and again.add(0) == 7


def others(ranks):
    after, before = (ranks.rank + 1) % ranks.size, (ranks.rank - 1) % ranks.size
    return [(SHARED * 1, ranks.rank, after), (SHARED * 0, before, ranks.rank)]


# Each of them waits for the lost rank, in this order: a call that only sends may continue for seconds.
CALLS = {
    "add": lambda ranks: ranks.sum(1),
    "minloc": lambda ranks: ranks.minloc(ranks.rank, 7),
    "sum": lambda ranks: ranks.sum(SHARED),
    "bcast": lambda ranks: ranks.bcast({"rank": ranks.rank}),
    "gather": lambda ranks: ranks.gather(str(ranks.rank)),
    "join": lambda ranks: ranks.join(SHARED),
    "reduce": lambda ranks: ranks.reduce(SHARED * 1, "least"),
    "transfer": lambda ranks: ranks.transfer(others(ranks)),
    "barrier": lambda ranks: ranks.barrier(),
    "assemble": lambda ranks: ranks.assemble(),
}


def main():
    """Lose the last rank, then the first, and so on, each while the others make another call."""
    ranks = default_communicator()
    check_words(ranks)
    for number, (name, call) in enumerate(CALLS.items()):
        size = ranks.size
        try:
            # No rank is still in the calls below when the next one is killed.
            ranks.barrier()
            call(ranks)
            if ranks.rank == (0 if number % 2 else size - 1):
                # Others may still be in this call, which then reports the lost rank to them.
                os.kill(os.getpid(), signal.SIGKILL)
            while True:
                call(ranks)
        except RankLost:
            pass
        assert not ranks.agree(False)
        (lost,) = ranks.shrink()
        assert ranks.size == size - 1 and ranks.sum(1) == size - 1, name
        assert (ranks.gather(ranks.rank) or [0])[-1] in (0, size - 2)
        if ranks.rank == 0:
            print(f"{name}: lost {lost}", flush=True)
    assert ranks.agree(True)
    print(f"left: {sorted(ranks.lost)}", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
