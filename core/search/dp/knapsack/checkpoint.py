"""Checkpoint of a knapsack table: rows of values, and the decided items.

See `core.search.dp.engine.checkpoints`: behind a row the table goes on over the other items, and when they are traced a
smaller knapsack is left, with the items before the row and the capacity that the others leave them. Whether an item is
taken depends on the items before it alone, so the selection is that of a single table. A row is one of all capacities,
whoever computed it: two ranks, which have half of the items each where no state is kept, share the capacities here as
more of them do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from core.search.checkpoint_layout import Checkpoint, CheckpointArray
from core.search.dp.engine.checkpoints import RowCheckpoints
from core.search.dp.engine.table_search import TableRun
from core.search.run import Step, SynchronousRun

NUMBERS, TAKEN = "numbers", "taken"


class KnapsackCheckpoint(NamedTuple):
    """Known part of a knapsack.

    Rows are those of capacities up to ``capacity``, which the ``undecided`` first items have left. ``value`` is the
    largest, as soon as an item is decided, and ``taken`` is 1 for each decided item that is taken.
    """

    rows: RowCheckpoints
    undecided: int
    capacity: int
    value: int
    taken: np.ndarray
    dtype: np.dtype

    @classmethod
    def of(cls, state: Checkpoint | None, items: int, capacity: int, dtype: Any) -> KnapsackCheckpoint:
        if state is None:
            return cls(RowCheckpoints(), items, capacity, 0, np.zeros(items, np.uint8), np.dtype(dtype))
        undecided, left, value = (int(number) for number in state[NUMBERS])
        return cls(RowCheckpoints.of(state), undecided, left, value, state[TAKEN].copy(), np.dtype(dtype))

    def state(self) -> Checkpoint:
        numbers = np.array([self.undecided, self.capacity, self.value], np.uint64)
        return {**self.rows.state(self.capacity + 1, self.dtype), NUMBERS: numbers, TAKEN: self.taken}

    def with_row(self, items: int, row: np.ndarray) -> KnapsackCheckpoint:
        """This and the row after ``items`` items; its last cell counts for all larger capacities."""
        whole = np.pad(row, (0, self.capacity + 1 - row.size), mode="edge")
        return self._replace(rows=self.rows.with_row(items, whole))

    def decided(self, first: int, taken: np.ndarray, capacity: int, value: int) -> KnapsackCheckpoint:
        """This when the items from ``first`` on are traced and leave ``capacity`` to those before."""
        every = self.taken.copy()
        every[first : self.undecided] = taken
        return KnapsackCheckpoint(
            self.rows.before(first).narrowed(capacity + 1), first, capacity, value, every, self.dtype
        )

    @property
    def begins(self) -> bool:
        return self.undecided == len(self.taken) and not self.rows.places


def layout(
    state: Checkpoint, weights: np.ndarray, values: np.ndarray, capacity: int, dtype: Any
) -> Iterator[CheckpointArray]:
    """Declare the state of a knapsack of these items, in the order in which they are taken."""
    items, most = len(weights), int(values.sum())
    yield CheckpointArray(NUMBERS, np.uint64, (3,), [(1, items), (0, capacity), (0, most)])
    undecided, left, value = (int(number) for number in state[NUMBERS])

    def same_capacity(taken: np.ndarray) -> str | None:
        if taken[:undecided].any():
            return f"found item {int(taken.argmax())} taken, expected the first {undecided} to be undecided"
        weight, worth = (int(column[taken > 0].sum()) for column in (weights, values))
        if undecided < items and (weight != capacity - left or worth > value):
            found, expected = f"weight {weight} and value {worth}", f"{capacity - left} and at most {value}"
            return f"found items of {found}, expected {expected}"
        return None

    yield CheckpointArray(TAKEN, np.uint8, (items,), [(0, 1)], same_capacity)
    yield from RowCheckpoints.layout(state, undecided, left + 1, dtype)


class CheckpointedKnapsack:
    """A run with checkpoints (`core.search.run.Steps`): one table; of a resumed run one for every row."""

    def __init__(self, search: Any, table_run: TableRun) -> None:
        self.search, self.trace, self.progress, self.ranks = (
            search,
            table_run.trace,
            table_run.progress,
            table_run.ranks,
        )
        self.together = search.backend.collectives(self.ranks)
        self.items, self.dtype = len(search.items), search.value_type.dtype
        self.value = self.streamed_bytes = 0

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.known = KnapsackCheckpoint.of(checkpoint, self.items, self.search.capacity, self.dtype)
        is_whole = self.known.begins and self.search.half is None
        if not is_whole:
            self.search.table.give_back()  # other tables need the memory
        self.start(self.search.table if is_whole else None)

    def start(self, table: Any) -> None:
        """Begin with a table; None: with that of the undecided items behind the last row."""
        self.first, above = self.known.rows.last
        self.at = 0
        self.table = table or self.search.table_of(self.first, self.known.undecided, self.known.capacity, above)
        self.table.start(self.together, self.trace)

    def step(self, run: SynchronousRun) -> Step:
        begin, passes = self.at, self.table.passes
        self.at = min(passes, begin + run.budget().steps)
        is_first = self.known.undecided == self.items
        self.table.advance(begin, self.at, self.report if self.progress is not None and is_first else None)
        self.search.backend.synchronize()
        is_done = self.at == passes
        if is_done:
            self.value = self.search.value_of(self.table, self.ranks) if is_first else self.known.value
        if is_done and self.trace:
            self.decide()
            is_done = self.known.undecided == 0
        return Step(self.at - begin or 1, undone=int(not is_done))

    def decide(self) -> None:
        self.streamed_bytes += int(self.ranks.sum(self.table.streamed_bytes))
        taken, left = self.search.traced(self.table, self.ranks)
        self.known = self.known.decided(self.first, self.ranks.sum(taken), left, self.value)
        if self.known.undecided:
            self.table = None  # the next one needs its memory
            self.start(None)

    def report(self, done: int) -> None:
        assert self.progress is not None
        self.progress(self.first + done, self.items)

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        if self.at == 0:
            return self.known.state()
        row = self.table.values(self.ranks, self.at)
        done = self.first + 2 * self.at - self.table.items.spare
        return None if row is None else self.known.with_row(done, row).state()

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        search = self.search
        columns = (
            column[search.items].astype(np.int64) for column in (search.instance.weights, search.instance.values)
        )
        return layout(state, *columns, search.capacity, self.dtype)

    def result(self, run: SynchronousRun) -> tuple[int, np.ndarray | None, int]:
        """The largest value, the instance's items that are taken if they are wanted, and the streamed bytes."""
        if not self.trace:
            return self.value, None, 0
        chosen = np.zeros(self.search.instance.n, bool)
        chosen[self.search.items] = self.known.taken > 0
        return self.value, chosen, self.streamed_bytes
