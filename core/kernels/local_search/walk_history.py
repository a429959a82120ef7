"""History of a walk: each improvement of its best cost, until the host reads it."""

from __future__ import annotations

from core.kernels.local_search.walks import BEST_AT, BEST_COST, EVALUATIONS, ITERATION, RESTING, RUNNING, STOP, Walk
from core.lang import Array, Row, bundle, function, i32, u64

# The words of a walk's `counts`: steps that it may still make, and notes that it has written, before the host looks.
DUE, RECORDED = range(2)
COUNTS = 2


@bundle
class RecordingWalk(Walk):
    """A walk with room for ``places`` notes: after which iteration, at which cost, and after how many evaluations."""

    counts: Array[i32] = Row(COUNTS)
    iterations: Array[i32] = Row("places")
    costs: Array[i32] = Row("places")
    evaluations: Array[u64] = Row("places")
    places: i32


@function
def record_improvement(one: RecordingWalk):
    """After a step, by the lane that made it: write down a better best cost.

    The walk rests when no place is left, so that no note is ever lost, and when it has made all steps that it may, so
    that it makes no more of them while the host lets others go on that rested early.
    """
    due = one.counts[DUE] - 1
    one.counts[DUE] = due
    rests = due <= 0
    iteration = one.control[ITERATION]
    if one.control[BEST_AT] == iteration:
        noted = one.counts[RECORDED]
        one.iterations[noted] = iteration
        one.costs[noted] = one.control[BEST_COST]
        one.evaluations[noted] = one.totals[EVALUATIONS]
        one.counts[RECORDED] = noted + 1
        rests = rests or noted + 1 >= one.places
    if rests and one.control[STOP] == RUNNING:
        one.control[STOP] = RESTING
