"""The 0-1 knapsack problem by branch and bound: E. Horowitz, S. Sahni, Journal of the ACM 21 (1974), one lane.

Depth-first search over items in order of value per weight; the branch with an item comes before the one without it.
Nodes are bounded by Dantzig's bound: whole items while they fit, then a part of the next item, rounded down to an
integer.
"""

from __future__ import annotations

from core.lang import *


class TreePlace(NamedArray):
    """Place of a search in its tree."""

    level: i32
    """Next item to decide."""
    left: i32
    """Capacity left."""
    done: i32
    """1 at the end of the search."""


class TreeNumbers(NamedArray):
    """Wide numbers of a search."""

    value: u64
    """Value of the items taken."""
    best: u64
    """Value of the incumbent."""
    nodes: u64
    """Number of nodes bounded so far."""


@bundle
class RankedItems:
    """Items in order of value per weight, largest first; weights at most the capacity.

    A capacity times a value fits 64 bits, since they have 31 and 32 bits.
    """

    weights: Array[i32]
    values: Array[u64]
    count: i32


@bundle
class KnapsackTreeState:
    """The state of a search.

    Attributes
    ----------
    taken, best : Array, items
        1 for each item of the current and of the best selection; ``taken`` is 0 from ``place.level`` on.
    """

    place: TreePlace
    numbers: TreeNumbers
    taken: Array[u8]
    best: Array[u8]


@function
def dantzig_bound(item: i32, capacity_left: i32, items: RankedItems) -> u64:
    """Return an upper bound of the value of items from ``item`` on within the capacity ``capacity_left``."""
    added = u64(0)
    while item < items.count:
        weight = items.weights[item]
        if weight > capacity_left:
            return added + u64(capacity_left) * items.values[item] // u64(weight)
        capacity_left -= weight
        added += items.values[item]
        item += 1
    return added


@kernel
def explore(items: RankedItems, search: KnapsackTreeState, budget: i64):
    """Continue the search to its end or for ``budget`` further nodes; one lane."""
    item = search.place.level
    capacity_left = search.place.left
    value = search.numbers.value
    incumbent = search.numbers.best
    nodes = i64(0)
    is_done = False
    while not is_done and nodes < budget:
        nodes += 1
        if value + dantzig_bound(item, capacity_left, items) > incumbent:
            while item < items.count and items.weights[item] <= capacity_left:
                capacity_left -= items.weights[item]
                value += items.values[item]
                search.taken[item] = u8(1)
                item += 1
            if item < items.count:
                item += 1  # leave out the first item that does not fit, and bound the rest again
                continue
            if value > incumbent:
                incumbent = value
                for k in range(items.count):
                    search.best[k] = search.taken[k]
        # backtrack to the last item taken, and leave it out
        item -= 1
        while item >= 0 and search.taken[item] == 0:
            item -= 1
        if item < 0:
            is_done = True
        else:
            search.taken[item] = u8(0)
            capacity_left += items.weights[item]
            value = value - items.values[item]
            item += 1
    search.place.level = item
    search.place.left = capacity_left
    search.place.done = i32(is_done)
    search.numbers.value = value
    search.numbers.best = incumbent
    search.numbers.nodes = search.numbers.nodes + u64(nodes)
