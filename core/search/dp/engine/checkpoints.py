"""Checkpoints of tables: rows after a checkpoint do not depend on rows before it.

A trace does: from the last row, by stored decisions, it reaches the checkpoint's row at one cell. The part before that
row is a smaller table, computed again from an earlier row, with its decisions. So an uninterrupted table is computed
once, and any other one twice at most, if there is memory for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from core.search.checkpoint import Checkpoint, CheckpointArray, ascending_fault
from core.search.dp.engine.table_search import TableRun
from core.search.progress import PROGRESS_INTERVAL_S
from core.search.run import Steps, SynchronousRun, execute
from core.search.stop import BatchSizes, Stop

Result = TypeVar("Result")
GROWTH = 2
"""Factor by which steps between two pauses grow at most."""

MOST_ROWS = 256
MOST_BYTES = 256 << 20
"""Most bytes of all rows of a state; the last row is always kept."""
PLACES, ROWS = "places", "rows"


class RowCheckpoints:
    """Rows in ascending order of their places: the number of items or letters, at least 1, before each."""

    def __init__(self, places: list[int] | None = None, rows: list[np.ndarray] | None = None) -> None:
        self.places = places or []
        self.rows = rows or []

    @classmethod
    def of(cls, state: Checkpoint) -> RowCheckpoints:
        return cls([int(place) for place in state[PLACES]], list(state[ROWS]))

    def state(self, cells: int, dtype: Any) -> Checkpoint:
        rows = np.array(self.rows, dtype).reshape(len(self.rows), cells)
        return {PLACES: np.array(self.places, np.int64), ROWS: rows}

    @staticmethod
    def layout(state: Checkpoint, last: int, cells: int, dtype: Any) -> Iterator[CheckpointArray]:
        yield CheckpointArray(PLACES, np.int64, (None,), [(1, last)], ascending_fault)
        yield CheckpointArray(ROWS, dtype, (len(state[PLACES]), cells))

    @property
    def last(self) -> tuple[int, np.ndarray | None]:
        """The last place and its row; 0 and None at the start of a table."""
        return (self.places[-1], self.rows[-1]) if self.places else (0, None)

    def with_row(self, place: int, row: np.ndarray) -> RowCheckpoints:
        """Add a row; of too many, drop those with the closest neighbours, which adds the least work."""
        places, rows = [*self.places, place], [*self.rows, row]
        while len(rows) > 1 and (len(rows) > MOST_ROWS or len(rows) * row.nbytes > MOST_BYTES):
            borders = np.array([0, *places])
            crowded = int(np.argmin(borders[2:] - borders[:-2]))
            del places[crowded], rows[crowded]
        return RowCheckpoints(places, rows)

    def before(self, place: int) -> RowCheckpoints:
        count = sum(row_place < place for row_place in self.places)
        return RowCheckpoints(self.places[:count], self.rows[:count])

    def narrowed(self, cells: int) -> RowCheckpoints:
        return RowCheckpoints(self.places, [row[:cells] for row in self.rows])


def run_in_bands(table: Steps[Result], run: TableRun) -> Result:
    """Run a table in bands of rows (`core.search.run.Budget.steps`), with a checkpoint after a band if it is due.

    A step returns the rows (or passes) of a band. All ranks pause together, a quarter of a second after each other.
    """
    sizes = BatchSizes(1, GROWTH, PROGRESS_INTERVAL_S)
    return execute(table, SynchronousRun(run.ranks, Stop(), checkpointer=run.checkpointer, sizes=sizes))
