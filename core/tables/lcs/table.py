"""One table of the longest common subsequence on one device: its shape, memory, launches and trace."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from core.errors import UserError
from core.ranks import gather_on_all
from core.run.devices import ComputeDevice, DeviceArray, DeviceCollectives, DeviceLimits, Ranks, RecordedLaunches
from core.tables.engine.decisions import DecisionRows, spans_of_launches
from core.tables.lcs import kernels
from core.tables.lcs.kernels import COLUMNS, EVERY_ROW, LEFT, NO_ROWS, ROWS, SOME_ROWS, Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.run.protocol import CountCallback

IntegersT = TypeVar("IntegersT", int, np.ndarray)
LARGEST_INDEX = 2**31 - 1
LAUNCHES_PER_STRIP = 8
"""Launches of cores for each strip of all ranks; the wave reaches the next strip after one of them."""
SIZE_OF_LAUNCH = 64 << 20
"""Bytes of kept bits that one launch should not exceed by much."""


class LcsLaunchShape(NamedTuple):
    """Columns on a device: lanes of a team, words of a lane, teams, steps of a launch."""

    lanes: int
    words: int
    strips: int
    steps: int

    @property
    def delay(self) -> int:
        """Launches by which a strip starts after the one to its left."""
        return 1 + -(-(self.lanes - 1) // self.steps)

    def launches(self, batches: IntegersT, strip: IntegersT) -> IntegersT:
        """Return the number of launches until a strip has done ``batches`` batches."""
        return -(-(batches + self.lanes - 1) // self.steps) + self.delay * strip

    @property
    def launch_words(self) -> int:
        return self.strips * self.steps * self.words * ROWS * self.lanes

    @property
    def strip_columns(self) -> int:
        return self.lanes * self.words * COLUMNS


def shape_for(
    limits: DeviceLimits, words: int, batches: int, room: int | None = None, strips: int | None = None, ranks: int = 1
) -> LcsLaunchShape:
    """Choose a shape for a number of words of columns and batches of rows.

    The bits of all rows may take ``room`` bytes of the device; with None they are not kept. There are at least
    ``strips`` strips, if there are as many words, and ``ranks`` such tables side by side.
    """
    if limits.lanes_resident > 1:
        lanes = min(32, limits.max_team_size)
        if strips is not None:
            lanes = max(1, min(lanes, words // strips))
        shape = LcsLaunchShape(lanes, 1, -(-words // lanes), max(1, lanes // 4))
        if room is not None and 16 * shape.launch_words > room:
            lanes = min(lanes, words)
            steps = max(1, min(shape.steps, room // (16 * ROWS * -(-words // lanes) * lanes)))
            shape = LcsLaunchShape(lanes, 1, -(-words // lanes), steps)
        return shape
    strips = min(words, max(limits.compute_units, strips or 1))
    strip_words = -(-words // strips)
    steps = -(-batches // (LAUNCHES_PER_STRIP * strips * ranks))
    if room is not None:
        steps = min(steps, min(SIZE_OF_LAUNCH, room // 4) // (8 * ROWS * strip_words * strips))
    return LcsLaunchShape(1, strip_words, -(-words // strip_words), max(1, steps))


class LcsTableLayout(NamedTuple):
    """Order of work on the rows and columns of a table.

    ``reach`` and ``slope`` may end strips above the last row (see `core.tables.lcs.kernels.Pipeline`).
    """

    shape: LcsLaunchShape
    batches: int
    reach: int = LARGEST_INDEX
    slope: int = 0

    def batches_of(self, strip: int) -> int:
        return min(max(self.reach - strip * self.slope, 0), self.batches)

    @property
    def launches(self) -> int:
        strips = np.arange(self.shape.strips)
        batches = np.clip(self.reach - strips * self.slope, 0, self.batches)
        return int(self.shape.launches(batches, strips).max(where=batches > 0, initial=0))

    @property
    def pipeline(self) -> Pipeline:
        shape = self.shape
        return Pipeline(
            self.batches, shape.steps, shape.delay, shape.words, shape.lanes, shape.strips, self.reach, self.slope
        )

    @property
    def kept_bytes(self) -> int:
        return self.launches * self.shape.launch_words * 8

    def fits_launches(self, room: int) -> bool:
        """Return True if the bits of two launches fit ``room`` bytes, or there is one launch."""
        return 16 * self.shape.launch_words <= room or self.launches == 1


def layout_for(
    capabilities: DeviceLimits,
    rows: int,
    columns: int,
    *,
    room: int | None = None,
    strips: int | None = None,
    ranks: int = 1,
    shape: LcsLaunchShape | None = None,
) -> LcsTableLayout:
    """Lay out a table of at least one row, with the given shape or that of `shape_for`."""
    words, batches = max(1, -(-columns // COLUMNS)), -(-rows // ROWS)
    return LcsTableLayout(shape or shape_for(capabilities, words, batches, room, strips, ranks), batches)


LETTERS = (8, 32, 128, 257, 1025, 4097, 16385, 65536)
"""Numbers of letters for which kernels are compiled; all letters that are not in b count as one."""
STAGED_LETTERS = 32
"""Most letters with which the masks of a team lie in its shared memory."""
TRACE_LANES = 64
"""Lanes of a trace: about the rows that it passes in one word of columns."""
MESSAGES = 128
"""Number of messages with the carries of a table, at most one for each launch."""
REPETITIONS = 64
"""Devices repeat launches fastest in multiples of this number."""
PROGRESS_REPORTS = 16
"""Reports of progress in a run; each waits for the device."""


class CarryRanks(NamedTuple):
    """Neighbours that send carries into a table's first column or receive the last one's, ``message`` batches each.

    The right neighbour gets the carries of its first ``needed`` batches.
    """

    together: DeviceCollectives
    left: int | None
    right: int | None
    message: int
    needed: int

    @classmethod
    def of(
        cls, backend: ComputeDevice, ranks: Ranks, layout: LcsTableLayout, left: int | None, right: int | None
    ) -> CarryRanks:
        """Return the neighbours of a rank, with messages of the largest size of any rank; all ranks call this."""
        launches = -(-layout.batches // (layout.shape.steps * MESSAGES))
        if launches > REPETITIONS // 2:
            launches = -(-launches // REPETITIONS) * REPETITIONS
        sizes = gather_on_all(ranks, (launches * layout.shape.steps, layout.batches_of(0)))
        needed = 0 if right is None else sizes[right % len(sizes)][1]  # a rehearsal has the size of this rank alone
        together = backend.collectives(ranks)
        together.connect()
        return cls(together, left, right, max(sizes)[0], needed)


class Alphabet:
    """The letters of ``b``, numbered; one more number is for all other letters, and for padding."""

    def __init__(self, b: np.ndarray) -> None:
        self.letters = np.unique(b)
        self.size = next(size for size in LETTERS if size > self.letters.size)
        self.numbers = np.full(256**b.itemsize, self.letters.size, np.uint16)
        self.numbers[self.letters] = np.arange(self.letters.size)

    def rows(self, a: np.ndarray, batches: int, from_end: bool = False) -> np.ndarray:
        """Return the letters of rows as numbers, two to a word: (16 * batches,), u32; reversed if ``from_end``."""
        padded = np.full(batches * ROWS, self.letters.size, np.uint16)
        padded[: a.size] = self.numbers[a]
        return np.ascontiguousarray(padded[::-1] if from_end else padded).view(np.uint32)

    def masks(self, b: np.ndarray, words: int, from_end: bool = False) -> np.ndarray:
        """Return the positions of every letter: (words, letters), u64; reversed if ``from_end``."""
        masks = np.zeros((words, self.size), np.uint64)
        for k, letter in enumerate(self.letters):
            bits = np.zeros(words * COLUMNS, np.uint8)
            bits[: b.size] = b == letter
            masks[:, k] = np.packbits(bits[::-1] if from_end else bits, bitorder="little").view(np.uint64)
        return masks


class LcsBlock(NamedTuple):
    """Rows, at least one, and columns of a table, and the values that enter them.

    Above the first row is the row ``above``, by words of columns; None: of the empty string, of which no column grows.
    The carries ``entering`` the first column are words of 32 rows. ``from_end`` reads both strings from their ends.
    """

    a: np.ndarray
    b: np.ndarray
    above: np.ndarray | None = None
    entering: np.ndarray | None = None
    from_end: bool = False


class LcsTable:
    """All rows and columns of a block, which may be a part of a larger table with that ``alphabet``.

    See `core.tables.lcs.kernels.SOME_ROWS` for ``keep``, and `core.tables.engine.decisions.DecisionRows` for room and
    folder. `SOME_ROWS` keeps a row after each ``stretch`` of batches.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        alphabet: Alphabet,
        block: LcsBlock,
        layout: LcsTableLayout,
        keep: int = NO_ROWS,
        *,
        room: int | None = None,
        folder: str | None = None,
        stretch: int = 1,
    ) -> None:
        self.backend, self.layout, self.keep, self.stretch = backend, layout, keep, stretch
        shape = layout.shape
        lanes = shape.strips * shape.lanes
        check_size(block.a.size, block.b.size, layout, alphabet)
        self.different = alphabet.size
        self.first = np.full(lanes * shape.words, 2**64 - 1, np.uint64)
        if block.above is not None:
            self.first[: block.above.size] = block.above
        self.above = backend.upload(self.first)
        letters = alphabet.rows(block.a, layout.batches, block.from_end)
        masks = alphabet.masks(block.b, lanes * shape.words, block.from_end)
        self.bits = backend.load(kernels.BitTable(letters, masks, self.first))
        edges = backend.allocate((shape.strips + 1) * layout.batches, np.uint32)
        parked, clock = (np.zeros(size, np.uint32) for size in (lanes, shape.strips))
        self.carries = backend.load(kernels.Carries(edges, parked, clock))
        self.pipeline, self.launches = layout.pipeline, layout.launches
        self.kept: DecisionRows | None = None
        if keep == EVERY_ROW:
            self.kept = DecisionRows(backend, layout.launches, shape.launch_words, room, folder, np.uint64)
        marks = layout.batches // stretch * self.first.size if keep == SOME_ROWS else 1
        self.marks = backend.allocate(max(1, marks), np.uint64)
        self.collected = backend.allocate(layout.batches, np.uint32)
        self.traced: kernels.LcsTrace | None = None
        self.most_pairs = 0
        self.sequences: dict[int, RecordedLaunches] = {}
        self.enter(np.zeros(0, np.uint32) if block.entering is None else block.entering)

    @property
    def streamed_bytes(self) -> int:
        return self.kept.streamed_bytes if self.kept is not None else 0

    def compute(self, progress: CountCallback | None = None, neighbours: CarryRanks | None = None) -> None:
        """Compute rows up to the end of each strip; without ``neighbours`` the earlier carries, if any, enter again."""
        self.backend.write(self.bits.row, self.first)
        self.backend.write(self.carries.clock, np.zeros(self.layout.shape.strips, np.uint32))
        done = 0
        for stop, transfer in [] if neighbours is None else self.messages(neighbours):
            self._launch(done, stop, progress)
            transfer()
            done = stop
        self._launch(done, self.launches, progress)

    def enter(self, carries: np.ndarray) -> None:
        """Set the carries that enter the first column, a word of 32 rows each; later ones are 0."""
        padded = np.zeros(self.layout.batches, np.uint32)
        padded[: carries.size] = carries[: padded.size]
        self.backend.put(self.carries.edges, 0, padded)

    def entering(self, strip: int) -> np.ndarray:
        """Return the carries that entered a strip, or, after the last strip, those that left the table."""
        return np.asarray(self.backend.read(self.carries.edges, strip * self.layout.batches, self.layout.batches))

    def messages(self, neighbours: CarryRanks) -> list[tuple[int, Callable[[], None]]]:
        """Return messages, and the launches after which each is sent (when complete) or received (before its use)."""
        layout, shape, (together, left, right, message, needed) = self.layout, self.layout.shape, neighbours
        stretch = -(-message // shape.steps)  # launches between two messages
        # Messages to the right come first, since a rank there may wait for them.
        messages: list[tuple[int, Callable[[], None]]] = []
        if right is not None:
            first = shape.strips * layout.batches
            for begin in range(0, needed, message):
                count = min(message, needed - begin)
                send = partial(together.send, self.carries.edges, first + begin, count, right)
                ready = -(-shape.launches(begin + count, shape.strips - 1) // stretch) * stretch
                messages.append((min(ready, self.launches), send))
        if left is not None:
            end = layout.batches_of(0)
            for begin in range(0, end, message):
                receive = partial(together.receive, self.carries.edges, begin, min(message, end - begin), left)
                messages.append((begin // shape.steps, receive))
        return sorted(messages, key=itemgetter(0))

    def _launch(self, first: int, end: int, progress: CountCallback | None) -> None:
        """Queue the launches up to ``end``, in recorded sequences, each up to the end of the chunk that it writes."""
        most = self.launches if progress is None else max(1, self.launches // PROGRESS_REPORTS)
        for begin, stop, buffer in spans_of_launches(self.kept, self.marks, first, end, most):
            self._sequence(buffer).replay(stop - begin)
            if progress is not None:
                self.backend.synchronize()
                progress(stop, self.launches)

    def _sequence(self, buffer: DeviceArray) -> RecordedLaunches:
        """Return a recorded launch that keeps its bits in this buffer."""
        if id(buffer) not in self.sequences:
            shape = self.layout.shape
            staged = shape.words == 1 and shape.lanes > 1 and self.different <= STAGED_LETTERS
            per_chunk = max(1, self.launches) if self.kept is None else self.kept.rows_per_chunk
            rows = kernels.KeptRows(buffer, per_chunk, self.stretch)
            with self.backend.record() as sequence:
                self.backend.launch(
                    kernels.advance, shape.strips, shape.lanes,
                    self.bits, self.carries, rows, self.pipeline, self.different, staged, self.keep,
                )  # fmt: skip
            self.sequences[id(buffer)] = sequence
        return self.sequences[id(buffer)]

    def row(self) -> np.ndarray:
        """Return the row that each word has reached, 0 where it grows: (words of all lanes,), u64."""
        return np.asarray(self.backend.download(self.bits.row))

    def rises(self, boundaries: int) -> np.ndarray:
        """Return the carries of the first ``boundaries`` strips that `collect_rises` collects, (batches,), u32."""
        teams, lanes = max(1, boundaries), self.layout.shape.lanes
        self.backend.launch(
            kernels.collect_rises, teams, lanes, self.carries, self.pipeline, boundaries, self.collected
        )
        return np.asarray(self.backend.download(self.collected))

    def zeros(self) -> int:
        return int(np.bitwise_count(~self.row()).sum())

    def trace(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Trace from a cell to the first column or above the first row.

        ``state`` has at most as many pairs left as this table can have (see `core.tables.lcs.kernels`). Return the
        matched positions, ascending, (count, 2), i64, and the place reached.
        """
        if self.kept is None:
            raise ValueError("no bits were kept")
        backend = self.backend
        end = int(state[LEFT])
        if self.traced is None or self.most_pairs < end:
            self.most_pairs = end
            sizes = 4, max(1, end), max(1, end)
            self.traced = kernels.LcsTrace(*(backend.allocate(size, np.int32) for size in sizes))
        trace = self.traced
        backend.write(trace.state, np.asarray(state, np.int32))
        lanes = min(TRACE_LANES, backend.capabilities.max_team_size)
        for first, _, buffer in self.kept.chunks_backwards():
            backend.launch(kernels.trace_pairs, 1, lanes, buffer, self.above, trace, first, self.pipeline)
        reached = backend.download(trace.state)
        begin = int(reached[LEFT])
        pairs = np.empty((end - begin, 2), np.int64)
        for side, positions in enumerate((trace.rows, trace.columns)):
            pairs[:, side] = backend.read(positions, begin, end - begin)
        return pairs, reached


def check_size(rows: int, columns: int, layout: LcsTableLayout, alphabet: Alphabet) -> None:
    shape = layout.shape
    if (shape.strips + 1) * layout.batches > LARGEST_INDEX:
        raise UserError(f"strings of {rows} and {columns} letters need more than 2^31 carries between strips")
    if shape.strips * shape.lanes * shape.words * alphabet.size > LARGEST_INDEX:
        different = alphabet.letters.size
        raise UserError(f"{columns} letters, {different} of them different, need more than 2^31 masks")
