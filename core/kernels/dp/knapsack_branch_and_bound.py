"""The 0-1 knapsack problem by branch and bound: E. Horowitz, S. Sahni, Journal of the ACM 21 (1974), one lane.

Depth first over items in order of value per weight, taking an item before leaving it. A node is bounded by Dantzig's
bound: whole items as long as they fit, then the part of the next one that does, rounded down; all in integers.
"""

from __future__ import annotations

from core.lang import *

LEVEL, LEFT, DONE = 0, 1, 2
"""The search's place: the next item to decide, the capacity left, and 1 at the end."""
VALUE, BEST, NODES = 0, 1, 2
"""Its numbers: the value of the items taken, the incumbent's, and the nodes bounded so far."""


@bundle
class RankedItems:
    """Items in order of value per weight, largest first; weights at most the capacity.

    A left capacity times a value fits 64 bits, since they have 31 and 32.
    """

    weights: Array[i32]
    values: Array[u64]
    count: i32


@bundle
class KnapsackTreeState:
    """The state of a search.

    Attributes
    ----------
    place : Array, 3; numbers : Array, 3
        See `LEVEL` and `VALUE`.
    taken, best : Array, items
        1 for each item of the current and of the best selection; ``taken`` is 0 from `LEVEL` on.
    """

    place: Array[i32]
    numbers: Array[u64]
    taken: Array[u8]
    best: Array[u8]


@function
def dantzig_bound(item: i32, left: i32, items: RankedItems) -> u64:
    """Return an upper bound of the value that items from ``item`` on add within the capacity ``left``."""
    added = u64(0)
    while item < items.count:
        weight = items.weights[item]
        if weight > left:
            return added + u64(left) * items.values[item] // u64(weight)
        left -= weight
        added += items.values[item]
        item += 1
    return added


@kernel
def explore(items: RankedItems, search: KnapsackTreeState, budget: i64):
    """Continue a search until it ends or has bounded ``budget`` further nodes; one lane."""
    item = search.place[LEVEL]
    left = search.place[LEFT]
    value = search.numbers[VALUE]
    incumbent = search.numbers[BEST]
    nodes = i64(0)
    done = False
    while not done and nodes < budget:
        nodes += 1
        if value + dantzig_bound(item, left, items) > incumbent:
            while item < items.count and items.weights[item] <= left:
                left -= items.weights[item]
                value += items.values[item]
                search.taken[item] = u8(1)
                item += 1
            if item < items.count:
                item += 1  # the first that does not fit is left out, and the rest bounded again
                continue
            if value > incumbent:
                incumbent = value
                for k in range(items.count):
                    search.best[k] = search.taken[k]
        # back to the last item that is taken, which is now left out
        item -= 1
        while item >= 0 and search.taken[item] == 0:
            item -= 1
        if item < 0:
            done = True
        else:
            search.taken[item] = u8(0)
            left += items.weights[item]
            value = value - items.values[item]
            item += 1
    search.place[LEVEL] = item
    search.place[LEFT] = left
    search.place[DONE] = i32(done)
    search.numbers[VALUE] = value
    search.numbers[BEST] = incumbent
    search.numbers[NODES] = search.numbers[NODES] + u64(nodes)
