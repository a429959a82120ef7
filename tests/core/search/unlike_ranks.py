"""Program of a rank among fast and slow ones: climbers, walks and subtrees, and what each rank had of them.

Every rank sleeps after each launch, as if its core were slower by its factor in the arguments; equal factors mean
devices of one kind.
"""

import json
import sys
import time
from dataclasses import astuple

from backends.cpu.single_core import CpuBackend
from cluster import default_communicator
from cluster.mpi.proxies import Rehearsal
from core.problems import tsp
from core.problems.qap.problem import Qap
from core.search.exact import ExactSearch
from core.search.hill_climbing.search import HillClimbing
from core.search.local_search import Iterations, LocalSearch, TabuSearch


class SlowBackend(CpuBackend):
    """A core slowed down by a factor, which its name contains."""

    def __init__(self, times):
        device = CpuBackend.devices()[0]
        super().__init__(device._replace(name=f"{device.name}, {times:g} times as slow"))
        self.times = times

    def run(self, entry, teams, address):
        """Call the machine code, and sleep for the rest."""
        began = time.perf_counter()
        super().run(entry, teams, address)
        time.sleep((self.times - 1) * (time.perf_counter() - began))


def climbers(backend, ranks, count):
    """Climbs; how many climbs each rank made."""
    search = HillClimbing(backend, Rehearsal(ranks), tsp.load("uniform:60:seed=1").distances)
    search.warm_up()
    made = []
    climb = search.launcher.climb
    search.launcher.climb = lambda begin, end: made.append(end - begin) or climb(begin, end)
    told = []
    outcome = search.run(Iterations(count), callback=told.append, ranks=ranks, trace=False)
    # Of equal shares the first rank has a largest one.
    part = -(-count // ranks.size) if search.are_alike else count // ranks.size
    return [*astuple(outcome)], sum(made), [told[-1].done, part]


def walking(backend, ranks, count):
    """Walks; how many walks each rank has."""
    search = LocalSearch(
        backend,
        Rehearsal(ranks),
        Qap.load("taillard:12:seeds=1,2"),
        TabuSearch(),
        "exchange2",
        level="algorithm",
        walks=count,
    )
    search.warm_up()
    outcome = search.run(Iterations(400), ranks=ranks)
    return [*astuple(outcome)[:6], outcome.solution.tolist()], search.launcher.memory.count, [0, 0]


def subtrees(backend, ranks, count):
    """A search for a shortest tour; how many nodes each rank explored."""
    search = ExactSearch(
        backend, Rehearsal(ranks), tsp.load(f"uniform:{count}:seed=3").distances, bound="edges", count=True
    )
    search.warm_up()
    found = search.run(ranks=ranks)
    own = int(backend.download(search.method.shared.nodes).sum())
    return [found.length, found.optimal_tours, found.digest, found.tour.tolist()], own, [0, 0]


KINDS = {"climbers": climbers, "walks": walking, "subtrees": subtrees}


def main() -> None:
    """Do each kind of work in the given amounts, ``kind=count,...``; print outcome, shares and steps of each."""
    works, *times = sys.argv[1:]
    ranks = default_communicator()
    backend = SlowBackend(float(times[ranks.rank]))
    for work in works.split(","):
        kind, count = work.split("=")
        outcome, own, told = KINDS[kind](backend, ranks, int(count))
        every = ranks.gather((own, told))
        if ranks.rank == 0:
            print(json.dumps([kind, int(count), outcome, [own for own, _ in every], every[0][1]]))


if __name__ == "__main__":
    main()
