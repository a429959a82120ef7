"""Better bounds for a core with many states: completions by one item, and an upper bound from the number of items.

S. Martello, D. Pisinger and P. Toth, "Dynamic programming and strong bounds for the 0-1 knapsack problem", 1999.
If values are weights plus a constant, the relaxation by value per weight hardly prunes. A selection of the largest
possible number of items is then best if it fills the capacity, and a bound from that number proves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SortedItems(NamedTuple):
    """The items of `kernels.expanding_core.CoreItems` in host memory; ``weights`` and ``values`` are i64."""

    weights: np.ndarray
    values: np.ndarray
    at: int
    capacity: int
    weight: int
    value: int


class Completion(NamedTuple):
    """The value of a state, given by its index, after it takes or gives up one undecided item."""

    value: int
    state: int
    item: int


def best_completion(items: SortedItems, first: int, end: int, weights: np.ndarray, values: np.ndarray) -> Completion:
    """Return the most valuable selection that fits and has one change more than a state; of equals the first.

    ``weights`` and ``values`` are the states', i64; items ``first`` to ``end`` - 1 are decided. Value -1: none fits.
    """
    slack = items.capacity - weights
    best = Completion(-1, 0, 0)
    for begin, stop, sign in ((end, len(items.weights), 1), (0, first, -1)):
        if begin == stop:
            continue
        changed_weights, changed_values = sign * items.weights[begin:stop], sign * items.values[begin:stop]
        order = np.argsort(changed_weights, kind="stable")
        largest = np.maximum.accumulate(changed_values[order])
        fitting = np.searchsorted(changed_weights[order], slack, side="right")
        completed = np.where(fitting > 0, values + largest[np.maximum(fitting, 1) - 1], -1)
        state = int(completed.argmax())
        if completed[state] > best.value:
            change = largest[fitting[state] - 1]
            is_item = (changed_values == change) & (changed_weights <= slack[state])
            best = Completion(int(completed[state]), state, begin + int(is_item.argmax()))
    return best


class FreeItems(NamedTuple):
    """Items that a better selection than the incumbent may change, and the capacity and value without the others.

    Items are in order of value per weight; the first ``taken`` fit.
    """

    weights: np.ndarray
    values: np.ndarray
    capacity: int
    value: int
    taken: int


def free_items(items: SortedItems, best: int) -> FreeItems:
    """Return the items without those that `core.tables.knapsack.kernels.expanding_core.forced_bound` decides."""
    signs = np.where(np.arange(len(items.weights)) < items.at, -1, 1)
    slack = items.capacity - items.weight - signs * items.weights
    bounds = items.value + signs * items.values + slack * items.values[items.at] // items.weights[items.at]
    is_free = bounds > best
    is_fixed = ~is_free[: items.at]
    return FreeItems(
        items.weights[is_free],
        items.values[is_free],
        items.capacity - int(items.weights[: items.at][is_fixed].sum()),
        int(items.values[: items.at][is_fixed].sum()),
        int(is_free[: items.at].sum()),
    )


def relaxed(free: FreeItems, price: int) -> tuple[int, int, bool]:
    """Relax the problem in which every item costs ``price``: return a bound, and the number of items that it takes.

    The number is that of whole items; the last word is True if a part of another one follows. The bound is exact
    whatever the rounding of the order: a Lagrangian one, of the break item's value per weight.
    """
    is_gain = free.values > price
    weights, gains = free.weights[is_gain], free.values[is_gain] - price
    order = np.argsort(-gains / weights, kind="stable")
    weights, gains = weights[order], gains[order]
    total_weights = np.cumsum(weights)
    whole_items = int(np.searchsorted(total_weights, free.capacity, side="right"))
    bound = int(gains[:whole_items].sum())
    if whole_items == len(weights):
        return bound, whole_items, False
    slack = free.capacity - int(weights[:whole_items].sum())
    excess = gains * weights[whole_items] - gains[whole_items] * weights
    misplaced = int(np.maximum(-excess[:whole_items], 0).sum() + np.maximum(excess[whole_items:], 0).sum())
    return bound + (slack * int(gains[whole_items]) + misplaced) // int(weights[whole_items]), whole_items, slack > 0


def cardinality_bound(items: SortedItems, best: int) -> int:
    """Return an upper bound of all selections better than ``best``, from the number of items that they may have.

    The bound is of the surrogate relaxation with that number: each item has a price, or a bonus, that a bisection
    chooses. If the relaxation by value per weight has a possible number of items, its bound is returned.
    """
    free = free_items(items, best)
    if len(free.weights) == 0:
        return best
    bound = free.value + relaxed(free, 0)[0]
    most = int(np.searchsorted(np.cumsum(np.sort(free.weights)), free.capacity, side="right"))
    least = 1 + int(np.searchsorted(np.cumsum(np.sort(free.values)[::-1]), best - free.value, side="right"))
    if most > free.taken and least <= free.taken:
        return bound
    is_most = most == free.taken
    number, sign = (most, 1) if is_most else (least, -1)
    low, high = 0, int(free.values.max()) + 1
    while high - low > 1:
        price = (low + high) // 2
        value, taken, is_more = relaxed(free, sign * price)
        bound = min(bound, free.value + sign * price * number + value)
        if taken + is_more > number if is_most else taken < number:
            low = price
        else:
            high = price
    return bound
