"""The 0-1 knapsack problem by the paper's own mapping (`oconnell2014`, section IV.C): a launch for each diagonal.

Every cell goes to the host (`core.search.dp.engine.cells`). There the selection is traced by the suite's rules for
ties, so it is the one that the suite's own kernels find.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels.dp.diagonals import ItemColumns, packed_value
from core.lang import u32, u64
from core.problems.tables.knapsack import Knapsack
from core.search.checkpoint import Checkpointer
from core.search.dp.engine.cells import CellEngine, HostCells, WaveRing
from core.search.dp.engine.diagonals import LaneDiagonals
from core.search.dp.engine.pauses import refuse_checkpoints
from core.search.dp.knapsack.search import Selection, make_selection
from core.search.protocol import Callback, table_monitor
from core.search.stop import Stop


class KnapsackDiagonals(LaneDiagonals):
    """Equation 4: the best values of the first items within all capacities, with a lane for each item.

    Items come in the suite's order, by weight and then by number, of which its rule for ties speaks. Those that do not
    fit, or are worth nothing, change no cell.

    Parameters
    ----------
    instance : Knapsack
    value_type
        ``u32`` or ``u64``.

    """

    cell = packed_value

    def __init__(self, instance: Knapsack, value_type: Any) -> None:
        self.value = value_type
        self.order = np.argsort(instance.weights, kind="stable")
        fits = instance.weights[self.order] <= instance.capacity
        self.weights = np.where(fits, instance.weights[self.order], 0).astype(np.int64)
        self.values = np.where(fits, instance.values[self.order], 0)
        self.columns, self.rows = instance.n, instance.capacity + 1
        self.lookback = 1 + int(self.weights.max())

    def lie(self, ring: WaveRing) -> None:
        """Place the items, and what lies how far before what they follow from."""
        weights, values = np.zeros(ring.lanes, np.int32), np.zeros(ring.lanes, self.value.dtype)
        weights[: self.columns], values[: self.columns] = self.weights, self.values
        self.data = ItemColumns(weights, values, weights * np.int32(ring.stride), ring.cells)


class KnapsackByDiagonals:
    """The 0-1 knapsack problem; see `core.search.dp.knapsack.search.KnapsackSearch`, whose answer is the same.

    The diagonal of an item i and a capacity j follows from those before it back to j minus the heaviest weight, so the
    device keeps one more than that weight; the paper keeps all "until the halfway point".

    Parameters
    ----------
    backend, communicator, folder, team_size
        See `core.search.dp.engine.cells.CellEngine`, which refuses several ranks.
    instance : Knapsack

    """

    work_unit = "cells"

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        instance: Knapsack,
        *,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        self.backend, self.communicator, self.instance, self.team_size = backend, communicator, instance, team_size
        self.items = np.arange(instance.n)
        self.work = instance.n * (instance.capacity + 1)
        self.problem = KnapsackDiagonals(instance, u32 if instance.upper_bound() < 2**32 else u64)
        self.engine = CellEngine(backend, communicator, self.problem, folder, team_size)

    def make_room(self) -> None:
        """See `CellEngine.make_room`."""
        self.engine.make_room()

    def warm_up(self) -> None:
        """Compile everything, by a run with one item; the time counts as the backend's compilation."""
        few = KnapsackDiagonals(Knapsack("one item", np.ones(1, int), np.ones(1, int), 1), self.problem.value)
        with self.backend.warming_up():
            CellEngine(self.backend, self.communicator, few, team_size=self.team_size).run(keep=False)

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
        trace: bool = True,
    ) -> Selection:
        """Find the largest value, and with ``trace`` a selection that has it, from the cells on the host.

        See `KnapsackSearch.run`; its steps are diagonals, the only rank has nobody to meet, and no state is kept.
        """
        refuse_checkpoints(checkpointer, "--mapping published", "--mapping native")
        monitor = table_monitor(stop, history, callback, "the knapsack problem's table")
        value = int(self.engine.run(trace, monitor.counts(self.work))[-1])
        monitor.tell_all(value, self.work)
        cells = self.engine.cells
        if not trace or cells is None:
            return make_selection(self.instance, value, None, cells=self.work)
        chosen = self._chosen(cells)
        return make_selection(self.instance, value, chosen, cells=self.work, streamed_bytes=cells.streamed_bytes)

    def _chosen(self, cells: HostCells) -> np.ndarray:
        """The selection: of the last item first, each is taken where that is worth more than leaving it."""
        chosen = np.zeros(self.instance.n, bool)
        left = self.instance.capacity
        for k in reversed(range(len(self.items))):
            without = cells.at(k - 1 + left, k - 1) if k else 0
            if cells.at(k + left, k) > without:
                chosen[self.problem.order[k]] = True
                left -= int(self.problem.weights[k])
        return chosen
