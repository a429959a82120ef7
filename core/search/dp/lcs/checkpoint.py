"""Longest common subsequence with checkpoints: the table in stretches of rows, one for each pause.

Lanes compute a table as a wave, so no row is complete before its end. A run with checkpoints cuts the table: each
stretch is a separate table below the last row of the one before. Rows are kept without bits, which would be too many
for a checkpoint. The trace computes its stretches again, up to its column: about half of the table for similar strings.
So such a run costs about twice as much with a trace; without one, it adds the start and end of the wave of each
stretch. Ranks share the columns in both cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.kernels.dp.lcs import COLUMN, COLUMNS, GROWS, LEFT, ROW, ROWS
from core.search.checkpoint import Checkpoint, CheckpointArray, ascending_fault
from core.search.dp.engine.checkpoints import RowCheckpoints
from core.search.dp.engine.table_search import TableRun
from core.search.dp.lcs.table import LcsLaunchShape, LcsTable, LcsTableLayout, layout_for
from core.search.run import Step, SynchronousRun

FILLS = 4
"""Least ratio of the launches of a stretch to those that its wave takes to begin."""
LAUNCHES = 64
"""Launches of a core for each stretch."""
LONGER = 4
"""A trace takes up to this multiple of the rows between two pauses as one stretch."""
TRACE, PAIRS = "trace", "pairs"


class CheckpointedLcs:
    """A run with checkpoints (`core.search.run.Steps`): stretches of rows, then traces from the last row.

    ``rows`` are rows of the table, by words of columns, before the last one that is traced. ``trace``, (4,), i64, is
    the position of the trace (see `core.kernels.dp.lcs`), at first the last cell, with the number of pairs left, and
    ``pairs``, (count, 2), i64, are those found, ascending. ``is_known`` is True if the length is known, so that the
    trace has begun.
    """

    def __init__(self, search: Any, table_run: TableRun) -> None:
        self.search = search
        self.is_traced, self.progress, self.ranks, _ = table_run
        self.part: Any = None
        self.table: LcsTable | None = None

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        search = self.search
        self.rows, self.pairs, self.is_known = RowCheckpoints(), np.zeros((0, 2), np.int64), False
        self.trace = np.array([search.a.size, search.b.size, 0, 0], np.int64)
        if checkpoint is not None:
            self.rows, self.pairs = RowCheckpoints.of(checkpoint), checkpoint[PAIRS]
            self.trace, self.is_known = checkpoint[TRACE][:-1].copy(), bool(checkpoint[TRACE][-1])
        shape = self.layout_of(search.a.size, search.columns).shape
        self.least = int(self.ranks.bcast(FILLS * shape.delay * shape.strips * self.steps(shape, 1)))

    @property
    def is_over(self) -> bool:
        is_at_end = 0 in (self.trace[ROW], self.trace[COLUMN], self.trace[LEFT])
        return self.is_known and (is_at_end or not self.is_traced)

    def step(self, run: SynchronousRun) -> Step:
        """Compute the next rows; if enough rows are known, trace pairs in them instead."""
        all_rows = self.search.a.size
        stretch = max(run.budget().steps, self.least) * ROWS
        end, rows = int(self.trace[ROW]), 0
        if not self.is_known:
            if self.rows.last[0] < all_rows:
                rows = self.advance(all_rows, stretch)
                if self.progress is not None:
                    self.progress(self.rows.last[0], all_rows)
            place, row = self.rows.last
            if place == all_rows and row is not None:
                self.trace[LEFT] = np.bitwise_count(~row).sum()
                self.rows, self.is_known = self.rows.before(all_rows), True
        elif not self.is_over:
            rows = self.advance(end, stretch) if end - self.rows.last[0] > LONGER * stretch else self.follow()
        self.search.backend.synchronize()
        return Step(-(-rows // ROWS) or 1, undone=int(not self.is_over))

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        if not run.leads:
            return None
        rows = self.rows.state(-(-int(self.trace[COLUMN]) // COLUMNS), np.uint64)
        return {**rows, TRACE: np.array([*self.trace, self.is_known], np.int64), PAIRS: self.pairs}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        rows, columns = self.search.a.size, self.search.b.size
        limits = [(0, rows), (0, columns), (0, 1), (0, min(rows, columns)), (0, 1)]
        yield CheckpointArray(TRACE, np.int64, (5,), limits)
        row, column, _, left, is_known = (int(number) for number in state[TRACE])
        most = min(row, column)

        def fault(pairs: np.ndarray) -> str | None:
            if not is_known and (row, column, left, len(pairs)) != (rows, columns, 0, 0):
                return f"found {len(pairs)} pairs and a trace in row {row}, expected none before the length is known"
            if left > most:
                return f"found {left} pairs left in {row} rows and {column} columns, expected at most {most}"
            return ascending_fault(pairs[:, 0]) or ascending_fault(pairs[:, 1])

        yield CheckpointArray(PAIRS, np.int64, (None, 2), [(row, rows - 1), (column, columns - 1)], fault)
        yield from RowCheckpoints.layout(state, row, -(-column // COLUMNS), np.uint64)

    def result(self, run: SynchronousRun) -> tuple[int, np.ndarray | None]:
        length = int(self.trace[LEFT]) + len(self.pairs)
        return length, self.pairs if self.is_traced else None

    # --- stretches ---

    def advance(self, last: int, stretch: int) -> int:
        """Compute a stretch of rows up to ``last`` and keep its last row; return the number of rows."""
        place, above = self.rows.last
        end = min(last, place + stretch)
        part = self.of_columns(int(self.trace[COLUMN]))
        own_row = None if above is None else part.own_words(above)
        layout = self.layout_of(end - place, part.columns)
        letters = self.search.a[place:end]
        if self.table is None or self.table.layout != layout:
            self.table = None
            block = part.own()._replace(a=letters, above=own_row)
            self.table = LcsTable(part.backend, part.alphabet, block, layout)
        else:
            self.table.restate(part.alphabet.rows(letters, layout.batches), own_row)
        self.table.compute(None, part.neighbours(self.ranks, layout))
        row = self.table.row()[: -(-part.columns // COLUMNS)]
        self.rows = self.rows.with_row(end, self.ranks.join(row))
        return end - place

    def follow(self) -> int:
        """Trace the rows after the last kept one; return the number of rows."""
        self.table = None  # the trace needs its memory
        place, above = self.rows.last
        end, column, grows, pairs_left = (int(number) for number in self.trace)
        part = self.search.part(place, end, column, above)
        entry = np.array([end - place, column, grows, min(pairs_left, end - place, column)], np.int32)
        pairs, reached, _ = part.traced(self.ranks, None, entry.copy())
        self.search.streamed_bytes += part.streamed_bytes
        pairs_left = self.trace[LEFT] - (entry[LEFT] - reached[LEFT])
        self.trace = np.array([place + reached[ROW], reached[COLUMN], reached[GROWS], pairs_left], np.int64)
        self.rows = self.rows.before(int(self.trace[ROW])).narrowed(-(-int(self.trace[COLUMN]) // COLUMNS))
        self.pairs = np.concatenate([pairs + (place, 0), self.pairs])
        return end - place

    def of_columns(self, columns: int) -> Any:
        if self.part is None or self.part.b.size != columns:
            self.table = None
            self.part = self.search.part(0, self.search.a.size, columns, None)
        return self.part

    def layout_of(self, rows: int, columns: int) -> LcsTableLayout:
        search = self.search
        layout = layout_for(
            search.backend.capabilities, rows, columns, ranks=search.communicator.size, shape=search.shape
        )
        if search.shape is not None:
            return layout
        return layout._replace(shape=layout.shape._replace(steps=self.steps(layout.shape, layout.batches)))

    def steps(self, shape: LcsLaunchShape, batches: int) -> int:
        """Return the steps of a launch: fewer on a core than for a table that is computed at once."""
        if self.search.shape is not None or self.search.backend.capabilities.lanes_resident > 1:
            return shape.steps
        return max(1, batches // LAUNCHES)
