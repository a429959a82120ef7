"""A colony, or one rank's part of it: its memory, the shape of its launches, and an iteration kernel by kernel.

Ranks that share the ants of a colony synchronise three times in an iteration, on their devices: for the shortest tour,
for the deposits, and for the weights, of which every rank computes some rows. With all ants on one rank these calls do
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import ClassVar, cast

import numpy as np

from core.ant_colony.instance import ColonyInstance
from core.ant_colony.kernels import ants as ants_kernels
from core.ant_colony.kernels import pheromone
from core.ant_colony.kernels.ants import Ant, ColonyProgress
from core.ant_colony.kernels.neighbour_queue import BATCH, NEAR, climb_queue
from core.ant_colony.kernels.published_ants import PheromoneMatrix
from core.ant_colony.kernels.roulette import COLUMNS, ChoiceWeights
from core.ant_colony.launch_shape import UPDATE_LANES, ColonyLaunchShape, bytes_needed, shape_for
from core.ant_colony.settings import Settings
from core.hill_climbing.kernels.climbs import EXTREMES, TOTALS, Climbs, CountedClimbs
from core.hill_climbing.scans import is_wide
from core.lang.bundles import Rows
from core.lang.named_arrays import size_of
from core.ranks import OneRank, Ranks
from core.run.devices import ComputeDevice, DeviceArray, DeviceCollectives, DeviceMemory, RecordedLaunches
from core.three_opt.kernels.three_opt import improve_given_tours
from core.three_opt.kernels.tour_array import TourWalk

WALK_LANES = 32
"""Lanes of a team that improves a tour by moves of three edges, on devices with many lanes."""


class RankRows:
    """The rows of weights, one for each city, that this rank computes: from ``begin`` to ``end - 1``.

    Ranks have the rows from ``bounds[rank]`` on in common memory; ``bounds`` is empty if this rank computes all rows.
    """

    def __init__(self, together: DeviceCollectives, n: int, *, is_shared: bool) -> None:
        self.together = together
        self.bounds = together.equal_parts(n) if is_shared else []
        self.begin, self.end = self.bounds[together.rank :][:2] if is_shared else (0, n)

    def allocate(self, backend: ComputeDevice, width: int) -> DeviceArray:
        """Allocate rows of this width: in the common memory of ranks, if they share the rows."""
        if self.bounds:
            bounds = [width * row for row in self.bounds]
            return self.together.common(bounds[-1], np.uint32, bounds)
        return backend.allocate(max(1, width * self.end), np.uint32)

    def gather(self, weights: DeviceMemory, width: int) -> None:
        """Queue the launches that make all rows visible to this rank's ants."""
        if self.bounds:
            self.together.gather(weights, [width * row for row in self.bounds])


NOTHING = np.iinfo(np.uint64).max
UNKNOWN = np.iinfo(np.uint32).max


class Colony:
    """Ants ``first`` to ``first + count - 1`` of a colony, and its pheromone.

    A rank may have no ants of a colony that ranks share: its launches make no tour, and update the pheromone. The
    ``seed`` and the colony's number decide every draw.

    Attributes
    ----------
    ants : Rows of `core.ant_colony.kernels.ants.Ant`
        Those of this rank.
    laid : core.ant_colony.kernels.pheromone.DepositedTour
        The tour that deposits in a Max-Min Ant System.
    memory : core.ant_colony.kernels.ants.ColonyState
        State of the colony for kernels.
    ant : type
        The bundle of an ant.
    begin_trails : core.lang.Kernel
        Kernel that puts the first pheromone on all edges.
    shared_by_ranks : bool
        True if several ranks can have a part of its ants each.
    """

    trails: pheromone.Trails | PheromoneMatrix
    most_iterations = 1
    """Iterations with memory for their best lengths."""
    ant = Ant
    begin_trails = pheromone.begin
    shared_by_ranks = True
    shape_for: ClassVar[Callable[..., ColonyLaunchShape]] = staticmethod(shape_for)
    bytes_needed: ClassVar[Callable[..., int]] = staticmethod(bytes_needed)

    @property
    def phases(self) -> tuple[str, ...]:
        """Methods that make an iteration, in their order."""
        return "construct", "climb", "measure", "update_best", "deposit", "evaporate", "weigh"

    @staticmethod
    def numbered(tour: np.ndarray) -> np.ndarray:
        """Number cities along a nearest-neighbour tour, so that 32 neighbours are one word of an ant's mask."""
        return tour

    def __init__(
        self,
        instance: ColonyInstance,
        settings: Settings,
        shape: ColonyLaunchShape,
        *,
        number: int,
        count: int,
        first: int,
        seed: int,
    ) -> None:
        self.instance = instance
        self.backend = backend = instance.backend
        self.settings = settings
        self.shape = shape
        self.number = number
        self.limited = settings.variant == "mmas"
        n, numbers = instance.n, instance.numbers
        self.update = pheromone.Update(
            numbers.rho, numbers.quota, numbers.lower_bound, numbers.floor_ratio, settings.stagnation, numbers.smoothing
        )
        allocate = backend.allocate
        self.ants = backend.rows(self.ant(n=n, first=first), count)
        self.measured = self.ants if count else backend.rows(self.ant(n=n, first=settings.ants), 1)
        """`ants`, or one row behind all ants if there is none: a kernel may not read from no rows."""
        self.laid = pheromone.DepositedTour(allocate(n, np.uint32), allocate(1, np.uint32))
        self.memory = ants_kernels.ColonyState(
            number=number,
            seed=seed,
            state=allocate(size_of(ColonyProgress), np.uint32),
            best=allocate(n, np.uint16),
            least=allocate(1, np.uint64),
            curve=allocate(self.most_iterations, np.uint32),
            digest=allocate(1, np.uint64),
            ticket=allocate(1, np.uint32),
        )
        self.climbed = (allocate(EXTREMES, np.uint64), allocate(TOTALS, np.uint64))
        units = backend.capabilities.compute_units
        self.wide = is_wide(backend)
        self.teams = self.at_once(ceil(count / shape.ants_per_team))
        self.row_teams = min(n, 8 * units)
        most = backend.capabilities.max_team_size if self.wide else 1
        wanted = UPDATE_LANES, BATCH * NEAR, WALK_LANES
        self.lanes, self.climbing_lanes, self.walking_lanes = (min(lanes, most) for lanes in wanted)
        self.walks: Rows | None = None
        if instance.cities is not None and count:
            self.walks = backend.rows(TourWalk(n=n, words=ceil(n / 32), logged=2), min(count, shape.walks))
        self.iteration: RecordedLaunches | None = None
        """Recorded launches of `iterate`."""
        # One rank needs no other methods.
        self.together = backend.collectives(cast("Ranks", OneRank()))
        self.rows = RankRows(self.together, n, is_shared=False)
        self.own_ants = range(first, first + count)
        self.make_trails()
        self.make_room()

    def make_trails(self) -> None:
        """Allocate the pheromone."""
        n, allocate = self.instance.n, self.backend.allocate
        self.deposits = allocate(n * n // 2, np.uint32)
        self.trails = pheromone.Trails(allocate(n * n // 2, np.uint32), self.deposits, n)

    def edges(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the indices of the edges between cities, see `core.ant_colony.kernels.pheromone.edge`."""
        later = np.maximum(a, b)
        return (later * later >> 1) + np.minimum(a, b)

    def make_room(self) -> None:
        """Allocate the weights by which ants choose."""
        stride, listed = self.shape.stride, self.settings.candidates > 0
        weights, near_weights = (self.rows.allocate(self.backend, n) for n in (stride, COLUMNS if listed else 0))
        self.choice = ChoiceWeights(weights, stride, self.instance.near_cities, near_weights)

    def join(self, together: DeviceCollectives) -> None:
        """Synchronise with other ranks from now on; all ranks with ants of this colony call this.

        Ranks of narrow devices also share the rows of the weights, in common memory. Wide devices compute all rows
        themselves, which takes less time than receiving rows of others. ``together`` are the collectives of this device
        with those of the other ranks (`Backend.collectives`).
        """
        if together is self.together:
            return
        self.together = together
        self.iteration = None
        before, is_shared = self.rows, not together.is_silent and together.ranks.sum(int(self.wide)) == 0
        self.rows = RankRows(together, self.instance.n, is_shared=is_shared)
        if self.rows.bounds or before.bounds:
            del self.choice  # its memory serves the next one
            self.make_room()

    def at_once(self, teams: int) -> int:
        """Return ``teams``, at least one; fewer teams, which work in turns, if a team is a lane."""
        return max(1, teams if self.wide else min(teams, 8 * self.backend.capabilities.compute_units))

    def make_places(self, iterations: int) -> None:
        """Allocate memory for the best lengths of ``iterations`` iterations, and copy existing ones.

        Memory doubles, since recordings refer to the old place and must be repeated.
        """
        backend, memory = self.backend, self.memory
        if self.most_iterations < iterations:
            before = backend.download(memory.curve)
            most = max(iterations, 2 * before.size)
            memory.curve = backend.allocate(most, np.uint32)
            backend.put(memory.curve, 0, before)
            self.iteration, self.most_iterations = None, most

    def begin(self, iterations: int) -> None:
        """Begin with equal trails and no best tour, and memory for the lengths of ``iterations`` iterations."""
        backend, memory = self.backend, self.memory
        self.make_places(iterations)
        backend.write(memory.state, np.array([0, UNKNOWN, 0, 0], np.uint32))
        backend.write(memory.least, np.full(1, NOTHING))
        backend.write(memory.digest, np.zeros(1, np.uint64))
        backend.write(memory.ticket, np.zeros(1, np.uint32))
        for buffer, nothing in zip(self.climbed, (NOTHING, 0), strict=True):
            backend.write(buffer, np.full(buffer.size, nothing, np.uint64))
        backend.launch(self.begin_trails, self.row_teams, self.lanes, self.trails, self.instance.numbers.start)
        self.weigh()

    # --- the best tour: each method waits for the device ---

    def best(self) -> tuple[int, int, int]:
        """Return length, iteration and ant of the best tour so far."""
        _, length, iteration, ant = (int(word) for word in self.backend.download(self.memory.state))
        return length, iteration, ant

    def lengths(self, iterations: int) -> np.ndarray:
        """Return the length of each iteration's best tour: shape (iterations,), uint32."""
        return self.backend.download(self.memory.curve)[:iterations]

    def best_tour(self) -> np.ndarray:
        """Return the best tour in the instance's numbers, or zeros if no ant of this rank made it: (n,), int64."""
        if self.best()[2] not in self.own_ants:
            return np.zeros(self.instance.n, np.int64)
        return self.instance.order[self.backend.download(self.memory.best)]

    # --- an iteration, kernel by kernel ---

    def construct(self) -> None:
        """Construct the tours of this rank's ants (algorithms 4 and 5)."""
        arguments = self.ants, self.choice, self.memory, self.shape.layout
        self.backend.launch(ants_kernels.construct, self.teams, self.shape.team_size, *arguments)

    def climb(self) -> None:
        """Improve every tour by the local search of the settings."""
        instance, ants = self.instance, self.ants
        if instance.scan is not None:
            instance.scan.launch(CountedClimbs(instance.n, ants.tour, ants.count, self.memory.ticket, 0, *self.climbed))
        elif instance.joined is not None:
            teams = max(1, min(ants.count, 16 * self.backend.capabilities.compute_units))
            climbs = Climbs(instance.n, ants.tour, ants.count, self.memory.ticket)
            self.backend.launch(climb_queue, teams, self.climbing_lanes, climbs, instance.distances, instance.joined)
        elif self.walks is not None:
            arguments = ants.tour, ants.count, self.walks, instance.cities
            self.backend.launch(improve_given_tours, self.walks.count, self.walking_lanes, *arguments)

    def measure(self) -> None:
        """Measure the tours, update the digest, and reduce the least (length, ant) of all ranks."""
        teams = max(1, min(self.ants.count, 32 * self.backend.capabilities.compute_units))
        self.backend.launch(ants_kernels.measure, teams, self.lanes, self.instance.distances, self.ants, self.memory)
        self.together.reduce(self.memory.least, "least")

    def update_best(self, leader: Rows | None = None) -> None:
        """Keep the best tour, and in a Max-Min Ant System send all ranks the one that deposits.

        ``leader`` is another colony's tour, which ``memory.least`` names: it is adopted if it is the best.
        """
        ants = self.measured if leader is None else leader
        arguments = ants, leader is not None, self.limited, self.settings.best_every, self.memory, self.laid
        self.backend.launch(pheromone.end_construction, 1, self.lanes, *arguments)
        if self.limited and leader is None:
            self.together.reduce(self.laid.cities, "sum")

    def deposit(self) -> None:
        """Deposit pheromone (algorithm 7): of all ants of all ranks, or of one tour in a Max-Min Ant System."""
        shape = self.shape
        teams = 4 * shape.update_teams if shape.update_teams > 1 else 1
        if self.limited:
            teams = min(teams, ceil(self.instance.n / shape.update_lanes))
            arguments = self.laid, self.update, self.trails
            self.backend.launch(pheromone.deposit_one_tour, teams, shape.update_lanes, *arguments)
        else:
            teams = max(1, min(teams, self.ants.count))
            self.backend.launch(pheromone.deposit, teams, shape.update_lanes, self.ants, self.update, self.trails)
            self.together.reduce(self.deposits, "sum")

    def evaporate(self) -> None:
        """Evaporate pheromone, and add the deposits (algorithm 6)."""
        shape = self.shape
        teams = min(shape.update_teams, ceil(self.instance.n**2 // 2 / pheromone.BLOCK))
        arguments = self.trails, self.update, self.limited, self.memory
        self.backend.launch(pheromone.evaporate, teams, shape.update_lanes, *arguments)

    def weigh(self) -> None:
        """Compute the weights of equation 1 for the next tours."""
        instance, choice, listed = self.instance, self.choice, self.settings.candidates > 0
        begin, end = self.rows.begin, self.rows.end
        arguments = begin, end, self.trails, instance.heuristic, instance.numbers.alpha, choice, listed
        self.backend.launch(pheromone.weigh, max(1, min(end - begin, self.row_teams)), self.lanes, *arguments)
        self.rows.gather(choice.weights, choice.stride)
        if listed:
            self.rows.gather(choice.near_weights, COLUMNS)

    def iterate(self) -> None:
        """Queue all phases of an iteration."""
        for phase in self.phases:
            getattr(self, phase)()

    def replay(self, iterations: int) -> None:
        """Queue ``iterations`` recorded iterations."""
        if self.iteration is None:
            with self.backend.record() as self.iteration:
                self.iterate()
        self.iteration.replay(iterations)
