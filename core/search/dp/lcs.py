"""The longest common subsequence of two byte strings: its length, and one such subsequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.lcs import COLUMNS, LEFT, ROWS, advance, follow
from core.search.dp.grid import GridEngine
from core.search.dp.lcs_grid import CommonGrid
from core.search.dp.rows import Rows, room_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], None]

TILINGS = ("auto", "tiles", "none")
LETTERS = (8, 32, 128, 257)
"""Kernels are compiled for so many letters, one of which stands for all that b has not."""
STAGED_LETTERS = 32
"""Up to so many letters, the masks of a team lie in its shared memory."""
TRACE_LANES = 64
"""About as many rows as a trace passes in one word of columns."""
LAUNCHES_PER_RANK = 8
"""Rounds of rows per rank: the pipeline of ranks fills in so many parts of the work of one."""
PARTS_TOLD = 16
"""Times in a round that progress is told; each waits for the device."""
SIZE_OF_LAUNCH = 64 << 20
"""Bytes of kept bits that one launch should not exceed by much."""


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


class Shape(NamedTuple):
    """How columns are laid over a device: lanes of a team, words of a lane, teams, steps of a launch."""

    lanes: int
    words: int
    strips: int
    steps: int

    @property
    def delay(self) -> int:
        """Launches by which a strip starts after the one to its left."""
        return 1 + -(-(self.lanes - 1) // self.steps)

    def launches(self, batches: int) -> int:
        """Launches until the last strip has done all batches."""
        return -(-(batches + self.lanes - 1) // self.steps) + self.delay * (self.strips - 1)

    @property
    def launch_words(self) -> int:
        """Words that one launch keeps."""
        return self.strips * self.steps * self.words * ROWS * self.lanes


def shape_for(capabilities: Any, words: int, batches: int, most_bytes: int | None = None) -> Shape:
    """Choose a shape for so many words of columns and batches of rows, and so many bytes that a launch may keep."""
    if capabilities.lanes_resident > 1:
        lanes = min(32, capabilities.max_team_size)
        return Shape(lanes, 1, -(-words // lanes), max(1, lanes // 4))
    strips = min(words, capabilities.compute_units)
    each = -(-words // strips)
    steps = -(-batches // (LAUNCHES_PER_RANK * strips))
    if most_bytes is not None:
        steps = min(steps, most_bytes // (8 * ROWS * each * strips))
    return Shape(1, each, -(-words // each), max(1, steps))


class LongestCommonSubsequence:
    """The search over one pair of strings; the ranks share the columns, and pass carries from left to right.

    Parameters
    ----------
    backend, communicator
        Where it runs.
    a, b : 1-D, u8
        The strings; a gives the rows of the table, b the columns.
    tiling
        ``auto``: bit-parallel, many rows per launch. ``none``: the paper's form, one launch per diagonal; ``tiles``:
        the same cells, many diagonals per launch (see `core.search.dp.grid`).
    room
        Bytes of device memory for what a trace needs; by default half of the device's memory.
    folder
        Where that goes when it does not fit (see `core.search.dp.rows`). Without one, a pair of strings whose bits
        fit neither the room nor half of the host's memory is traced in linear space (Hirschberg, "A linear space
        algorithm for computing maximal common subsequences", CACM 18(6), 1975).
    shape
        In place of the one that `shape_for` chooses.

    Notes
    -----
    The trace goes left where that keeps the length, else up, else it takes the matched pair: one subsequence on all
    backends. In linear space it may be another one of the same length.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        a: np.ndarray,
        b: np.ndarray,
        tiling: str = "auto",
        room: int | None = None,
        folder: str | None = None,
        shape: Shape | None = None,
    ) -> None:
        if tiling not in TILINGS:
            raise UserError(f"tiling {tiling!r}; choose one of {', '.join(TILINGS)}")
        if max(a.size, b.size) >= 2**31 - COLUMNS:
            raise UserError(f"strings of {a.size} and {b.size} letters; both must be shorter than 2^31 - {COLUMNS}")
        self.backend, self.ranks, self.tiling, self.shape = backend, communicator, tiling, shape
        self.a, self.b = np.ascontiguousarray(a, np.uint8), np.ascontiguousarray(b, np.uint8)
        self.room, self.folder = room, folder
        self.streamed_bytes = 0
        self.whole: dict[bool, Table] = {}

    def run(self, trace: bool = True, progress: Progress | None = None) -> Common:
        """Compute the length and, with ``trace``, a subsequence; ``progress(done, all)`` counts launches."""
        self.streamed_bytes = 0
        a, b = self.a, self.b
        if a.size == 0 or b.size == 0:
            return Common(0, np.empty((0, 2), np.int64) if trace else None, "nothing to do", 0, 0)
        if self.tiling != "auto":
            grid = CommonGrid(a, b)
            found = GridEngine(self.backend, self.ranks, grid, self.tiling, self.room, self.folder).run(trace, progress)
            pairs = grid.pairs(found.choice) if found.choice is not None else None
            method = "by diagonals" if self.tiling == "none" else "by tiles"
            return Common(found.value, pairs, method, a.size * b.size, found.streamed_bytes)
        if not trace:
            table = self.whole_table(False)
            table.compute(progress)
            return Common(int(self.ranks.sum(table.zeros())), None, "length only", a.size * b.size, 0)
        if self.fits(a.size, b.size):
            pairs, method = self.traced(self.whole_table(True), progress), "kept bits"
        else:
            pairs, method = self.divided(a, b, 0, 0), "linear space"
        return Common(len(pairs), pairs, method, a.size * b.size, int(self.ranks.sum(self.streamed_bytes)))

    def fits(self, rows: int, columns: int) -> bool:
        """Whether the bits of a table can be kept, on all ranks alike."""
        import os

        device = room_of(self.backend, self.room)
        host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        table = Table(self, np.zeros(rows, np.uint8), np.zeros(columns, np.uint8), True, make=False)
        too_long = 16 * table.shape.launch_words > device and table.rounds * table.launches > 1
        too_large = self.folder is None and table.kept_bytes > device + host
        return int(self.ranks.sum(int(too_long or too_large))) == 0

    def whole_table(self, keep: bool) -> Table:
        """The table of both strings, whose memory is taken once."""
        if keep not in self.whole:
            self.whole.clear()
            self.whole[keep] = Table(self, self.a, self.b, keep)
        return self.whole[keep]

    def traced(self, table: Table, progress: Progress | None = None) -> np.ndarray:
        """Matched pairs, from bits that are kept."""
        table.compute(progress)
        total = int(self.ranks.sum(table.zeros()))
        pairs = table.trace(total)
        self.streamed_bytes += table.streamed_bytes
        return np.asarray(self.ranks.join(pairs.reshape(-1))).reshape(-1, 2)

    def divided(self, a: np.ndarray, b: np.ndarray, at: int, beside: int) -> np.ndarray:
        """Matched pairs in linear space: where the middle row is crossed divides the table into two smaller ones."""
        if a.size <= 1 or b.size == 0:
            column = np.flatnonzero(b == a[0])[:1] if a.size else np.empty(0, np.int64)
            return np.stack([np.full(column.size, at), column + beside], axis=1)
        if self.fits(a.size, b.size):
            return self.traced(Table(self, a, b, True)) + (at, beside)
        middle = a.size // 2
        upper = self.prefix_lengths(a[:middle], b)
        lower = self.prefix_lengths(a[middle:][::-1], b[::-1])[::-1]
        cut = int(np.argmax(upper + lower))
        first = self.divided(a[:middle], b[:cut], at, beside)
        return np.concatenate([first, self.divided(a[middle:], b[cut:], at + middle, beside + cut)])

    def prefix_lengths(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The lengths for all of ``a`` and every prefix of ``b``, the empty one first."""
        table = Table(self, a, b, False)
        table.compute(None)
        return np.concatenate([[0], np.cumsum(self.ranks.join(table.grows()), dtype=np.int64)])


class Table:
    """A rank's columns of one table: the memory on its device, and the launches that compute it.

    Rows are done in rounds; in a round the rank's strips go through all of its rows, then the carries that leave the
    rank's last column go to the next rank.
    """

    def __init__(
        self, search: LongestCommonSubsequence, a: np.ndarray, b: np.ndarray, keep: bool, make: bool = True
    ) -> None:
        backend, ranks = search.backend, search.ranks
        self.backend, self.ranks, self.keep = backend, ranks, keep
        all_words, all_batches = -(-b.size // COLUMNS), -(-a.size // ROWS)
        begin, end = (min(all_words, -(-all_words // ranks.size) * (ranks.rank + k)) for k in range(2))
        self.first_column, self.columns = begin * COLUMNS, max(0, min(b.size, end * COLUMNS) - begin * COLUMNS)
        self.words = max(1, end - begin)
        self.rounds = 1 if ranks.size == 1 else min(all_batches, LAUNCHES_PER_RANK * ranks.size)
        self.batches = -(-all_batches // self.rounds)
        self.rounds = -(-all_batches // self.batches)
        most = min(SIZE_OF_LAUNCH, room_of(backend, search.room) // 4) if keep else None
        self.shape = search.shape or shape_for(backend.capabilities, self.words, self.batches, most)
        self.launches = self.shape.launches(self.batches)
        self.kept_bytes = self.rounds * self.launches * self.shape.launch_words * 8
        self.rows = a.size
        if make:
            self._allocate(a, b, search)

    def _allocate(self, a: np.ndarray, b: np.ndarray, search: LongestCommonSubsequence) -> None:
        backend, shape = self.backend, self.shape
        if (shape.strips + 1) * self.batches > 2**31 - 1:
            raise UserError(f"strings of {a.size} and {b.size} letters need more than 2^31 carries between strips")
        letters = np.unique(b)
        self.letters = next(size for size in LETTERS if size > letters.size)
        if shape.strips * shape.lanes * shape.words * self.letters > 2**31 - 1:
            raise UserError(f"{b.size} letters, {letters.size} of them different, need more than 2^31 masks")
        mine = b[self.first_column : self.first_column + self.columns]
        numbers = np.full(256, letters.size, np.uint16)  # the last number is of all that b has not, and of no row
        numbers[letters] = np.arange(letters.size)
        padded = np.full(self.rounds * self.batches * ROWS, letters.size, np.uint16)
        padded[: a.size] = numbers[a]
        self.coded = padded.view(np.uint32).reshape(self.rounds, -1)
        lanes = shape.strips * shape.lanes
        masks = np.zeros((lanes * shape.words, self.letters), np.uint64)
        for k, letter in enumerate(letters):
            bits = np.zeros(masks.shape[0] * COLUMNS, np.uint8)
            bits[: mine.size] = mine == letter
            masks[:, k] = np.packbits(bits, bitorder="little").view(np.uint64)
        self.masks = backend.upload(masks.reshape(-1))
        self.ones = np.full(lanes * shape.words, 2**64 - 1, np.uint64)
        self.row = backend.allocate(self.ones.size, np.uint64)
        self.letters_of_rows = backend.allocate(self.coded.shape[1], np.uint32)
        self.edges = backend.upload(np.zeros((shape.strips + 1) * self.batches, np.uint32))
        self.parked = backend.upload(np.zeros(lanes, np.uint32))
        self.clock = backend.allocate(shape.strips, np.uint32)
        self.kept: Rows | None = None
        if self.keep:
            count = self.rounds * self.launches
            self.kept = Rows(backend, count, shape.launch_words, search.room, search.folder, np.uint64)
        self.nothing = backend.allocate(1, np.uint64)
        self.sequences: dict[tuple[int, int], Any] = {}

    @property
    def streamed_bytes(self) -> int:
        """Bytes of bits that left the device."""
        return self.kept.streamed_bytes if self.kept is not None else 0

    def compute(self, progress: Progress | None) -> None:
        """All rows of this rank's columns."""
        ranks, shape = self.ranks, self.shape
        self.backend.write(self.row, self.ones)
        entering = np.zeros((shape.strips + 1) * self.batches, np.uint32)
        for k in range(self.rounds):
            if ranks.rank > 0:
                ranks.receive(entering[: self.batches], ranks.rank - 1)
                self.backend.write(self.edges, entering)
            self.backend.write(self.letters_of_rows, self.coded[k])
            self.backend.write(self.clock, np.zeros(shape.strips, np.uint32))
            self._round(k, progress)
            if ranks.rank < ranks.size - 1:
                ranks.send(self.backend.read(self.edges, shape.strips * self.batches, self.batches), ranks.rank + 1)

    def _round(self, number: int, progress: Progress | None) -> None:
        """The launches of one round, in recorded sequences: up to the end of the chunk that they write to."""
        per_chunk = self.launches if self.kept is None else self.kept.rows_per_chunk
        row, end = number * self.launches, (number + 1) * self.launches
        while row < end:
            until = min(end, (row // per_chunk + 1) * per_chunk)
            if progress is not None:
                until = min(until, row + max(1, self.launches // PARTS_TOLD))
            buffer = self.nothing
            for one in range(row, until):
                buffer = self.nothing if self.kept is None else self.kept.place(one)[0]
            self._sequence(number * self.launches % per_chunk, buffer, per_chunk).replay(until - row)
            for one in range(row, until):
                if self.kept is not None:
                    self.kept.close_row(one)
            row = until
            if progress is not None:
                self.backend.synchronize()
                progress(row, self.rounds * self.launches)

    def _sequence(self, offset: int, buffer: Any, per_chunk: int) -> Any:
        """A launch that keeps its bits in this buffer of ``per_chunk`` rows, the round's first in row ``offset``."""
        key = (id(buffer), offset)
        if key not in self.sequences:
            shape = self.shape
            staged = shape.words == 1 and shape.lanes > 1 and self.letters <= STAGED_LETTERS
            with self.backend.record() as sequence:
                self.backend.launch(
                    advance, shape.strips, shape.lanes, self.letters_of_rows, self.masks, self.row, self.edges,
                    self.parked, self.clock, buffer, self.batches, shape.steps, shape.delay, shape.words, per_chunk,
                    offset, self.letters, staged, self.keep,
                )  # fmt: skip
            self.sequences[key] = sequence
        return self.sequences[key]

    def grows(self) -> np.ndarray:
        """For each of this rank's columns whether the last row grows there, u8."""
        words = self.backend.download(self.row)
        return np.unpackbits(~words.view(np.uint8), bitorder="little")[: self.columns]

    def zeros(self) -> int:
        """How often the last row grows in this rank's columns."""
        return int(np.bitwise_count(~self.backend.download(self.row)).sum())

    def trace(self, total: int) -> np.ndarray:
        """The pairs of this rank's columns, after the ranks to the right have traced theirs."""
        if self.kept is None:
            raise ValueError("no bits were kept")
        ranks, shape = self.ranks, self.shape
        state = np.array([self.rows, 0, 0, total], np.int32)
        if ranks.rank < ranks.size - 1:
            ranks.receive(state, ranks.rank + 1)
        end = int(state[LEFT])
        state[1] = self.columns
        backend = self.backend
        on_device = backend.upload(state)
        found = [backend.allocate(max(1, end), np.int32) for _ in range(2)]
        lanes = min(TRACE_LANES, backend.capabilities.max_team_size)
        for first, _, buffer in self.kept.chunks_backwards():
            backend.launch(
                follow, 1, lanes, buffer, on_device, *found, first, self.batches, self.launches, shape.steps,
                shape.delay, shape.words, shape.lanes, shape.strips,
            )  # fmt: skip
        state = backend.download(on_device)
        if ranks.rank > 0:
            ranks.send(state, ranks.rank - 1)
        begin = int(state[LEFT])
        rows, columns = (backend.read(f, begin, end - begin).astype(np.int64) for f in found)
        return np.stack([rows, columns + self.first_column], axis=1)
