"""Permutation flow shop: the order of jobs on machines in a row, with the earliest end. A problem of permutations.

The instances, with their seeds and best known ends: E. Taillard, "Benchmarks for basic scheduling problems", European
Journal of Operational Research 64, 1993. The default is his ta001, whose last job ends at 1278 at best.

python examples/flowshop.py --algorithm ils --walks 64 --target 1278
python examples/flowshop.py --jobs 20 --machines 20 --random 479340445     # ta021: 2297 is the best
"""

import numpy as np

import onekernel as ok
from onekernel import AnyMove, Array, bundle, function, i32, local_array, moved

MOST_MACHINES = 64


@bundle
class Shop:
    time: Array[i32]  # time[job * machines + machine]
    jobs: i32
    machines: i32


@function
def makespan(order: Array[i32], move: AnyMove, shop: Shop) -> i32:
    end = local_array(MOST_MACHINES, i32)  # when each machine has finished the jobs so far
    for machine in range(shop.machines):
        end[machine] = 0
    for p in range(shop.jobs):
        first = moved(order, p, move) * shop.machines
        ready = 0
        for machine in range(shop.machines):
            ready = max(ready, end[machine]) + shop.time[first + machine]
            end[machine] = ready
    return end[shop.machines - 1]


def taillard_times(jobs: int, machines: int, seed: int) -> np.ndarray:
    """Return times from 1 to 99, shape (jobs, machines), by Taillard's generator: machine after machine."""
    times = []
    for _ in range(jobs * machines):
        seed = 16807 * seed % (2**31 - 1)
        times.append(1 + 99 * seed // (2**31 - 1))
    return np.array(times, np.int32).reshape(machines, jobs).T.copy()


class FlowShop(ok.Problem):
    """Order jobs that pass all machines one after the other; the cost is the end of the last one."""

    value, neighbourhoods = makespan, ("insert", "exchange2")

    def __init__(self, jobs: int = 20, machines: int = 5, random: int = 873654221):
        if not 1 <= machines <= MOST_MACHINES:
            raise ok.UserError(f"machines={machines}: expected 1 to {MOST_MACHINES}")
        self.time = taillard_times(jobs, machines, random)
        super().__init__(f"flowshop:{jobs}:{machines}:{random}", ok.Permutation(jobs), Shop(self.time, jobs, machines))

    def cost(self, order):
        end = np.zeros(self.time.shape[1] + 1, np.int64)
        for job in order:
            for machine, time in enumerate(self.time[job], 1):
                end[machine] = max(end[machine], end[machine - 1]) + time
            end[0] = 0
        return int(end[-1])


if __name__ == "__main__":
    ok.main(FlowShop)
