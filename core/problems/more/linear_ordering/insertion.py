"""Costs of an element at every position of a linear ordering, by prefix sums.

Source: T. Schiavinotto, T. Stutzle, "The linear ordering problem: instances, search space analysis and algorithms",
Journal of Mathematical Modelling and Algorithms 3, 2004.
"""

from core.lang import Array, Row, barrier, bundle, function, i32, lane, max, min, team_size


@bundle
class InsertionLosses:
    """Loss if an element moves from before another one to after it, a square matrix; and memory of a team's lanes."""

    losses: Array[i32]
    sums: Array[i32] = Row("n")
    gains: Array[i32] = Row("n")
    n: i32


@function
def insertion_losses(order: Array[i32], count: i32, element: i32, changes: Array[i32], data: InsertionLosses):
    """Write the change of an order's cost by an element at each position.

    The cost of a partial order is minus the sum, over its pairs in their better sequence, of the loss by the other one.
    Each lane sums the losses of a contiguous part, and then adds those of the parts before.
    """
    row = element * data.n
    part = max(1, (count + team_size() - 1) // team_size())
    first, end = min(lane() * part, count), min((lane() + 1) * part, count)
    total, gain = 0, 0
    for p in range(first, end):
        loss = data.losses[row + order[p]]
        gain += max(loss, 0)
        total += loss
        changes[p + 1] = total
    if first < end:
        data.sums[lane()] = total
        data.gains[lane()] = gain
    barrier()
    before, all_gains = 0, 0
    for k in range((count + part - 1) // part):
        all_gains += data.gains[k]
        if k < lane():
            before += data.sums[k]
    for p in range(first, end):
        changes[p + 1] += before - all_gains
    if lane() == 0:
        changes[0] = -all_gains
