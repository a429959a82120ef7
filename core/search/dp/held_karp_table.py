"""The layers of Held and Karp's recursion in the memory of all ranks, and the launches that fill them.

Every rank computes a contiguous share of every layer, which lies in its own memory, and reads what it needs of the
layer before where that lies. A set without one of its elements comes, in its layer, about where the set comes in its
own, unless the element is one of the highest: two ranks have some 93 % of the rows that they read, wherever between the
middle and the first set with the highest element the layers are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from core.kernels.held_karp import Layer, Paths
from core.search.dp.held_karp_launches import Launches
from core.search.dp.held_karp_plan import Gathering, Plan, Rows

SMALL, SMALL_OF_A_CORE = 1 << 20, 1 << 12
"""Layers of fewer cells are computed by every rank for itself: that takes no longer than meeting the others."""
LEAN = 0.0
"""Where ranks read each other's memory slowly, how far their shares lean (`core.search.dp.held_karp_plan.Rows`)."""


class Turns:
    """An array in which rows of several sizes lie one after the other.

    Parameters
    ----------
    launches, together
        Of the device, and of all ranks.
    every
        The rows.
    room
        Cells; as many as the most rows have, or more.
    lean
        How the ranks' shares are cut, as in `Rows.bounds`.

    """

    def __init__(self, launches: Launches, together: Any, every: Sequence[Rows], room: int, lean: float) -> None:
        self.together, self.lean = together, lean
        self.ranks: int = 1 if together.is_silent else together.size
        self.rank: int = 0 if together.is_silent else together.rank
        self.least = least_shared(launches, together)
        small = [rows.cells for rows in every if rows.cells < self.least]
        large = [rows for rows in every if rows.cells >= self.least]
        self.own = launches.backend.allocate(max(small), launches.dtype) if small else None
        self.common = None
        if large:
            self.cuts = cuts(large, room, self.ranks, lean)
            self.common = together.common(room, launches.dtype, self.cuts)

    def place(self, rows: Rows) -> tuple[Layer, int, int, Callable[[], None]]:
        """Where rows lie; the first set that this rank computes, and the one after its last; and what follows that."""
        if rows.cells < self.least:
            return Layer(self.own, 0, rows.first), rows.first, rows.end, lambda: None
        bounds = rows.bounds(self.ranks, self.lean)
        parts = parts_of(rows, bounds)
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


def cuts(every: Sequence[Rows], room: int, ranks: int, lean: float) -> list[int]:
    """Where in an array of ``room`` cells the ranks' memory begins: as the most rows are shared out."""
    most = max(every, key=lambda rows: rows.cells)
    return [*parts_of(most, most.bounds(ranks, lean))[:-1], room]


def parts_of(rows: Rows, bounds: Sequence[int]) -> list[int]:
    """Where shares of rows begin and end, in cells."""
    return [(bound - rows.first) * rows.size for bound in bounds]


class Table:
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

    Attributes
    ----------
    steps : list of (Sequence, str)
        What is replayed, one after the other, and what is done then; empty where more of it follows.
    is_shared : bool
        Whether ranks share layers out, and not only the meeting.

    """

    def __init__(self, plan: Plan, launches: Launches, together: Any, firsts: Sequence[Paths]) -> None:
        self.plan, self.launches, self.together = plan, launches, together
        lean = lean_of(launches, together)
        self.turns = [
            [Turns(launches, together, plan.rows(k, parity), plan.room(k, parity), lean) for parity in (0, 1)]
            for k in range(plan.directions)
        ]
        self.lean = lean
        self.is_shared = least_shared(launches, together) < inf
        self.steps: list[tuple[Any, str]] = []
        paths = list(firsts)
        for size in range(2, plan.size + 1):
            with self._step(f"layer {size} of {plan.size}"):
                paths = [self._extend(k, before, plan.layer(size)) for k, before in enumerate(paths)]
        slices: list[Rows | None] = [*plan.slices()] or [None]
        for rows in slices:
            out = paths[0]
            if rows is not None:
                with self._step(""):
                    out = self._extend(0, out, rows)
            is_last = rows is slices[-1]
            with self._step("the halves met" if is_last else ""):
                for gathering in plan.gatherings(rows):
                    self._meet(out, paths[-1], gathering)
                if is_last:
                    together.reduce(launches.best, "least")
                else:
                    together.meet()  # before they are read, nobody puts other rows there

    @contextmanager
    def _step(self, what: str) -> Iterator[None]:
        """Record what is launched in the block."""
        with self.launches.backend.record() as sequence:
            yield
        self.steps.append((sequence, what))

    def _extend(self, direction: int, before: Paths, rows: Rows) -> Paths:
        """Queue this rank's share of some rows; where they are when all ranks have done theirs."""
        layer, begin, end, follow = self.turns[direction][rows.size % 2].place(rows)
        if begin < end:
            self.launches.extend(before, layer, rows, begin, end)
        follow()
        return Paths(layer, before.steps)

    def _meet(self, out: Paths, home: Paths, gathering: Gathering) -> None:
        """Queue this rank's share of a meeting."""
        ranks, rank = (1, 0) if self.together.is_silent else (self.together.size, self.together.rank)
        begin, end = gathering.rows.bounds(ranks, self.lean)[rank:][:2]
        if begin < end:
            self.launches.meet(self.plan, gathering, out, home, begin, end)


def least_shared(launches: Launches, together: Any) -> float:
    """Cells of a layer from which on it is shared out; what is smaller every rank computes for itself.

    GPUs that do not reach each other's memory do so with all layers: a cell is computed in some 15 ps and sent through
    the host in some 500, through NCCL between hosts in some 50.
    """
    if together.is_silent:
        return 0
    if launches.is_wide:
        return SMALL if together.is_one_memory else inf
    return SMALL_OF_A_CORE


def lean_of(launches: Launches, together: Any) -> float:
    """How far shares lean: where there is one memory, but not the same for all ranks."""
    return LEAN if launches.is_wide and together.is_one_memory and not together.is_silent else 0.0


def bytes_of_rank(plan: Plan, launches: Launches, together: Any, rank: int) -> int:
    """Bytes of layers that the memory of a rank's device has to hold."""
    cells = 0
    for direction in range(plan.directions):
        for parity in (0, 1):
            room = plan.room(direction, parity)
            if room and launches.is_wide and together.is_one_memory and not together.is_silent:
                bounds = cuts(plan.rows(direction, parity), room, together.size, lean_of(launches, together))
                room = bounds[rank + 1] - bounds[rank]
            cells += room  # ranks of a host count what they have in common each
    return cells * launches.dtype.itemsize
