"""Held and Karp's layers with states: the last layer that is whole, and of the meeting which sets have met.

The layer before the one in work is still there, so a state is kept in the middle of a layer too, and loses what is
computed of it. Where halves meet nothing is lost. A layer that would make a state too large is no part of any: the last
one that is small enough is copied before it is overwritten, and goes on being the state.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from core.kernels.dp.held_karp import NUMBER_BITS, Paths
from core.search.checkpoint import Checkpointer
from core.search.checkpoint_layout import Checkpoint, CheckpointArray, interval_array
from core.search.dp.engine.host_memory import available_bytes
from core.search.dp.engine.pauses import CheckpointPauses
from core.search.dp.held_karp.plan import MeetingSets, SubsetRows
from core.search.dp.held_karp.table import HeldKarpTable
from core.search.intervals import Intervals
from core.search.partition import equal_part

MOST_BYTES = 4 << 30
"""Of the layers of a state, and an eighth of the host's memory that is free."""
PART = 1 << 20
"""Cells between two pauses, at least."""
NOTHING = 2**64 - 1
AT, LEFT, BEST, LAYER = "at", "left", "best", "layer "

StepCallback = Callable[[int, str], None]
"""Called with the number of steps since the last call, and with a name for them."""


class CheckpointedHeldKarp:
    """A run that keeps its state.

    Parameters
    ----------
    table
        Whose layers are computed.
    firsts
        For each direction the paths to one city.
    checkpointer
        Of this rank.

    """

    def __init__(self, table: HeldKarpTable, firsts: list[Paths], checkpointer: Checkpointer) -> None:
        self.table, self.checkpointer = table, checkpointer
        self.plan, self.launches, self.ranks = table.plan, table.launches, table.together.ranks
        self.backend = table.launches.backend
        self.firsts = firsts
        self.pauses = CheckpointPauses(checkpointer, self.ranks)
        self.slices: list[SubsetRows | None] = [*self.plan.slices()] or [None]
        self.size, self.paths = 1, list(firsts)
        self.at = (0, 0)
        """Of the meeting: which of the slices, and which gathering of it."""
        self.left = self.every_set()
        """What has yet to meet there, of all ranks, when this one began with it."""
        self.undone: Intervals | None = None
        """What of it this rank has left, while it works on it."""
        self.since = 0
        """Parts since the last pause."""
        self.is_kept = True
        """Whether the layer is small enough for a state."""
        self.latest: Checkpoint | None = None
        """The last state that was, on the first rank, where this one is not."""
        self.most_bytes = int(self.ranks.bcast(min(MOST_BYTES, available_bytes() // 8)))
        state = checkpointer.taken(self.layout)
        best = NOTHING if state is None else self.go_on(state)
        self.backend.write(self.launches.best, np.array([best], np.uint64))

    def run(self, tell: StepCallback) -> int:
        """The least key of all tours; ``tell(steps, what)`` hears of layers."""
        tell(self.size, f"layer {self.size} of {self.plan.size}")
        if self.ranks.rank == 0 and self.bytes_of(self.plan.size) > self.most_bytes:
            most = max(size for size in range(1, self.plan.size) if self.bytes_of(size) <= self.most_bytes)
            warnings.warn(
                f"layers of more than {most} cities are no part of a state, of which they would make more than "
                f"{self.most_bytes} bytes: a resumed run computes them again",
                stacklevel=2,
            )
        while self.size < self.plan.size:
            if self.is_kept and self.bytes_of(self.size + 1) > self.most_bytes:
                self.latest = self.state()
            rows = self.plan.layer(self.size + 1)
            self.paths = [self.extend(k, before, rows) for k, before in enumerate(self.paths)]
            self.size = rows.size
            self.is_kept = self.bytes_of(self.size) <= self.most_bytes
            self.pause()
            tell(1, f"layer {self.size} of {self.plan.size}")
        while self.at[0] < len(self.slices):
            self.meet_slice(self.slices[self.at[0]])
        if not self.table.is_alone:
            self.table.together.reduce(self.launches.best, "least")
        tell(1, "the halves met")
        return int(self.backend.download(self.launches.best)[0])

    # --- layers ---

    def bytes_of(self, size: int) -> int:
        """Bytes of a layer, in all directions."""
        return self.plan.directions * self.plan.layer(size).cells * self.launches.dtype.itemsize if size > 1 else 0

    def extend(self, direction: int, before: Paths, rows: SubsetRows) -> Paths:
        """This rank's share of some rows, with pauses; where they are when all ranks have done theirs."""
        layer, begin, end, follow = self.table.turns[direction][rows.size % 2].place(rows)
        for done, until, parts in self.parts(rows.cells):
            first, last = (begin + (end - begin) * part // parts for part in (done, until))
            if first < last:
                self.launches.extend(before, layer, rows, first, last)
        follow()
        return Paths(layer, before.steps)

    def parts(self, cells: int) -> Iterator[tuple[int, int, int]]:
        """From which to which part of how many is computed between two pauses, on all ranks alike.

        Behind the last one there is none before what it belongs to counts as done: see `pause`.
        """
        parts, done = max(1, -(-cells // PART)), 0
        while done < parts:
            until = min(parts, done + self.pauses.steps)
            yield done, until, parts
            self.since = until - done
            if until < parts:
                self.pause()
            done = until

    def pause(self) -> None:
        """Keep the state if it is due."""
        self.backend.synchronize()
        if self.pauses.are_over(self.since):
            self.keep()

    # --- the meeting ---

    def gatherings(self) -> list[MeetingSets]:
        """Those of the slice that is met."""
        return self.plan.gatherings(self.slices[self.at[0]])

    def every_set(self) -> Intervals:
        """All sets of the gathering in work; none behind the last one."""
        if self.at[0] == len(self.slices):
            return Intervals([])
        rows = self.gatherings()[self.at[1]].rows
        return Intervals([(rows.first, rows.end)])

    def meet_slice(self, rows: SubsetRows | None) -> None:
        """Compute the rows of a slice, if there are any, and let their sets meet."""
        out = self.paths[0] if rows is None else self.extend(0, self.paths[0], rows)
        for gathering in self.gatherings()[self.at[1] :]:
            self.meet(gathering, out)
            is_last = self.at[1] + 1 == len(self.gatherings())
            self.at = (self.at[0] + 1, 0) if is_last else (self.at[0], self.at[1] + 1)
            self.left = self.every_set()
            self.pause()
        if not self.table.is_alone:
            self.table.together.barrier()  # before they are read, nobody puts other rows there

    def meet(self, gathering: MeetingSets, out: Paths) -> None:
        """Let this rank's share of the sets that are left meet, with pauses."""
        rank, size = (0, 1) if self.table.is_alone else (self.ranks.rank, self.ranks.size)
        mine = self.left.part(*equal_part(self.left.count, rank, size))
        for done, until, parts in self.parts(self.left.count * gathering.rows.size):
            first, last = (mine.count * part // parts for part in (done, until))
            for begin, end in mine.part(first, last).pairs:
                self.launches.meet(self.plan, gathering, out, self.paths[-1], begin, end)
            self.undone = mine.part(last, mine.count)
        self.undone = None

    # --- states ---

    def keep(self) -> None:
        """Keep the state, or the latest one that was small enough."""
        state = self.state() if self.is_kept else self.latest
        self.checkpointer.keep(self.ranks, state)

    def state(self) -> Checkpoint | None:
        """What is known, on the first rank; all ranks call this."""
        best = self.ranks.minloc(int(self.backend.download(self.launches.best)[0]), 0)[0]
        left = (self.left if self.undone is None else self.undone).array()
        if self.undone is not None and not self.table.is_alone:
            left = Intervals(self.ranks.join(left.reshape(-1)).reshape(-1, 2)).array()
        if self.ranks.rank:
            return None
        state = {AT: np.array([self.size, *self.at], np.int64), LEFT: left, BEST: np.array([best], np.uint64)}
        cells = self.plan.layer(self.size).cells
        for k, path in enumerate(self.paths if self.size > 1 else []):
            state[f"{LAYER}{k}"] = self.backend.read(path.layer.cells, path.layer.start, cells)
        return state

    def layout(self, state: Checkpoint) -> Iterator[CheckpointArray]:
        """Declare what `state` returns."""
        slices = len(self.slices)
        yield CheckpointArray(AT, np.int64, (3,), [(1, self.plan.size), (0, slices), (0, 1)], self.stands_somewhere)
        size, *at = (int(number) for number in state[AT])
        first = end = 0
        if at[0] < slices:
            rows = self.plan.gatherings(self.slices[at[0]])[at[1]].rows
            first, end = rows.first, rows.end
        yield interval_array(LEFT, first, end)

        def half_of_a_tour(best: np.ndarray) -> str | None:
            number = int(best[0]) & ((1 << NUMBER_BITS) - 1)
            is_before = at == [0, 0] and state[LEFT].tolist() == [[first, end]]
            if number <= self.plan.last if best[0] != NOTHING else is_before:
                return None
            return f"found a key with half {number}, expected one of {self.plan.last + 1}"

        yield CheckpointArray(BEST, np.uint64, (1,), rule=half_of_a_tour)
        for k in range(len(self.firsts) if size > 1 else 0):
            cells = self.plan.layer(size).cells
            yield CheckpointArray(f"{LAYER}{k}", self.launches.dtype, (cells,), [(0, self.launches.cap)])

    def stands_somewhere(self, at: np.ndarray) -> str | None:
        """Return the fault of the numbers of layer, slice and gathering, or None."""
        size, one, gathering = (int(number) for number in at)
        every = [len(self.plan.gatherings(rows)) for rows in self.slices] + [1]
        if gathering < every[one] and (size == self.plan.size or (one, gathering) == (0, 0)):
            return None
        return f"found slice {one} and gathering {gathering} of layer {size}, expected ones that there are"

    def go_on(self, state: Checkpoint) -> int:
        """Stand where a state has it; the least key of the sets that have met."""
        self.size, *at = (int(number) for number in state[AT])
        self.at = (at[0], at[1])
        self.left = Intervals(state[LEFT])
        if self.size > 1:
            rows = self.plan.layer(self.size)
            for k, first in enumerate(self.firsts):
                layer = self.table.turns[k][self.size % 2].place(rows)[0]
                self.backend.put(layer.cells, layer.start, state[f"{LAYER}{k}"])
                self.paths[k] = Paths(layer, first.steps)
            self.table.together.barrier()
        return int(state[BEST][0])
