"""Start order of a flow shop by repeated insertion.

Source: M. Nawaz, E. Enscore, I. Ham, "A heuristic algorithm for the m-machine, n-job flow-shop sequencing problem",
Omega 11(1), 1983. Positions of a job: E. Taillard, "Some efficient heuristic methods for the flow shop sequencing
problem", European Journal of Operational Research 47, 1990.
"""

import numpy as np


def neh(times: np.ndarray) -> np.ndarray:
    """Insert jobs by falling total time, each at the first position with the least makespan.

    ``times`` has shape (jobs, machines), the returned order (jobs,). Jobs of equal total time are inserted by their
    index.
    """
    wide = times.astype(np.int64)
    jobs = np.argsort(-wide.sum(axis=1), kind="stable")
    order = jobs[:1]
    for job in jobs[1:]:
        order = np.insert(order, np.argmin(insertion_makespans(wide[order], wide[job])), job)
    return order


def insertion_makespans(placed: np.ndarray, inserted: np.ndarray) -> np.ndarray:
    """Return the makespan with a job at each position: (k, machines) and (machines,) -> (k + 1,).

    The job follows a head of the order, which ends at some time on each machine, and precedes a tail.
    """
    count, machines = placed.shape
    heads = np.zeros((2, machines, count + 1), np.int64)
    sides = np.stack((placed, placed[::-1, ::-1])).transpose(0, 2, 1)
    totals = np.cumsum(sides, axis=2)
    before = totals - sides
    ready = np.zeros((2, count), np.int64)
    for machine in range(machines):
        # A job starts when it is ready and the machine is free: a running maximum once the machine's work is left out.
        ready = np.maximum.accumulate(ready - before[:, machine], axis=1) + totals[:, machine]
        heads[:, machine, 1:] = ready
    ends = np.zeros(count + 1, np.int64)
    longest = np.zeros(count + 1, np.int64)
    for machine in range(machines):
        ends = np.maximum(ends, heads[0, machine]) + inserted[machine]
        longest = np.maximum(longest, ends + heads[1, machines - 1 - machine, ::-1])
    return longest
