"""The paper's mapping of Ant System to a device (`menezes2019`, algorithms 3 to 7), launch by launch."""

from __future__ import annotations

from math import ceil

import numpy as np

from core.ant_colony.colony import Colony
from core.ant_colony.kernels import published_ants as kernels
from core.ant_colony.kernels.published_ants import PheromoneMatrix, Scales, WeighingAnt
from core.ant_colony.kernels.roulette import COLUMNS
from core.ant_colony.launch_shape import COARSE_TEAM, UPDATE_LANES, ColonyLaunchShape, bytes_of_instance, layout_of
from core.ant_colony.settings import Settings
from core.errors import UserError
from core.run.devices import DeviceLimits

PLAIN = {"variant": "as", "candidates": 0, "local_search": "none"}
"""Settings of the paper's ants, the only ones with a published mapping."""


def published_shape(
    strategy: str, capabilities: DeviceLimits, n: int, settings: Settings, team: tuple[int, int] | None = None
) -> ColonyLaunchShape:
    """Return the launch shape of a strategy on a device; one that runs a lane at a time gets teams of one.

    If an ant is a team with fewer lanes than cities, lanes take several. Pheromone evaporates with a lane for each
    edge, in as many teams as there need be.

    Raises `UserError` for other settings than those of the paper's Ant System, or a ``team``, since the paper's
    strategies define it.
    """
    for name, plain in PLAIN.items():
        if getattr(settings, name) != plain:
            raise UserError(
                f"--mapping published is the paper's Ant System: expected {name.replace('_', ' ')} {plain}, found "
                f"{getattr(settings, name)}"
            )
    if team is not None:
        raise UserError(f"--mapping published has the paper's teams: expected none to be given, found {team}")
    most = capabilities.max_team_size if capabilities.lanes_resident > 1 else 1
    ants = min(COARSE_TEAM, most) if strategy == "coarse" else 1
    lanes = ants if strategy == "coarse" else min(n, most)
    return ColonyLaunchShape(strategy, lanes, layout_of(ants, 0, 1, 1, 1), 1, min(UPDATE_LANES, most))


def published_bytes(
    n: int, settings: Settings, shape: ColonyLaunchShape, colonies: int, ants: int, wide_distances: bool
) -> int:
    """Return the memory of a device for a rank's colonies, as `launch_shape.bytes_needed` does."""
    own = 4 * n * n + 12 * n + (7 * n + 4) * ants + 6 * n
    return bytes_of_instance(n, settings, wide_distances) + colonies * own


class PublishedColony(Colony):
    """A colony with the paper's launches and the tours of `Colony`."""

    ant = WeighingAnt
    shared_by_ranks = False
    begin_trails = kernels.begin
    shape_for = staticmethod(published_shape)
    bytes_needed = staticmethod(published_bytes)

    @staticmethod
    def numbered(tour: np.ndarray) -> np.ndarray:
        """Number cities as the suite's wheel does: all of column 0, all of column 1, up to column 31."""
        return tour[np.argsort(np.arange(len(tour)) % COLUMNS, kind="stable")]

    @property
    def phases(self) -> tuple[str, ...]:
        """Launches of an iteration: pheromone evaporates first, as in the paper.

        One launch updates all pheromone, or two by all lanes do.
        """
        update = ("evaporate", "deposit") if self.shape.strategy == "fine-deposit" else ("pheromone_update",)
        return ("construct", "measure", "update_best", *update, "weigh")

    def make_trails(self) -> None:
        n = self.instance.n
        self.trails = PheromoneMatrix(self.backend.allocate(n * n, np.uint32), n)

    def edges(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the places of pheromone from cities to others; both directions of an edge have one."""
        return a * self.instance.n + b

    def make_room(self) -> None:
        """Allocate the numbers by which ants weigh cities, and limit an ant's lanes to those that a team can have."""
        n, allocate, instance = self.instance.n, self.backend.allocate, self.instance
        numbers = allocate(n, np.uint32), allocate(n, np.float32), allocate(n, np.uint32)
        self.scales = Scales(instance.heuristic, *numbers, instance.numbers.alpha)
        if self.shape.strategy != "coarse":
            # A team of this device may have fewer lanes.
            largest_team, lanes = self.backend.largest_team, self.shape.team_size
            lanes = largest_team(kernels.construct_fine, lanes, self.ants, self.trails, self.scales, self.memory)
            if self.shape.strategy == "fine-deposit":
                lanes = largest_team(kernels.deposit_edges, lanes, self.ants, self.update, self.trails)
            self.shape = self.shape._replace(team_size=lanes)

    def construct(self) -> None:
        """Construct the tours of the ants (algorithms 4 and 5)."""
        kernel = kernels.construct_coarse if self.shape.strategy == "coarse" else kernels.construct_fine
        arguments = self.ants, self.trails, self.scales, self.memory
        self.backend.launch(kernel, self.teams, self.shape.team_size, *arguments)

    def pheromone_update(self) -> None:
        """Update all pheromone by one lane (algorithm 3)."""
        self.backend.launch(kernels.update_by_one_lane, 1, 1, self.ants, self.update, self.trails)

    def evaporate(self) -> None:
        """Evaporate pheromone, a lane an edge (algorithm 6)."""
        lanes = self.shape.update_lanes
        teams = self.at_once(ceil(self.instance.n**2 / lanes))
        self.backend.launch(kernels.evaporate_edges, teams, lanes, self.trails, self.update)

    def deposit(self) -> None:
        """Deposit pheromone, with a team for each ant (algorithm 7)."""
        arguments = self.ants, self.update, self.trails
        self.backend.launch(kernels.deposit_edges, self.teams, self.shape.team_size, *arguments)

    def weigh(self) -> None:
        """Prepare the numbers by which ants weigh the cities themselves."""
        self.backend.launch(kernels.scale_rows, self.row_teams, self.lanes, self.trails, self.scales)
