"""Program of a rank: steps that take rank 0 a millisecond and rank 1 three, of ten units each.

mpirun -n 2 python tests/cluster/pacing.py
"""

import time

from cluster import communicator, paces

STEPS_S = (0.001, 0.003)


def main():
    """Print what the first rank finds."""
    ranks = communicator()
    found = paces.measured(ranks.world, lambda: time.sleep(STEPS_S[ranks.rank]), 10, ["here", "there"])
    for one in found:
        print(one.ranks, one.hosts, one.unit_s, one.steps, flush=True)


if __name__ == "__main__":
    main()
