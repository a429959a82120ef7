"""The 0-1 knapsack problem by branch and bound: E. Horowitz, S. Sahni, Journal of the ACM 21 (1974), one lane.

Depth first over items in order of value per weight, taking an item before leaving it. A node is bounded by Dantzig's
bound: whole items as long as they fit, then the part of the next one that does, rounded down; all in integers.
"""

from __future__ import annotations

from core.lang import Array, function, i32, i64, kernel, u8, u64

LEVEL, LEFT, DONE = 0, 1, 2
"""The search's place: the next item to decide, the capacity left, and 1 at the end."""
VALUE, BEST, NODES = 0, 1, 2
"""Its numbers: the value of the items taken, the incumbent's, and the nodes bounded so far."""


@function
def dantzig(item: i32, left: i32, items: i32, weights: Array[i32], values: Array[u64]) -> u64:
    """What items from ``item`` on add at most, in a capacity of ``left``."""
    added = u64(0)
    while item < items:
        weight = weights[item]
        if weight > left:
            return added + u64(left) * values[item] // u64(weight)
        left -= weight
        added += values[item]
        item += 1
    return added


@kernel
def explore(
    items: i32,
    weights: Array[i32],
    values: Array[u64],
    budget: i64,
    place: Array[i32],
    numbers: Array[u64],
    taken: Array[u8],
    best: Array[u8],
):
    """Go on with a search until it ends or has bounded ``budget`` further nodes; one lane.

    Parameters
    ----------
    weights, values : Array, items
        In order of value per weight, largest first; weights at most the capacity. A left capacity times a value fits
        64 bits, since they have 31 and 32.
    place : Array, 3; numbers : Array, 3
        In and out: the state, see `LEVEL` and `VALUE`.
    taken, best : Array, items
        In and out: 1 for each item of the current and of the best selection; ``taken`` is 0 from `LEVEL` on.

    """
    item = place[LEVEL]
    left = place[LEFT]
    value = numbers[VALUE]
    incumbent = numbers[BEST]
    nodes = i64(0)
    done = 0
    while done == 0 and nodes < budget:
        nodes += 1
        if value + dantzig(item, left, items, weights, values) > incumbent:
            while item < items and weights[item] <= left:
                left -= weights[item]
                value += values[item]
                taken[item] = u8(1)
                item += 1
            if item < items:
                item += 1  # the first that does not fit is left out, and the rest bounded again
                continue
            if value > incumbent:
                incumbent = value
                for k in range(items):
                    best[k] = taken[k]
        # back to the last item that is taken, which is now left out
        item -= 1
        while item >= 0 and taken[item] == 0:
            item -= 1
        if item < 0:
            done = 1
        else:
            taken[item] = u8(0)
            left += weights[item]
            value = value - values[item]
            item += 1
    place[LEVEL] = item
    place[LEFT] = left
    place[DONE] = done
    numbers[VALUE] = value
    numbers[BEST] = incumbent
    numbers[NODES] = numbers[NODES] + u64(nodes)
