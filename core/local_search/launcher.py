"""Launches of a search's kernels over the walks of one rank: shapes, recordings, and the tuner of shapes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from core.errors import LaunchRefused
from core.lang import Kernel
from core.local_search.algorithms import Rule
from core.local_search.kernels.hooks import Rules
from core.local_search.kernels.peers import BOX, NoPeers, Peers
from core.local_search.kernels.template import SearchKernels, search_kernels
from core.local_search.kernels.walks import Share, record_improvement
from core.local_search.memory import WalkMemory
from core.local_search.plan import Plan
from core.local_search.shape import LaunchTuner, WalkShape, even_team
from core.ranks import OneRank, Ranks
from core.run.devices import ComputeDevice, DeviceArray, RecordedLaunches
from core.run.partition import equal_part

Tune = Callable[[Kernel, int, int], LaunchTuner]
"""Makes a tuner from the kernel of the scan and the sizes of solution and neighbourhood."""


class WalkLauncher:
    """Launches over the walks of one rank. Each method queues launches and does not wait for them.

    In the subclass `core.local_search.host_loop.HostLauncher` the host drives every iteration. `LocalSearch` explains
    ``tune``.

    Attributes
    ----------
    ranks : core.ranks.Ranks
        All ranks of the search.
    walk_ranks, neighbour_ranks
        Ranks among which the walks are divided, and those among which the neighbours of a walk are: all, or this rank
        alone.
    awake : int
        Number of this rank's walks that iterate.
    """

    def __init__(self, backend: ComputeDevice, ranks: Ranks, plan: Plan, tune: Tune | None = None) -> None:
        self.backend, self.plan = backend, plan
        self.kernels = kernels_of(plan)
        tuner = tune(self.evaluating, plan.problem.encoding.n, max(plan.sizes)) if tune else None
        self.shape = WalkShape(plan, backend, ranks.size, tuner)
        self.recorded: dict[tuple[object, ...], RecordedLaunches] = {}
        self.use_ranks(ranks)
        self.allocate(*equal_part(plan.simultaneous_walks, self.walk_ranks.rank, self.walk_ranks.size))

    @property
    def evaluating(self) -> Kernel:
        """The kernel that evaluates the neighbours of an iteration; a tuner varies its shape."""
        return self.kernels.scan

    @property
    def at_once(self) -> Kernel:
        """The kernel that scans and makes the move in one launch."""
        return self.kernels.scan_exchange_step if self.shape.exchanges else self.kernels.scan_and_step

    @property
    def at_once_arguments(self) -> tuple[object, ...]:
        on = self.memory
        return on.finished, on.keys, self.peers, on.walkers, on.shared, on.data

    def use_ranks(self, ranks: Ranks) -> None:
        """Divide the walks, or the neighbours of a walk, among these ranks."""
        self.ranks, undivided = ranks, OneRank()
        self.walk_ranks: Ranks | OneRank = ranks
        self.neighbour_ranks: Ranks | OneRank = undivided
        if not self.plan.settings.by_walks:
            self.walk_ranks, self.neighbour_ranks = undivided, ranks
        self.recorded.clear()
        self.peers = self.connected()

    def connected(self) -> Peers | NoPeers:
        """Return the ranks that exchange keys inside kernels; all ranks call this.

        A rehearsal compiles the kernels that exchange where devices may reach each other's memory.
        """
        self.shape.exchanges = False
        rank, size = self.own_share
        if size == 1 or self.plan.settings.is_published or self.shape.tuner is not None:
            return NoPeers(1)
        together = self.backend.collectives(self.ranks)
        silent = together.is_silent
        if not (self.backend.replays_by_itself if silent else together.reaches_peers):
            return NoPeers(1)
        self.shape.exchanges = True
        mail = together.common(size * BOX, np.uint64, [BOX * r for r in range(size + 1)])
        self.backend.put(mail, rank * BOX, np.zeros(4 * size, np.uint64))
        self.backend.synchronize()
        self.ranks.barrier()
        first, end = (rank, rank + 1) if silent else (0, size)
        return Peers(rank, size, first, end, mail, self.backend.upload(np.zeros(1, np.uint64)))

    def allocate(self, first: int, end: int) -> None:
        """Allocate memory for the walks ``first`` to ``end - 1``."""
        self.memory = WalkMemory(self.backend, self.plan, first, end, self.shape.most_lanes(end - first))
        self.awake = self.memory.count
        self.recorded.clear()

    @property
    def walk_teams(self) -> int:
        """Teams of a launch that gives every walk a team."""
        return self.shape.walk_teams(self.memory.count)

    @property
    def side_by_side(self) -> int:
        """Number of this rank's walks that the device runs at a time."""
        return min(self.memory.count, self.walk_teams) if self.shape.in_one_team else self.memory.count

    @property
    def own_share(self) -> tuple[int, int]:
        """This rank's part of a walk's neighbours, and the number of parts."""
        return self.neighbour_ranks.rank, self.neighbour_ranks.size

    # --- compilation ---

    def settle_shape(self) -> None:
        """Compile all launches of a run, with the largest teams that the device accepts."""
        self.bind_or_shrink()
        if self.even_out():
            self.bind_or_shrink()

    def bind_or_shrink(self) -> None:
        """Compile all launches, with smaller teams if a kernel needs more registers than the device has for all."""
        while True:
            try:
                return self.bind()
            except LaunchRefused:
                if not self.shape.shrink():
                    raise

    def bind(self) -> None:
        """Compile all launches of a run."""
        on, size = self.memory, self.shape.step_size
        self.backend.bind(self.kernels.begin, 1, size, (on.walkers, on.data))
        self.backend.bind(self.kernels.keep, 1, size, (on.walkers,))
        self.bind_iteration()

    def bind_iteration(self) -> None:
        """Compile the launches of an iteration, and of an exchange of solutions."""
        if not self.shape.in_one_team:
            with self.backend.record():
                self.iteration()
            if self.shape.steps_at_once:
                executable = self.backend.bind(self.at_once, 1, self.shape.team_size, self.at_once_arguments).executable
                self.shape.limit_teams(self.backend.resident_lanes(executable))
            return
        self.bind_walk()
        if self.plan.settings.exchange:
            on = self.memory
            self.backend.bind(self.kernels.adopt, 1, self.shape.step_size, (0, on.adopted, on.walkers, on.data))

    def bind_walk(self, from_first: bool = True) -> object:
        """Compile the launch that makes all iterations of a walk in one team; return the executable."""
        on = self.memory
        arguments = (from_first, 0, 1, 1, on.walkers, on.shared, on.data)
        return self.backend.bind(self.kernels.walk, 1, self.shape.team_size, arguments).executable

    def even_out(self) -> bool:
        """Reduce the team size if all walks then fit the device at a time. Return True if the shape has changed."""
        limits, count, shape = self.backend.capabilities, self.memory.count, self.shape
        if not self.plan.settings.by_walks or limits.lanes_resident == 1 or not count:
            return False
        before, walks = shape.team_size, -(-count // limits.compute_units)
        shape.team_size = even_team(walks, self.backend.resident_lanes(self.bind_walk()), before)
        return shape.team_size != before

    # --- all walks ---

    def launch(self, kernel: Kernel, teams: int, team_size: int, *arguments: object, shared: bool = True) -> None:
        """Queue a kernel; after ``arguments`` it takes the walks, the settings if it takes ``shared``, and the data."""
        on = self.memory
        settings = (on.shared,) if shared else ()
        self.backend.launch(kernel, teams, team_size, *arguments, on.walkers, *settings, on.data)

    def begin(self) -> None:
        """Build the state of every walk from its solution."""
        self.launch(self.kernels.begin, self.walk_teams, self.shape.step_size, shared=False)

    def keep(self) -> None:
        """Copy every walk's best solution to its `best`."""
        self.backend.launch(self.kernels.keep, self.walk_teams, self.shape.step_size, self.memory.walkers)

    def adopt(self, cost: int) -> None:
        """Continue every walk that is worse than this cost from the solution in `WalkMemory.adopted`."""
        size, adopted = self.shape.step_size, self.memory.adopted
        self.launch(self.kernels.adopt, self.walk_teams, size, cost, adopted, shared=False)

    def walk(self, count: int, first: int, end: int) -> None:
        """Make ``count`` iterations of this rank's walks ``first`` to ``end - 1``, each by one team."""
        teams = max(1, min(end - first, self.walk_teams))
        self.launch(self.kernels.walk, teams, self.shape.team_size, first == 0, first, end, count)

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations of every walk that is awake."""
        if self.shape.in_one_team:
            self.walk(count, 0, self.awake)
        elif self.shape.is_tuning:
            for _ in range(count):
                self.tuned(self.own_scan)
                self.agree()
                self.step()
        else:
            self.repeat(("iteration",), self.iteration, count)

    # --- one walk, in parts ---

    def iteration(self) -> None:
        """Scan the neighbourhood, and make the move of the smallest key."""
        shape = self.shape
        if shape.steps_at_once:
            self.refresh()
            self.backend.launch(self.at_once, shape.teams, shape.team_size, *self.at_once_arguments)
        else:
            self.own_scan()
            if not shape.exchanges:
                self.agree()
            self.step(exchanges=shape.exchanges)

    def own_scan(self) -> None:
        """Find the smallest key of this rank's share of the neighbours."""
        self.refresh()
        self.part(0, *self.own_share)

    def refresh(self, walk: int = 0) -> None:
        """Update the problem's tables for a walk, if it keeps any."""
        if self.plan.is_quick:
            neighbours, (rank, size) = self.plan.sizes[0], self.own_share
            self.scan(self.kernels.refresh, walk, neighbours * rank // size, neighbours * (rank + 1) // size)

    def part(self, walk: int, part: int, parts: int) -> None:
        """Find the smallest key in one of ``parts`` equal parts of a walk's neighbours."""
        self.scan(self.kernels.scan, walk, part, parts, self.memory.keys)

    def scan(self, kernel: Kernel, walk: int, *arguments: object) -> None:
        """Queue a kernel over the neighbours of a walk."""
        self.launch(kernel, self.shape.teams, self.shape.team_size, self.memory.count <= 1, walk, *arguments)

    def agree(self) -> None:
        """Reduce all ranks' smallest keys to the smallest."""
        self.backend.collectives(self.ranks).reduce(self.memory.keys, "least")

    def step(self, walk: int = 0, exchanges: bool = False) -> None:
        """Make the move of a walk with the smallest key, or with that of all ranks if they exchange keys."""
        on = self.memory
        kernel, peers = (self.kernels.exchange_and_step, self.peers) if exchanges else (self.kernels.step, NoPeers(1))
        self.launch(kernel, 1, self.shape.step_size, on.count <= 1, walk, on.keys, peers)

    def fitness(self, is_quick: bool, level: int, share: Share, fitnesses: DeviceArray, teams: int) -> None:
        """Write the fitnesses of a share of the neighbours of the first walk."""
        arguments = is_quick, level, share, fitnesses
        self.launch(self.kernels.fitness, teams, self.shape.team_size, *arguments, shared=False)

    # --- recordings and tuning ---

    def repeat(self, key: tuple[object, ...], launch: Callable[[], None], times: int = 1) -> None:
        """Queue launches that are the same for equal ``key``: they are checked and recorded once."""
        key = (*key, *self.shape.key)
        if key not in self.recorded:
            with self.backend.record() as self.recorded[key]:
                launch()
        self.recorded[key].replay(times)

    def tuned(self, launch: Callable[[], None]) -> None:
        """Queue launches with the shape that the tuner proposes, and report the time to it."""
        tuner = self.shape.tuner
        assert tuner is not None
        while True:
            self.shape.take_proposed()
            try:
                began = time.perf_counter()
                launch()
                self.backend.synchronize()
                tuner.report(time.perf_counter() - began)
                break
            except (LaunchRefused, MemoryError) as error:
                tuner.failed(error)
        self.shape.take_proposed()


def kernels_of(plan: Plan) -> SearchKernels:
    first, algorithm = plan.neighbourhoods[0], plan.algorithm
    rule = algorithm if isinstance(algorithm, Rule) else None
    rules = Rules(
        tuple(neighbourhood.shape for neighbourhood in plan.neighbourhoods),
        first.change,
        plan.tabu.kind,
        algorithm.rule,
        algorithm.at_optimum,
        by_team=plan.settings.level == "solution",
        note=record_improvement if plan.history else None,
        decode=next((neighbourhood.decode for neighbourhood in plan.neighbourhoods if neighbourhood.decode), ()),
        apply=first.apply,
        accepts=rule.accepts if rule else None,
        has_parameters=rule is not None and rule.parameters is not None,
        lag=algorithm.lag,
        restarts=algorithm.restart > 0,
    )
    return search_kernels(plan.evaluation.for_kernels(first.name), rules)
