"""Single-machine scheduling: the order of jobs with minimal weighted tardiness. A problem of permutations.

The file has one line for each job: duration, weight and due date.
"""

from pathlib import Path

import numpy as np

import onekernel as ok
from onekernel import AnyMove, Array, bundle, function, i32, moved

JOBS = Path(__file__).with_name("jobs.txt")


@bundle
class Jobs:
    duration: Array[i32]
    weight: Array[i32]
    due: Array[i32]
    n: i32


@function
def tardiness(order: Array[i32], move: AnyMove, jobs: Jobs) -> i32:
    clock, total = 0, 0
    for p in range(jobs.n):
        job = moved(order, p, move)
        clock += jobs.duration[job]
        total += jobs.weight[job] * max(0, clock - jobs.due[job])
    return total


class Tardiness(ok.Problem):
    """Order jobs on one machine. The cost is the sum of weight times tardiness."""

    value = tardiness

    def __init__(self, instance: Path = JOBS):
        self.jobs = np.loadtxt(instance, np.int32, ndmin=2)
        duration, weight, due = self.jobs.T.copy()
        n = len(self.jobs)
        super().__init__(instance.stem, ok.Permutation(n), Jobs(duration, weight, due, n))

    def cost(self, order):
        duration, weight, due = self.jobs[np.asarray(order)].T.astype(np.int64)
        return int((weight * np.maximum(0, duration.cumsum() - due)).sum())


if __name__ == "__main__":
    ok.main(Tardiness)
