"""The longest common subsequence of two byte strings: its length, and one such subsequence."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.lcs import COLUMN, COLUMNS, EVERY_ROW, NO_ROWS
from core.search.dp.grid import GridEngine
from core.search.dp.lcs_blocks import Block, Blocks
from core.search.dp.lcs_both_ends import BothEnds
from core.search.dp.lcs_grid import CommonGrid
from core.search.dp.lcs_table import Alphabet, Layout, Neighbours, Shape, Table, layout_for, message_for
from core.search.dp.rows import room_of
from core.search.shape import Callback, watched_table
from core.search.stops import Stop

if TYPE_CHECKING:
    from core.search.dp.lcs_table import Progress

__all__ = ["TILINGS", "Common", "LongestCommonSubsequence", "Shape"]

TILINGS = ("auto", "tiles", "none")
FIRST_ROWS = 64
"""Rows of the table from which programs are compiled."""
MOST_LETTERS = 2**31 - COLUMNS - 1
"""Positions, rounded up to whole words, have 31 bits."""


class Common(NamedTuple):
    """What a run found.

    Attributes
    ----------
    length
        Of a longest common subsequence.
    pairs : None or (length, 2), i64
        The positions of its letters in both strings, ascending.
    method
        How it was traced.
    cells
        Of the table, len(a) * len(b); a trace in linear space computes some of them again.
    streamed_bytes
        Bits that left the device during the run.

    """

    length: int
    pairs: np.ndarray | None
    method: str
    cells: int
    streamed_bytes: int

    @property
    def cost(self) -> int:
        """The length."""
        return self.length

    @property
    def solution(self) -> np.ndarray | None:
        """The pairs."""
        return self.pairs

    @property
    def evaluations(self) -> int:
        """All cells, however few a tiling had to compute."""
        return self.cells

    @property
    def hash(self) -> str:
        """64 bits of the length and of the pairs, if they were traced: equal for everybody who traced the same."""
        found = hashlib.blake2b(str(self.length).encode(), digest_size=8)
        if self.pairs is not None:
            found.update(self.pairs.astype("<i8").tobytes())
        return found.hexdigest()

    @property
    def history(self) -> None:
        """None: nothing is known before the end."""

    @property
    def finished(self) -> bool:
        """True: a table is computed to its end."""
        return True


class LongestCommonSubsequence:
    """The search over one pair of strings.

    For a subsequence the ranks share the columns, and hand carries from left to right. For the length alone they come
    from both ends of the strings (`core.search.dp.lcs_both_ends`).

    Parameters
    ----------
    backend, communicator
        Where it runs, and what says how ranks share it; see `run`.
    a, b : 1-D, u8
        The strings; a gives the rows of the table, b the columns.
    tiling
        ``auto``: bit-parallel, many rows per launch. ``none``: the paper's form, one launch per diagonal; ``tiles``:
        the same cells, many diagonals per launch (see `core.search.dp.grid`).
    room
        Bytes of device memory for what a trace needs; by default half of the device's memory.
    folder
        Where that goes when it does not fit (see `core.search.dp.rows`). Without one, a pair of strings whose bits
        fit neither the room nor half of the host's memory is traced block by block (`core.search.dp.lcs_blocks`).
    shape
        In place of the one that is chosen for the whole table.

    Attributes
    ----------
    work : int
        Cells of the table; what a trace computes again, block by block, is not counted.

    Notes
    -----
    The trace goes left where that keeps the length, else up, else it takes the matched pair: one subsequence on all
    backends, over any number of ranks and in any memory.

    """

    work_unit = "cells"

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        a: np.ndarray,
        b: np.ndarray,
        *,
        tiling: str = "auto",
        room: int | None = None,
        folder: str | None = None,
        shape: Shape | None = None,
    ) -> None:
        if tiling not in TILINGS:
            raise UserError(f"tiling {tiling!r}; choose one of {', '.join(TILINGS)}")
        check_letters(a.size, b.size)
        self.backend, self.communicator, self.tiling, self.shape = backend, communicator, tiling, shape
        self.a, self.b = np.ascontiguousarray(a, np.uint8), np.ascontiguousarray(b, np.uint8)
        self.work = a.size * b.size
        self.room, self.folder = room_of(backend, room), folder
        self.given_room = room
        self.streamed_bytes = 0
        self.alphabet = Alphabet(self.b)
        self.first_column, self.columns = own_columns(b.size, communicator)
        self.whole: dict[int, Table] = {}
        self.both_ends: BothEnds | None = None

    def warm_up(self, trace: bool = True) -> None:
        """Compile what a run needs, by a table of the first rows; the time counts as the backend's compilation.

        All columns take part, because their number and their letters choose the program; without tiling neither does.
        """
        began = time.perf_counter()
        columns = self.b[:FIRST_ROWS] if self.tiling == "none" else self.b
        LongestCommonSubsequence(
            self.backend, self.communicator, self.a[:FIRST_ROWS], columns, tiling=self.tiling, shape=self.shape
        ).run(trace=trace)
        self.backend.synchronize()
        self.backend.timings.reset()
        self.backend.timings.compile_s = time.perf_counter() - began

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        trace: bool = True,
    ) -> Common:
        """Compute the length and, with ``trace``, a subsequence.

        Parameters
        ----------
        stop, history
            Refused: the answer is known at the end, which comes by itself.
        callback
            See `core.search.shape.Callback`: its steps are launches. It cannot end the search.
        ranks
            The communicator whose ranks do this together, each of which calls it; by default the constructor's.
        trace
            Whether the subsequence is wanted too.

        """
        watch = watched_table(stop, history, callback, "a longest common subsequence")
        found = self.computed(trace, watch.counts(self.work), self.communicator if ranks is None else ranks)
        watch.tell_all(found.length, self.work)
        return found

    def computed(self, trace: bool, progress: Progress | None, ranks: Any) -> Common:
        """The length and, with ``trace``, a subsequence; ``progress(done, all)`` is told of launches."""
        self.streamed_bytes = 0
        a, b = self.a, self.b
        if a.size == 0 or b.size == 0:
            return Common(0, np.empty((0, 2), np.int64) if trace else None, "nothing to do", 0, 0)
        if self.tiling != "auto":
            grid = CommonGrid(a, b)
            engine = GridEngine(self.backend, ranks, grid, self.tiling, self.given_room, self.folder)
            found = engine.run(trace, progress)
            pairs = grid.pairs(found.choice) if found.choice is not None else None
            method = "by diagonals" if self.tiling == "none" else "by tiles"
            return Common(found.value, pairs, method, self.work, found.streamed_bytes)
        if not trace:
            return Common(self.length(ranks, progress), None, "length only", self.work, 0)
        if self.fits(ranks):
            pairs, method = self.traced(ranks, progress), "kept bits"
        else:
            pairs, method = self.traced_in_blocks(ranks, progress), "kept bits, block by block"
        return Common(len(pairs), pairs, method, self.work, int(ranks.sum(self.streamed_bytes)))

    def length(self, ranks: Any, progress: Progress | None) -> int:
        """Compute the length alone."""
        if ranks.size > 1:
            if self.both_ends is None or self.both_ends.ranks is not ranks:
                self.whole.clear()
                self.both_ends = None
                self.both_ends = BothEnds(self.backend, ranks, self.alphabet, self.a, self.b, self.shape)
            return self.both_ends.run(progress)
        table = self.whole_table(NO_ROWS)
        table.compute(progress)
        return table.zeros()

    # --- tables of this rank's columns ---

    def layout(self, keep: int, strips: int | None = None) -> Layout:
        """How this rank's columns are laid out."""
        room = self.room if keep == EVERY_ROW else None
        return layout_for(
            self.backend.capabilities, self.a.size, self.columns,
            room=room, strips=strips, ranks=self.communicator.size, shape=None if strips else self.shape,
        )  # fmt: skip

    def fits(self, ranks: Any) -> bool:
        """Whether the bits of the whole table can be kept, on all ranks alike."""
        layout = self.layout(EVERY_ROW)
        too_large = self.folder is None and layout.kept_bytes > self.room + host_bytes()
        return int(ranks.sum(int(too_large or not layout.fits_launches(self.room)))) == 0

    def own(self) -> np.ndarray:
        """This rank's part of ``b``."""
        return self.b[self.first_column : self.first_column + self.columns]

    def whole_table(self, keep: int) -> Table:
        """The table of all rows and this rank's columns, whose memory is taken once."""
        if keep not in self.whole:
            self.whole.clear()
            self.both_ends = None
            self.whole[keep] = Table(
                self.backend, self.alphabet, self.a, self.own(), self.layout(keep), keep,
                room=self.room, folder=self.folder,
            )  # fmt: skip
        return self.whole[keep]

    def neighbours(self, ranks: Any, layout: Layout) -> Neighbours:
        """The ranks to the left and to the right of this one."""
        left = ranks.rank - 1 if ranks.rank > 0 else None
        right = ranks.rank + 1 if ranks.rank < ranks.size - 1 else None
        return Neighbours(self.backend.collectives(ranks), left, right, message_for(layout, ranks))

    # --- traces, from rank to rank ---

    def traced(self, ranks: Any, progress: Progress | None) -> np.ndarray:
        """Matched pairs, from the bits of the whole table."""
        table = self.whole_table(EVERY_ROW)
        table.compute(progress, self.neighbours(ranks, table.layout))
        state = self.begin_trace(ranks, int(ranks.sum(table.zeros())))
        pairs, state = table.trace(state)
        self.streamed_bytes += table.streamed_bytes
        return self.end_trace(ranks, pairs, state)

    def traced_in_blocks(self, ranks: Any, progress: Progress | None) -> np.ndarray:
        """Matched pairs, from the bits of one block after the other."""
        blocks = Blocks(self.backend, self.alphabet, self.room, self.room + host_bytes(), host_bytes() // 4)
        self.whole.clear()
        self.both_ends = None
        block = Block(self.a, self.own())
        marked = blocks.marked(block, self.layout(NO_ROWS, strips=blocks.strips))
        table = marked.table
        table.compute(progress, self.neighbours(ranks, table.layout))
        marked.keep()
        block.entering = table.entering(0)
        state = self.begin_trace(ranks, int(ranks.sum(table.zeros())))
        del table  # its memory is the blocks' now
        pairs, state = blocks.follow(block, marked, state)
        self.streamed_bytes += blocks.streamed_bytes
        return self.end_trace(ranks, pairs, state)

    def begin_trace(self, ranks: Any, total: int) -> np.ndarray:
        """Where the trace enters this rank's columns, after the ranks to the right have traced theirs."""
        state = np.array([self.a.size, 0, 0, total], np.int32)
        if ranks.rank < ranks.size - 1:
            ranks.receive(state, ranks.rank + 1)
        state[COLUMN] = self.columns
        return state

    def end_trace(self, ranks: Any, pairs: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Hand the trace on to the left; the pairs of all ranks."""
        if ranks.rank > 0:
            ranks.send(state, ranks.rank - 1)
        pairs = pairs + (0, self.first_column)
        return np.asarray(ranks.join(pairs.reshape(-1))).reshape(-1, 2)


def check_letters(a: int, b: int) -> None:
    """Raise `UserError` unless strings of so many letters can be searched."""
    if max(a, b) > MOST_LETTERS:
        raise UserError(f"strings of {a} and {b} letters; both must be shorter than 2^31 - {COLUMNS}")


def own_columns(columns: int, ranks: Any) -> tuple[int, int]:
    """The first of this rank's columns, and how many it has: whole words."""
    words = -(-columns // COLUMNS)
    begin, end = (min(words, -(-words // ranks.size) * (ranks.rank + k)) for k in range(2))
    return begin * COLUMNS, max(0, min(columns, end * COLUMNS) - begin * COLUMNS)


def host_bytes() -> int:
    """Bytes of the host's memory that bits may take: half of it."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
