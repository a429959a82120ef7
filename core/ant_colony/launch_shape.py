"""Launch shape of a colony: lanes and ants of a team, and the memory for them."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from core.ant_colony.kernels.neighbour_queue import NEAR
from core.ant_colony.kernels.roulette import BUNCH, COLUMNS, WheelLayout
from core.ant_colony.settings import Settings
from core.errors import UserError
from core.run.devices import DeviceLimits
from core.three_opt.search import LISTS

COARSE_TEAM = 32
"""Ants of a team in the paper's coarse-grained strategy (section V)."""
UPDATE_LANES = 128
ROWS_TO_SEARCH = 8
LEAST_SHARED_BYTES = 48 << 10
"""Shared memory that every device with teams has; a coarse team stays below it."""


class ColonyLaunchShape(NamedTuple):
    """Shape of kernels' launches.

    Attributes
    ----------
    strategy : str
        ``coarse``, ``fine`` or ``fine-deposit``.
    team_size : int
        Lanes of a team that makes tours.
    layout : core.ant_colony.kernels.roulette.WheelLayout
        Distribution of ants and rows of weights over the lanes; the published mapping reads its ants only.
    update_teams, update_lanes : int
        Teams and lanes of the kernels that change the pheromone.
    walks : int
        Largest number of teams that improve tours by moves of three edges.
    """

    strategy: str
    team_size: int
    layout: WheelLayout
    update_teams: int
    update_lanes: int
    walks: int = 0

    @property
    def ants_per_team(self) -> int:
        """Ants of a team that makes tours."""
        return int(self.layout.ants)

    @property
    def stride(self) -> int:
        """Weights from one city's row to the next one's."""
        return int(COLUMNS * self.layout.pieces * self.layout.depth)


def layout_of(ants: int, near_columns: int, lanes: int, depth: int, rows: int) -> WheelLayout:
    """Return the `WheelLayout` for ``lanes``, with ``depth`` rounded up to whole blocks of ``rows``."""
    columns, pieces, depth = max(1, COLUMNS // lanes), max(1, lanes // COLUMNS), rows * ceil(depth / rows)
    return WheelLayout(ants, near_columns, lanes, columns, pieces, depth, ceil(depth / 32), rows)


def shape_for(
    strategy: str, capabilities: DeviceLimits, n: int, settings: Settings, team: tuple[int, int] | None = None
) -> ColonyLaunchShape:
    """Return the launch shape of a strategy on a device.

    ``settings`` have the largest number of ants of a rank, ``team`` the lanes and ants of a team; None: chosen for the
    device. Raises `UserError` for lanes that cannot be divided among the ants of a team, or a table of weights with
    indices above 31 bits.
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
    is_one_team = strategy != "fine-deposit"
    shape = ColonyLaunchShape(
        strategy=strategy,
        team_size=team_size,
        layout=layout_of(ants, near_columns, lanes, depth, rows),
        update_teams=1 if is_one_team else capabilities.compute_units * (8 if wide else 1),
        update_lanes=1 if is_one_team or not wide else min(UPDATE_LANES, capabilities.max_team_size),
        walks=(16 if wide else 1) * capabilities.compute_units if settings.local_search == "3opt" else 0,
    )
    if n * shape.stride >= 2**31:
        raise UserError(
            f"ants on {n} cities: rows of {shape.stride} weights for teams of {team_size} lanes pass 2^31: expected "
            f"at most {(2**31 - 1) // shape.stride} cities"
        )
    return shape


def chosen_team(strategy: str, capabilities: DeviceLimits, n: int, settings: Settings) -> tuple[int, int]:
    """Return lanes and ants of a team on a device that runs many lanes at a time, as measured on one H200."""
    many = settings.ants > 24 * capabilities.compute_units
    if strategy == "coarse":
        return COARSE_TEAM, COARSE_TEAM
    if settings.candidates:
        return 32, 4 if many else 1
    if n > 2048:
        return 64, 1
    return 32, 2 if many else 1


def bytes_needed(
    n: int, settings: Settings, shape: ColonyLaunchShape, colonies: int, ants: int, wide_distances: bool
) -> int:
    """Return the memory of a device for a rank's colonies.

    ``colonies`` and ``ants`` are those of the rank. ``wide_distances`` is True if distances have 32 bits, not 16.
    """
    listed = COLUMNS * n if settings.candidates else 0
    walks = min(ants, shape.walks) * (4 * 4 * n + n // 8)
    own = 4 * n * n + 4 * n * shape.stride + 4 * listed + (2 * n + 4) * ants + 6 * n + walks
    return bytes_of_instance(n, settings, wide_distances) + colonies * own


def bytes_of_instance(n: int, settings: Settings, wide_distances: bool) -> int:
    """Return the memory of a device for the data that colonies share."""
    distance = 4 if wide_distances else 2
    by_search = {"2opt": 3 * distance * n * n, "2opt-near": 2 * NEAR * n, "3opt": 8 * LISTS * n}
    lists = by_search.get(settings.local_search, 0)
    listed = COLUMNS * n if settings.candidates else 0
    return (distance + 4) * n * n + lists + 2 * listed
