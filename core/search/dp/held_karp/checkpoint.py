"""Checkpoints of Held and Karp's layers: the last layer that is whole, and the sets that have yet to meet.

The layer before the one in work is still there, so a checkpoint in the middle of a layer loses what is computed of it.
Where halves meet nothing is lost. A layer that would make a checkpoint too large is part of none: the last one that is
small enough is copied before it is overwritten, and remains the checkpoint.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from core.kernels.dp.held_karp import Paths
from core.kernels.dp.held_karp_halves import NUMBER_BITS
from core.search.checkpoint import Checkpointer
from core.search.checkpoint_layout import Checkpoint, CheckpointArray, interval_array
from core.search.dp.engine.host_memory import available_bytes
from core.search.dp.engine.pauses import CheckpointPauses
from core.search.dp.held_karp.layers import NOTHING, HeldKarpLayers
from core.search.dp.held_karp.plan import HeldKarpPlan, MeetingSets
from core.search.intervals import Intervals
from core.search.partition import equal_part
from core.search.protocol import CountCallback

MOST_BYTES = 4 << 30
"""Of the layers of a checkpoint, and at most an eighth of the host's memory that is free."""
PART = 1 << 20
"""Cells between two pauses, at least."""
AT, LEFT, BEST, LAYER = "at", "left", "best", "layer "


class CheckpointedHeldKarp:
    """A run of layers with pauses, in which its checkpoint is kept.

    Parameters
    ----------
    layers
        Of this rank.
    firsts
        For each direction the paths to one city.
    checkpointer
        Of this rank.

    """

    def __init__(self, layers: HeldKarpLayers, firsts: Sequence[Paths], checkpointer: Checkpointer) -> None:
        self.layers, self.checkpointer = layers, checkpointer
        self.plan, self.launches, self.ranks = layers.plan, layers.launches, layers.together.ranks
        self.backend = self.launches.backend
        self.pauses = CheckpointPauses(checkpointer, self.ranks)
        self.meetings = self.plan.meetings()
        self.places = places_of(self.plan)
        layers.paths = [*firsts]
        self.size = 1
        self.met = 0
        """Meetings that are over."""
        self.left = self.every_set()
        """Sets of all ranks that had yet to meet in the current one when this process began with it."""
        self.undone: Intervals | None = None
        """Those of them that this rank has left, while it works on them."""
        self.since = 0
        """Parts since the last pause."""
        self.latest: Checkpoint | None = None
        """The last checkpoint that was small enough, on the first rank, if this one is not."""
        self.most_bytes = int(self.ranks.bcast(min(MOST_BYTES, available_bytes() // 8)))
        state = checkpointer.taken(self.layout)
        best = NOTHING if state is None else self.resume(state)
        self.backend.write(self.launches.best, np.array([best], np.uint64))

    def least_key(self, report: CountCallback | None) -> int:
        """Compute what is left of a run; return the least key of all tours."""
        steps = self.plan.size + 1
        report = report or (lambda done, total: None)
        self.warn_of_large_layers()
        report(self.size, steps)
        while self.size < self.plan.size:
            if self.is_kept and not self.fits(self.size + 1):
                self.latest = self.state()
            self.layers.extend_all(self.size + 1, self.parts)
            self.size += 1
            self.pause()
            report(self.size, steps)
        for meeting in self.meetings[self.met :]:
            self.meet(meeting)
        self.layers.synchronise(is_last=True)
        best = int(self.backend.download(self.launches.best)[0])
        report(steps, steps)
        return best

    # --- pauses ---

    def parts(self, cells: int) -> Iterator[tuple[int, int, int]]:
        """Yield the first part and the one after the last between two pauses, and the number of parts, on all ranks.

        After the last part there is no pause before what it belongs to counts as done: see `pause`.
        """
        count, done = max(1, -(-cells // PART)), 0
        while done < count:
            until = min(count, done + self.pauses.steps)
            yield done, until, count
            self.since = until - done
            if until < count:
                self.pause()
            done = until

    def pause(self) -> None:
        """Keep the checkpoint if it is due: this one, or the latest that was small enough."""
        self.backend.synchronize()
        if self.pauses.are_over(self.since):
            self.checkpointer.keep(self.ranks, self.state() if self.is_kept else self.latest)

    @property
    def is_kept(self) -> bool:
        """True if the layer is small enough for a checkpoint."""
        return self.fits(self.size)

    def fits(self, size: int) -> bool:
        """Return True if a layer, in all directions, is small enough for a checkpoint."""
        cells = self.plan.directions * self.plan.layer(size).cells
        return size == 1 or cells * self.launches.dtype.itemsize <= self.most_bytes

    def warn_of_large_layers(self) -> None:
        """Warn, on the first rank, of layers that are too large for a checkpoint."""
        if self.ranks.rank == 0 and not self.fits(self.plan.size):
            most = max(size for size in range(1, self.plan.size) if self.fits(size))
            warnings.warn(
                f"layers of more than {most} cities are no part of a state, of which they would make more than "
                f"{self.most_bytes} bytes: a resumed run computes them again",
                stacklevel=2,
            )

    # --- the meeting ---

    def every_set(self) -> Intervals:
        """All sets of the current meeting; none after the last one."""
        return Intervals([(one.rows.first, one.rows.end) for one in self.meetings[self.met : self.met + 1]])

    def meet(self, meeting: MeetingSets) -> None:
        """Let this rank's share of the sets that are left meet, with pauses."""
        out = self.layers.extend(0, meeting.out, self.parts) if meeting.out.cells else self.layers.paths[0]
        mine = self.left.part(*equal_part(self.left.count, self.layers.rank, self.layers.ranks))
        for part, until, count in self.parts(self.left.count * meeting.rows.size):
            first, last = (mine.count * one // count for one in (part, until))
            for begin, end in mine.part(first, last).pairs:
                self.layers.meet(meeting, out, begin, end)
            self.undone = mine.part(last, mine.count)
        self.met, self.undone = self.met + 1, None
        self.left = self.every_set()
        self.pause()
        self.layers.synchronise(is_last=False)

    # --- the checkpoint ---

    def state(self) -> Checkpoint | None:
        """Return the checkpoint, on the first rank; all ranks call this."""
        best = self.ranks.minloc(int(self.backend.download(self.launches.best)[0]), 0)[0]
        left = (self.left if self.undone is None else self.undone).array()
        if self.undone is not None and not self.layers.is_alone:
            left = Intervals(self.ranks.join(left.reshape(-1)).reshape(-1, 2)).array()
        if self.ranks.rank:
            return None
        state = {
            AT: np.array([self.size, *self.places[self.met]], np.int64),
            LEFT: left,
            BEST: np.array([best], np.uint64),
        }
        cells = self.plan.layer(self.size).cells
        for k, path in enumerate(self.layers.paths if self.size > 1 else []):
            state[f"{LAYER}{k}"] = self.backend.read(path.layer.cells, path.layer.start, cells)
        return state

    def layout(self, state: Checkpoint) -> Iterator[CheckpointArray]:
        """Declare what `state` returns."""
        last = self.places[-1][0]
        yield CheckpointArray(AT, np.int64, (3,), [(1, self.plan.size), (0, last), (0, 1)], self.position_fault)
        size, met = self.position(state[AT])
        first, end = (self.meetings[met].rows[-2:]) if met < len(self.meetings) else (0, 0)
        yield interval_array(LEFT, first, end)

        def key_fault(best: np.ndarray) -> str | None:
            number = int(best[0]) & ((1 << NUMBER_BITS) - 1)
            is_before = met == 0 and state[LEFT].tolist() == [[first, end]]
            if number <= self.plan.last if best[0] != NOTHING else is_before:
                return None
            return f"found a key with half {number}, expected one of {self.plan.last + 1}"

        yield CheckpointArray(BEST, np.uint64, (1,), rule=key_fault)
        for k in range(self.plan.directions if size > 1 else 0):
            cells = self.plan.layer(size).cells
            yield CheckpointArray(f"{LAYER}{k}", self.launches.dtype, (cells,), [(0, self.launches.cap)])

    def position_fault(self, at: np.ndarray) -> str | None:
        """Return the fault of the numbers of layer, slice and meeting of the slice, or None."""
        size, *place = (int(number) for number in at)
        if tuple(place) in self.places and (size == self.plan.size or place == [0, 0]):
            return None
        return f"found slice {place[0]} and gathering {place[1]} of layer {size}, expected ones that there are"

    def position(self, at: np.ndarray) -> tuple[int, int]:
        """The size of the last layer, and the number of meetings that are over."""
        size, one, number = (int(number) for number in at)
        return size, self.places.index((one, number))

    def resume(self, state: Checkpoint) -> int:
        """Take the position and the layer of a checkpoint; return the least key of the sets that have met."""
        self.size, self.met = self.position(state[AT])
        self.left = Intervals(state[LEFT])
        if self.size > 1:
            rows = self.plan.layer(self.size)
            for k, first in enumerate(self.layers.paths):
                layer = self.layers.turns[k][self.size % 2].place(rows)[0]
                self.backend.put(layer.cells, layer.start, state[f"{LAYER}{k}"])
                self.layers.paths[k] = Paths(layer, first.steps)
            self.layers.together.barrier()
        return int(state[BEST][0])


def places_of(plan: HeldKarpPlan) -> list[tuple[int, int]]:
    """Places of all meetings in a checkpoint, and that after the last: a slice of rows, and the meeting within it."""
    count = len(plan.meetings())
    return [(k, 0) for k in range(count + 1)] if plan.is_even else [*((0, k) for k in range(count)), (1, 0)]
