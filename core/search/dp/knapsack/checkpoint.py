"""Checkpoint of a knapsack table: rows of values, and the decided items.

See `core.search.dp.engine.checkpoints`: behind a row the table goes on over the other items, and when they are traced a
smaller knapsack is left, with the items before the row and the capacity that the others leave them. Whether an item is
taken depends on the items before it alone, so the selection is that of a single table. A row is one of all capacities,
whoever computed it: two ranks, which have half of the items each where no state is kept, share the capacities here as
more of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.kernels.dp.knapsack import CELL
from core.search.checkpoint import Checkpointer
from core.search.checkpoint_layout import Checkpoint, CheckpointArray
from core.search.dp.engine.checkpoints import RowCheckpoints
from core.search.dp.engine.pauses import CheckpointPauses
from core.search.protocol import CountCallback

NUMBERS, TAKEN = "numbers", "taken"


class KnapsackCheckpoint(NamedTuple):
    """What is known of a knapsack.

    Attributes
    ----------
    rows : Checkpoints
        Rows after some of the first ``undecided`` items, of the capacities up to ``capacity``.
    undecided, capacity : int
        The items that are not decided, which are the first ones, and the capacity that the others leave them.
    value : int
        The largest, as soon as an item is decided.
    taken : (items,), u8
        Which of the others are taken.
    dtype
        Of the rows.

    """

    rows: RowCheckpoints
    undecided: int
    capacity: int
    value: int
    taken: np.ndarray
    dtype: np.dtype

    @classmethod
    def of(
        cls, checkpointer: Checkpointer, weights: np.ndarray, values: np.ndarray, capacity: int, dtype: Any
    ) -> KnapsackCheckpoint:
        """Return the content of the state from which a run resumes; where there is none, nothing is known.

        Parameters
        ----------
        checkpointer
            Of this rank.
        weights, values : (items,), i64
            Of the items.
        capacity
            Of them all.
        dtype
            Of a row's values.

        """
        items = len(weights)
        state = checkpointer.taken(partial(layout, weights=weights, values=values, capacity=capacity, dtype=dtype))
        if state is None:
            return cls(RowCheckpoints(), items, capacity, 0, np.zeros(items, np.uint8), np.dtype(dtype))
        undecided, left, value = (int(number) for number in state[NUMBERS])
        return cls(RowCheckpoints.of(state), undecided, left, value, state[TAKEN].copy(), np.dtype(dtype))

    def state(self) -> Checkpoint:
        """The same as arrays."""
        numbers = np.array([self.undecided, self.capacity, self.value], np.uint64)
        return {**self.rows.state(self.capacity + 1, self.dtype), NUMBERS: numbers, TAKEN: self.taken}

    def with_row(self, items: int, row: np.ndarray) -> KnapsackCheckpoint:
        """This and the row after so many items, whose last cell stands for all larger capacities."""
        whole = np.pad(row, (0, self.capacity + 1 - row.size), mode="edge")
        return self._replace(rows=self.rows.with_row(items, whole))

    def decided(self, first: int, taken: np.ndarray, capacity: int, value: int) -> KnapsackCheckpoint:
        """This when the items from ``first`` on have been traced, which leave so much capacity to those before."""
        every = self.taken.copy()
        every[first : self.undecided] = taken
        return KnapsackCheckpoint(
            self.rows.before(first).narrowed(capacity + 1), first, capacity, value, every, self.dtype
        )

    @property
    def begins(self) -> bool:
        """Whether nothing is known."""
        return self.undecided == len(self.taken) and not self.rows.places


def layout(
    state: Checkpoint, weights: np.ndarray, values: np.ndarray, capacity: int, dtype: Any
) -> Iterator[CheckpointArray]:
    """Declare the state of a knapsack; see `KnapsackCheckpoint.of`."""
    items, most = len(weights), int(values.sum())
    yield CheckpointArray(NUMBERS, np.uint64, (3,), [(1, items), (0, capacity), (0, most)])
    undecided, left, value = (int(number) for number in state[NUMBERS])

    def same_capacity(taken: np.ndarray) -> str | None:
        """Compare what the items taken weigh and are worth with what is left and known."""
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
    """A run that keeps its state: one table, and if it has gone on from rows one for every row.

    Parameters
    ----------
    search
        A `core.search.dp.knapsack.search.KnapsackSearch` that has tables.
    ranks
        Who computes them together.
    checkpointer
        Of this rank.

    """

    def __init__(self, search: Any, ranks: Any, checkpointer: Checkpointer) -> None:
        self.search, self.ranks, self.checkpointer = search, ranks, checkpointer
        self.together = search.backend.collectives(ranks)
        self.pauses = CheckpointPauses(checkpointer, ranks)
        self.items = len(search.items)
        instance, dtype = search.instance, search.value_type.dtype
        weights, values = (column[search.items].astype(np.int64) for column in (instance.weights, instance.values))
        self.packing = KnapsackCheckpoint.of(checkpointer, weights, values, search.capacity, dtype)

    def run(self, trace: bool, progress: CountCallback | None) -> tuple[int, np.ndarray | None, int]:
        """The largest value, which of the instance's items are taken if that is wanted, and the streamed bytes."""
        search, streamed = self.search, 0
        if not self.packing.begins or search.half is not None:
            search.table.give_back()  # other tables need the memory
        while True:
            table = self.next_table()
            first, told = self.packing.rows.last[0], None
            is_first = self.packing.undecided == self.items
            if progress is not None and is_first:
                told = partial(report_items, progress, first, self.items)
            table.compute(self.together, trace, told, self.pauses, self.keep(table))
            value = search.value_of(table, self.ranks) if is_first else self.packing.value
            if not trace:
                return value, None, 0
            streamed += int(self.ranks.sum(table.streamed_bytes))
            taken = self.ranks.sum(search.traced(table, self.ranks))
            left = int(search.backend.download(table.trace)[CELL])
            self.packing = self.packing.decided(first, taken, left, value)
            if self.packing.undecided == 0:
                break
            if self.pauses.are_over(1):
                self.checkpointer.keep(self.ranks, self.packing.state())
        chosen = np.zeros(search.instance.n, bool)
        chosen[search.items] = self.packing.taken > 0
        return value, chosen, streamed

    def next_table(self) -> Any:
        """The table of the undecided items behind the last row."""
        if self.packing.begins and self.search.half is None:
            return self.search.table
        first, above = self.packing.rows.last
        return self.search.table_of(first, self.packing.undecided, self.packing.capacity, above)

    def keep(self, table: Any) -> Callable[[int], None]:
        """What keeps the state after some passes of a table."""
        first = self.packing.rows.last[0]

        def kept(passes: int) -> None:
            row = table.values(self.ranks, passes)
            done = first + 2 * passes - table.items.spare
            self.checkpointer.keep(self.ranks, None if row is None else self.packing.with_row(done, row).state())

        return kept


def report_items(progress: CountCallback, first: int, items: int, done: int) -> None:
    """Tell of items behind the first ones."""
    progress(first + done, items)
