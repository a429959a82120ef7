"""Launches of the kernels of Held and Karp's recursion (`core.kernels.dp.held_karp`) on one device."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels.dp.held_karp import COLUMNS, ELEMENTS, ROW, Layer, Paths, Sets, SubsetShare, extend
from core.kernels.dp.held_karp_halves import Meeting, meet
from core.search.dp.held_karp.plan import HeldKarpPlan, MeetingSets, SubsetRows
from core.search.dp.held_karp.subset_ranks import binomials

TEAM_SIZE = 256
RUN_OF_A_CORE = 64
"""Sets in a row that a core computes: the way to the first costs about as much as one set."""
TEAMS_OF_A_CORE = 4


class HeldKarpLauncher:
    """Launches on one device for up to ``elements`` cities but city 0; lengths above ``cap`` count as that."""

    def __init__(self, backend: Any, elements: int, dtype: np.dtype, cap: int) -> None:
        self.backend, self.dtype, self.cap = backend, dtype, cap
        limits = backend.capabilities
        self.is_wide = wide = limits.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, limits.max_team_size) if wide else 1
        self.run = 1 if wide else RUN_OF_A_CORE
        self.most_teams = limits.compute_units * (
            max(1, limits.lanes_resident // self.team_size) if wide else TEAMS_OF_A_CORE
        )
        self.most = max(ELEMENTS, elements)
        numbers = np.uint32 if self.most == ELEMENTS else np.uint64
        self.binomials = backend.upload(binomials(self.most, COLUMNS).astype(numbers))
        self.pitch = pitch((self.most + 1) // 2, dtype.itemsize)
        self.best = backend.allocate(1, np.uint64)
        self.unread = Paths(Layer(backend.allocate(1, dtype), 0, 0), backend.allocate(1, np.uint32))

    def extend(self, before: Paths, after: Layer, rows: SubsetRows, begin: int, end: int) -> None:
        """Queue the sets ``begin`` to ``end`` - 1 of some rows, which come from those of the layer before."""
        share = SubsetShare(begin, end, self.run, *rows.numbering)
        self._launch(extend, end - begin, before, after, self._sets(rows.elements), rows.size, share)

    def meet(self, plan: HeldKarpPlan, gathering: MeetingSets, out: Paths, home: Paths, begin: int, end: int) -> None:
        """Queue the meeting of the sets B ``begin`` to ``end`` - 1 with their complements.

        ``out`` has the rows of the complements; nothing is read but the steps if the plan has them among those of
        ``home``. ``home`` has the rows of the last layer, in the other direction if there are two.
        """
        rows, middles, _ = gathering
        if not plan.is_apart:
            out = Paths(self.unread.layer, out.steps)
        if not plan.directed:
            home = Paths(home.layer, self.unread.steps)
        share = SubsetShare(begin, end, self.run, *rows.numbering)
        meeting = Meeting(middles, plan.last, plan.is_apart, plan.directed, self.pitch, self.is_wide)
        sets = self._sets(rows.elements)
        self._launch(meet, end - begin, out, home, sets, plan.size, share, meeting, self.best)

    def _sets(self, elements: int) -> Sets:
        return Sets(self.binomials, elements, self.cap, self.most)

    def _launch(self, kernel: Any, sets: int, *arguments: Any) -> None:
        teams = min(self.most_teams, -(-sets // (self.team_size * self.run)))
        self.backend.launch(kernel, max(1, teams), self.team_size, *arguments)


def pitch(entries: int, itemsize: int) -> int:
    """From one row of a team's memory to the next: an odd number of 4-byte words, so that lanes hit different banks."""
    words = -(-entries * itemsize // 4) | 1
    return words * 4 // itemsize


def step_lengths(distances: np.ndarray) -> np.ndarray:
    """Distances to an element from another, as the kernels read them: from element j to i at i * 35 + j."""
    table = np.zeros((len(distances), ROW), np.uint32)
    table[:, : len(distances)] = distances
    return table.reshape(-1)
