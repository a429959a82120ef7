"""Shortest tours from two halves: layers of up to half of the cities, which meet (`core.kernels.dp.held_karp`)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.dp.held_karp import NUMBER_BITS, Layer, Paths
from core.search.checkpoint import Checkpointer
from core.search.dp.held_karp.checkpoint import CheckpointedHeldKarp, StepCallback
from core.search.dp.held_karp.launcher import HeldKarpLauncher, step_lengths
from core.search.dp.held_karp.plan import HeldKarpPlan, bytes_needed
from core.search.dp.held_karp.table import HeldKarpTable, bytes_of_rank, has_distributed_memory
from core.search.dp.held_karp.trace import HeldKarpTrace


class HeldKarpHalves:
    """Layers of up to half of the cities, and the meeting of both halves.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    distances : ndarray, shape (n, n)
        From the first index to the second.
    dtype, cap
        Of lengths; longer ones count as ``cap``.
    room
        Bytes of the device that layers may take.

    """

    def __init__(self, backend: Any, distances: np.ndarray, dtype: np.dtype, cap: int, room: int) -> None:
        self.backend, self.distances, self.dtype, self.room = backend, distances, dtype, room
        directed = not np.array_equal(distances, distances.T)
        self.plan = HeldKarpPlan(len(distances) - 1, directed)
        self.steps = self.plan.size + 1
        self.transitions = self.plan.transitions
        self.launches = HeldKarpLauncher(backend, self.plan.elements, dtype, cap)
        short = np.minimum(distances, cap)
        self.firsts = []
        for towards in (short, short.T)[: self.plan.directions]:
            first = Layer(backend.upload(towards[0, 1:].astype(dtype)), 0, 0)
            self.firsts.append(Paths(first, backend.upload(step_lengths(towards[1:, 1:].T))))
        self.trace = HeldKarpTrace(self.launches, short, self.plan.half)
        self.table: HeldKarpTable | None = None

    def settle(self, ranks: Any) -> None:
        """Make the layers that these ranks have together, and record how they are filled; at once if that is done.

        All ranks call this.

        Raises
        ------
        UserError
            On all ranks, if the device of one has no memory for its part.

        """
        together = self.backend.collectives(ranks)
        if self.table is not None:
            made = self.table.together
            if made.ranks is ranks or (made.is_silent and together.is_silent):
                return
            self.table = None
        at_elements = self._cut_at_elements(together)
        try:
            self.table = HeldKarpTable(self.plan, self.launches, together, self.firsts, at_elements)
        except MemoryError as error:
            n = len(self.distances)
            needed = bytes_needed(n, self.dtype.itemsize, self.plan.directed)
            raise UserError(f"{n} cities need {needed} bytes of the device: {error}") from error

    def _cut_at_elements(self, together: Any) -> bool:
        """Whether GPUs' shares begin at the highest elements: if all have room for them; the first is more than equal.

        Refuses on all ranks what the device of one cannot hold in any way, before anything is allocated.
        """
        least, rank = 0, 0
        for at_elements in (True, False) if has_distributed_memory(self.launches, together) else (False,):
            left = self.room - bytes_of_rank(self.plan, self.launches, together, together.rank, at_elements)
            least, rank = together.ranks.minloc(left, together.rank)
            if least >= 0:
                return at_elements
        needed = bytes_of_rank(self.plan, self.launches, together, rank, False)
        where = f"rank {rank}'s device" if together.size > 1 else "the device"
        raise UserError(
            f"{len(self.distances)} cities: the two largest layers need {needed} bytes of {where}, and "
            f"{needed + least} are there"
        )

    def warm_up(self) -> None:
        """Compile what a run launches, by launches without sets."""
        plan, launches = self.plan, self.launches
        one, other = (Layer(self.backend.allocate(1, self.dtype), 0, 0) for _ in range(2))
        out, home = self.firsts[0], self.firsts[-1]
        slices = plan.slices()[:1]
        for rows in [plan.layer(2), *slices]:
            launches.extend(Paths(one, out.steps), other, rows, 0, 0)
        for gathering in plan.gatherings(*slices):
            launches.meet(plan, gathering, Paths(other, out.steps), Paths(one, home.steps), 0, 0)

    def find(
        self, trace: bool, report: StepCallback | None, checkpointer: Checkpointer | None = None
    ) -> tuple[int, np.ndarray | None]:
        """Length and cities of a shortest tour; None for the tour if it is not traced."""
        assert self.table is not None, "expected `settle` before `run`"
        if checkpointer is None:
            best = self._best(self.table, report)
        else:
            best = CheckpointedHeldKarp(self.table, self.firsts, checkpointer).run(partial(self._tell, report))
        length, number = best >> NUMBER_BITS, best & (1 << NUMBER_BITS) - 1
        return length, self.trace.tour(length, self.plan.first_half(number)) if trace else None

    def _best(self, table: HeldKarpTable, report: StepCallback | None) -> int:
        """The least key of all tours."""
        self.backend.write(self.launches.best, np.array([2**64 - 1], np.uint64))
        self._tell(report, 1, f"layer 1 of {self.plan.size}")
        for sequence, done, what in table.steps:
            sequence.replay()
            if done:
                self._tell(report, done, what)
        return int(self.backend.download(self.launches.best)[0])

    def _tell(self, report: StepCallback | None, steps: int, what: str) -> None:
        """Report steps when they are done."""
        if report is not None:
            self.backend.synchronize()
            report(steps, what)
