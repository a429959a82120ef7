"""The layers of Held and Karp's recursion in the memory of all ranks, and the launches that fill them.

Every rank computes a contiguous share of every layer, which lies in its own memory, and reads what it needs of the
layer before where that lies. A set without one of its elements comes, in its layer, about where the set comes in its
own, unless the element is one of the highest: two ranks have some 93 % of the rows that they read. Cut at the first set
with the highest element, layers leave the first rank nothing to read elsewhere, and the second one row of each set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from math import inf
from typing import Any

from core.kernels.dp.held_karp import Layer, Paths
from core.search.dp.held_karp.launcher import HeldKarpLauncher
from core.search.dp.held_karp.plan import HeldKarpPlan, MeetingSets, SubsetRows

SMALL, SMALL_OF_A_CORE = 1 << 22, 1 << 12
"""Layers of fewer cells are computed by every rank for itself, and recorded together.

On a GPU, at 1 T transitions/s, half of such a layer takes some 20 us; to meet another rank takes some 4, to wait until
it has come and to read what it has computed some more.
"""


class LayerBuffer:
    """An array in which rows of several sizes lie one after the other.

    Parameters
    ----------
    launches, together
        Of the device, and of all ranks.
    every
        The rows.
    room
        Cells; as many as the most rows have, or more.
    least
        Cells of rows from which on they are shared out.
    at_elements
        How the ranks' shares are cut, as in `SubsetRows.bounds`.

    """

    def __init__(
        self,
        launches: HeldKarpLauncher,
        together: Any,
        every: Sequence[SubsetRows],
        room: int,
        least: float,
        at_elements: bool,
    ) -> None:
        self.together, self.at_elements = together, at_elements
        self.ranks: int = 1 if together.is_silent else together.size
        self.rank: int = 0 if together.is_silent else together.rank
        self.least = least
        small = [rows.cells for rows in every if rows.cells < self.least]
        large = [rows for rows in every if rows.cells >= self.least]
        self.own = launches.backend.allocate(max(small), launches.dtype) if small else None
        self.common = None
        if large:
            self.cuts = memory_boundaries(large, room, self.ranks, at_elements)
            self.common = together.common(room, launches.dtype, self.cuts)

    def place(self, rows: SubsetRows) -> tuple[Layer, int, int, Callable[[], None]]:
        """Where rows lie; the first set that this rank computes, and the one after its last; and what follows that."""
        if rows.cells < self.least:
            return Layer(self.own, 0, rows.first), rows.first, rows.end, lambda: None
        bounds = rows.bounds(self.ranks, self.at_elements)
        parts = share_boundaries(rows, bounds)
        # Smaller layers lie so that the middle one of the shares begins where its rank's memory does.
        middle = self.ranks // 2
        start = max(0, min(self.cuts[middle] - parts[middle], self.cuts[-1] - parts[-1]))
        parts = [start + part for part in parts]
        return (
            Layer(self.common, start, rows.first),
            bounds[self.rank],
            bounds[self.rank + 1],
            lambda: self.together.gather(self.common, parts),
        )


def memory_boundaries(every: Sequence[SubsetRows], room: int, ranks: int, at_elements: bool) -> list[int]:
    """Where in an array of ``room`` cells the ranks' memory begins: as the most rows are shared out."""
    most = max(every, key=lambda rows: rows.cells)
    return [*share_boundaries(most, most.bounds(ranks, at_elements))[:-1], room]


def share_boundaries(rows: SubsetRows, bounds: Sequence[int]) -> list[int]:
    """Where shares of rows begin and end, in cells."""
    return [(bound - rows.first) * rows.size for bound in bounds]


class HeldKarpTable:
    """All layers, and what is recorded to fill them and let them meet.

    Parameters
    ----------
    plan
        What is computed.
    launches
        Of the device.
    together
        The ranks' `backends.collectives.Collectives`.
    firsts
        For each direction the paths to one city.
    at_elements
        How the ranks' shares are cut, as in `SubsetRows.bounds`.

    Attributes
    ----------
    steps : list of (Sequence, int, str)
        What is replayed, one after the other; how many layers or meetings are done then, and which was the last.
    why_not_shared : str
        Why ranks do not share layers out; empty: they do.

    """

    def __init__(
        self,
        plan: HeldKarpPlan,
        launches: HeldKarpLauncher,
        together: Any,
        firsts: Sequence[Paths],
        at_elements: bool = False,
    ) -> None:
        self.plan, self.launches, self.together, self.at_elements = plan, launches, together, at_elements
        small = SMALL if launches.is_wide else SMALL_OF_A_CORE
        sizes = range(2, plan.size + 1)
        self.is_alone = together.is_silent or all(plan.layer(size).cells < small for size in sizes)
        least = least_shared(launches, together)
        self.why_not_shared = ""
        if self.is_alone and not together.is_silent:
            least = inf
            self.why_not_shared = "so small a problem every rank solves by itself"
        elif least == inf:
            self.why_not_shared = (
                "ranks do not reach each other's memory: each computes all layers, and its share of how halves meet"
            )
        self.turns = [
            [
                LayerBuffer(launches, together, plan.rows(k, parity), plan.room(k, parity), least, at_elements)
                for parity in (0, 1)
            ]
            for k in range(plan.directions)
        ]
        self.steps: list[tuple[Any, int, str]] = []
        paths = list(firsts)
        for _, group in groupby(sizes, key=lambda size: size if plan.layer(size).cells >= small else 0):
            several = [*group]
            with self._step(len(several), f"layer {several[-1]} of {plan.size}"):
                for size in several:
                    paths = [self._extend(k, before, plan.layer(size)) for k, before in enumerate(paths)]
        slices: list[SubsetRows | None] = [*plan.slices()] or [None]
        for rows in slices:
            out = paths[0]
            if rows is not None:
                with self._step(0, ""):
                    out = self._extend(0, out, rows)
            is_last = rows is slices[-1]
            with self._step(int(is_last), "the halves met" if is_last else ""):
                for gathering in plan.gatherings(rows):
                    self._meet(out, paths[-1], gathering)
                if self.is_alone:
                    continue
                if is_last:
                    together.reduce(launches.best, "least")
                else:
                    together.barrier()  # before they are read, nobody puts other rows there

    @contextmanager
    def _step(self, done: int, what: str) -> Iterator[None]:
        """Record what is launched in the block."""
        with self.launches.backend.record() as sequence:
            yield
        self.steps.append((sequence, done, what))

    def _extend(self, direction: int, before: Paths, rows: SubsetRows) -> Paths:
        """Queue this rank's share of some rows; where they are when all ranks have done theirs."""
        layer, begin, end, follow = self.turns[direction][rows.size % 2].place(rows)
        if begin < end:
            self.launches.extend(before, layer, rows, begin, end)
        follow()
        return Paths(layer, before.steps)

    def _meet(self, out: Paths, home: Paths, gathering: MeetingSets) -> None:
        """Queue this rank's share of a meeting."""
        ranks, rank = (1, 0) if self.is_alone else (self.together.size, self.together.rank)
        begin, end = gathering.rows.bounds(ranks, self.at_elements)[rank:][:2]
        if begin < end:
            self.launches.meet(self.plan, gathering, out, home, begin, end)


def least_shared(launches: HeldKarpLauncher, together: Any) -> float:
    """Cells of a layer from which on it is shared out; what is smaller every rank computes for itself.

    GPUs that do not reach each other's memory do so with all layers: a cell is computed in some 15 ps and sent through
    the host in some 500, through NCCL between hosts in some 50.
    """
    if together.is_silent:
        return 0
    if launches.is_wide:
        return SMALL if together.is_one_memory else inf
    return SMALL_OF_A_CORE


def has_distributed_memory(launches: HeldKarpLauncher, together: Any) -> bool:
    """Whether ranks have one memory that is not equally near to all: that of several GPUs."""
    return launches.is_wide and together.is_one_memory and not together.is_silent


def bytes_of_rank(plan: HeldKarpPlan, launches: HeldKarpLauncher, together: Any, rank: int, at_elements: bool) -> int:
    """Bytes of layers that the memory of a rank's device has to hold."""
    cells = 0
    for direction in range(plan.directions):
        for parity in (0, 1):
            room = plan.room(direction, parity)
            if room and has_distributed_memory(launches, together):
                bounds = memory_boundaries(plan.rows(direction, parity), room, together.size, at_elements)
                room = bounds[rank + 1] - bounds[rank]
            cells += room  # ranks of a host count what they have in common each
    return cells * launches.dtype.itemsize
