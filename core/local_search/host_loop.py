"""The paper's loop (algorithm 2 of `luong2013`): the device evaluates, and the host drives every iteration.

The fitness of every neighbour is written to a structure in the device's memory. The host copies all of it and selects,
or has it reduced on the device and copies the one remaining key (section 6.7). If the host generates the neighbours, it
copies all of them to the device before (section 6.6): the native mapping as moves, the paper's as whole solutions. The
trajectory is that of the loop on the device; only the time differs.
"""

from __future__ import annotations

import numpy as np

from core.errors import UserError
from core.lang import Kernel
from core.local_search.encodings import make_neighbours
from core.local_search.kernels import moves, walks
from core.local_search.kernels.fitness_reduction import BLOCK, reduction_kernels
from core.local_search.kernels.hooks import FIRST, NO_KEY
from core.local_search.kernels.walks import Share, WalkStatus
from core.local_search.launcher import Tune, WalkLauncher
from core.local_search.plan import Plan
from core.run.devices import ComputeDevice, DeviceArray, Ranks

SLICE = 1 << 22
"""Neighbours that the native mapping evaluates and copies at a time; the paper's launches all of them."""


class HostLauncher(WalkLauncher):
    """Launches of iterations that the host drives: it selects a neighbour, or has the device reduce the fitnesses.

    The plan's settings decide where moves are listed (``generate``) and fitnesses are compared (``select``).
    """

    def __init__(self, backend: ComputeDevice, ranks: Ranks, plan: Plan, tune: Tune | None = None) -> None:
        super().__init__(backend, ranks, plan, tune)
        settings, largest = plan.settings, max(plan.sizes)
        self.slice_size = largest if settings.is_published else min(SLICE, largest)
        self.fitnesses = backend.allocate(self.slice_size, np.int32)
        self.copied = backend.host_array(self.slice_size if settings.select == "host" else 1, np.int32)
        self.generator = NeighbourUploader(self, self.slice_size) if settings.generate == "host" else None
        self.reduction = FitnessReducer(self, self.slice_size) if settings.select == "device" else None

    @property
    def evaluating(self) -> Kernel:
        if self.plan.settings.generate == "device":
            return self.kernels.fitness
        return self.kernels.copied if self.plan.copies_solutions else self.kernels.listed

    def bind_iteration(self) -> None:
        with self.backend.record():
            self.step()
            self.launch_fitness(0, 0, 1)

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations, or fewer if the walk ends."""
        for _ in range(count):
            status = self.backend.download(self.memory.walkers.status)
            if status[WalkStatus.stop] != walks.RUNNING:
                return
            key, _ = self.ranks.minloc(self.smallest_key(status), self.ranks.rank)
            self.backend.write(self.memory.keys, np.array([key], np.uint64))
            self.repeat(("step",), self.step)

    def smallest_key(self, status: np.ndarray) -> int:
        """Return the key of the neighbour that the rule takes among this rank's share."""
        rank, size = self.own_share
        level = int(status[WalkStatus.level])
        total = self.plan.sizes[level]
        end = total * (rank + 1) // size
        if level == 0 and self.plan.is_quick and self.generator is None:
            self.repeat(("refresh",), self.refresh)
        key = NO_KEY
        for first in range(total * rank // size, end, self.slice_size):
            key = min(key, self.best_of_slice(level, first, min(first + self.slice_size, end)))
            if key != NO_KEY and self.plan.algorithm.rule == FIRST:
                break
        return key

    def best_of_slice(self, level: int, first: int, end: int) -> int:
        """Evaluate a slice on the device, and return its best key, selected here or reduced there."""
        self.evaluate(level, first, end)
        if self.reduction is not None:
            return self.reduction.smallest_key(self.fitnesses, first, end)
        fitnesses = self.copied[: end - first]
        self.backend.stream_out(self.fitnesses, 0, end - first, fitnesses)()
        if self.plan.algorithm.rule == FIRST:
            better = np.flatnonzero(fitnesses < 0)
            return first + int(better[0]) if better.size else NO_KEY
        best = int(np.argmin(fitnesses))
        if fitnesses[best] == moves.NEVER:
            return NO_KEY
        return (int(fitnesses[best]) + 2**31 << 32) | (first + best)

    def evaluate(self, level: int, first: int, end: int) -> None:
        """Queue the evaluation of neighbours ``first`` to ``end - 1``, which the host lists before if it generates."""
        if self.generator is not None:
            self.generator.copy(level, first, end)
        if self.shape.is_tuning:
            self.tuned(lambda: self.launch_fitness(level, first, end))
        else:
            self.repeat(("fitness", level, first, end), lambda: self.launch_fitness(level, first, end))

    def launch_fitness(self, level: int, first: int, end: int) -> None:
        """Queue the kernel that writes the fitnesses; a smaller neighbourhood needs fewer teams."""
        size = self.shape.team_size
        teams = min(self.shape.teams, -(-(end - first) // size))
        if self.generator is not None:
            arguments = first, end, self.generator.buffer, self.fitnesses
            self.launch(self.evaluating, teams, size, *arguments, shared=False)
        else:
            self.fitness(level == 0 and self.plan.is_quick, level, Share(0, 1, first, end), self.fitnesses, teams)


class NeighbourUploader:
    """Copies up to ``most`` neighbours to the device: as moves, or as whole solutions (`Plan.copies_solutions`).

    Raises `UserError` if whole solutions have more elements than 31 bits count.
    """

    def __init__(self, launcher: WalkLauncher, most: int) -> None:
        self.launcher, encoding = launcher, launcher.plan.problem.encoding
        shape, dtype = (most, 3), "int32"
        if launcher.plan.copies_solutions:
            shape, dtype = (most, encoding.n), encoding.dtype
            if most * encoding.n >= 2**31:
                raise UserError(
                    f"{most} whole neighbours of {encoding.n} elements from the host: expected less than 2^31 elements "
                    "in all; let the device generate them"
                )
        self.host = np.zeros(shape, dtype)
        self.buffer = launcher.backend.allocate(self.host.size, dtype)

    def copy(self, level: int, first: int, end: int) -> None:
        """Copy neighbours ``first`` to ``end - 1`` of the present solution."""
        launcher, plan = self.launcher, self.launcher.plan
        solution = launcher.backend.download(launcher.memory.walkers.solution)
        neighbourhood = plan.neighbourhoods[level]
        listed = neighbourhood.listed(first, end, plan.problem.encoding, solution)
        if plan.copies_solutions:
            make_neighbours(neighbourhood.change, listed, solution, self.host[: end - first])
        else:
            self.host[: end - first] = listed
        launcher.backend.write(self.buffer, self.host)


class FitnessReducer:
    """Reduces up to ``most`` fitnesses on the device to the smallest key."""

    def __init__(self, launcher: WalkLauncher, most: int) -> None:
        self.launcher = launcher
        self.of_fitnesses, self.of_keys = reduction_kernels(launcher.plan.algorithm.rule)
        self.team_size = launcher.shape.block_size
        blocks = blocks_of(most)
        self.keys = launcher.backend.allocate(blocks, np.uint64)
        self.fewer = launcher.backend.allocate(blocks_of(blocks), np.uint64)

    def smallest_key(self, fitnesses: DeviceArray, first: int, end: int) -> int:
        """Reduce all, and copy the one remaining key."""
        self.launcher.repeat(("reduce", first, end), lambda: self.launch(fitnesses, first, end))
        count, keys, fewer = blocks_of(end - first), self.keys, self.fewer
        while count > 1:
            count, keys, fewer = blocks_of(count), fewer, keys
        return int(self.launcher.backend.read(keys, 0, 1)[0])

    def launch(self, fitnesses: DeviceArray, first: int, end: int) -> None:
        """Queue launches until one key is left."""
        launch, size = self.launcher.backend.launch, self.team_size
        count, keys, fewer = blocks_of(end - first), self.keys, self.fewer
        launch(self.of_fitnesses, count, size, first, end, fitnesses, keys)
        while count > 1:
            launch(self.of_keys, blocks_of(count), size, count, keys, fewer)
            count, keys, fewer = blocks_of(count), fewer, keys


def blocks_of(count: int) -> int:
    """Return the teams of a launch that reduces ``count`` values."""
    return -(-count // BLOCK)
