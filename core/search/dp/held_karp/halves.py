"""Shortest tours from layers of up to half of the cities, which meet (`core.kernels.dp.held_karp_halves`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.dp.held_karp import Layer, Paths
from core.kernels.dp.held_karp_halves import NUMBER_BITS
from core.search.dp.engine.table_search import TableRun
from core.search.dp.held_karp.layers import (
    HeldKarpLauncher,
    HeldKarpLayers,
    bytes_of_rank,
    has_distributed_memory,
    step_lengths,
)
from core.search.dp.held_karp.plan import HeldKarpPlan, bytes_needed
from core.search.dp.held_karp.trace import HeldKarpAnswer, HeldKarpTrace


class HeldKarpHalves:
    """Layers of up to half of the cities, and the meeting of both halves.

    Layers may take ``room`` bytes of the device. Lengths have the type ``dtype``; longer ones count as ``cap``.
    """

    def __init__(self, backend: Any, distances: np.ndarray, dtype: np.dtype, cap: int, room: int) -> None:
        self.backend, self.room = backend, room
        directed = not np.array_equal(distances, distances.T)
        self.plan = HeldKarpPlan(len(distances) - 1, directed)
        self.launches = HeldKarpLauncher(backend, self.plan.elements, dtype, cap)
        short = np.minimum(distances, cap)
        self.firsts = []
        for towards in (short, short.T)[: self.plan.directions]:
            first = Layer(backend.upload(towards[0, 1:].astype(dtype)), 0, 0)
            self.firsts.append(Paths(first, backend.upload(step_lengths(towards[1:, 1:].T))))
        self.trace = HeldKarpTrace(self.launches, short, self.plan.half)
        self.layers: HeldKarpLayers | None = None

    def settle(self, ranks: Any) -> None:
        """Make the layers of these ranks, and record how they are filled, unless that is done; all ranks call this."""
        together = self.backend.collectives(ranks)
        if self.layers is not None:
            made = self.layers.together
            if made.ranks is ranks or (made.is_silent and together.is_silent):
                return
            self.layers = None
        at_elements = self.cut_at_elements(together)
        try:
            self.layers = HeldKarpLayers(self.plan, self.launches, together, self.firsts, at_elements)
        except MemoryError as error:
            n = self.plan.elements + 1
            needed = bytes_needed(n, self.launches.dtype.itemsize, self.plan.directed)
            raise UserError(f"{n} cities need {needed} bytes of the device: {error}") from error

    def cut_at_elements(self, together: Any) -> bool:
        """Return True if GPUs' shares begin at the highest elements: all have room for them, though some are larger.

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
            f"{self.plan.elements + 1} cities: the two largest layers need {needed} bytes of {where}, and "
            f"{needed + least} are there"
        )

    def warm_up(self) -> None:
        plan, launches = self.plan, self.launches
        one, other = (Layer(self.backend.allocate(1, launches.dtype), 0, 0) for _ in range(2))
        out, home = self.firsts[0], self.firsts[-1]
        for rows in [plan.layer(2), plan.halves]:
            launches.extend(Paths(one, out.steps), other, rows, 0, 0)
        for meeting in plan.meetings()[:2]:
            launches.meet(plan, meeting, Paths(other, out.steps), Paths(one, home.steps), 0, 0)

    def find(self, run: TableRun) -> HeldKarpAnswer:
        self.settle(run.ranks)
        assert self.layers is not None
        if run.checkpointer is None:
            best = self.layers.least_key(run.progress)
        else:
            from core.search.dp.engine.checkpoints import run_in_bands
            from core.search.dp.held_karp.checkpoint import CheckpointedHeldKarp

            best = run_in_bands(CheckpointedHeldKarp(self.layers, run.progress), run)
        length, number = best >> NUMBER_BITS, best & (1 << NUMBER_BITS) - 1
        return HeldKarpAnswer(length, self.trace.tour(length, self.plan.first_half(number)) if run.trace else None)
