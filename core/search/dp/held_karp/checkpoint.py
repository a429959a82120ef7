"""Checkpoints of Held and Karp's layers: the last complete layer, and the sets that have yet to meet.

The layer before the current one is still stored, so a checkpoint in the middle of a layer loses only the work on that
layer. While halves meet, nothing is lost. A layer that is too large is part of no checkpoint: the last one that is
small enough is copied before it is overwritten, and remains the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import warn_caller
from core.kernels.dp.held_karp import Paths
from core.kernels.dp.held_karp_halves import NUMBER_BITS
from core.search.checkpoint import Checkpoint, CheckpointArray, interval_array
from core.search.dp.engine.decisions import available_bytes
from core.search.dp.held_karp.layers import NOTHING, HeldKarpLayers, Part, is_last
from core.search.dp.held_karp.plan import HeldKarpPlan
from core.search.partition import Intervals, equal_part
from core.search.protocol import CountCallback
from core.search.run import Step, SynchronousRun

MOST_BYTES = 4 << 30
"""Most bytes of the layers of a checkpoint, which also take at most an eighth of the host's free memory."""
PART = 1 << 20
"""Fewest cells of a piece of work; a run pauses between pieces."""
AT, LEFT, BEST, LAYER = "at", "left", "best", "layer "


class CheckpointedHeldKarp:
    """A run with checkpoints (`core.search.run.Steps`): layer after layer in pieces, then meeting after meeting."""

    def __init__(self, layers: HeldKarpLayers, progress: CountCallback | None) -> None:
        self.layers, self.progress = layers, progress
        self.plan, self.launches, self.ranks = layers.plan, layers.launches, layers.together.ranks
        self.backend = self.launches.backend
        self.meetings = self.plan.meetings()
        self.places = places_of(self.plan)
        self.most_bytes = int(self.ranks.bcast(min(MOST_BYTES, available_bytes() // 8)))

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.size, self.met, best = 1, 0, NOTHING
        """Size of the last complete layer, and number of finished meetings."""
        self.pieces = 0
        """Finished pieces of the current work."""
        self.out: Paths | None = None
        """Rows of the sets A of the current meeting."""
        self.latest: Checkpoint | None = None
        """The last checkpoint that was small enough, on the first rank, if the current one is too large."""
        self.layers.paths = [*self.layers.firsts]
        if checkpoint is not None:
            self.size, self.met = self.position(checkpoint[AT])
            best = int(checkpoint[BEST][0])
            self.restore(checkpoint)
        self.left = self.every_set() if checkpoint is None else Intervals(checkpoint[LEFT])
        """Sets of all ranks that had yet to meet when this process began the current meeting."""
        self.undone: Intervals | None = None
        """The rest of this rank's sets, while it works on them."""
        run.undone = self.plan.size - self.size + len(self.meetings) - self.met
        self.backend.write(self.launches.best, np.array([best], np.uint64))
        self.warn_of_large_layers()
        self.report(self.size)

    def step(self, run: SynchronousRun) -> Step:
        budget, done = run.budget().steps, 0
        if self.size < self.plan.size:
            done = self.extend(budget)
        else:
            meeting = self.meetings[self.met]
            if self.out is None and meeting.out.cells:
                part = self.next_part(meeting.out.cells, budget)
                out, done = self.layers.extend(0, meeting.out, part), part[1] - part[0]
                self.out = out if is_last(part) else None
            if self.out is not None or not meeting.out.cells:
                done += self.meet(budget)
        self.backend.synchronize()
        self.report(self.size)
        return Step(done, undone=self.plan.size - self.size + len(self.meetings) - self.met)

    def result(self, run: SynchronousRun) -> int:
        self.layers.synchronise(is_end=True)
        best = int(self.backend.download(self.launches.best)[0])
        self.report(self.plan.size + 1)
        return best

    def next_part(self, cells: int, budget: int) -> Part:
        """Return the next pieces of work on about ``cells`` cells, equal on all ranks."""
        count, begin = max(1, -(-cells // PART)), self.pieces
        end = min(count, begin + budget)
        self.pieces = end % count
        return begin, end, count

    def report(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, self.plan.size + 1)

    def extend(self, budget: int) -> int:
        size = self.size + 1
        if self.pieces == 0 and self.fits(self.size) and not self.fits(size):
            self.latest = self.state()
        part = self.next_part(self.plan.layer(size).cells, budget)
        self.layers.extend_all(size, part)
        self.size += is_last(part)
        return part[1] - part[0]

    def meet(self, budget: int) -> int:
        meeting = self.meetings[self.met]
        share = self.left.part(*equal_part(self.left.count, self.layers.rank, self.layers.ranks))
        begin, end, count = part = self.next_part(self.left.count * meeting.rows.size, budget)
        first, last = (share.count * piece // count for piece in (begin, end))
        for sets in share.part(first, last).pairs:
            self.layers.meet(meeting, self.out or self.layers.paths[0], *sets)
        self.undone = share.part(last, share.count)
        if is_last(part):
            self.met, self.undone, self.out = self.met + 1, None, None
            self.left = self.every_set()
            self.layers.synchronise(is_end=False)
        return end - begin

    def every_set(self) -> Intervals:
        return Intervals([(meeting.rows.first, meeting.rows.end) for meeting in self.meetings[self.met : self.met + 1]])

    # --- the checkpoint ---

    def fits(self, size: int) -> bool:
        cells = self.plan.directions * self.plan.layer(size).cells
        return size == 1 or cells * self.launches.dtype.itemsize <= self.most_bytes

    def warn_of_large_layers(self) -> None:
        if self.ranks.rank == 0 and not self.fits(self.plan.size):
            largest = max(size for size in range(1, self.plan.size) if self.fits(size))
            warn_caller(
                f"layers of more than {largest} cities are no part of a state, of which they would make more than "
                f"{self.most_bytes} bytes: a resumed run computes them again"
            )

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        return self.state() if self.fits(self.size) else self.latest

    def state(self) -> Checkpoint | None:
        best = self.ranks.minloc(int(self.backend.download(self.launches.best)[0]), 0)[0]
        unmet = (self.left if self.undone is None else self.undone).array()
        if self.undone is not None and not self.layers.is_alone:
            unmet = Intervals(self.ranks.join(unmet.reshape(-1)).reshape(-1, 2)).array()
        if self.ranks.rank:
            return None
        state = {
            AT: np.array([self.size, *self.places[self.met]], np.int64),
            LEFT: unmet,
            BEST: np.array([best], np.uint64),
        }
        cells = self.plan.layer(self.size).cells
        for k, path in enumerate(self.layers.paths if self.size > 1 else []):
            state[f"{LAYER}{k}"] = self.backend.read(path.layer.cells, path.layer.start, cells)
        return state

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
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
        size, *place = (int(number) for number in at)
        if tuple(place) in self.places and (size == self.plan.size or place == [0, 0]):
            return None
        return f"found slice {place[0]} and gathering {place[1]} of layer {size}, expected ones that there are"

    def position(self, at: np.ndarray) -> tuple[int, int]:
        size, part, number = (int(number) for number in at)
        return size, self.places.index((part, number))

    def restore(self, state: Checkpoint) -> None:
        if self.size > 1:
            rows = self.plan.layer(self.size)
            for k, start in enumerate(self.layers.paths):
                layer = self.layers.turns[k][self.size % 2].place(rows)[0]
                self.backend.put(layer.cells, layer.start, state[f"{LAYER}{k}"])
                self.layers.paths[k] = Paths(layer, start.steps)
            self.layers.together.barrier()


def places_of(plan: HeldKarpPlan) -> list[tuple[int, int]]:
    """Return the places of all meetings, and the one after the last: a slice of rows, and the meeting within it."""
    count = len(plan.meetings())
    return [(k, 0) for k in range(count + 1)] if plan.is_even else [*((0, k) for k in range(count)), (1, 0)]
