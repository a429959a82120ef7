"""The loop as the paper first has it (algorithm 2 of `luong2013`): the device evaluates, the host selects.

Every iteration copies all differences to the host (section 6.7), and, if the host generates the neighbours, all moves
to the device before (section 6.6). The trajectory is that of the loop on the device; only the time differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels import local_search as template
from core.kernels import moves
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
        self.fitness = backend.allocate(self.room, np.int32)
        self.tabu = backend.allocate(self.room if search.algorithm.rule == template.TABU else 1, np.int32)
        self.moves = backend.allocate(3 * self.room, np.int32) if generates else None

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations, or fewer if the walk comes to its end."""
        search = self.search
        for _ in range(count):
            control = search.backend.download(search.controls)
            if control[template.STOP] != template.RUNNING:
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
        level = int(control[template.LEVEL])
        total = search.sizes[level]
        end = total * (rank + 1) // size
        if level == 0 and not self.generates:
            search.launch_refresh()
        key = int(template.NO_KEY)
        for first in range(total * rank // size, end, self.room):
            key = min(key, self.best_of_slice(control, level, first, min(first + self.room, end)))
            if key != template.NO_KEY and search.algorithm.rule == template.FIRST:
                break
        return key

    def best_of_slice(self, control: np.ndarray, level: int, first: int, end: int) -> int:
        """Let the device evaluate a slice, copy it, and select."""
        search = self.search
        self.evaluate(level, first, end)
        differences = search.backend.download(self.fitness)[: end - first]
        rule = search.algorithm.rule
        if rule == template.FIRST:
            better = np.flatnonzero(differences < 0)
            return first + int(better[0]) if better.size else int(template.NO_KEY)
        allowed = differences != moves.NEVER
        if rule == template.TABU:
            aspired = int(control[template.BEST_COST]) - int(control[template.COST])
            forbidden = search.backend.download(self.tabu)[: end - first] != 0
            allowed &= ~forbidden | (differences < aspired)
        if not allowed.any():
            return int(template.NO_KEY)
        best = int(np.argmin(np.where(allowed, differences, moves.NEVER)))
        return (int(differences[best]) + 2**31 << 32) | (first + best)

    def evaluate(self, level: int, first: int, end: int) -> None:
        """Queue the evaluation of neighbours ``first`` to ``end - 1``."""
        search = self.search
        n, choices = search.problem.encoding.n, search.problem.encoding.choices
        rest = [search.controls, search.memories, self.fitness, self.tabu, search.solutions, n, choices, *search.data]
        launch = search.backend.launch
        if not self.generates:
            quick = int(level == 0 and search.is_quick)
            launch(search.kernels.fitness, search.teams, search.team_size, quick, level, first, end, *rest)
            return
        solution = search.backend.download(search.solutions)
        listed = listed_moves(search.neighbourhoods[level].shape, first, end, n, choices, solution)
        padded = np.zeros((self.room, 3), np.int32)
        padded[: end - first] = listed
        search.backend.write(self.moves, padded)
        launch(search.kernels.listed, search.teams, search.team_size, first, end, self.moves, *rest)
