"""The 0-1 knapsack problem by an expanding core: D. Pisinger, "A minimal algorithm for the 0-1 knapsack problem", 1997.

Items are in order of value per weight. The break solution takes all items before the first one that does not fit.
States of weight and value begin with it. The items around the break are decided one after the other: items after it
are added, items before it removed. Dominated states are dropped, and so are states and items with a bound that does not
exceed the incumbent. One lane merges the states; other lanes wait.
"""

from __future__ import annotations

from core.lang import *


class CorePlace(NamedArray):
    """Progress of a search."""

    first: i32
    """First decided item."""
    end: i32
    """End of the decided items."""
    count: i32
    """Number of states."""
    side: i32
    """Half of the lists with the states."""
    nodes: i32
    """Number of changes."""
    best_node: i32
    """Last change of the incumbent."""


class CoreNumbers(NamedArray):
    """Wide numbers of a search."""

    best: i64
    """Value of the incumbent."""
    kept: i64
    """Number of states kept so far, including the first."""


@bundle
class CoreItems:
    """Items in order of value per weight, largest first; ``at`` is the first item outside the break solution.

    Weights are 1 to the capacity, so a weight times a value fits 64 bits.
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
    """The states, and the changes that lead to them.

    Attributes
    ----------
    weights, values, nodes : Array, 2 * room
        Two halves. One has the states, by ascending weight and value; a node is a state's last change.
    parents, changed : Array, changes
        The previous change of each change, and its item; change 0 is the start.
    """

    place: CorePlace
    numbers: CoreNumbers
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
    slack = items.capacity - items.weight - weight
    return items.value + value + slack * items.values[items.at] // items.weights[items.at]


@function
def state_bound(items: CoreItems, first: i32, end: i32, weight: i64, value: i64) -> i64:
    """Return an upper bound of a state's value after decisions for the items outside ``first`` to ``end`` - 1."""
    slack = items.capacity - weight
    if slack >= 0:
        if end == items.count:
            return value
        return value + slack * items.values[end] // items.weights[end]
    if first == 0:
        return i64(-1)
    lost = items.values[first - 1]
    items_removed, remainder = (-slack) // items.weights[first - 1], (-slack) % items.weights[first - 1]
    if items_removed > value // lost:
        return i64(-1)
    return value - items_removed * lost + (-remainder * lost) // items.weights[first - 1]


@function
def next_useful_end(items: CoreItems, end: i32, best: i64) -> i32:
    """Return the first item from ``end`` on that may improve the incumbent if it is added."""
    while end < items.count and forced_bound(items, items.weights[end], items.values[end]) <= best:
        end += 1
    return end


@function
def next_useful_first(items: CoreItems, first: i32, best: i64) -> i32:
    """Return the end of the items before ``first`` without the last ones that cannot improve the incumbent."""
    while first > 0 and forced_bound(items, -items.weights[first - 1], -items.values[first - 1]) <= best:
        first -= 1
    return first


@function
def is_changed_next(
    states: CoreStates, unchanged: i32, changed: i32, end: i32, weight_change: i64, value_change: i64
) -> boolean:
    """Return True if the next merged state is a changed one: it is lighter, or as heavy and more valuable."""
    is_next = unchanged == end
    if not is_next and changed < end:
        weight, changed_weight = states.weights[unchanged], states.weights[changed] + weight_change
        is_next = changed_weight < weight
        if changed_weight == weight:
            is_next = states.values[changed] + value_change > states.values[unchanged]
    return is_next


@kernel
def expand(items: CoreItems, states: CoreStates, budget: i32):
    """Decide up to ``budget`` items; stop if no state is left, or if the lists are too short for another item."""
    if team_rank() == 0 and lane() == 0:
        first, end = states.place.first, states.place.end
        count, side = states.place.count, states.place.side
        node, best_node = states.place.nodes, states.place.best_node
        best, states_kept = states.numbers.best, states.numbers.kept
        decided = i32(0)
        while decided < budget and count > 0 and 2 * count <= states.room and node + count <= states.changes:
            end, first = next_useful_end(items, end, best), next_useful_first(items, first, best)
            if end == items.count and first == 0:
                count = 0
                break
            is_added = end < items.count and (first == 0 or end - items.at <= items.at - first)
            item = end
            if is_added:
                end += 1
            else:
                first -= 1
                item = first
            weight_change = items.weights[item] if is_added else -items.weights[item]
            value_change = items.values[item] if is_added else -items.values[item]
            begin, new_half = side * states.room, (1 - side) * states.room
            unchanged, changed, new_count = begin, begin, i32(0)
            largest_value = i64(-1)
            while unchanged < begin + count or changed < begin + count:
                is_changed = is_changed_next(states, unchanged, changed, begin + count, weight_change, value_change)
                state = changed if is_changed else unchanged
                weight, value, source = states.weights[state], states.values[state], states.nodes[state]
                if is_changed:
                    weight += weight_change
                    value += value_change
                    changed += 1
                else:
                    unchanged += 1
                if value > largest_value:
                    is_better = weight <= items.capacity and value > best
                    if is_better or state_bound(items, first, end, weight, value) > best:
                        if is_changed:
                            states.parents[node] = source
                            states.changed[node] = item
                            source = node
                            node += 1
                        if is_better:
                            best = value
                            best_node = source
                        states.weights[new_half + new_count] = weight
                        states.values[new_half + new_count] = value
                        states.nodes[new_half + new_count] = source
                        new_count += 1
                        largest_value = max(largest_value, value)
            side = 1 - side
            count = new_count
            states_kept += i64(count)
            decided += 1
        states.place.first = first
        states.place.end = end
        states.place.count = count
        states.place.side = side
        states.place.nodes = node
        states.place.best_node = best_node
        states.numbers.best = best
        states.numbers.kept = states_kept
