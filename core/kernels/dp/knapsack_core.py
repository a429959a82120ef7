"""The 0-1 knapsack problem by an expanding core: D. Pisinger, "A minimal algorithm for the 0-1 knapsack problem", 1997.

Items are in order of value per weight. The break solution takes all items before the first one that does not fit.
States of weight and value begin with it, and the items around the break are decided one after the other: those behind
it are added, those before it removed. A state that another one dominates is dropped, and so is a state or an item if
its bound does not exceed the incumbent. One lane merges the states; other lanes wait.
"""

from __future__ import annotations

from core.lang import *

FIRST, END, COUNT, SIDE, NODES, BEST_NODE = 0, 1, 2, 3, 4, 5
"""The place: decided items are `FIRST` to `END` - 1; number of states, their half of the lists, number of changes."""
BEST, KEPT = 0, 1
"""The numbers: the incumbent's value, and the states that were kept so far, with the first."""


@bundle
class CoreItems:
    """Items in order of value per weight, largest first; ``at`` is the first that the break solution does not take.

    Weights are 1 to the capacity, so that a weight times a value fits 64 bits.
    """

    weights: Array[i64]
    values: Array[i64]
    count: i32
    at: i32
    capacity: i64
    weight: i64
    value: i64


@bundle
class CoreStates:
    """The states, and the changes that led to them.

    Attributes
    ----------
    place : Array, 6; numbers : Array, 2
        See `FIRST` and `BEST`.
    weights, values, nodes : Array, 2 * room
        Two halves, one of which has the states, by ascending weight and value; a node is a state's last change.
    parents, changed : Array, changes
        The change before each one, and the item that it adds or removes; change 0 is none.
    """

    place: Array[i32]
    numbers: Array[i64]
    weights: Array[i64]
    values: Array[i64]
    nodes: Array[i32]
    parents: Array[i32]
    changed: Array[i32]
    room: i32
    changes: i32


@function
def forced_bound(items: CoreItems, weight: i64, value: i64) -> i64:
    """Return an upper bound of a selection's value after an item with this change of weight and value."""
    left = items.capacity - items.weight - weight
    return items.value + value + left * items.values[items.at] // items.weights[items.at]


@function
def state_bound(items: CoreItems, first: i32, end: i32, weight: i64, value: i64) -> i64:
    """Return an upper bound of a state's value after decisions for the items outside ``first`` to ``end`` - 1."""
    left = items.capacity - weight
    if left >= 0:
        if end == items.count:
            return value
        return value + left * items.values[end] // items.weights[end]
    if first == 0:
        return i64(-1)
    lost = items.values[first - 1]
    whole, part = (-left) // items.weights[first - 1], (-left) % items.weights[first - 1]
    if whole > value // lost:
        return i64(-1)
    return value - whole * lost + (-part * lost) // items.weights[first - 1]


@kernel
def expand(items: CoreItems, states: CoreStates, budget: i32):
    """Decide up to ``budget`` items; end early if no state is left, or if the lists are too short for another item."""
    if team_rank() == 0 and lane() == 0:
        first, end = states.place[FIRST], states.place[END]
        count, side = states.place[COUNT], states.place[SIDE]
        node, best_node = states.place[NODES], states.place[BEST_NODE]
        best, kept = states.numbers[BEST], states.numbers[KEPT]
        done = i32(0)
        while done < budget and count > 0 and 2 * count <= states.room and node + count <= states.changes:
            while end < items.count and forced_bound(items, items.weights[end], items.values[end]) <= best:
                end += 1
            while first > 0 and forced_bound(items, -items.weights[first - 1], -items.values[first - 1]) <= best:
                first -= 1
            if end == items.count and first == 0:
                count = 0
                break
            added = end < items.count and (first == 0 or end - items.at <= items.at - first)
            item = end
            if added:
                end += 1
            else:
                first -= 1
                item = first
            more = items.weights[item] if added else -items.weights[item]
            worth = items.values[item] if added else -items.values[item]
            here, there = side * states.room, (1 - side) * states.room
            stay, go, new = i32(0), i32(0), i32(0)
            last = i64(-1)
            while stay < count or go < count:
                goes = stay == count
                if not goes and go < count:
                    weight, moved = states.weights[here + stay], states.weights[here + go] + more
                    goes = moved < weight
                    if moved == weight:
                        goes = states.values[here + go] + worth > states.values[here + stay]
                weight, value, source = i64(0), i64(0), i32(0)
                if goes:
                    weight, value = states.weights[here + go] + more, states.values[here + go] + worth
                    source = states.nodes[here + go]
                    go += 1
                else:
                    weight, value = states.weights[here + stay], states.values[here + stay]
                    source = states.nodes[here + stay]
                    stay += 1
                if value > last:
                    better = weight <= items.capacity and value > best
                    if better or state_bound(items, first, end, weight, value) > best:
                        if goes:
                            states.parents[node] = source
                            states.changed[node] = item
                            source = node
                            node += 1
                        if better:
                            best = value
                            best_node = source
                        states.weights[there + new] = weight
                        states.values[there + new] = value
                        states.nodes[there + new] = source
                        new += 1
                        last = max(last, value)
            side = 1 - side
            count = new
            kept += i64(count)
            done += 1
        states.place[FIRST] = first
        states.place[END] = end
        states.place[COUNT] = count
        states.place[SIDE] = side
        states.place[NODES] = node
        states.place[BEST_NODE] = best_node
        states.numbers[BEST] = best
        states.numbers[KEPT] = kept
