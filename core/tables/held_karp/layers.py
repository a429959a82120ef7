"""The layers of Held and Karp's recursion in the memory of all ranks, and the launches that fill them.

Every rank computes a contiguous share of every layer in its own memory, and reads rows of the layer before from the
memory of their rank. A set without one of its elements has about the same relative place in its layer as the set has in
its own, unless the element is one of the highest: two ranks have some 93 % of the rows that they read. Cut at the first
set with the highest element, layers leave the first rank nothing to read elsewhere, and the second one row of each set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from math import inf
from typing import NamedTuple

import numpy as np

from core.lang import Kernel
from core.run.devices import ComputeDevice, DeviceCollectives, RecordedLaunches
from core.run.protocol import CountCallback
from core.tables.held_karp.kernels.halves import Meeting, extend_fetching, meet
from core.tables.held_karp.kernels.layers import COLUMNS, ELEMENTS, ROW, Layer, Paths, Sets, SubsetShare, extend
from core.tables.held_karp.plan import HeldKarpPlan, MeetingSets, SubsetRows, binomials, largest_cells

TEAM_SIZE = 256
RUN_OF_A_CORE = 64
"""Neighbouring sets that a core computes; finding the first costs about as much as one set."""
TEAMS_OF_A_CORE = 4


class HeldKarpLauncher:
    """Launches on one device for up to ``elements`` cities but city 0; lengths above ``cap`` count as that."""

    def __init__(self, backend: ComputeDevice, elements: int, dtype: np.dtype, cap: int) -> None:
        self.backend, self.dtype, self.cap = backend, dtype, cap
        capabilities = backend.capabilities
        self.is_wide = wide = capabilities.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, capabilities.max_team_size) if wide else 1
        self.run = 1 if wide else RUN_OF_A_CORE
        self.most_teams = capabilities.compute_units * (
            max(1, capabilities.lanes_resident // self.team_size) if wide else TEAMS_OF_A_CORE
        )
        self.most = max(ELEMENTS, elements)
        numbers = np.uint32 if self.most == ELEMENTS else np.uint64
        self.binomials = backend.upload(binomials(self.most, COLUMNS).astype(numbers))
        # Rows are an odd number of 4-byte words apart in a team's memory, since lanes share banks.
        row_bytes = (self.most + 1) // 2 * dtype.itemsize
        self.pitch = (-(-row_bytes // 4) | 1) * 4 // dtype.itemsize
        self.best = backend.allocate(1, np.uint64)
        self.unread = Paths(Layer(backend.allocate(1, dtype), 0, 0), backend.allocate(1, np.uint32))

    def extend(self, before: Paths, after: Layer, rows: SubsetRows, begin: int, end: int, fetched: int = 0) -> None:
        """Queue the sets ``begin`` to ``end`` - 1 of some rows, from rows of the layer before.

        Teams fetch the rows without one of the ``fetched`` largest elements.
        """
        share = SubsetShare(begin, end, self.run, *rows.numbering)
        arguments = before, after, self._sets(rows.elements), rows.size, share
        if fetched:
            self._launch(extend_fetching, end - begin, *arguments, self.pitch, fetched)
        else:
            self._launch(extend, end - begin, *arguments)

    def meet(self, plan: HeldKarpPlan, gathering: MeetingSets, out: Paths, home: Paths, begin: int, end: int) -> None:
        """Queue the meeting of the sets B ``begin`` to ``end`` - 1 with their complements.

        ``out`` has the rows of the complements; only steps are read if they are among those of ``home``, which has the
        rows of the last layer, in the other direction if there are two.
        """
        rows, middles, _ = gathering
        if not plan.is_apart:
            out = Paths(self.unread.layer, out.steps)
        if not plan.directed:
            home = Paths(home.layer, self.unread.steps)
        share = SubsetShare(begin, end, self.run, *rows.numbering)
        meeting = Meeting(middles, plan.last, plan.is_apart, plan.directed, self.pitch, self.is_wide)
        self._launch(meet, end - begin, out, home, self._sets(rows.elements), plan.size, share, meeting, self.best)

    def _sets(self, elements: int) -> Sets:
        return Sets(self.binomials, elements, self.cap, self.most)

    def _launch(self, kernel: Kernel, sets: int, *arguments: object) -> None:
        teams = min(self.most_teams, -(-sets // (self.team_size * self.run)))
        self.backend.launch(kernel, max(1, teams), self.team_size, *arguments)


def step_lengths(distances: np.ndarray) -> np.ndarray:
    """Return the distances as the kernels read them: from element j to i at i * 35 + j."""
    table = np.zeros((len(distances), ROW), np.uint32)
    table[:, : len(distances)] = distances
    return table.reshape(-1)


SMALL, SMALL_OF_A_CORE = 1 << 22, 1 << 12
"""Layers of fewer cells are computed by every rank for itself, and recorded together.

On a GPU, at 1 T transitions/s, half of such a layer takes some 20 us; to synchronise with another rank takes some 4, to
wait until it has come and to read what it has computed some more.
"""
NOTHING = 2**64 - 1
"""Key larger than that of every tour."""


class LayerPartition(NamedTuple):
    """Partition of rows over ``ranks``, of which this one has the number ``rank``.

    Ranks share rows of ``least`` cells and more; see `SubsetRows.bounds` for ``at_elements``.
    """

    together: DeviceCollectives
    ranks: int
    rank: int
    least: float
    at_elements: bool

    def own_sets(self, rows: SubsetRows) -> tuple[int, int]:
        """Return this rank's first set of shared rows, and the one after its last."""
        begin, end = rows.bounds(self.ranks, self.at_elements)[self.rank :][:2]
        return begin, end


class LayerBuffer:
    """Array for rows of several ``layers``."""

    def __init__(self, launches: HeldKarpLauncher, partition: LayerPartition, layers: list[SubsetRows]) -> None:
        self.partition, self.layers = partition, layers
        own_cells = [rows.cells for rows in layers if rows.cells < partition.least]
        shared_rows = [rows for rows in layers if rows.cells >= partition.least]
        if own_cells:
            self.own = launches.backend.allocate(max(own_cells), launches.dtype)
        if shared_rows:
            self.cuts = memory_boundaries(shared_rows, partition.ranks, partition.at_elements)
            self.common = partition.together.common(self.cuts[-1], launches.dtype, self.cuts)

    def place(self, rows: SubsetRows) -> tuple[Layer, int, int, Callable[[], None]]:
        """Return the place of rows, this rank's first set and the one after its last, and the call that follows."""
        together, ranks, _, least, at_elements = self.partition
        if rows.cells < least:
            return Layer(self.own, 0, rows.first), rows.first, rows.end, lambda: None
        parts = share_boundaries(rows, rows.bounds(ranks, at_elements))
        # Smaller layers are placed so that the middle share begins where its rank's memory does.
        middle = ranks // 2
        start = max(0, min(self.cuts[middle] - parts[middle], self.cuts[-1] - parts[-1]))
        parts = [start + part for part in parts]
        gather = partial(together.gather, self.common, parts)
        return Layer(self.common, start, rows.first), *self.partition.own_sets(rows), gather


def memory_boundaries(layers: list[SubsetRows], ranks: int, at_elements: bool) -> list[int]:
    """Return the starts of the ranks' memory, and its end: at the shares of the largest layer."""
    largest = max(layers, key=lambda rows: rows.cells)
    return share_boundaries(largest, largest.bounds(ranks, at_elements))


def share_boundaries(rows: SubsetRows, bounds: Sequence[int]) -> list[int]:
    return [(bound - rows.first) * rows.size for bound in bounds]


class HeldKarpLayers:
    """All layers, the part of this rank in them, and recorded launches of a whole run.

    ``paths`` are those of the latest layer, by direction. ``steps`` are recorded launches, each with the number of
    finished steps after it: layers, and the meeting of halves. ``why_not_shared`` is the reason why ranks do not share
    layers, or empty.
    """

    def __init__(
        self,
        plan: HeldKarpPlan,
        launches: HeldKarpLauncher,
        together: DeviceCollectives,
        firsts: Sequence[Paths],
        at_elements: bool = False,
        separate: bool = False,
    ) -> None:
        self.plan, self.launches, self.together, self.firsts = plan, launches, together, firsts
        limit = SMALL if launches.is_wide else SMALL_OF_A_CORE
        is_small = all(plan.layer(size).cells < limit for size in range(2, plan.size + 1))
        least, self.why_not_shared = least_shared(launches, together), ""
        if is_small and not together.is_silent:
            least, self.why_not_shared = inf, "so small a problem every rank solves by itself"
        elif least == inf:
            self.why_not_shared = (
                "ranks do not reach each other's memory: each computes all layers, and its share of how halves meet"
            )
        is_solo = together.is_silent or is_small
        ranks, rank = (1, 0) if is_solo else (together.size, together.rank)
        partition = LayerPartition(together, ranks, rank, least, at_elements)
        # Other GPUs have the rows without the largest elements, at which layers are cut.
        is_distributed = has_distributed_memory(launches, together)
        self.least, self.fetched = least, (ranks - 1).bit_length() if is_distributed else 0
        self.buffers = [
            [LayerBuffer(launches, partition, layers) for layers in plan.arrays(k, separate)]
            for k in range(plan.directions)
        ]
        self.paths = [*firsts]
        self.steps: list[tuple[RecordedLaunches, int]] = []
        for _, group in groupby(range(2, plan.size + 1), lambda size: size if plan.layer(size).cells >= limit else 0):
            sizes = [*group]
            with self._step(sizes[-1]):
                for size in sizes:
                    self.paths = [self.extend(k, plan.layer(size)) for k in range(plan.directions)]
        meetings = plan.meetings()
        for meeting in meetings:
            is_end, out = meeting is meetings[-1], self.paths[0]
            if meeting.out.cells:
                with self._step(plan.size):
                    out = self.extend(0, meeting.out)
            begin, end = partition.own_sets(meeting.rows)
            with self._step(plan.size + is_end):
                if begin < end:
                    launches.meet(plan, meeting, out, self.paths[-1], begin, end)
                if not is_solo and is_end:
                    together.reduce(launches.best, "least")
                elif not is_solo:
                    together.barrier()  # before rows are overwritten

    @contextmanager
    def _step(self, done: int) -> Iterator[None]:
        with self.launches.backend.record() as sequence:
            yield
        self.steps.append((sequence, done))

    def extend(self, direction: int, rows: SubsetRows) -> Paths:
        """Compute this rank's share of rows; return their place."""
        before = self.paths[direction]
        buffer = next(buffer for buffer in self.buffers[direction] if rows in buffer.layers)
        layer, begin, end, follow = buffer.place(rows)
        if begin < end:
            self.launches.extend(before, layer, rows, begin, end, self.fetched if rows.cells >= self.least else 0)
        follow()
        return Paths(layer, before.steps)

    def least_key(self, report: CountCallback | None) -> int:
        backend, best = self.launches.backend, self.launches.best
        backend.write(best, np.array([NOTHING], np.uint64))
        for sequence, done in [(None, 1), *self.steps]:
            if sequence is not None:
                sequence.replay()
            if report is not None:
                backend.synchronize()
                report(done, self.plan.size + 1)
        return int(backend.download(best)[0])


def least_shared(launches: HeldKarpLauncher, together: DeviceCollectives) -> float:
    """Return the fewest cells of a partitioned layer; every rank computes smaller ones itself.

    GPUs without access to each other's memory compute all layers themselves: a cell is computed in some 15 ps and sent
    through the host in some 500, through NCCL between hosts in some 50.
    """
    if together.is_silent:
        return 0
    if launches.is_wide:
        return SMALL if together.is_one_memory else inf
    return SMALL_OF_A_CORE


def has_distributed_memory(launches: HeldKarpLauncher, together: DeviceCollectives) -> bool:
    """Return True if ranks have one memory that is not equally near to all: that of several GPUs."""
    return launches.is_wide and together.is_one_memory and not together.is_silent


def bytes_of_rank(
    plan: HeldKarpPlan,
    launches: HeldKarpLauncher,
    together: DeviceCollectives,
    rank: int,
    at_elements: bool,
    separate: bool = False,
) -> int:
    cells = 0
    for direction in range(plan.directions):
        for rows in plan.arrays(direction, separate):
            if has_distributed_memory(launches, together):
                bounds = memory_boundaries(rows, together.size, at_elements)
                cells += bounds[rank + 1] - bounds[rank]
            else:
                cells += largest_cells(rows)  # each rank of a host counts their common memory
    return cells * launches.dtype.itemsize
