"""Exam timetabling with three evaluations: the cost, its change, and its change from counts that each walk stores.

python examples/timetable.py --evaluation value        # or delta, or counts (the default): equal moves, other times
"""

import numpy as np

import onekernel as ok
from onekernel import AnyMove, Array, Move, Row, bundle, function, i32, lane, moved, team_size


@bundle
class Exams:
    shared: Array[i32]  # shared[a * n + b]: students who sit exams a and b
    n: i32
    slots: i32


@function
def clashes(slot: Array[i32], move: AnyMove, exams: Exams) -> i32:
    total = 0
    for a in range(exams.n):
        for b in range(a):
            if moved(slot, a, move) == moved(slot, b, move):
                total += exams.shared[a * exams.n + b]
    return total


# Step 2


@function
def added(slot: Array[i32], move: Move, exams: Exams) -> i32:
    total = 0
    for b in range(exams.n):  # exam i of the move goes to slot j
        if slot[b] == move.j:
            total += exams.shared[move.i * exams.n + b]
        elif slot[b] == slot[move.i]:
            total -= exams.shared[move.i * exams.n + b]
    return total


# Step 3


@bundle
class Counts(Exams):
    clashing: Array[i32] = Row("cells")  # clashing[a * slots + s]: clashes of exam a if it is in slot s
    cells: i32


@function
def added_by_counts(slot: Array[i32], move: Move, exams: Counts) -> i32:
    row = move.i * exams.slots
    return exams.clashing[row + move.j] - exams.clashing[row + slot[move.i]]


@function
def count(slot: Array[i32], exams: Counts):
    for a in range(lane(), exams.n, team_size()):
        for s in range(exams.slots):
            exams.clashing[a * exams.slots + s] = 0
        for b in range(exams.n):
            exams.clashing[a * exams.slots + slot[b]] += exams.shared[a * exams.n + b]


@function
def follow(slot: Array[i32], move: Move, exams: Counts):
    for a in range(lane(), exams.n, team_size()):
        students = exams.shared[a * exams.n + move.i]
        exams.clashing[a * exams.slots + slot[move.i]] -= students
        exams.clashing[a * exams.slots + move.j] += students


# The problem


class Timetable(ok.Problem):
    """Assign exams to time slots so that as few students as possible have two exams in one slot."""

    def __init__(self, n: int = 60, slots: int = 6):
        pairs = np.triu(np.random.default_rng(n).integers(0, 20, (n, n), np.int32), 1)
        self.shared, self.slots = pairs + pairs.T, slots
        super().__init__(f"timetable:{n}:{slots}", ok.Values(n, slots), Exams(self.shared, n, slots))

    def cost(self, slot):
        together = np.equal.outer(slot, slot)
        return int(self.shared[together].sum() // 2)

    def evaluations(self, neighbourhood):
        n = self.encoding.n
        return {
            "counts": ok.Evaluation(added_by_counts, begin=count, update=follow, work=2),
            "delta": ok.Evaluation(added, work=n),
            "value": ok.Evaluation(value=clashes, work=n * n // 2),
        }

    def data_for(self, evaluation):
        n = self.encoding.n
        return Counts(self.shared, n, self.slots, cells=n * self.slots) if evaluation == "counts" else self.data


if __name__ == "__main__":
    ok.main(Timetable)
