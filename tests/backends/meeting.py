"""Program of a rank: run every collective on a backend, directly and recorded, and print the values that kernels read.

Arguments: a backend for all ranks or one for each, separated by commas; the number of hosts that the ranks claim.
"""

import json
import sys

import numpy as np

import backends
from backends.collectives import Collectives
from cluster import default_communicator
from cluster.mpi.proxies import Rehearsal, TimedCommunicator
from core.lang import Array, i32, kernel, team_count, team_rank, u64

SIZE = 1000


@kernel
def write(begin: i32, end: i32, value: i32, cells: Array[i32]):
    for k in range(begin + team_rank(), end, team_count()):
        cells[k] = value + k


@kernel
def add_up(first: i32, end: i32, cells: Array[i32], sums: Array[u64]):
    if team_rank() == 0:
        total = u64(0)
        for k in range(first, end):
            total += u64(cells[k])
        sums[0] += total


def main() -> None:
    names, hosts = sys.argv[1].split(","), int(sys.argv[2])
    ranks = TimedCommunicator(default_communicator())
    # Every rank shows the device that it has: what they tell each other decides how they meet.
    ranks.host = lambda: f"host {ranks.rank % hosts}"
    backend = backends.create(names[ranks.rank % len(names)])
    rehearsed = run(backend, backend.collectives(Rehearsal(ranks)), recorded=False)
    together = backend.collectives(ranks)
    assert together is backend.collectives(ranks)
    said = [run(backend, together, recorded) for recorded in (False, True)]
    everyone = ranks.gather([*said, together.groups, rehearsed["silent"], ranks.sent_bytes > 0])
    backend.close()
    if ranks.rank == 0:
        print(json.dumps(everyone))


def run(backend: backends.Backend, together: Collectives, recorded: bool) -> dict:
    rank, size = together.rank, together.size
    bounds = [0, *(SIZE * (r + 1) // size - r % 2 for r in range(size - 1)), SIZE]  # unequal parts
    begin, end = bounds[rank], bounds[rank + 1]
    whole = together.common(SIZE, np.int32, bounds)
    halo = together.common(SIZE, np.int32)
    own = backend.upload(np.arange(5, dtype=np.int32) - 7 * rank)
    key = backend.upload(np.full(1, 100 - rank, np.uint64))
    passed = backend.upload(np.full(4, rank, np.int64))
    sums = backend.upload(np.zeros(1, np.uint64))
    nearby = backend.upload(np.zeros(1, np.uint64))
    first = max(0, begin - 30)

    def steps() -> None:
        backend.launch(write, 3, 1, begin, end, 5, whole)
        together.gather(whole, bounds)
        backend.launch(add_up, 1, 1, 0, SIZE, whole, sums)
        together.barrier()  # no rank writes again before all have read
        backend.launch(write, 3, 1, begin, end, 9, halo)
        together.exchange(halo, bounds, 30)
        backend.launch(add_up, 1, 1, first, end, halo, nearby)
        together.barrier()
        together.reduce(own, "sum", 1, 3)
        together.reduce(key, "least")
        if rank > 0:
            together.receive(passed, 1, 2, rank - 1)
        if rank < size - 1:
            together.send(passed, 1, 2, rank + 1)

    if recorded:
        with backend.record() as sequence:
            steps()
        sequence.replay()
        backend.write(own, np.arange(5, dtype=np.int32) - 7 * rank)
        sequence.replay()
    else:
        steps()
    return {
        "silent": together.is_silent,
        "whole": int(backend.download(sums)[0]),
        "nearby": [int(backend.download(nearby)[0]), first, end],
        "own": backend.download(own).tolist(),
        "key": int(backend.download(key)[0]),
        "passed": backend.download(passed).tolist(),
    }


main()
