"""The 0-1 knapsack problem on the generic engine, by diagonals (`oconnell2014`, equation 4)."""

from __future__ import annotations

import numpy as np

from core.lang import Function, u32
from core.tables.engine.kernels.diagonals import ItemColumns, packed_value
from core.tables.engine.recurrences import Diagonals, TableAnswer, WaveResult, WaveRing
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.table import value_type


def smallest(instance: Knapsack) -> Knapsack:
    """Return two items with values of the same type, to compile programs with."""
    value = 1 if value_type(instance) is u32 else 2**32 - 1
    return Knapsack("two items", np.ones(2, int), np.full(2, value), 2)


class KnapsackDiagonals(Diagonals):
    """The best values of the first items within all capacities, with a lane for each item.

    Items are in the project's order, by weight and then by number, on which its rule for ties is based. Items that do
    not fit, or are worth nothing, change no cell. The diagonal of an item i and a capacity j follows from those before
    it back to j minus the heaviest weight, so the device keeps one more than that weight; the paper keeps all "until
    the halfway point".
    """

    cell: Function = packed_value

    def __init__(self, instance: Knapsack) -> None:
        self.value = value_type(instance)
        self.instance = instance
        self.order = np.argsort(instance.weights, kind="stable")
        fits = instance.weights[self.order] <= instance.capacity
        self.weights = np.where(fits, instance.weights[self.order], 0).astype(np.int64)
        self.values = np.where(fits, instance.values[self.order], 0)
        self.lookback = 1 + int(self.weights.max())

    def sides(self) -> tuple[int, int]:
        return self.instance.n, self.instance.capacity + 1

    def lie(self, ring: WaveRing) -> None:
        weights, values = np.zeros(ring.lanes, np.int32), np.zeros(ring.lanes, self.value.dtype)
        weights[: self.instance.n], values[: self.instance.n] = self.weights, self.values
        self.data = ItemColumns(weights, values, weights * np.int32(ring.stride), ring.cells)

    def answer(self, result: WaveResult) -> TableAnswer:
        """Return the value and, if cells were kept, the selection, traced from the last item to the first."""
        cells = result.cells
        if cells is None:
            return TableAnswer(result.value)
        chosen, capacity = np.zeros(self.instance.n, bool), self.instance.capacity
        for k in reversed(range(self.instance.n)):
            without = cells.at(k - 1 + capacity, k - 1) if k else 0
            if cells.at(k + capacity, k) > without:
                chosen[self.order[k]] = True
                capacity -= int(self.weights[k])
        return TableAnswer(result.value, chosen, result.streamed_bytes)
