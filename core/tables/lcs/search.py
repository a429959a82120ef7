"""The longest common subsequence of two strings: its length, and one such subsequence."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from core.errors import UserError
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import alias
from core.tables.engine.decisions import decision_room
from core.tables.engine.table_search import TableRun, TableSearch, check_mapping, trace_over_ranks
from core.tables.lcs.bidirectional import BidirectionalLcs
from core.tables.lcs.blocks import LcsBlockTracer
from core.tables.lcs.kernels import COLUMN, COLUMNS, EVERY_ROW, NO_ROWS
from core.tables.lcs.table import (
    Alphabet,
    CarryRanks,
    LcsBlock,
    LcsLaunchShape,
    LcsTable,
    LcsTableLayout,
    layout_for,
    message_batches,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.run.protocol import CountCallback
    from core.tables.engine.waves import WaveEngine

    Follow = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

__all__ = ["CommonSubsequence", "LongestCommonSubsequence", "LcsLaunchShape"]

FIRST_ROWS = 64
"""Rows of the table from which programs are compiled."""
MOST_LETTERS = 2**31 - COLUMNS - 1
"""Positions, rounded up to whole words, have 31 bits."""


@dataclass(frozen=True)
class CommonSubsequence:
    """Length of a longest common subsequence and, if traced, the positions of its letters: (length, 2), i64.

    ``pairs`` are positions in both strings, ascending. ``method`` is that of the trace. ``cells`` counts the table,
    len(a) * len(b); a trace in linear space computes some again. ``streamed_bytes`` are bits that left the device
    during the run.
    """

    length: int
    pairs: np.ndarray | None
    method: str
    cells: int
    streamed_bytes: int

    cost, solution, evaluations = alias("length"), alias("pairs"), alias("cells")
    history, finished = None, True

    @property
    def hash(self) -> str:
        hashed = hashlib.blake2b(str(self.length).encode(), digest_size=8)
        if self.pairs is not None:
            hashed.update(self.pairs.astype("<i8").tobytes())
        return hashed.hexdigest()


class LongestCommonSubsequence(TableSearch[CommonSubsequence]):
    """The search over one pair of strings.

    For a subsequence the ranks share the columns, and pass carries from left to right. For the length alone they come
    from both ends of the strings (`core.tables.lcs.bidirectional`). ``work`` counts the cells of the table once,
    also those that a trace computes again.

    The trace goes left if that keeps the length, else up, else it takes the matched pair: one subsequence on all
    backends, over any number of ranks and in any memory.

    Parameters
    ----------
    a, b : 1-D, u8 or u16
        The strings; a gives the rows of the table, b the columns. Only the native mapping takes u16.
    mapping
        ``native``: bit-parallel, many rows per launch. ``published``: the paper's mapping, one launch per diagonal,
        with all cells copied to the host (see `core.tables.engine.published`).
    room
        Bytes of device memory for the bits of a trace; by default half of the device's memory.
    folder
        Folder for bits that do not fit (see `core.tables.engine.decisions`). Without one, a table with bits that fit
        neither the device memory nor half of the host's memory is traced block by block (`core.tables.lcs.blocks`).
    packed, data_memory
        With ``published``: four letters in a word in place of one, and the memory of the strings: ``readonly``,
        ``global`` or ``image`` (see `core.lang.types.Table`).
    """

    subject = "a longest common subsequence"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        a: np.ndarray,
        b: np.ndarray,
        *,
        mapping: str = "native",
        room: int | None = None,
        folder: str | None = None,
        shape: LcsLaunchShape | None = None,
        packed: bool = False,
        data_memory: str = "readonly",
    ) -> None:
        check_mapping(mapping)
        check_letters(a.size, b.size)
        self.backend, self.communicator, self.mapping, self.shape = backend, communicator, mapping, shape
        self.a, self.b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        if mapping == "published" and self.a.itemsize > 1:
            raise UserError("found over 254 letters that both strings have, expected --mapping native")
        self.work = a.size * b.size
        self.room, self.folder = decision_room(backend, room), folder
        self.packed, self.data_memory = packed, data_memory
        if mapping == "published" and self.work:
            from core.tables.lcs.waves import LcsDiagonals, PackedLcsDiagonals

            problem = (PackedLcsDiagonals if packed else LcsDiagonals)(self.a, self.b)
            problem.data_memory = data_memory
            self.engine = self.published_engine(problem, folder, shape.lanes if shape else None)
        self.streamed_bytes = 0
        self.alphabet = Alphabet(self.b)
        self.first_column, self.columns = own_columns(b.size, communicator)
        self.whole: dict[int, LcsTable] = {}
        self.both_ends: BidirectionalLcs | None = None

    def warm_up(self, trace: bool = True) -> None:
        """Compile all programs of a run with a table of the first rows.

        All columns take part, because their number and their letters choose the program; by diagonals neither does.
        """
        columns = self.b[:FIRST_ROWS] if self.mapping == "published" else self.b
        with self.backend.warming_up():
            LongestCommonSubsequence(
                self.backend,
                self.communicator,
                self.a[:FIRST_ROWS],
                columns,
                mapping=self.mapping,
                shape=self.shape,
                packed=self.packed,
                data_memory=self.data_memory,
            ).run(trace=trace)

    def compute(self, run: TableRun) -> CommonSubsequence:
        self.streamed_bytes = 0
        if self.work == 0:
            no_pairs = np.empty((0, 2), np.int64) if run.trace else None
            return CommonSubsequence(0, no_pairs, "nothing to do", 0, 0)
        if self.engine is not None:
            return self.by_waves(self.engine, run)
        ranks = run.ranks
        if not run.trace:
            return CommonSubsequence(self.length(ranks, run.progress), None, "length only", self.work, 0)
        pairs, is_kept = self.traced(ranks, run.progress)
        method = "stored bits" if is_kept else "stored bits, in blocks"
        return CommonSubsequence(len(pairs), pairs, method, self.work, int(ranks.sum(self.streamed_bytes)))

    def by_waves(self, engine: WaveEngine, run: TableRun) -> CommonSubsequence:
        result = engine.run(run.trace, run.progress)
        pairs = engine.problem.pairs(result)
        method = "by diagonals" + (", cells on the host" if run.trace else "")
        return CommonSubsequence(result.value, pairs, method, self.work, result.streamed_bytes)

    def free_tables(self) -> None:
        self.whole.clear()
        self.both_ends = None

    def length(self, ranks: Ranks, progress: CountCallback | None) -> int:
        if ranks.size > 1:
            if self.both_ends is None or self.both_ends.ranks is not ranks:
                self.free_tables()
                self.both_ends = BidirectionalLcs(self.backend, ranks, self.alphabet, self.a, self.b, self.shape)
            return self.both_ends.run(progress)
        table = self.whole_table(NO_ROWS)
        table.compute(progress)
        return table.zeros()

    # --- tables of this rank's columns ---

    def layout(self, keep: int, strips: int | None = None) -> LcsTableLayout:
        room = self.room if keep == EVERY_ROW else None
        return layout_for(
            self.backend.capabilities, self.a.size, self.columns,
            room=room, strips=strips, ranks=self.communicator.size, shape=None if strips else self.shape,
        )  # fmt: skip

    def fits(self, ranks: Ranks) -> bool:
        """Return True, on all ranks alike, if the bits of the whole table can be kept."""
        layout = self.layout(EVERY_ROW)
        too_large = self.folder is None and layout.kept_bytes > self.room + host_bytes()
        return int(ranks.sum(int(too_large or not layout.fits_launches(self.room)))) == 0

    def own(self) -> LcsBlock:
        return LcsBlock(self.a, self.b[self.first_column : self.first_column + self.columns])

    def whole_table(self, keep: int) -> LcsTable:
        if keep not in self.whole:
            self.free_tables()
            self.whole[keep] = LcsTable(
                self.backend, self.alphabet, self.own(), self.layout(keep), keep, room=self.room, folder=self.folder
            )
        return self.whole[keep]

    def neighbours(self, ranks: Ranks, layout: LcsTableLayout) -> CarryRanks:
        left = ranks.rank - 1 if ranks.rank > 0 else None
        right = ranks.rank + 1 if ranks.rank < ranks.size - 1 else None
        return CarryRanks(self.backend.collectives(ranks), left, right, message_batches(layout, ranks))

    # --- traces, from rank to rank ---

    def traced(self, ranks: Ranks, progress: CountCallback | None) -> tuple[np.ndarray, bool]:
        """Compute the table and trace it, from rank to rank.

        Return the matched pairs of all ranks, (count, 2), i64, and True if the bits of the whole table were kept.
        """
        is_kept = self.fits(ranks)
        compute = self.bits_kept if is_kept else self.blocks_marked
        table, tracer, trace = compute(progress, ranks)
        last_cell = np.array([self.a.size, 0, 0, ranks.sum(table.zeros())], np.int32)
        del table  # its memory may be the blocks' now
        pairs: np.ndarray = np.empty((0, 2), np.int64)

        def through(entry: np.ndarray) -> np.ndarray:
            nonlocal pairs
            entry[COLUMN] = self.columns
            pairs, reached = trace(entry)
            pairs[:, 1] += self.first_column
            self.streamed_bytes += tracer.streamed_bytes
            return reached

        trace_over_ranks(ranks, last_cell, through)
        return np.asarray(ranks.join(pairs.reshape(-1))).reshape(-1, 2), is_kept

    def bits_kept(self, progress: CountCallback | None, ranks: Ranks) -> tuple[LcsTable, LcsTable, Follow]:
        table = self.whole_table(EVERY_ROW)
        table.compute(progress, self.neighbours(ranks, table.layout))
        return table, table, table.trace

    def blocks_marked(self, progress: CountCallback | None, ranks: Ranks) -> tuple[LcsTable, LcsBlockTracer, Follow]:
        """Return the whole table with some rows and carries kept, and a tracer of its blocks."""
        blocks = LcsBlockTracer(self.backend, self.alphabet, self.room, self.room + host_bytes(), host_bytes() // 4)
        self.free_tables()
        marked = blocks.marked(self.own(), self.layout(NO_ROWS, strips=blocks.strips))
        marked.table.compute(progress, self.neighbours(ranks, marked.layout))
        marked.keep()
        marked.block = marked.block._replace(entering=marked.table.entering(0))
        return marked.table, blocks, partial(blocks.follow, marked)


def own_columns(columns: int, ranks: Ranks) -> tuple[int, int]:
    """Return the first of this rank's columns and their number, in whole words."""
    words = -(-columns // COLUMNS)
    begin, end = (min(words, -(-words // ranks.size) * (ranks.rank + k)) for k in range(2))
    return begin * COLUMNS, max(0, min(columns, end * COLUMNS) - begin * COLUMNS)


def host_bytes() -> int:
    """Return half of the host's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def check_letters(a: int, b: int) -> None:
    if max(a, b) > MOST_LETTERS:
        raise UserError(f"strings of {a} and {b} letters; both must be shorter than 2^31 - {COLUMNS}")
