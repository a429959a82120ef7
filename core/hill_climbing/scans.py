"""The scans for the best 2-opt move, and the shape of their launches on a given device.

Every scan finds the same move (largest gain, then smallest i, then smallest j), so all trajectories are equal.
`scan_for` chooses the fastest one by the device's capabilities and the size of the instance. `LanesScan` is the paper's
mapping.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np

from core.errors import UserError, check_choice
from core.hill_climbing.kernels.climbs import EXTREMES, TOTALS, CountedClimbs
from core.hill_climbing.kernels.columns import climb_columns
from core.hill_climbing.kernels.lanes import climb_lanes
from core.hill_climbing.kernels.pruned import climb_pruned
from core.hill_climbing.kernels.tiles import TileSweep, climb_tiles
from core.hill_climbing.kernels.window import ClimberGroups, climb_window
from core.lang import Kernel
from core.run.devices import ComputeDevice, DeviceArray

SCANS = ("auto", "pruned", "full")
FULL_COUNT = "all n(n - 3) / 2 moves of every step"
PUBLISHED_COUNT = "(n - 2)(n - 1) / 2 moves of every step, as in the paper: all, and one that changes nothing"
ASSIGNMENTS = ("auto", "static", "worklist")
"""Assignments of climbers to lanes in the paper's mapping."""
BLOCK = 1024
"""Lanes of a team in the paper's mapping, which climbs 1,024 tours at a time on a compute unit (section 2.2).

If a compute unit has too few registers, a half, a quarter, ... of them.
"""


class Scan:
    """A kernel that climbs, its tables on the device, and launches of ``team_size`` lanes."""

    kernel: Kernel
    name = "full"
    counted = FULL_COUNT
    climbers_per_team = 1

    def __init__(self, backend: ComputeDevice, distances: np.ndarray) -> None:
        self.backend = backend
        self.n = len(distances)
        self.distances = backend.upload(distances)
        self.evaluations_per_step = self.n * (self.n - 3) // 2
        self.team_size = 1

    @property
    def execution(self) -> dict[str, str]:
        return {"scan": self.name}

    def fewest_climbers(self) -> int:
        return 1

    def climbers_at_a_time(self) -> int:
        """Return the number of simultaneous climbers of the device."""
        return self.teams() * self.climbers_per_team

    def teams(self) -> int:
        """Return the number of teams that fill the device."""
        limits = self.backend.capabilities
        return limits.compute_units * max(1, limits.lanes_resident // self.team_size)

    def arguments(self, teams: int) -> Sequence[object]:
        raise NotImplementedError

    def launch(self, climbs: CountedClimbs) -> None:
        """Queue climbs, or none. Their ticket is 0; their best and totals continue those of earlier launches."""
        teams = max(1, min(self.teams(), climbs.count))
        self.backend.launch(self.kernel, teams, self.team_size, climbs, *self.arguments(teams))


class PrunedScan(Scan):
    """Walks sorted neighbour lists and counts the moves that it evaluates."""

    kernel = climb_pruned
    name = "pruned"
    counted = "the moves that the pruned scan evaluates; those that it proves useless are not counted"

    def __init__(self, backend: ComputeDevice, distances: np.ndarray) -> None:
        super().__init__(backend, distances)
        self.evaluations_per_step = 0
        self.neighbours = backend.upload(neighbour_lists(distances))
        if is_wide(backend):
            self.team_size = 32 if self.n <= 150 else 128 if self.n <= 600 else 256

    def arguments(self, teams: int) -> Sequence[object]:
        return [self.distances, self.neighbours]


class ColumnsScan(Scan):
    """Keeps a tour-ordered copy of the distances per team: for devices with one lane in a compute unit."""

    kernel = climb_columns

    def __init__(self, backend: ComputeDevice, distances: np.ndarray) -> None:
        super().__init__(backend, distances)
        self.ordered: DeviceArray | None = None

    def teams(self) -> int:
        """Return the number of compute units, each with one copy of the distances."""
        return int(self.backend.capabilities.compute_units)

    def arguments(self, teams: int) -> Sequence[object]:
        room = teams * self.n * (self.n + 1)
        if room >= 2**31:
            raise UserError(f"{teams} tour-ordered copies of {self.n} cities are too large; use --scan pruned")
        if self.ordered is None or self.ordered.size < room:
            self.ordered = self.backend.allocate(room, self.distances.dtype)
        return [self.distances, self.ordered]


class WindowScan(Scan):
    """The whole table of distances in shared memory, several climbers per team in lockstep."""

    kernel = climb_window
    climbers_per_team = 8
    rows = 4
    diagonals = 3

    def __init__(self, backend: ComputeDevice, distances: np.ndarray) -> None:
        super().__init__(backend, distances)
        n = self.n
        whole = n // 2 - 1
        without_last = n % 2 == 0 and (whole - 1) % self.diagonals == 0 and whole > 1
        self.lanes = max(1, (whole - 1) // self.diagonals if without_last else -(-whole // self.diagonals))
        words = -(-n // self.rows) * self.rows + self.lanes * self.diagonals + 2
        offset = self.lanes * self.diagonals % 32
        self.stride = -(-(words - offset) // 32) * 32 + offset  # half-warps of two climbers use different banks
        self.team_size = self.lanes * self.climbers_per_team

    @staticmethod
    def fits(backend: ComputeDevice, distances: np.ndarray) -> bool:
        """Return True if the table leaves memory for several teams per compute unit."""
        n = len(distances)
        room = min(48 << 10, backend.capabilities.shared_bytes)
        return distances.dtype == np.uint16 and n >= 8 and 2 * n * n + 8 * 9 * n + 4096 <= room

    def arguments(self, teams: int) -> Sequence[object]:
        return [self.distances, ClimberGroups(self.lanes, self.diagonals, self.rows, self.stride)]


class TilesScan(Scan):
    """Rows of the distances staged from global memory, one climber per team: for large instances."""

    kernel = climb_tiles
    fewest_cities = 64
    # cities up to -> diagonals per lane, rows of a tile: measured on one H200
    SHAPES = ((320, 5, 8), (520, 8, 4), (1040, 8, 4), (2600, 13, 2), (6200, 6, 2))

    def __init__(self, backend: ComputeDevice, distances: np.ndarray) -> None:
        super().__init__(backend, distances)
        self.pairs = backend.upload(paired_columns(distances))
        whole = self.n // 2 - 1
        self.diagonals, self.rows = self.shape(self.n)
        self.diagonals = max(self.diagonals, -(-whole // backend.capabilities.max_team_size))
        self.team_size = -(-whole // self.diagonals)
        rounded = -(-self.team_size // 32) * 32
        if rounded * self.diagonals + self.rows <= self.n and rounded <= backend.capabilities.max_team_size:
            self.team_size = rounded

    @classmethod
    def shape(cls, n: int) -> tuple[int, int]:
        """Return diagonals per lane, and rows of a tile."""
        return next(((q, rows) for cities, q, rows in cls.SHAPES if n <= cities), cls.SHAPES[-1][1:])

    @classmethod
    def fits(cls, backend: ComputeDevice, distances: np.ndarray) -> bool:
        """Return True if two tiles and the tour fit a team's shared memory."""
        n = len(distances)
        _, rows = cls.shape(n)
        needed = 4 * (rows * (n + 1) + 1.05 * 1.6 * n) + 512
        return distances.dtype == np.uint16 and n >= cls.fewest_cities and needed <= backend.capabilities.shared_bytes

    def arguments(self, teams: int) -> Sequence[object]:
        return [self.distances, self.pairs, TileSweep(self.diagonals, self.rows, self.diagonals % 2 == 0)]


class LanesScan(Scan):
    """The paper's mapping (`oneil2011`, section 2): a climber for every lane, one team for each compute unit.

    ``assign`` is ``static``: every lane has its climbers beforehand, equally many (+-1) each, as in the paper's program
    for CPUs; or ``worklist``: a lane that is done takes the next climber, as in its program for GPUs; ``auto``: as the
    paper does on such a device. Raises `UserError` if the distances do not fit the memory that a team shares.
    """

    kernel = climb_lanes
    counted = PUBLISHED_COUNT
    climbers_per_lane = 16
    """Climbers per lane in a launch, if they exist: the paper launches all at once, some seven for a thread."""

    def __init__(self, backend: ComputeDevice, distances: np.ndarray, assign: str = "auto") -> None:
        check_choice("assignment", assign, ASSIGNMENTS)
        check_table(len(distances), backend.capabilities.shared_bytes)
        super().__init__(backend, distances)
        self.evaluations_per_step = (self.n - 2) * (self.n - 1) // 2
        self.assign = assign if assign != "auto" else "worklist" if is_wide(backend) else "static"
        if is_wide(backend):
            self.team_size = backend.largest_team(self.kernel, BLOCK, self.no_climbs(), *self.arguments(1))

    def no_climbs(self) -> CountedClimbs:
        """Return the arguments of a launch without climbs."""
        tours, ticket = np.zeros(self.n, np.uint16), np.zeros(1, np.uint32)
        extremes, totals = np.zeros(EXTREMES, np.uint64), np.zeros(TOTALS, np.uint64)
        return self.backend.load(CountedClimbs(self.n, tours, 0, ticket, 0, extremes, totals))

    @property
    def execution(self) -> dict[str, str]:
        return {**super().execution, "assign": self.assign}

    def fewest_climbers(self) -> int:
        return self.climbers_per_lane * self.teams() * self.team_size

    def teams(self) -> int:
        return int(self.backend.capabilities.compute_units)

    def arguments(self, teams: int) -> Sequence[object]:
        return [self.distances, self.assign == "worklist"]


def check_table(n: int, shared_bytes: int) -> None:
    """Raise `UserError` unless the distances of ``n`` cities, four bytes each as in the paper, fit this memory."""
    if 4 * n * n > shared_bytes:
        raise UserError(
            f"the published mapping keeps all distances in the memory that a team shares: found {n} cities, expected "
            f"at most {isqrt(shared_bytes // 4)} on this device, or --mapping native"
        )


def is_wide(backend: ComputeDevice) -> bool:
    """Return True if a compute unit of the device runs many lanes at a time."""
    return bool(backend.capabilities.lanes_resident > 1)


def neighbour_lists(distances: np.ndarray) -> np.ndarray:
    """Return all other cities of each city by ascending distance.

    The words distance << 16 | city, shape (n, n), are uint32, or uint64 if distances need more than 16 bits. A row ends
    in a sentinel beyond every distance.
    """
    n = len(distances)
    wide = np.uint32 if distances.dtype == np.uint16 else np.uint64
    lists = np.left_shift(distances.astype(wide), 16, dtype=wide)
    lists |= np.arange(n, dtype=wide)
    sentinel = 0xFFFF if wide is np.uint32 else 0x7FFFFFFF
    np.fill_diagonal(lists, sentinel << 16)
    lists.sort(axis=1)
    return lists


def paired_columns(distances: np.ndarray) -> np.ndarray:
    """Return two distances in one word: d(r, m) | d(r, m + M) << 16 with M = ceil(n / 2)."""
    n = len(distances)
    half = (n + 1) // 2
    pairs = distances[:, :half].astype(np.uint32)
    pairs[:, : n - half] |= distances[:, half:].astype(np.uint32) << np.uint32(16)
    return pairs


def scan_for(name: str, backend: ComputeDevice, distances: np.ndarray, published: str | None = None) -> Scan:
    """Build a scan by its name in `SCANS`; ``auto`` takes the fastest that fits the device.

    ``published`` is one of `ASSIGNMENTS` for the paper's mapping with its full scan; None for the native mapping.
    """
    check_choice("scan", name, SCANS)
    if published is not None:
        if name == "pruned":
            raise UserError("scan 'pruned': the published mapping evaluates every move; expected full")
        return LanesScan(backend, distances, published)
    small = is_wide(backend) and WindowScan.fits(backend, distances)
    if name == "pruned" or (name == "auto" and not small):
        return PrunedScan(backend, distances)
    if small:
        return WindowScan(backend, distances)
    if is_wide(backend) and TilesScan.fits(backend, distances):
        return TilesScan(backend, distances)
    return ColumnsScan(backend, distances)
