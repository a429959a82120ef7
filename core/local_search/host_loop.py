"""The paper's loop (algorithm 2 of `luong2013`): the device evaluates, and the host drives every iteration.

The fitness of every neighbour is written to a structure in the device's memory. The host copies all of it and selects,
or has it reduced on the device and copies the one remaining key (section 6.7). If the host generates the neighbours, it
copies all of them to the device before (section 6.6). The trajectory is that of the loop on the device; only the time
differs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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

TIMED = 16
"""Size of a group of iterations: one in its middle is timed, and counts for the group."""


class HostLauncher(WalkLauncher):
    """Launches of iterations that the host drives: it selects a neighbour, or has the device reduce the fitnesses.

    The plan's settings decide where moves are listed (``generate``) and fitnesses are compared (``select``).
    """

    def __init__(self, backend: ComputeDevice, ranks: Ranks, plan: Plan, tune: Tune | None = None) -> None:
        super().__init__(backend, ranks, plan, tune)
        settings, most = plan.settings, max(plan.sizes)
        self.fitnesses = backend.allocate(most, np.int32)
        self.generator = NeighbourUploader(self, most) if settings.generate == "host" else None
        self.reduction = FitnessReducer(self, most) if settings.select == "device" else None
        self.copied = backend.host_array(1 if self.reduction else most, np.uint64 if self.reduction else np.int32)

    @property
    def evaluating(self) -> Kernel:
        return self.kernels.fitness if self.plan.settings.generate == "device" else self.kernels.copied

    def bind_iteration(self) -> None:
        with self.backend.record():
            self.step_and_evaluate(range(1))

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations, or fewer if the walk ends.

        If all iterations evaluate alike, an evaluation follows the move before it in one recording, and its result is
        copied with the status: the host waits once.
        """
        share = self.own_neighbours(0)
        varies = len(self.plan.sizes) > 1 or self.plan.is_quick or self.shape.is_tuning or self.generator is not None
        is_ahead = bool(share) and not varies
        try:
            self.backend.timing_weight = int(count == 1)  # a timed iteration has the evaluation for the next one
            if is_ahead:
                self.evaluate(0, share)
            for k in range(count):
                group = min(TIMED, count - k + k % TIMED)
                self.backend.timing_weight = group if k % TIMED == (group - 1) // 2 else 0
                best = self.best_key(share) if is_ahead else None
                status = self.backend.download(self.memory.walkers.status)
                if status[WalkStatus.stop] != walks.RUNNING:
                    return
                own = self.smallest_key(int(status[WalkStatus.level])) if best is None else best()
                key, _ = self.ranks.minloc(own, self.ranks.rank)
                self.backend.write(self.memory.keys, np.array([key], np.uint64))
                if is_ahead and k + 1 < count:
                    self.repeat(("step", share), partial(self.step_and_evaluate, share))
                else:
                    self.repeat(("step",), self.step)
        finally:
            self.backend.timing_weight = 1

    def own_neighbours(self, level: int) -> range:
        """Return this rank's share of a neighbourhood."""
        rank, size = self.own_share
        return range(*(self.plan.sizes[level] * k // size for k in (rank, rank + 1)))

    def smallest_key(self, level: int) -> int:
        """Return the key of the neighbour that the rule takes among this rank's share."""
        share = self.own_neighbours(level)
        if level == 0 and self.plan.is_quick and self.generator is None:
            self.repeat(("refresh",), self.refresh)
        if not share:
            return NO_KEY
        self.evaluate(level, share)
        return self.best_key(share)()

    def best_key(self, share: range) -> Callable[[], int]:
        """Queue the copy of the fitnesses, or of the key that the device left; return a function that waits for it."""
        source = self.fitnesses if self.reduction is None else self.reduction.smallest[len(share)]
        copied = self.copied[: len(share)]
        wait = self.backend.stream_out(source, 0, copied.size, copied, beside=False)

        def select() -> int:
            wait()
            if self.reduction is not None:
                return int(copied[0])
            if self.plan.algorithm.rule == FIRST:
                better = np.flatnonzero(copied < 0)
                return share.start + int(better[0]) if better.size else NO_KEY
            best = int(copied.argmin())  # 0.7 us less than np.argmin takes
            return NO_KEY if copied[best] == moves.NEVER else (int(copied[best]) + 2**31 << 32) | share.start + best

        return select

    def step_and_evaluate(self, share: range) -> None:
        self.step()
        self.launch_fitness(0, share)

    def evaluate(self, level: int, share: range) -> None:
        """Queue the evaluation of neighbours, which the host lists before if it generates."""
        if self.generator is not None:
            self.generator.copy(level, share)
        if self.shape.is_tuning:
            self.tuned(lambda: self.launch_fitness(level, share))
        else:
            self.repeat(("fitness", level, share), lambda: self.launch_fitness(level, share))

    def launch_fitness(self, level: int, share: range) -> None:
        """Queue the kernel that writes the fitnesses, with teams for the neighbourhood's size, and their reduction."""
        ends, size = (share.start, share.stop), self.shape.team_size
        teams = min(self.shape.teams, -(-len(share) // size))
        if self.generator is not None:
            self.launch(self.evaluating, teams, size, *ends, self.generator.buffer, self.fitnesses, shared=False)
        else:
            self.fitness(level == 0 and self.plan.is_quick, level, Share(0, 1, *ends), self.fitnesses, teams)
        if self.reduction is not None:
            self.reduction.launch(self.fitnesses, share)


class NeighbourUploader:
    """Copies up to ``most`` neighbours to the device as whole solutions.

    Raises `UserError` for a custom neighbourhood, and if the solutions have more elements than 31 bits count.
    """

    def __init__(self, launcher: WalkLauncher, most: int) -> None:
        self.launcher, encoding = launcher, launcher.plan.problem.encoding
        for one in launcher.plan.neighbourhoods:
            if one.change == moves.OWN or one.shape == moves.CUSTOM:
                raise UserError(f"{one.name}: the host makes no custom neighbours; let the device generate them")
        if most * encoding.n >= 2**31:
            raise UserError(
                f"{most} whole neighbours of {encoding.n} elements from the host: expected less than 2^31 elements "
                "in all; let the device generate them"
            )
        self.host = np.zeros((most, encoding.n), encoding.dtype)
        self.buffer = launcher.backend.allocate(self.host.size, encoding.dtype)

    def copy(self, level: int, share: range) -> None:
        """Copy neighbours of the present solution."""
        launcher, neighbourhood = self.launcher, self.launcher.plan.neighbourhoods[level]
        solution = launcher.backend.download(launcher.memory.walkers.solution)
        listed = neighbourhood.listed(share.start, share.stop, launcher.plan.problem.encoding, solution)
        make_neighbours(neighbourhood.change, listed, solution, self.host[: len(share)])
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
        self.smallest: dict[int, DeviceArray] = {}  # begins with the smallest key, by number of fitnesses

    def launch(self, fitnesses: DeviceArray, share: range) -> None:
        """Queue launches until one key is left."""
        launch, size = self.launcher.backend.launch, self.team_size
        count, keys, fewer = blocks_of(len(share)), self.keys, self.fewer
        launch(self.of_fitnesses, count, size, share.start, share.stop, fitnesses, keys)
        while count > 1:
            launch(self.of_keys, blocks_of(count), size, count, keys, fewer)
            count, keys, fewer = blocks_of(count), fewer, keys
        self.smallest[len(share)] = keys


def blocks_of(count: int) -> int:
    """Return the teams of a launch that reduces ``count`` values."""
    return -(-count // BLOCK)
