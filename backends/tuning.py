"""Launch shapes tuned during a search: algorithm 3 of `luong2013` (section 4.1), and a cache of its results.

Its line 19 is printed as ``nb_threads_block := nb_threads + 32``. It is implemented as ``nb_threads_block + 32``: the
text describes teams of every multiple of the warp size, and the printed line would skip them or never end.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from backends.cache import cache_folder, read_sealed, write_sealed
from core.lang.digest import source_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.device import Capabilities
    from backends.launch import Backend
    from core.lang import Kernel

WARP = 32
LARGEST_TEAM = 512


class LaunchShape(NamedTuple):
    """The shape of a launch."""

    teams: int
    team_size: int


class TunedShape(NamedTuple):
    """The best shape, and the seconds of its tuning beyond as many iterations with this shape."""

    shape: LaunchShape
    tuning_s: float


class ShapeTuner:
    """Tries launch shapes during the first iterations of a search and keeps the fastest.

    Every iteration uses the shape of `next`, and then calls `report`, or `failed` if its launch failed. A shape has
    ``trials`` iterations. The median is used, so 3 or more exclude the compilation at a shape's first launch. ``best``
    is the fastest shape so far; if that of an earlier run is passed as ``known``, no shape is tried. The search is
    ``done`` if all shapes are tried, or one has failed.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        solution_size: int,
        neighbourhood_size: int,
        trials: int = 10,
        known: TunedShape | None = None,
    ) -> None:
        if min(solution_size, neighbourhood_size, trials) < 1:
            raise ValueError(f"sizes {solution_size}, {neighbourhood_size}, {trials} trials; expected at least 1 each")
        self._waiting = candidate_shapes(capabilities.max_team_size, solution_size, neighbourhood_size)
        self.best = known and known.shape
        self._shape = self.best or next(self._waiting)
        self._trials = trials
        self._seconds: list[float] = []
        self._best_seconds = float("inf")
        self._medians: list[float] = []
        self._known_s = known.tuning_s if known else 0.0
        self.done = known is not None

    @property
    def tuning_s(self) -> float:
        """Seconds of all trials, by their medians, beyond as many iterations with the best shape."""
        return self._known_s + self._trials * sum(median - self._best_seconds for median in self._medians)

    def next(self) -> LaunchShape:
        """Return the shape for the next iteration; `best` when done."""
        return self._shape

    def report(self, seconds: float) -> None:
        """Record the time of an iteration with the shape from `next`; ignored when done."""
        if self.done:
            return
        self._seconds.append(seconds)
        if len(self._seconds) < self._trials:
            return
        median = sorted(self._seconds)[(self._trials - 1) // 2]
        self._medians.append(median)
        if self.best is None or median < self._best_seconds:
            self.best, self._best_seconds = self._shape, median
        self._seconds = []
        following = next(self._waiting, None)
        self._shape, self.done = following or self.best, following is None

    def failed(self, error: Exception) -> None:
        """End with the best shape so far, as lines 8 to 12 do; raises ``error`` if none worked or the best fails."""
        if self.best is None or self.done:
            raise error
        self._shape, self.done = self.best, True


def candidate_shapes(max_team_size: int, solution_size: int, neighbourhood_size: int) -> Iterator[LaunchShape]:
    """Yield the shapes in the paper's order, each once.

    The total number of lanes doubles from the power of two nearest to the solution size up to the neighbourhood size,
    and is rounded up to whole teams; if even the first is too large, it is the only one.
    """
    seen = set()
    bits = solution_size.bit_length()
    lanes = min(1 << bits - 1, 1 << bits, key=lambda power: abs(power - solution_size))
    most_lanes = max(lanes, neighbourhood_size)
    while lanes <= most_lanes:
        for team_size in range(WARP, min(LARGEST_TEAM, max_team_size) + 1, WARP) or (max_team_size,):
            shape = LaunchShape(-(-lanes // team_size), team_size)
            if shape not in seen:
                seen.add(shape)
                yield shape
        lanes *= 2


class ShapeKey(NamedTuple):
    """Key of a best shape: a kernel by name and source, a device, and the size of a problem."""

    backend: str
    device: str
    driver: str
    compute_units: int
    kernel: str
    source: str
    solution_size: int
    neighbourhood_size: int

    @classmethod
    def of(cls, backend: Backend, kernel: Kernel, solution_size: int, neighbourhood_size: int) -> ShapeKey:
        device = backend.device
        driver = f"{device.driver} {device.compiler}".strip()
        place = (backend.name, device.name, driver, backend.capabilities.compute_units)
        return cls(*place, kernel.name, source_digest([kernel]), solution_size, neighbourhood_size)


def store_shape(key: ShapeKey, tuned: TunedShape) -> None:
    (teams, team_size), tuning_s = tuned
    write_sealed(_path(key), f"{teams} {team_size} {tuning_s!r}".encode())


def load_shape(key: ShapeKey) -> TunedShape | None:
    """Return the shape from `store_shape`; None if there is none, or its file is damaged or lacks seconds."""
    content = (read_sealed(_path(key)) or b"").split()
    if len(content) != 3:
        return None
    teams, team_size, tuning_s = content
    return TunedShape(LaunchShape(int(teams), int(team_size)), float(tuning_s))


def _path(key: ShapeKey) -> str:
    return os.path.join(cache_folder("shapes"), hashlib.sha256(repr(tuple(key)).encode()).hexdigest()[:24])
