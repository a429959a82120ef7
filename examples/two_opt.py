"""2-opt with best improvement in one kernel. Teams of lanes climb from one tour after another.

python examples/two_opt.py                          1,000 climbs on one core, by this kernel and by the tuned one
python examples/two_opt.py kroE100 100000 cuda      the same on a GPU; the instance is a file, a name or a generator
"""

import sys
import time

import numpy as np

from backends import create
from cluster import default_communicator
from core import tours as tsp
from core.hill_climbing.kernels.climbs import start_tours
from core.hill_climbing.search import HillClimbing
from core.lang import (
    Array,
    Row,
    Rows,
    barrier,
    bundle,
    function,
    i32,
    kernel,
    lane,
    min,
    shared_array,
    team_count,
    team_rank,
    team_size,
    u32,
    u64,
)
from core.lang.library import pack, packed_cost, packed_index, team_min
from core.run.stop import Iterations
from drivers.cli.exit_codes import run_driver


@bundle
class Climber:
    tour: Array[i32] = Row("n")
    n: i32


@function
def added(tour: Array[i32], i: i32, j: i32, n: i32, distances: Array[i32]) -> i32:
    a, b, c, d = tour[i] * n, tour[i + 1] * n, tour[j], tour[j + 1 if j + 1 < n else 0]
    return distances[a + c] + distances[b + d] - distances[a + tour[i + 1]] - distances[c * n + d]


@kernel
def climb(climbers: Rows[Climber], distances: Array[i32]):
    scratch = shared_array(team_size(), u64)
    for c in range(team_rank(), climbers.count, team_count()):
        climber, n = climbers[c], climbers[c].n
        improves = True
        while improves:
            best = pack(0, u32(0))  # a cost and the index of its move: the smallest is the best
            for i in range(lane(), n - 2, team_size()):
                for j in range(i + 2, n if i > 0 else n - 1):
                    best = min(best, pack(added(climber.tour, i, j, n, distances), u32(i * n + j)))
            best = team_min(best, scratch)
            improves = packed_cost(best) < 0
            i, j = i32(packed_index(best)) // n, i32(packed_index(best)) % n
            for p in range(lane(), (j - i) // 2 if improves else 0, team_size()):  # reverse positions i + 1 to j
                climber.tour[i + 1 + p], climber.tour[j - p] = climber.tour[j - p], climber.tour[i + 1 + p]
            barrier()


def climbed(backend, distances, starts, lanes):
    """Climb from each of the tours. Return the shortest length of all, and the seconds of the second run."""
    count, n = starts.shape
    climbers = backend.rows(Climber(n=n), count)
    device_distances = backend.upload(np.asarray(distances, np.int32).reshape(-1))
    seconds = 0.0
    for _ in range(2):  # the first run compiles
        backend.write(climbers.tour, starts.reshape(-1))
        backend.synchronize()
        begin = time.perf_counter()
        backend.launch(climb, count, lanes, climbers, device_distances)
        backend.synchronize()
        seconds = time.perf_counter() - begin
    tours = backend.download(climbers.tour).reshape(count, n)
    return int(distances[tours, np.roll(tours, -1, axis=1)].sum(axis=1).min()), seconds


def main(argv):
    """Climb with this kernel and with the tuned one, from the same tours."""
    defaults = ["kroE100", "1000", "cpu"]
    instance, climbs, name = argv + defaults[len(argv) :]
    distances, count = tsp.load(instance).distances, int(climbs)
    backend, n = create(name), len(distances)
    starts = backend.allocate(count * n, np.uint16)
    backend.launch(start_tours, count, 1, starts, n, count, 0, 0, False)
    plain = climbed(
        backend,
        distances.astype(np.int64),
        backend.download(starts).reshape(count, n).astype(np.int32),
        min(64, backend.capabilities.max_team_size),
    )
    search = HillClimbing(backend, default_communicator(), distances, scan="full")
    search.run(Iterations(count), trace=False)
    begin = time.perf_counter()
    result = search.run(Iterations(count), trace=False)
    tuned = result.cost, time.perf_counter() - begin
    for program, (length, seconds) in (("this kernel", plain), (type(search.scan).__name__, tuned)):
        rate = result.evaluations / seconds
        print(f"{program}: shortest of {count} climbs {length}, {seconds:.3f} s, {rate:.3g} moves/s")


if __name__ == "__main__":
    sys.exit(run_driver(main, sys.argv[1:]))
