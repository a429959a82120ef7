"""Program of a rank: Held and Karp's recursion over ranks; the first rank prints its tours and its refusal as JSON.

    mpirun -n 3 python tests/core/search/dp/over_mpi.py BACKENDS HOSTS

Ranks use the backends, separated by commas, in turn, and claim to be on HOSTS hosts.
"""

import json
import sys

import backends
from cluster import default_communicator
from cluster.mpi.proxies import Rehearsal, TimedCommunicator
from core.errors import UserError
from core.search.dp.held_karp import layers
from core.search.dp.held_karp.plan import bytes_needed
from core.search.dp.held_karp.search import HeldKarp
from tests.core.search.dp.tables import random_distances

TOURS = [(2, 9, True), (4, 3, False), (5, 5, True), (11, 60, False), (12, 70_000, True), (16, 500, False)]


def tours(backend, ranks):
    for n, most, directed in TOURS:
        search = HeldKarp(backend, Rehearsal(ranks), random_distances(n, 6, most, directed))
        search.warm_up()
        notes = []
        first, second = search.run(ranks=ranks), search.run(callback=notes.append, ranks=ranks)
        assert ranks.rank or notes[-1].done == notes[-1].total
        assert first.tour.tolist() == second.tour.tolist() == ranks.bcast(first.tour.tolist())
        yield [first.length, *first.tour.tolist()]


def refusals(backend, ranks):
    """Errors of all ranks if rank 1 has one byte too little."""
    search = HeldKarp(backend, ranks, random_distances(13, 6, 9, False), room=bytes_needed(13, 2, False))
    search.halves.room -= ranks.rank == 1
    try:
        search.run()
    except UserError as refusal:
        return ranks.gather(str(refusal))


def main(names, hosts):
    layers.SMALL = layers.SMALL_OF_A_CORE = 30
    ranks = TimedCommunicator(default_communicator())
    ranks.host = lambda: f"host {ranks.rank % int(hosts)}"
    names = names.split(",")
    backend = backends.create(names[ranks.rank % len(names)])
    outcomes = [list(tours(backend, ranks)), refusals(backend, ranks)]
    if ranks.rank == 0:
        print(json.dumps(outcomes))
    backend.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
