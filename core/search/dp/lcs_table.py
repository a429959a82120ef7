"""One table of the longest common subsequence on one device: its memory, its launches and its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.lcs import (
    COLUMNS,
    EVERY_ROW,
    LEFT,
    NO_ROWS,
    ROWS,
    SOME_ROWS,
    BitTable,
    Carries,
    Kept,
    Pipeline,
    Trace,
    advance,
    follow,
)
from core.search.dp.rows import DecisionRows

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], None]
    Receive = Callable[[int], np.ndarray]
    Send = Callable[[int, np.ndarray], None]

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
LARGEST_INDEX = 2**31 - 1


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

    @property
    def strip_columns(self) -> int:
        """Columns of a strip."""
        return self.lanes * self.words * COLUMNS


def shape_for(capabilities: Any, words: int, batches: int, room: int | None = None, strips: int | None = None) -> Shape:
    """Choose a shape for so many words of columns and batches of rows.

    Parameters
    ----------
    capabilities
        Of the device.
    words, batches
        Of the table.
    room
        Bytes of device memory for the bits of all rows; None: they are not kept.
    strips
        At least so many, if there are as many words.

    """
    if capabilities.lanes_resident > 1:
        lanes = min(32, capabilities.max_team_size)
        if strips is not None:
            lanes = max(1, min(lanes, words // strips))
        shape = Shape(lanes, 1, -(-words // lanes), max(1, lanes // 4))
        if room is not None and 16 * shape.launch_words > room:
            lanes = min(lanes, words)
            steps = max(1, min(shape.steps, room // (16 * ROWS * -(-words // lanes) * lanes)))
            shape = Shape(lanes, 1, -(-words // lanes), steps)
        return shape
    strips = min(words, max(capabilities.compute_units, strips or 1))
    each = -(-words // strips)
    steps = -(-batches // (LAUNCHES_PER_RANK * strips))
    if room is not None:
        steps = min(steps, min(SIZE_OF_LAUNCH, room // 4) // (8 * ROWS * each * strips))
    return Shape(1, each, -(-words // each), max(1, steps))


class Layout(NamedTuple):
    """How the rows and columns of a table are worked on.

    Attributes
    ----------
    shape
        Of a launch.
    rounds, batches
        Rows are done in rounds of so many batches; in a round the strips go through all of its rows.

    """

    shape: Shape
    rounds: int
    batches: int

    @property
    def launches(self) -> int:
        """Launches of a round."""
        return self.shape.launches(self.batches)

    @property
    def pipeline(self) -> Pipeline:
        """What the kernels are told of it."""
        shape = self.shape
        return Pipeline(
            self.batches, self.launches, shape.steps, shape.delay, shape.words, shape.lanes, shape.strips
        )  # fmt: skip

    @property
    def kept_bytes(self) -> int:
        """Bytes of the bits of all rows."""
        return self.rounds * self.launches * self.shape.launch_words * 8

    def fits_launches(self, room: int) -> bool:
        """Whether the bits of two launches fit so many bytes, or there is one launch."""
        return 16 * self.shape.launch_words <= room or self.rounds * self.launches == 1


def layout_for(
    capabilities: Any,
    rows: int,
    columns: int,
    *,
    ranks: int = 1,
    room: int | None = None,
    strips: int | None = None,
    shape: Shape | None = None,
) -> Layout:
    """Lay out a table of at least one row; several ranks, each with its columns, take turns in rounds.

    ``room`` and ``strips`` are as for `shape_for`, unless a ``shape`` is given.
    """
    words, all_batches = max(1, -(-columns // COLUMNS)), -(-rows // ROWS)
    rounds = 1 if ranks == 1 else min(all_batches, LAUNCHES_PER_RANK * ranks)
    batches = -(-all_batches // rounds)
    return Layout(shape or shape_for(capabilities, words, batches, room, strips), -(-all_batches // batches), batches)


class Alphabet:
    """The letters of ``b``, numbered; one more number is of all that ``b`` has not, and of no row."""

    def __init__(self, b: np.ndarray) -> None:
        self.letters = np.unique(b)
        self.size = next(size for size in LETTERS if size > self.letters.size)
        self.numbers = np.full(256, self.letters.size, np.uint16)
        self.numbers[self.letters] = np.arange(self.letters.size)

    def rows(self, a: np.ndarray, layout: Layout) -> np.ndarray:
        """The numbers of the rows' letters, two to a word: (rounds, 16 * batches), u32."""
        padded = np.full(layout.rounds * layout.batches * ROWS, self.letters.size, np.uint16)
        padded[: a.size] = self.numbers[a]
        return padded.view(np.uint32).reshape(layout.rounds, -1)

    def masks(self, b: np.ndarray, words: int) -> np.ndarray:
        """For so many words of columns and every letter, where the letter is: (words, letters), u64."""
        masks = np.zeros((words, self.size), np.uint64)
        for k, letter in enumerate(self.letters):
            bits = np.zeros(words * COLUMNS, np.uint8)
            bits[: b.size] = b == letter
            masks[:, k] = np.packbits(bits, bitorder="little").view(np.uint64)
        return masks


class Table:
    """All rows of ``a`` and all columns of ``b``, which may be a part of a larger table.

    Parameters
    ----------
    backend
        Where it is computed.
    alphabet
        Of the whole table.
    a, b : 1-D, u8
        Rows, at least one, and columns.
    layout
        Of `layout_for`.
    keep
        See `core.kernels.lcs.SOME_ROWS`.
    room, folder
        See `core.search.dp.rows.DecisionRows`.
    above : 1-D, u64, optional
        The row above the first, by words of columns; by default no column of it grows.
    stretch
        Batches between two rows that `SOME_ROWS` keeps.

    Raises
    ------
    UserError
        More carries or masks than 32-bit indices reach; no room for the bits of two launches.

    """

    def __init__(
        self,
        backend: Any,
        alphabet: Alphabet,
        a: np.ndarray,
        b: np.ndarray,
        layout: Layout,
        keep: int = NO_ROWS,
        *,
        room: int | None = None,
        folder: str | None = None,
        above: np.ndarray | None = None,
        stretch: int = 1,
    ) -> None:
        self.backend, self.layout, self.keep, self.stretch = backend, layout, keep, stretch
        self.columns = b.size
        shape = layout.shape
        lanes = shape.strips * shape.lanes
        check_size(a.size, b.size, layout, alphabet)
        self.different, self.coded = alphabet.size, alphabet.rows(a, layout)
        self.first = np.full(lanes * shape.words, 2**64 - 1, np.uint64)
        if above is not None:
            self.first[: above.size] = above
        self.above = backend.upload(self.first)
        masks = alphabet.masks(b, lanes * shape.words)
        self.bits = backend.load(BitTable(self.coded[0], masks, self.first))
        edges, parked = (np.zeros(size, np.uint32) for size in ((shape.strips + 1) * layout.batches, lanes))
        self.carries = backend.load(Carries(edges, parked, np.zeros(shape.strips, np.uint32)))
        self.pipeline = layout.pipeline
        self.kept: DecisionRows | None = None
        if keep == EVERY_ROW:
            self.kept = DecisionRows(
                backend, layout.rounds * layout.launches, shape.launch_words, room, folder, np.uint64
            )
        marks = layout.batches // stretch * self.first.size if keep == SOME_ROWS else 1
        self.marks = backend.allocate(max(1, marks), np.uint64)
        self.sequences: dict[tuple[int, int], Any] = {}

    @property
    def streamed_bytes(self) -> int:
        """Bytes of bits that left the device."""
        return self.kept.streamed_bytes if self.kept is not None else 0

    def compute(
        self,
        progress: Progress | None = None,
        receive: Receive | None = None,
        send: Send | None = None,
        after_round: Callable[[int], None] | None = None,
    ) -> None:
        """All rows.

        Parameters
        ----------
        progress
            Told how many of all launches are done.
        receive
            Gives the carries that enter the first column in a round, a word of 32 rows each; None: there are none.
        send
            Takes the carries that leave the last column in a round.
        after_round
            Called with the number of each round when it is queued.

        """
        layout, strips = self.layout, self.layout.shape.strips
        self.backend.write(self.bits.row, self.first)
        entering = np.zeros((strips + 1) * layout.batches, np.uint32)
        for k in range(layout.rounds):
            if receive is not None:
                entering[: layout.batches] = receive(k)
                self.backend.write(self.carries.edges, entering)
            self.backend.write(self.bits.letters, self.coded[k])
            self.backend.write(self.carries.clock, np.zeros(strips, np.uint32))
            self._round(k, progress)
            if send is not None:
                send(k, self.entering(strips))
            if after_round is not None:
                after_round(k)

    def entering(self, strip: int) -> np.ndarray:
        """The carries that entered a strip in the last round; those of the strip behind the last left the table."""
        return np.asarray(self.backend.read(self.carries.edges, strip * self.layout.batches, self.layout.batches))

    def _round(self, number: int, progress: Progress | None) -> None:
        """The launches of one round, in recorded sequences: up to the end of the chunk that they write to."""
        launches = self.layout.launches
        per_chunk = launches if self.kept is None else self.kept.rows_per_chunk
        row, end = number * launches, (number + 1) * launches
        while row < end:
            until = min(end, (row // per_chunk + 1) * per_chunk)
            if progress is not None:
                until = min(until, row + max(1, launches // PARTS_TOLD))
            buffer = self.marks
            for one in range(row, until):
                buffer = self.marks if self.kept is None else self.kept.place(one)[0]
            self._sequence(number * launches % per_chunk, buffer, per_chunk).replay(until - row)
            for one in range(row, until):
                if self.kept is not None:
                    self.kept.close_row(one)
            row = until
            if progress is not None:
                self.backend.synchronize()
                progress(row, self.layout.rounds * launches)

    def _sequence(self, offset: int, buffer: Any, per_chunk: int) -> Any:
        """A launch that keeps its bits in this buffer of ``per_chunk`` rows, the round's first in row ``offset``."""
        key = (id(buffer), offset)
        if key not in self.sequences:
            shape = self.layout.shape
            staged = shape.words == 1 and shape.lanes > 1 and self.different <= STAGED_LETTERS
            kept = Kept(buffer, per_chunk, offset, self.stretch)
            with self.backend.record() as sequence:
                self.backend.launch(
                    advance, shape.strips, shape.lanes,
                    self.bits, self.carries, kept, self.pipeline, self.different, staged, self.keep,
                )  # fmt: skip
            self.sequences[key] = sequence
        return self.sequences[key]

    def zeros(self) -> int:
        """How often the last row grows."""
        return int(np.bitwise_count(~self.backend.download(self.bits.row)).sum())

    def trace(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Trace from a cell to the first column or above the first row.

        Parameters
        ----------
        state : (4,), i32
            Where the trace is (see `core.kernels.lcs`), with as many pairs left as there can be in this table at most.

        Returns
        -------
        pairs : (count, 2), i64
            Matched positions, ascending.
        state : (4,), i32
            Where it has come to.

        """
        if self.kept is None:
            raise ValueError("no bits were kept")
        backend = self.backend
        end = int(state[LEFT])
        rows, columns = (backend.allocate(max(1, end), np.int32) for _ in range(2))
        trace = Trace(backend.upload(np.asarray(state, np.int32)), rows, columns)
        lanes = min(TRACE_LANES, backend.capabilities.max_team_size)
        for first, _, buffer in self.kept.chunks_backwards():
            backend.launch(follow, 1, lanes, buffer, self.above, trace, first, self.pipeline)
        reached = backend.download(trace.state)
        begin = int(reached[LEFT])
        pairs = [backend.read(one, begin, end - begin).astype(np.int64) for one in (rows, columns)]
        return np.stack(pairs, axis=1), reached


def check_size(rows: int, columns: int, layout: Layout, alphabet: Alphabet) -> None:
    """Raise `UserError` if carries or masks have no indices of 31 bits."""
    shape = layout.shape
    if (shape.strips + 1) * layout.batches > LARGEST_INDEX:
        raise UserError(f"strings of {rows} and {columns} letters need more than 2^31 carries between strips")
    if shape.strips * shape.lanes * shape.words * alphabet.size > LARGEST_INDEX:
        different = alphabet.letters.size
        raise UserError(f"{columns} letters, {different} of them different, need more than 2^31 masks")
