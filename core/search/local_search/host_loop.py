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

SLICE = 1 << 22
"""Neighbours that the native mapping evaluates and copies at a time; the paper's launches all of them."""


class HostLoop:
    """Selects on the host for a `LocalSearch`, whose buffers and kernels it uses.

    Parameters
    ----------
    search
        The search, whose ``generate`` says who lists the moves and whose ``select`` says where fitnesses are compared.

    """

    def __init__(self, search: Any) -> None:
        self.search = search
        self.generates = search.generate == "host"
        backend = search.backend
        largest = max(search.sizes)
        self.room = largest if search.mapping == "published" else min(SLICE, largest)
        self.fitnesses = backend.allocate(self.room, np.int32)
        self.copied: Any = backend.host_array(self.room, np.int32) if search.select == "host" else None
        self.generator = make_uploader(search, self.room) if self.generates else None
        self.reduction = FitnessReducer(search, self.room) if search.select == "device" else None

    def bind(self) -> None:
        """Compile what an iteration launches."""
        with self.search.backend.record():
            self.launch_fitness(0, 0, 1)

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations, or fewer if the walk comes to its end."""
        search = self.search
        for _ in range(count):
            control = search.backend.download(search.walkers.control)
            if control[walks.STOP] != walks.RUNNING:
                return
            key = self.smallest_key(control)
            key, _ = search.communicator.minloc(key, search.communicator.rank)
            search.backend.write(search.keys, np.array([key], np.uint64))
            search.repeat(("step",), search.launch_step)

    def smallest_key(self, control: np.ndarray) -> int:
        """The key of the neighbour that the rule takes among this rank's share."""
        search = self.search
        rank, size = search.communicator.rank, search.communicator.size
        level = int(control[walks.LEVEL])
        total = search.sizes[level]
        end = total * (rank + 1) // size
        if level == 0 and search.is_quick and not self.generates:
            search.repeat(("refresh",), search.launch_refresh)
        key = NO_KEY
        for first in range(total * rank // size, end, self.room):
            key = min(key, self.best_of_slice(level, first, min(first + self.room, end)))
            if key != NO_KEY and search.algorithm.rule == FIRST:
                break
        return key

    def best_of_slice(self, level: int, first: int, end: int) -> int:
        """Let the device evaluate a slice, and select: among all fitnesses here, or by reducing them there."""
        search = self.search
        self.evaluate(level, first, end)
        if self.reduction is not None:
            return self.reduction.smallest_key(self.fitnesses, first, end)
        fitnesses: np.ndarray = self.copied[: end - first]
        search.backend.stream_out(self.fitnesses, 0, end - first, fitnesses)()
        if search.algorithm.rule == FIRST:
            better = np.flatnonzero(fitnesses < 0)
            return first + int(better[0]) if better.size else NO_KEY
        best = int(np.argmin(fitnesses))
        if fitnesses[best] == moves.NEVER:
            return NO_KEY
        return (int(fitnesses[best]) + 2**31 << 32) | (first + best)

    def evaluate(self, level: int, first: int, end: int) -> None:
        """Queue the evaluation of neighbours ``first`` to ``end - 1``, which the host lists before if it generates."""
        search = self.search
        if self.generator is not None:
            self.generator.copy(level, first, end)
        if search.is_tuning:
            search.launch_tuned(lambda: self.launch_fitness(level, first, end))
        else:
            search.repeat(("fitness", level, first, end), lambda: self.launch_fitness(level, first, end))

    def launch_fitness(self, level: int, first: int, end: int) -> None:
        """Queue the kernel that writes the fitnesses; the neighbours of a smaller neighbourhood need fewer teams."""
        search = self.search
        launch, team_size = search.backend.launch, search.team_size
        shape = (min(search.teams, -(-(end - first) // team_size)), team_size)
        if self.generator is not None:
            given = (first, end, self.generator.buffer, self.fitnesses, search.walkers, search.data)
            launch(search.evaluating, *shape, *given)
            return
        is_quick = level == 0 and search.is_quick
        launch(search.kernels.fitness, *shape, is_quick, level, Share(0, 1, first, end), self.fitnesses,
               search.walkers, search.data)  # fmt: skip


class MoveUploader:
    """Copies neighbours to the device as moves, three numbers each.

    Parameters
    ----------
    search
        The search.
    room
        Neighbours at most.

    """

    def __init__(self, search: Any, room: int) -> None:
        self.search = search
        self.host = np.zeros((room, 3), np.int32)
        self.buffer = search.backend.allocate(3 * room, np.int32)

    def copy(self, level: int, first: int, end: int) -> None:
        """Neighbours ``first`` to ``end - 1`` of the present solution."""
        search, encoding = self.search, self.search.problem.encoding
        solution = search.backend.download(search.walkers.solution)
        self.host[: end - first] = search.neighbourhoods[level].listed(first, end, encoding, solution)
        search.backend.write(self.buffer, self.host)


class SolutionUploader:
    """Copies neighbours to the device as whole solutions, as the paper does, which ended where memory did.

    Parameters
    ----------
    search
        The search.
    room
        Neighbours at most.

    Raises
    ------
    UserError
        They have more elements than 32 bits count.

    """

    def __init__(self, search: Any, room: int) -> None:
        encoding = search.problem.encoding
        if room * encoding.n >= 2**31:
            raise UserError(
                f"{room} whole neighbours of {encoding.n} elements from the host: expected less than 2^31 elements in "
                "all; let the device generate them"
            )
        self.search = search
        self.host = np.zeros((room, encoding.n), encoding.dtype)
        self.buffer = search.backend.allocate(room * encoding.n, encoding.dtype)

    def copy(self, level: int, first: int, end: int) -> None:
        """Neighbours ``first`` to ``end - 1`` of the present solution."""
        search, encoding = self.search, self.search.problem.encoding
        solution = search.backend.download(search.walkers.solution)
        one = search.neighbourhoods[level]
        listed = one.listed(first, end, encoding, solution)
        make_neighbours(one.change, listed, solution, self.host[: end - first])
        search.backend.write(self.buffer, self.host)


def make_uploader(search: Any, room: int) -> MoveUploader | SolutionUploader:
    """What copies the neighbours of a search: see `Launches.copies_solutions`."""
    return SolutionUploader(search, room) if search.copies_solutions else MoveUploader(search, room)


class FitnessReducer:
    """Reduces fitnesses on the device of a search to the smallest key.

    Parameters
    ----------
    search
        The search.
    room
        Fitnesses at most.

    """

    def __init__(self, search: Any, room: int) -> None:
        self.search = search
        self.kernels = reduction_kernels(search.algorithm.rule)
        self.team_size = search.block_size
        blocks = blocks_of(room)
        self.keys = search.backend.allocate(blocks, np.uint64)
        self.fewer = search.backend.allocate(blocks_of(blocks), np.uint64)

    def smallest_key(self, fitnesses: Any, first: int, end: int) -> int:
        """Copy the one key that is left when all is reduced."""
        self.search.repeat(("reduce", first, end), lambda: self.launch(fitnesses, first, end))
        count, keys, fewer = blocks_of(end - first), self.keys, self.fewer
        while count > 1:
            count, keys, fewer = blocks_of(count), fewer, keys
        return int(self.search.backend.read(keys, 0, 1)[0])

    def launch(self, fitnesses: Any, first: int, end: int) -> None:
        """Queue launch after launch, until one key is left."""
        launch, size = self.search.backend.launch, self.team_size
        count, keys, fewer = blocks_of(end - first), self.keys, self.fewer
        launch(self.kernels.fitnesses, count, size, first, end, fitnesses, keys)
        while count > 1:
            launch(self.kernels.keys, blocks_of(count), size, count, keys, fewer)
            count, keys, fewer = blocks_of(count), fewer, keys


def blocks_of(count: int) -> int:
    """Teams of a launch that reduces so many values."""
    return -(-count // BLOCK)
