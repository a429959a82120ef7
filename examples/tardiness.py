"""Single-machine scheduling: the order of jobs with minimal weighted tardiness. A problem of permutations.

The file has one line for each job: duration, weight and due date.
"""

from pathlib import Path

import numpy as np

import onekernel as ok
from onekernel import AnyMove, Array, Row, bundle, function, i32, lane, moved

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


@bundle
class JobsInOrder(Jobs):
    clock: Array[i32] = Row("n")  # when each job of an order ends


@function
def inserted(order: Array[i32], count: i32, element: i32, changes: Array[i32], jobs: JobsInOrder):
    if lane() == 0:
        clock, delay = 0, 0
        for p in range(count):
            clock += jobs.duration[order[p]]
            jobs.clock[p] = clock
        for k in range(count + 1):
            p = count - k
            end = clock + jobs.duration[element]
            changes[p] = delay + jobs.weight[element] * max(0, end - jobs.due[element])
            if p > 0:  # the job ahead comes behind the element
                job = order[p - 1]
                clock -= jobs.duration[job]
                late, later = (
                    jobs.clock[p - 1] - jobs.due[job],
                    jobs.clock[p - 1] + jobs.duration[element] - jobs.due[job],
                )
                delay += jobs.weight[job] * (max(0, later) - max(0, late))


class Tardiness(ok.Problem):
    """Order jobs on one machine. The cost is the sum of weight times tardiness."""

    value = tardiness

    def __init__(self, instance: Path = JOBS):
        self.jobs = np.loadtxt(instance, np.int32, ndmin=2)
        duration, weight, due = self.jobs.T.copy()
        n = len(self.jobs)
        super().__init__(Path(instance).stem, ok.Permutation(n), Jobs(duration, weight, due, n))
        self.orders = JobsInOrder(duration, weight, due, n=n)

    def cost(self, order):
        duration, weight, due = self.jobs[np.asarray(order)].T.astype(np.int64)
        return int((weight * np.maximum(0, duration.cumsum() - due)).sum())

    def insertion(self):
        return ok.Insertion(inserted, self.orders, temperature=50)


if __name__ == "__main__":
    ok.main(Tardiness)
