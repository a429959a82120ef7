"""The loop as the paper has it (algorithm 2 of `luong2013`): the device evaluates, and the host drives every iteration.

The fitness of every neighbour is written to a structure in the device's memory. The host copies all of it and selects,
or has it reduced on the device and copies the one key that is left (section 6.7); if the host generates the neighbours,
it copies all of them to the device before (section 6.6): the native mapping as moves, the paper's as whole solutions.
The trajectory is that of the loop on the device; only the time differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.local_search import moves, walks
from core.kernels.local_search.fitness_reduction import BLOCK, reduction_kernels
from core.kernels.local_search.hooks import FIRST, NO_KEY
from core.kernels.local_search.walks import Share
from core.problems.encodings import make_neighbours
from core.search.local_search.launcher import WalkLauncher

SLICE = 1 << 22
"""Neighbours that the native mapping evaluates and copies at a time; the paper's launches all of them."""


class HostLoop:
    """Iterations that the host drives: it selects a neighbour, or has the device reduce the fitnesses.

    Parameters
    ----------
    launcher
        Launches over the walk. Settings of its plan: ``generate`` says where moves are listed, and ``select`` where
        fitnesses are compared.

    """

    def __init__(self, launcher: WalkLauncher) -> None:
        self.launcher = launcher
        self.plan = plan = launcher.plan
        backend, settings = launcher.backend, plan.settings
        largest = max(plan.sizes)
        self.room = largest if settings.is_published else min(SLICE, largest)
        self.fitnesses = backend.allocate(self.room, np.int32)
        self.copied: Any = backend.host_array(self.room, np.int32) if settings.select == "host" else None
        self.generator = make_uploader(launcher, self.room) if settings.generate == "host" else None
        self.reduction = FitnessReducer(launcher, self.room) if settings.select == "device" else None

    def bind(self) -> None:
        """Compile what an iteration launches."""
        with self.launcher.backend.record():
            self.launch_fitness(0, 0, 1)

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations, or fewer if the walk comes to its end."""
        launcher, ranks = self.launcher, self.launcher.ranks
        for _ in range(count):
            control = launcher.backend.download(launcher.memory.walkers.control)
            if control[walks.STOP] != walks.RUNNING:
                return
            key, _ = ranks.minloc(self.smallest_key(control), ranks.rank)
            launcher.backend.write(launcher.memory.keys, np.array([key], np.uint64))
            launcher.repeat(("step",), launcher.step)

    def smallest_key(self, control: np.ndarray) -> int:
        """Return the key of the neighbour that the rule takes among this rank's share."""
        launcher = self.launcher
        rank, size = launcher.ranks.rank, launcher.ranks.size
        level = int(control[walks.LEVEL])
        total = self.plan.sizes[level]
        end = total * (rank + 1) // size
        if level == 0 and self.plan.is_quick and self.generator is None:
            launcher.repeat(("refresh",), launcher.refresh)
        key = NO_KEY
        for first in range(total * rank // size, end, self.room):
            key = min(key, self.best_of_slice(level, first, min(first + self.room, end)))
            if key != NO_KEY and self.plan.algorithm.rule == FIRST:
                break
        return key

    def best_of_slice(self, level: int, first: int, end: int) -> int:
        """Let the device evaluate a slice, and select: among all fitnesses here, or by reducing them there."""
        self.evaluate(level, first, end)
        if self.reduction is not None:
            return self.reduction.smallest_key(self.fitnesses, first, end)
        fitnesses: np.ndarray = self.copied[: end - first]
        self.launcher.backend.stream_out(self.fitnesses, 0, end - first, fitnesses)()
        if self.plan.algorithm.rule == FIRST:
            better = np.flatnonzero(fitnesses < 0)
            return first + int(better[0]) if better.size else NO_KEY
        best = int(np.argmin(fitnesses))
        if fitnesses[best] == moves.NEVER:
            return NO_KEY
        return (int(fitnesses[best]) + 2**31 << 32) | (first + best)

    def evaluate(self, level: int, first: int, end: int) -> None:
        """Queue the evaluation of neighbours ``first`` to ``end - 1``, which the host lists before if it generates."""
        launcher = self.launcher
        if self.generator is not None:
            self.generator.copy(level, first, end)
        if launcher.shape.is_tuning:
            launcher.tuned(lambda: self.launch_fitness(level, first, end))
        else:
            launcher.repeat(("fitness", level, first, end), lambda: self.launch_fitness(level, first, end))

    def launch_fitness(self, level: int, first: int, end: int) -> None:
        """Queue the kernel that writes the fitnesses; the neighbours of a smaller neighbourhood need fewer teams."""
        launcher, on, shape = self.launcher, self.launcher.memory, self.launcher.shape
        teams = min(shape.teams, -(-(end - first) // shape.team_size))
        if self.generator is None:
            is_quick = level == 0 and self.plan.is_quick
            launcher.fitness(is_quick, level, Share(0, 1, first, end), self.fitnesses, teams)
            return
        launcher.backend.launch(launcher.evaluating, teams, shape.team_size, first, end, self.generator.buffer,
                                self.fitnesses, on.walkers, on.data)  # fmt: skip


class MoveUploader:
    """Copies neighbours to the device as moves, three numbers each.

    Parameters
    ----------
    launcher
        Launches over the walk.
    room
        Largest number of neighbours.

    """

    def __init__(self, launcher: WalkLauncher, room: int) -> None:
        self.launcher = launcher
        self.host = np.zeros((room, 3), np.int32)
        self.buffer = launcher.backend.allocate(3 * room, np.int32)

    def copy(self, level: int, first: int, end: int) -> None:
        """Neighbours ``first`` to ``end - 1`` of the present solution."""
        launcher, plan = self.launcher, self.launcher.plan
        solution = launcher.backend.download(launcher.memory.walkers.solution)
        self.host[: end - first] = plan.neighbourhoods[level].listed(first, end, plan.problem.encoding, solution)
        launcher.backend.write(self.buffer, self.host)


class SolutionUploader:
    """Copies neighbours to the device as whole solutions, as the paper does within the limits of memory.

    Parameters
    ----------
    launcher
        Launches over the walk.
    room
        Largest number of neighbours.

    Raises
    ------
    UserError
        They have more elements than 32 bits count.

    """

    def __init__(self, launcher: WalkLauncher, room: int) -> None:
        encoding = launcher.plan.problem.encoding
        if room * encoding.n >= 2**31:
            raise UserError(
                f"{room} whole neighbours of {encoding.n} elements from the host: expected less than 2^31 elements in "
                "all; let the device generate them"
            )
        self.launcher = launcher
        self.host = np.zeros((room, encoding.n), encoding.dtype)
        self.buffer = launcher.backend.allocate(room * encoding.n, encoding.dtype)

    def copy(self, level: int, first: int, end: int) -> None:
        """Neighbours ``first`` to ``end - 1`` of the present solution."""
        launcher, plan = self.launcher, self.launcher.plan
        solution = launcher.backend.download(launcher.memory.walkers.solution)
        one = plan.neighbourhoods[level]
        listed = one.listed(first, end, plan.problem.encoding, solution)
        make_neighbours(one.change, listed, solution, self.host[: end - first])
        launcher.backend.write(self.buffer, self.host)


def make_uploader(launcher: WalkLauncher, room: int) -> MoveUploader | SolutionUploader:
    """Make what copies neighbours to the device: see `Plan.copies_solutions`."""
    return SolutionUploader(launcher, room) if launcher.plan.copies_solutions else MoveUploader(launcher, room)


class FitnessReducer:
    """Reduces fitnesses on the device to the smallest key.

    Parameters
    ----------
    launcher
        Launches over the walk.
    room
        Largest number of fitnesses.

    """

    def __init__(self, launcher: WalkLauncher, room: int) -> None:
        self.launcher = launcher
        self.kernels = reduction_kernels(launcher.plan.algorithm.rule)
        self.team_size = launcher.shape.block_size
        blocks = blocks_of(room)
        self.keys = launcher.backend.allocate(blocks, np.uint64)
        self.fewer = launcher.backend.allocate(blocks_of(blocks), np.uint64)

    def smallest_key(self, fitnesses: Any, first: int, end: int) -> int:
        """Copy the one key that is left when all is reduced."""
        self.launcher.repeat(("reduce", first, end), lambda: self.launch(fitnesses, first, end))
        count, keys, fewer = blocks_of(end - first), self.keys, self.fewer
        while count > 1:
            count, keys, fewer = blocks_of(count), fewer, keys
        return int(self.launcher.backend.read(keys, 0, 1)[0])

    def launch(self, fitnesses: Any, first: int, end: int) -> None:
        """Queue launch after launch, until one key is left."""
        launch, size = self.launcher.backend.launch, self.team_size
        count, keys, fewer = blocks_of(end - first), self.keys, self.fewer
        launch(self.kernels.fitnesses, count, size, first, end, fitnesses, keys)
        while count > 1:
            launch(self.kernels.keys, blocks_of(count), size, count, keys, fewer)
            count, keys, fewer = blocks_of(count), fewer, keys


def blocks_of(count: int) -> int:
    """Return the teams of a launch that reduces ``count`` values."""
    return -(-count // BLOCK)
