"""Program of a rank among fast and slow ones: climbers, walks and subtrees, and each rank's share of them.

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
from core import tours as tsp
from core.exact import ExactSearch
from core.hill_climbing.search import HillClimbing
from core.local_search import Iterations, LocalSearch, TabuSearch
from core.qap.problem import Qap


class SlowBackend(CpuBackend):
    """A core slowed down by a factor, which its name contains."""

    def __init__(self, times):
        device = CpuBackend.devices()[0]
        super().__init__(device._replace(name=f"{device.name}, {times:g} times as slow"))
        self.times = times

    def run(self, entry, teams, address):
        began = time.perf_counter()
        super().run(entry, teams, address)
        time.sleep((self.times - 1) * (time.perf_counter() - began))


def climbers(backend, ranks, count):
    search = HillClimbing(backend, Rehearsal(ranks), tsp.load("uniform:60:seed=1").distances)
    search.warm_up()
    batches = []
    climb = search.launcher.climb
    search.launcher.climb = lambda begin, end: batches.append(end - begin) or climb(begin, end)
    reported = []
    outcome = search.run(Iterations(count), callback=reported.append, ranks=ranks, trace=False)
    # Of equal shares the first rank has a largest one.
    part = -(-count // ranks.size) if search.are_alike else count // ranks.size
    return [*astuple(outcome)], sum(batches), [reported[-1].done, part]


def walking(backend, ranks, count):
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
    search = ExactSearch(
        backend, Rehearsal(ranks), tsp.load(f"uniform:{count}:seed=3").distances, bound="edges", count=True
    )
    search.warm_up()
    outcome = search.run(ranks=ranks)
    own = int(backend.download(search.method.shared.nodes).sum())
    return [outcome.length, outcome.optimal_tours, outcome.digest, outcome.tour.tolist()], own, [0, 0]


KINDS = {"climbers": climbers, "walks": walking, "subtrees": subtrees}


def main() -> None:
    """Do each kind of work in the given amounts, ``kind=count,...``; print outcome, shares and steps."""
    works, *times = sys.argv[1:]
    ranks = default_communicator()
    backend = SlowBackend(float(times[ranks.rank]))
    for work in works.split(","):
        kind, count = work.split("=")
        outcome, own, notes = KINDS[kind](backend, ranks, int(count))
        gathered = ranks.gather((own, notes))
        if ranks.rank == 0:
            print(json.dumps([kind, int(count), outcome, [own for own, _ in gathered], gathered[0][1]]))


if __name__ == "__main__":
    main()
