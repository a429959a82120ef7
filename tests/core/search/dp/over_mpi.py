"""Program of a rank: searches by dynamic programming over ranks; the first rank prints as JSON what each of them found.

mpirun -n 3 python tests/core/search/dp/over_mpi.py BACKENDS HOSTS KINDS...

Ranks take turns over the backends, which commas separate, and say that they are on so many hosts.
"""

import hashlib
import json
import sys

import numpy as np

import backends
from cluster import communicator
from cluster.timed import Rehearsal, Timed
from core.errors import UserError
from core.problems.knapsack import Knapsack, generate
from core.search.dp import held_karp_table
from core.search.dp.held_karp import HeldKarp
from core.search.dp.held_karp_plan import bytes_needed
from core.search.dp.knapsack import KnapsackSearch
from core.search.dp.lcs import LongestCommonSubsequence
from core.search.dp.restricted import RestrictedTour
from tests.core.search.dp.tables import drawn, letters, random_distances

STRINGS = [(70, 90, None), (900, 1500, 40_000), (300, 900, 600), (776, 271, 2048), (0, 9, None)]
KNAPSACKS = [
    (generate("paper", 21, 1000, seed=1), None),
    (generate("paper", 21, 1000, seed=1), 700),
    (Knapsack("tiny", np.array([1, 1]), np.array([2, 3]), 1), None),
    (Knapsack("empty", np.array([1, 1]), np.array([2, 3]), 0), None),
]
TOURS = [(2, 9, True), (4, 3, False), (5, 5, True), (11, 60, False), (12, 70_000, True), (16, 500, False)]


def strings(backend, ranks):
    for n, m, room in STRINGS:
        a, b = map(letters, drawn(n, n, m) if n else (b"", b"a" * m))
        made = LongestCommonSubsequence(backend, ranks, a, b, room=room)
        found, alone = made.run(), made.run(trace=False)
        assert alone.length == found.length == len(found.pairs)
        assert np.array_equal(ranks.bcast(found.pairs), found.pairs)
        yield [found.length, hashlib.sha256(found.pairs.tobytes()).hexdigest()]


def knapsacks(backend, ranks):
    for instance, room in KNAPSACKS:
        search = KnapsackSearch(backend, ranks, instance, room=room)
        found = search.run()
        assert search.run(trace=False).value == found.value
        assert np.array_equal(ranks.bcast(found.chosen), found.chosen)
        yield [found.value, np.flatnonzero(found.chosen).tolist(), f"{found.digest:016x}"]


def tours(backend, ranks):
    for n, most, directed in TOURS:
        search = HeldKarp(backend, Rehearsal(ranks), random_distances(n, 6, most, directed))
        search.warm_up()
        told = []
        first, second = search.run(ranks=ranks), search.run(callback=told.append, ranks=ranks)
        assert ranks.rank or told[-1].done == told[-1].total == search.steps
        assert first.tour.tolist() == second.tour.tolist() == ranks.bcast(first.tour.tolist())
        yield [first.length, *first.tour.tolist()]


def restricted(backend, ranks):
    points = np.random.default_rng(1).integers(0, 500, (40, 2))
    distances = np.rint(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))).astype(int)
    for rotations in (1, 7):
        one = RestrictedTour(backend, ranks, distances, 4, None, True, rotations=rotations).run()
        yield [one.length, one.passes, one.cells, *one.tour.tolist()]


def refused(backend, ranks):
    """Rank 1 has a byte too little."""
    search = HeldKarp(backend, ranks, random_distances(13, 6, 9, False), room=bytes_needed(13, 2, False))
    search.halves.room -= ranks.rank == 1
    try:
        search.run()
    except UserError as refusal:
        yield ranks.gather(str(refusal))


KINDS = {one.__name__: one for one in (strings, knapsacks, tours, restricted, refused)}


def main(names, hosts, *kinds):
    held_karp_table.SMALL = held_karp_table.SMALL_OF_A_CORE = 30
    ranks = Timed(communicator())
    ranks.host = lambda: f"host {ranks.rank % int(hosts)}"
    names = names.split(",")
    backend = backends.create(names[ranks.rank % len(names)])
    found = {kind: list(KINDS[kind](backend, ranks)) for kind in kinds}
    if ranks.rank == 0:
        print(json.dumps(found))
    backend.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
