"""The loop as the paper first has it (algorithm 2 of `luong2013`): the device evaluates, the host selects.

Every iteration copies all differences to the host (section 6.7), and, if the host generates the neighbours, all moves
to the device before (section 6.6). The trajectory is that of the loop on the device; only the time differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels import moves, walks
from core.kernels.hooks import FIRST, NO_KEY, TABU
from core.kernels.walks import Share, Verdicts
from core.problems.encodings import listed_moves

SLICE = 1 << 22
"""Neighbours that are evaluated and copied at a time."""


class HostLoop:
    """Selects on the host for a `LocalSearch`, whose buffers and kernels it uses.

    Parameters
    ----------
    search
        The search.
    generates
        Whether the host also lists the moves.

    """

    def __init__(self, search: Any, generates: bool) -> None:
        self.search = search
        self.generates = generates
        backend = search.backend
        self.room = min(SLICE, max(search.sizes))
        tabu = self.room if search.algorithm.rule == TABU else 1
        self.verdicts = backend.load(Verdicts(np.zeros(self.room, np.int32), np.zeros(tabu, np.int32)))
        self.moves = backend.allocate(3 * self.room, np.int32) if generates else None

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations, or fewer if the walk comes to its end."""
        search = self.search
        for _ in range(count):
            control = search.backend.download(search.walkers.control)
            if control[walks.STOP] != walks.RUNNING:
                return
            key = self.smallest_key(control)
            if search.communicator.size > 1:
                key, _ = search.communicator.minloc(key, search.communicator.rank)
            search.backend.write(search.keys, np.array([key], np.uint64))
            search.launch_step()

    def smallest_key(self, control: np.ndarray) -> int:
        """The key of the neighbour that the rule takes among this rank's share."""
        search = self.search
        rank, size = search.communicator.rank, search.communicator.size
        level = int(control[walks.LEVEL])
        total = search.sizes[level]
        end = total * (rank + 1) // size
        if level == 0 and not self.generates:
            search.launch_refresh()
        key = NO_KEY
        for first in range(total * rank // size, end, self.room):
            key = min(key, self.best_of_slice(control, level, first, min(first + self.room, end)))
            if key != NO_KEY and search.algorithm.rule == FIRST:
                break
        return key

    def best_of_slice(self, control: np.ndarray, level: int, first: int, end: int) -> int:
        """Let the device evaluate a slice, copy it, and select."""
        search = self.search
        self.evaluate(level, first, end)
        differences = search.backend.download(self.verdicts.differences)[: end - first]
        rule = search.algorithm.rule
        if rule == FIRST:
            better = np.flatnonzero(differences < 0)
            return first + int(better[0]) if better.size else NO_KEY
        allowed = differences != moves.NEVER
        if rule == TABU:
            aspired = int(control[walks.BEST_COST]) - int(control[walks.COST])
            forbidden = search.backend.download(self.verdicts.tabu)[: end - first] != 0
            allowed &= ~forbidden | (differences < aspired)
        if not allowed.any():
            return NO_KEY
        best = int(np.argmin(np.where(allowed, differences, moves.NEVER)))
        return (int(differences[best]) + 2**31 << 32) | (first + best)

    def evaluate(self, level: int, first: int, end: int) -> None:
        """Queue the evaluation of neighbours ``first`` to ``end - 1``."""
        search = self.search
        launch = search.backend.launch
        if not self.generates:
            is_quick = level == 0 and search.is_quick
            launch(search.kernels.fitness, search.teams, search.team_size, is_quick, level, Share(0, 1, first, end),
                   self.verdicts, search.walkers, search.data)  # fmt: skip
            return
        solution = search.backend.download(search.walkers.solution)
        encoding = search.problem.encoding
        shape = search.neighbourhoods[level].shape
        listed = listed_moves(shape, first, end, encoding.n, encoding.choices, solution)
        padded = np.zeros((self.room, 3), np.int32)
        padded[: end - first] = listed
        search.backend.write(self.moves, padded)
        launch(search.kernels.listed, search.teams, search.team_size, first, end, self.moves, self.verdicts,
               search.walkers, search.data)  # fmt: skip
