"""Program of a rank: words that ranks share by messages.

mpirun --with-ft ulfm -n 3 python tests/cluster/telling.py
"""

import time

from cluster import communicator


def until(condition):
    """Ask for some seconds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def main():
    """Add, lower, reset and close."""
    ranks = communicator()
    ringing, least = ranks.word(), ranks.least(1000)
    ringing.reset(0)
    assert ringing.add(0) == 0
    ranks.barrier()
    ringing.add(ranks.rank + 1)
    until(lambda: ringing.add(0) == 6)
    ranks.barrier()
    # What is still on its way when a word begins anew belongs to the old one.
    ringing.add(100)
    ringing.reset(3)
    assert ringing.add(0) == 3
    assert least.lower(500 - ranks.rank) >= 498
    until(lambda: least.lower(10**9) == 498)
    counter = ranks.counter()
    assert [counter.take(2), counter.take(1)] == [0, 2]
    ranks.barrier()
    ringing.close()
    least.close()
    again = ranks.word()
    again.reset(7)
    assert again.lower(9) == 7 and again.add(0) == 7
    print("told", flush=True)


if __name__ == "__main__":
    main()
