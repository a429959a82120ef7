"""Checkpoint of a knapsack table: rows of values, and the decided items.

See `core.search.dp.engine.checkpoints`: after a row the table continues over the other items. When they are traced, a
smaller knapsack is left, with the items before the row and the remaining capacity. The decision on an item depends only
on the items before it, so the selection is that of a single table. A row has all capacities: with checkpoints two ranks
share the capacities, as more ranks do, instead of the items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.search.checkpoint import Checkpoint, CheckpointArray
from core.search.dp.engine.checkpoints import RowCheckpoints
from core.search.dp.engine.table_search import TableRun
from core.search.dp.knapsack.table import KnapsackTable
from core.search.run import Step, SynchronousRun

NUMBERS, TAKEN = "numbers", "taken"


class CheckpointedKnapsack:
    """A run with checkpoints (`core.search.run.Steps`): one table; of a resumed run one for every row.

    The ``undecided`` items are the first ones; ``capacity`` is left for them, and ``rows`` after some of them have the
    capacities up to it. ``value`` is the largest value, as soon as an item is decided, and ``taken``, (items,), u8, is
    1 for each decided item that is taken.
    """

    def __init__(self, search: Any, table_run: TableRun) -> None:
        self.search = search
        self.trace, self.progress, self.ranks, _ = table_run
        self.together = search.backend.collectives(self.ranks)
        self.items, self.dtype = len(search.items), np.dtype(search.value_type.dtype)
        self.streamed_bytes = 0

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.rows, self.taken = RowCheckpoints(), np.zeros(self.items, np.uint8)
        self.undecided, self.capacity, self.value = self.items, self.search.capacity, 0
        if checkpoint is not None:
            self.rows, self.taken = RowCheckpoints.of(checkpoint), checkpoint[TAKEN].copy()
            self.undecided, self.capacity, self.value = (int(number) for number in checkpoint[NUMBERS])
        is_whole = self.undecided == self.items and not self.rows.places and self.search.half is None
        if not is_whole:
            self.search.table.give_back()  # other tables need the memory
        self.start(self.search.table if is_whole else None)

    def start(self, table: KnapsackTable | None) -> None:
        """Begin with a table, by default that of the undecided items after the last row."""
        self.first, row = self.rows.last
        self.at = 0
        self.table = table or self.search.table_of(self.first, self.undecided, self.capacity, row)
        self.table.start(self.together, self.trace)

    def step(self, run: SynchronousRun) -> Step:
        begin, passes = self.at, self.table.passes
        self.at = min(passes, begin + run.budget().steps)
        is_first = self.undecided == self.items
        self.table.advance(begin, self.at, self.report if self.progress is not None and is_first else None)
        self.search.backend.synchronize()
        is_done = self.at == passes
        if is_done and is_first:
            self.value = self.search.value_of(self.table, self.ranks)
        if is_done and self.trace:
            self.decide()
            is_done = self.undecided == 0
        return Step(self.at - begin or 1, undone=int(not is_done))

    def decide(self) -> None:
        self.streamed_bytes += int(self.ranks.sum(self.table.streamed_bytes))
        taken, self.capacity = self.search.traced(self.table, self.ranks)
        self.taken[self.first : self.undecided] = self.ranks.sum(taken)
        self.undecided = self.first
        self.rows = self.rows.before(self.first).narrowed(self.capacity + 1)
        if self.undecided:
            del self.table  # the next one needs its memory
            self.start(None)

    def report(self, done: int) -> None:
        assert self.progress is not None
        self.progress(self.first + done, self.items)

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        rows = self.rows
        if self.at > 0:
            row = self.table.values(self.ranks, self.at)
            if row is None:
                return None
            done = self.first + 2 * self.at - self.table.items.spare
            # The last cell counts for all larger capacities.
            rows = rows.with_row(done, np.pad(row, (0, self.capacity + 1 - row.size), mode="edge"))
        numbers = np.array([self.undecided, self.capacity, self.value], np.uint64)
        return {**rows.state(self.capacity + 1, self.dtype), NUMBERS: numbers, TAKEN: self.taken.copy()}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        instance, numbers, capacity = self.search.instance, self.search.items, self.search.capacity
        weights, values = (column[numbers].astype(np.int64) for column in (instance.weights, instance.values))
        items, most_value = self.items, int(values.sum())
        yield CheckpointArray(NUMBERS, np.uint64, (3,), [(1, items), (0, capacity), (0, most_value)])
        undecided, left, value = (int(number) for number in state[NUMBERS])

        def same_capacity(is_taken: np.ndarray) -> str | None:
            if is_taken[:undecided].any():
                return f"found item {int(is_taken.argmax())} taken, expected the first {undecided} to be undecided"
            weight, total = (int(column[is_taken > 0].sum()) for column in (weights, values))
            if undecided < items and (weight != capacity - left or total > value):
                found, expected = f"weight {weight} and value {total}", f"{capacity - left} and at most {value}"
                return f"found items of {found}, expected {expected}"
            return None

        yield CheckpointArray(TAKEN, np.uint8, (items,), [(0, 1)], same_capacity)
        yield from RowCheckpoints.layout(state, undecided, left + 1, self.dtype)

    def result(self, run: SynchronousRun) -> tuple[int, np.ndarray | None, int]:
        """Return the largest value, the instance's selected items if traced, and the streamed bytes."""
        if not self.trace:
            return self.value, None, 0
        chosen = np.zeros(self.search.instance.n, bool)
        chosen[self.search.items] = self.taken > 0
        return self.value, chosen, self.streamed_bytes
