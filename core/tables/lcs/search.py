"""The longest common subsequence of two strings: its length, and one such subsequence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.errors import UserError
from core.granted_cores import memory_bytes
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import alias
from core.tables.engine.decisions import decision_room
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import (
    PublishedTable,
    TableRun,
    TableSearch,
    TableStrategy,
    check_mapping,
    connect,
    digest,
)
from core.tables.lcs.bidirectional import LcsFromBothEnds
from core.tables.lcs.blocks import LcsBlocks
from core.tables.lcs.kernels import COLUMNS
from core.tables.lcs.strategies import LcsInput, LcsLength, LcsStoredBits, LcsStrategy
from core.tables.lcs.table import Alphabet, LcsLaunchShape

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
        return digest(self.length, b"" if self.pairs is None else self.pairs.astype("<i8").tobytes())


class NoLetters(TableStrategy):
    """The answer if a string is empty."""

    work = 0

    def compute(self, run: TableRun) -> TableAnswer:
        return TableAnswer(0, np.empty((0, 2), np.int64) if run.trace else None, method="nothing to do")


class LcsByBits(TableStrategy):
    """Bit-parallel tables: each run chooses a strategy by its trace, its ranks and the memory.

    ``present`` is the strategy of the latest run; the memory of its tables serves the next one.
    """

    def __init__(self, given: LcsInput) -> None:
        self.given = given
        self.work = given.a.size * given.b.size
        self.present: LcsStrategy | None = None

    def settle(self, run: TableRun) -> LcsStrategy:
        if run.trace:
            strategy: type[LcsStrategy] = LcsStoredBits if self.given.fits(run.ranks) else LcsBlocks
        else:
            strategy = LcsFromBothEnds if run.ranks.size > 1 else LcsLength
        if type(self.present) is not strategy or not self.present.serves(run.ranks):
            self.present = None  # its memory may be the next one's
            self.present = strategy(self.given, run.ranks)
        return self.present

    def join(self, run: TableRun) -> None:
        self.settle(run)
        connect(self.given.backend, run.ranks, ((rank, rank + 1) for rank in range(run.ranks.size - 1)))

    def compute(self, run: TableRun) -> TableAnswer:
        return self.settle(run).compute(run)

    def warm_up(self, trace: bool) -> None:
        """Compute the first rows. All columns take part, because their number and letters choose the program."""
        given = self.given
        first = replace(given, a=given.a[:FIRST_ROWS], room=decision_room(given.backend, None), folder=None)
        LcsByBits(first).compute(TableRun(trace, None, given.communicator))


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
        self.backend, self.communicator = backend, communicator
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        if mapping == "published" and a.itemsize > 1:
            raise UserError("found over 254 letters that both strings have, expected --mapping native")
        if a.size * b.size == 0:
            self.strategy = NoLetters()
        elif mapping == "published":
            from core.tables.lcs.waves import diagonals_of

            problem, smallest = (diagonals_of(*pair, packed, data_memory) for pair in ((a, b), (a[:1], b[:1])))
            lanes = shape.lanes if shape else None
            self.strategy = PublishedTable(backend, communicator, problem, smallest, folder, lanes)
        else:
            room = decision_room(backend, room)
            given = LcsInput(backend, communicator, a, b, Alphabet(b), room, host_bytes(), folder, shape)
            self.strategy = LcsByBits(given)

    def result(self, answer: TableAnswer) -> CommonSubsequence:
        return CommonSubsequence(answer.value, answer.solution, answer.method, self.work, answer.streamed_bytes)


def host_bytes() -> int:
    """Return half of the host's memory, in bytes."""
    return memory_bytes() // 2


def check_letters(a: int, b: int) -> None:
    if max(a, b) > MOST_LETTERS:
        raise UserError(f"strings of {a} and {b} letters; both must be shorter than 2^31 - {COLUMNS}")
