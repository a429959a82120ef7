"""One colony on one device: its memory, the shape of its launches, and an iteration kernel by kernel."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels import ants as ants_kernels
from core.kernels import pheromone
from core.kernels.ants import STATES, Ant
from core.kernels.roulette import BUNCH, COLUMNS, Choice, Layout
from core.kernels.two_opt import Climbs, CountedClimbs
from core.kernels.two_opt_near import BATCH, NEAR, climb_near
from core.lang.bundles import Rows
from core.search.ant_colony.settings import (
    FixedPoint,
    Settings,
    fixed_point,
    heuristic,
    nearest_cities,
)
from core.search.start_tours import nearest_neighbour_tour
from core.search.two_opt_scans import Scan, is_wide, scan_for

NOTHING = np.iinfo(np.uint64).max
UNKNOWN = np.iinfo(np.uint32).max
COARSE_TEAM = 32
"""Ants of a team in the paper's coarse-grained strategy (section V)."""
UPDATE_LANES = 128
ROWS_TO_SEARCH = 8
LEAST_SHARED_BYTES = 48 << 10
"""Shared memory that every device with teams has; a coarse team stays below it."""


class Outcome(NamedTuple):
    """What the ants of all ranks together found.

    Attributes
    ----------
    length, colony, ant, iteration : int
        The shortest tour, and who found it first.
    evaluations : int
        Cities that ants looked at to choose the next: n for each of n choices, visited or not, as equation 1 counts.
    digest : int
        64-bit digest of every (colony, iteration, ant, length): a sum, so of no order.
    curve : ndarray, shape (iterations,), uint32
        Length of each iteration's best tour.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best length] of the iterations that improved the best of all colonies,
        counted from 0; evaluations and seconds when all colonies had made that iteration. None: not asked for.

    """

    length: int
    colony: int
    ant: int
    iteration: int
    evaluations: int
    digest: int
    curve: np.ndarray
    history: list[list[Any]] | None = None


class Shape(NamedTuple):
    """How kernels are launched.

    Attributes
    ----------
    team_size : int
        Lanes of a team that makes tours.
    layout : core.kernels.roulette.Layout
        How they share out ants and rows of weights.
    update_teams, update_lanes : int
        Of the kernels that change the pheromone.

    """

    team_size: int
    layout: Any
    update_teams: int
    update_lanes: int

    @property
    def ants_per_team(self) -> int:
        """Ants of a team that makes tours."""
        return int(self.layout.ants)

    @property
    def stride(self) -> int:
        """Weights from one city's row to the next one's."""
        return int(COLUMNS * self.layout.pieces * self.layout.depth)


def layout_of(ants: int, near_columns: int, lanes: int, depth: int, rows: int) -> Layout:
    """The `Layout` with columns and pieces for so many lanes, and ``depth`` rounded up to whole blocks of ``rows``."""
    columns, pieces, depth = max(1, COLUMNS // lanes), max(1, lanes // COLUMNS), rows * ceil(depth / rows)
    return Layout(ants, near_columns, lanes, columns, pieces, depth, ceil(depth / 32), rows)


def shape_for(
    strategy: str, capabilities: Any, n: int, settings: Settings, team: tuple[int, int] | None = None
) -> Shape:
    """Shape of the launches of a strategy on a device; ``team`` are lanes and ants of a team, if they are given.

    Raises
    ------
    UserError
        A team that cannot share out its lanes; a table of weights whose indices do not fit 31 bits.

    """
    wide = capabilities.lanes_resident > 1
    if team is None:
        team = chosen_team(strategy, capabilities, n, settings) if wide else (1, 1)
    team_size, ants = team
    listed = settings.candidates > 0
    share = team_size // ants
    lanes = team_size if listed else share
    possible = team_size == share * ants and all(k % COLUMNS == 0 or k in (1, 2, 4, 8, 16) for k in (share, lanes))
    if not possible or (listed and share > COLUMNS):
        raise UserError(f"{ants} ants cannot share a team of {team_size} lanes with {settings.candidates} candidates")
    near_columns = ceil(settings.candidates / share)
    if near_columns > BUNCH:
        near_columns = BUNCH * ceil(near_columns / BUNCH)
    depth = ceil(n / (COLUMNS * max(1, lanes // COLUMNS)))
    rows = min(depth, ROWS_TO_SEARCH)
    if 4 * ceil(depth / rows) * max(1, COLUMNS // lanes) * team_size > LEAST_SHARED_BYTES // 3:
        rows = min(depth, COLUMNS)
    alone = strategy != "fine-deposit"
    shape = Shape(
        team_size=team_size,
        layout=layout_of(ants, near_columns, lanes, depth, rows),
        update_teams=1 if alone else capabilities.compute_units * (8 if wide else 1),
        update_lanes=1 if alone or not wide else min(UPDATE_LANES, capabilities.max_team_size),
    )
    if n * shape.stride >= 2**31:
        raise UserError(
            f"ants on {n} cities: rows of {shape.stride} weights for teams of {team_size} lanes pass 2^31: expected "
            f"at most {(2**31 - 1) // shape.stride} cities"
        )
    return shape


def chosen_team(strategy: str, capabilities: Any, n: int, settings: Settings) -> tuple[int, int]:
    """Lanes and ants of a team on a device that runs many lanes at a time: measured on one H200."""
    many = settings.ants > 24 * capabilities.compute_units
    if strategy == "coarse":
        return COARSE_TEAM, COARSE_TEAM
    if settings.candidates:
        return 32, 4 if many else 1
    if n > 2048:
        return 64, 1
    return 32, 2 if many else 1


class Ground:
    """What all colonies of a rank share: the instance on the device, its cities renumbered.

    Parameters
    ----------
    numbered
        From a nearest-neighbour tour to the order in which cities are numbered (`Colony.numbered`).

    Attributes
    ----------
    order : ndarray, shape (n,), int64
        The original number of each city.
    numbers : FixedPoint

    """

    def __init__(
        self, backend: Any, distances: np.ndarray, settings: Settings, numbered: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self.backend = backend
        self.n = len(distances)
        tour = nearest_neighbour_tour(distances)
        length = int(distances[tour, np.roll(tour, -1)].sum(dtype=np.int64))
        self.order = numbered(tour)
        ordered = np.ascontiguousarray(distances[np.ix_(self.order, self.order)])
        self.numbers: FixedPoint = fixed_point(settings, ordered, length)
        self.distances = backend.upload(ordered)
        self.heuristic = backend.upload(heuristic(ordered, settings.beta))
        self.near_cities = self._lists(ordered, settings.candidates, COLUMNS)
        climbs = settings.local_search
        self.scan: Scan | None = scan_for("pruned", backend, ordered) if climbs == "2opt" else None
        self.joined: Any = self._lists(ordered, NEAR, NEAR) if climbs == "2opt-near" else None

    def _lists(self, distances: np.ndarray, wanted: int, width: int) -> Any:
        """Neighbour lists on the device."""
        lists = nearest_cities(distances, wanted, width) if wanted else np.zeros(1, np.uint16)
        return self.backend.upload(lists.reshape(-1))


def bytes_needed(n: int, settings: Settings, shape: Shape, colonies: int, ants: int, wide_distances: bool) -> int:
    """Memory of a device for a rank's colonies.

    Parameters
    ----------
    n
        Cities.
    colonies, ants
        Colonies of the rank, and ants of each that are here.
    wide_distances
        Whether distances take 32 bits and not 16.

    """
    listed = COLUMNS * n if settings.candidates else 0
    own = 8 * n * n + 4 * n * shape.stride + 4 * listed + (2 * n + 4) * ants + 4 * n
    return bytes_of_instance(n, settings, wide_distances) + colonies * own


def bytes_of_instance(n: int, settings: Settings, wide_distances: bool) -> int:
    """Memory of a device for what all colonies share."""
    distance = 4 if wide_distances else 2
    lists = {"2opt": 3 * distance * n * n, "2opt-near": 2 * NEAR * n, "none": 0}[settings.local_search]
    listed = COLUMNS * n if settings.candidates else 0
    return (distance + 4) * n * n + lists + 2 * listed


class Colony:
    """Ants ``first`` to ``first + count - 1`` of a colony, and its pheromone.

    Parameters
    ----------
    ground
        The instance on the device.
    settings
        Checked.
    shape
        Of the launches.
    number
        Of the colony, from 0.
    count, first
        The ants of this rank.
    seed
        With the colony's number it decides every draw.

    Attributes
    ----------
    ants, laid : Rows of `core.kernels.ants.Ant`
        Those of this rank; the one that deposits in a Max-Min Ant System.
    memory : core.kernels.ants.Colony
        What kernels know of the colony.
    ant : type
        The bundle of an ant.
    shared_by_ranks : bool
        Whether several ranks can have a part of its ants each.

    """

    ant: Any = Ant
    shared_by_ranks = True
    shape_for: Any = staticmethod(shape_for)
    bytes_needed: Any = staticmethod(bytes_needed)

    @property
    def phases(self) -> tuple[str, ...]:
        """The methods that make an iteration, in their order."""
        return "construct", "climb", "measure", "judge", "deposit", "evaporate", "weigh"

    @staticmethod
    def numbered(tour: np.ndarray) -> np.ndarray:
        """Number cities along a nearest-neighbour tour, so that 32 neighbours are one word of an ant's mask."""
        return tour

    def __init__(
        self, ground: Ground, settings: Settings, shape: Shape, *, number: int, count: int, first: int, seed: int
    ) -> None:
        self.ground = ground
        self.backend = backend = ground.backend
        self.settings = settings
        self.shape: Any = shape
        self.number = number
        self.limited = settings.variant == "mmas"
        n, numbers = ground.n, ground.numbers
        self.update = pheromone.Update(
            numbers.rho, numbers.quota, numbers.lower_bound, numbers.floor_ratio, settings.stagnation, numbers.smoothing
        )
        allocate = backend.allocate
        self.trails = pheromone.Trails(allocate(n * n, np.uint32), allocate(n * n, np.uint32), n)
        self.make_room()
        self.ants = backend.rows(self.ant(n=n, first=first), count)
        self.laid = backend.rows(Ant(n=n, first=0), 1)
        self.memory: Any = ants_kernels.Colony(
            number=number,
            seed=seed,
            state=allocate(STATES, np.uint32),
            best=allocate(n, np.uint16),
            least=allocate(1, np.uint64),
            curve=allocate(1, np.uint32),
            digest=allocate(1, np.uint64),
            ticket=allocate(1, np.uint32),
        )
        self.climbed = (allocate(1, np.uint64), allocate(3, np.uint64))
        units = backend.capabilities.compute_units
        self.wide = is_wide(backend)
        self.teams = self.at_once(ceil(count / shape.ants_per_team))
        self.row_teams = min(n, 8 * units)
        self.climbing_lanes = min(BATCH * NEAR, backend.capabilities.max_team_size) if self.wide else 1
        self.lanes = min(UPDATE_LANES, backend.capabilities.max_team_size) if self.wide else 1

    def make_room(self) -> None:
        """Memory for the weights by which ants choose."""
        n, stride = self.ground.n, self.shape.stride
        near_weights = self.backend.allocate(n * COLUMNS if self.settings.candidates else 1, np.uint32)
        weights = self.backend.allocate(n * stride, np.uint32)
        self.choice = Choice(weights, stride, self.ground.near_cities, near_weights)

    def at_once(self, teams: int) -> int:
        """So many teams, or fewer that do the same in turns, where a team is a lane."""
        return teams if self.wide else min(teams, 8 * self.backend.capabilities.compute_units)

    def begin(self, iterations: int) -> None:
        """Start anew: equal trails, no best tour, room for the lengths of ``iterations`` iterations."""
        backend, memory = self.backend, self.memory
        if memory.curve.size < iterations:
            memory.curve = backend.allocate(iterations, np.uint32)
        backend.write(memory.state, np.array([0, UNKNOWN, 0, 0], np.uint32))
        backend.write(memory.least, np.full(1, NOTHING))
        backend.write(memory.digest, np.zeros(1, np.uint64))
        backend.write(memory.ticket, np.zeros(1, np.uint32))
        for buffer, nothing in zip(self.climbed, (NOTHING, 0), strict=True):
            backend.write(buffer, np.full(buffer.size, nothing, np.uint64))
        backend.launch(pheromone.begin, self.row_teams, self.lanes, self.trails, self.ground.numbers.start)
        self.weigh()

    # --- an iteration, kernel by kernel ---

    def construct(self) -> None:
        """Let the ants of this rank make their tours (algorithms 4 and 5)."""
        given = self.ants, self.choice, self.memory, self.shape.layout
        self.backend.launch(ants_kernels.construct, self.teams, self.shape.team_size, *given)

    def climb(self) -> None:
        """Improve every tour by 2-opt, if the settings say so."""
        ground, ants = self.ground, self.ants
        if ground.scan is not None:
            ground.scan.launch(CountedClimbs(ground.n, ants.tour, ants.count, self.memory.ticket, 0, *self.climbed))
        elif ground.joined is not None:
            self.backend.launch(
                climb_near,
                min(ants.count, 16 * self.backend.capabilities.compute_units),
                self.climbing_lanes,
                Climbs(ground.n, ants.tour, ants.count, self.memory.ticket),
                *(ground.distances, ground.joined),
            )

    def measure(self) -> None:
        """Measure the tours; the least (length, ant) and the digest come of it."""
        teams = min(self.ants.count, 32 * self.backend.capabilities.compute_units)
        self.backend.launch(ants_kernels.measure, teams, self.lanes, self.ground.distances, self.ants, self.memory)

    def judge(self, ants: Rows | None = None, adopt: bool = False) -> None:
        """Keep the best tour and choose the one that deposits, among those of ``ants``: this rank's.

        With ``adopt`` the tour is another colony's: it can become the best so far, and no iteration ends.
        """
        given = ants or self.ants, adopt, self.settings.best_every, self.memory, self.laid.bundle
        self.backend.launch(pheromone.judge, 1, self.lanes, *given)

    def deposit(self, ants: Rows | None = None) -> None:
        """Let the ants deposit (algorithm 7): those of this rank, or others whose tours are here."""
        ants = self.laid if self.limited else ants or self.ants
        shape = self.shape
        teams = min(ants.count, 4 * shape.update_teams if shape.update_teams > 1 else 1)
        self.backend.launch(pheromone.deposit, teams, shape.update_lanes, ants, self.update, self.trails)

    def evaporate(self) -> None:
        """Let pheromone evaporate, and add the deposits (algorithm 6)."""
        shape = self.shape
        given = self.trails, self.update, self.limited, self.memory
        self.backend.launch(pheromone.evaporate, min(shape.update_teams, self.ground.n), shape.update_lanes, *given)

    def weigh(self) -> None:
        """Compute the weights of equation 1 for the next tours."""
        ground = self.ground
        given = self.trails, ground.heuristic, ground.numbers.alpha, self.choice, self.settings.candidates > 0
        self.backend.launch(pheromone.weigh, self.row_teams, self.lanes, *given)

    def iterate(self) -> None:
        """Queue a whole iteration of a colony whose ants are all here."""
        for phase in self.phases:
            getattr(self, phase)()

    # --- what the host reads ---

    def best_so_far(self) -> tuple[int, int, int]:
        """Length, iteration and ant of the best tour so far; waits for the device."""
        _, length, iteration, ant = (int(word) for word in self.backend.download(self.memory.state))
        return length, iteration, ant

    def lengths_of_best(self, iterations: int) -> np.ndarray:
        """Length of each iteration's best tour; shape (iterations,), uint32."""
        return self.backend.download(self.memory.curve)[:iterations]
