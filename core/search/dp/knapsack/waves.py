"""The 0-1 knapsack problem on the generic engine: a launch for every item, as in the paper (`oconnell2014`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels.dp.knapsack import KnapsackItems, best_value
from core.problems.tables.knapsack import Knapsack
from core.search.dp.engine.waves import WaveEngine, Waves
from core.search.protocol import CountCallback


class KnapsackWaves(Waves):
    """Equation 4 of the paper for its engine: a wave is an item, and its cells are the capacities.

    Parameters
    ----------
    instance : Knapsack
    items : ndarray, int64
        Their numbers, in the order in which they are taken.
    value_type
        ``u32`` or ``u64``.

    """

    lookback = 1
    choices = 1
    cell = best_value

    def __init__(self, instance: Knapsack, items: np.ndarray, value_type: Any) -> None:
        self.value = value_type
        self.instance, self.items = instance, items
        weights, values = np.zeros(self.waves(), np.int32), np.zeros(self.waves(), value_type.dtype)
        weights[: len(items)] = instance.weights[items]
        values[: len(items)] = instance.values[items]
        self.data = KnapsackItems(weights, values)

    def waves(self) -> int:
        """One for each item; a single one that takes nothing if there are no items."""
        return max(1, len(self.items))

    def cells(self, wave: int) -> int:
        """Capacities from 0 on."""
        return self.instance.capacity + 1

    def width(self) -> int:
        """As many in every wave."""
        return self.instance.capacity + 1


class KnapsackByWaves:
    """Computes the table wave by wave, and traces it on the host.

    Parameters
    ----------
    backend, communicator, room, folder
        See `core.search.dp.engine.waves.WaveEngine`, which refuses several ranks.
    problem : KnapsackWaves

    """

    def __init__(
        self, backend: Any, communicator: Any, problem: KnapsackWaves, room: int | None, folder: str | None
    ) -> None:
        self.problem = problem
        self.engine = WaveEngine(backend, communicator, problem, room, folder)

    def run(self, trace: bool, progress: CountCallback | None) -> tuple[int, np.ndarray | None, int]:
        """The largest value, the selection if it is traced, and the bytes of decisions that left the device."""
        instance, items = self.problem.instance, self.problem.items
        result = self.engine.run(trace, progress)
        value = int(result.last[-1])
        if result.decisions is None:
            return value, None, 0
        chosen = np.zeros(instance.n, bool)
        cell = instance.capacity
        for wave in reversed(range(len(items))):
            if result.decisions.at(wave, cell):
                chosen[items[wave]] = True
                cell -= int(instance.weights[items[wave]])
        return value, chosen, result.decisions.rows.streamed_bytes
