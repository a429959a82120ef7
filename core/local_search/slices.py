"""Single iterations in slices, for a search with a time limit and long iterations.

The host reads the clock between launches. If an iteration of all walks would take too much of the remaining time, a
launch makes the iteration of some walks only; if a walk's own iteration does, it scans a part of its neighbours. Walks
are independent, and the key of the neighbour that a walk takes is a minimum over all parts: so the moves are those of
whole iterations, unless the time is over before all slices are done.
"""

from __future__ import annotations

import time
from math import ceil, inf

import numpy as np

from core.local_search.kernels import walks
from core.local_search.kernels.walks import WalkStatus
from core.local_search.launcher import WalkLauncher
from core.local_search.plan import Plan
from core.run.loop import Run
from core.run.stop import longest_launch_s

SLICE_S = 0.1
"""Most seconds of a slice."""
MOST_GROWTH = 4
"""Most walks of a slice, as a multiple of those of the slice before."""


class Slices:
    """Makes iterations of a search until the time is over.

    ``iteration_s`` is the duration of an iteration of the walks that run side by side, ``limit_s`` the time limit of
    the run, and ``began`` its start by `time.perf_counter`.

    Attributes
    ----------
    is_on : bool
        True while the search makes its iterations in slices.
    is_cut : bool
        True if the time was over before all slices of an iteration were done: some walks have not made it.
    """

    def __init__(self, launcher: WalkLauncher, iteration_s: float, limit_s: float, began: float) -> None:
        self.launcher = launcher
        self.limit_s = limit_s
        self.began = began
        self.is_on = self.is_cut = False
        self.side_by_side = launcher.side_by_side
        self.round_s = longest_s(launcher.plan, iteration_s)
        """Seconds of an iteration of the walks that run side by side, as the last slice took."""
        self.size = self.side_by_side
        """Walks of the last slice."""
        self.pace = launcher.plan.sizes[0] / launcher.own_share[1] / max(iteration_s, 1e-9)
        """Neighbours that a scan of this rank evaluates in a second."""
        self.in_parts = needs_parts(launcher, iteration_s, limit_s)

    @property
    def is_late(self) -> bool:
        return time.perf_counter() - self.began > self.limit_s

    @property
    def slice_s(self) -> float:
        """Largest estimate of the next slice in seconds."""
        return min(SLICE_S, longest_launch_s(self.limit_s, time.perf_counter() - self.began))

    def iterate(self, count: int) -> None:
        """Make ``count`` iterations of every walk, or fewer if the time is over before."""
        for _ in range(count):
            if not self.is_cut:
                (self.by_parts if self.in_parts else self.by_walks)()

    # --- some walks at a time ---

    def by_walks(self) -> None:
        """Make an iteration of some walks after others."""
        launcher = self.launcher
        first = 0
        while first < launcher.memory.count:
            if first and self.is_late:
                self.is_cut = True
                return
            # Whole rounds of those that run at a time.
            rounds = min(MOST_GROWTH * self.size // self.side_by_side, int(self.slice_s / max(self.round_s, 1e-9)))
            self.size = max(1, rounds) * self.side_by_side
            end = min(launcher.memory.count, first + self.size)
            began = time.perf_counter()
            launcher.walk(1, first, end)
            launcher.backend.synchronize()
            rounds = ceil((end - first) / self.side_by_side)
            self.round_s = (time.perf_counter() - began) / rounds
            first = end

    # --- a part of one walk's neighbours at a time ---

    def by_parts(self) -> None:
        """Make an iteration walk after walk, each on the whole device, in parts of its neighbourhood."""
        launcher = self.launcher
        status = launcher.memory.status()
        for walk in range(launcher.memory.count):
            if status[walk, WalkStatus.stop] == walks.RUNNING or launcher.neighbour_ranks.size > 1:
                neighbours = launcher.plan.sizes[status[walk, WalkStatus.level]]
                cut_ranks = np.array([not self.scanned(walk, neighbours)], np.int64)
                launcher.neighbour_ranks.reduce(cut_ranks, "sum")
                self.is_cut = bool(cut_ranks[0])
                if self.is_cut:
                    return
                if launcher.neighbour_ranks.size > 1:
                    launcher.agree()
                launcher.step(walk)
                if walk + 1 < launcher.memory.count and self.is_late:
                    self.is_cut = True
                    return

    def scanned(self, walk: int, neighbours: int) -> bool:
        """Scan this rank's neighbours of a walk in parts; return True if the time sufficed for all of them."""
        launcher = self.launcher
        rank, ranks = launcher.own_share
        own = neighbours / ranks
        parts, part = self.parts_of(own), 0
        launcher.refresh(walk)
        while part < parts:
            if part and self.is_late:
                return False
            while 2 * parts <= self.parts_of(own):  # the same parts, halved
                parts, part = 2 * parts, 2 * part
            began = time.perf_counter()
            launcher.part(walk, rank * parts + part, ranks * parts)
            launcher.backend.synchronize()
            self.pace = own / parts / max(time.perf_counter() - began, 1e-9)
            part += 1
        return True

    def parts_of(self, neighbours: float) -> int:
        """Return the number of parts in which the next slice may scan these neighbours; a part has at least one."""
        return max(1, ceil(round(neighbours / max(self.slice_s * self.pace, 1.0), 6)))


def longest_s(plan: Plan, iteration_s: float) -> float:
    """Return the seconds of an iteration of the walks that run side by side, in the largest neighbourhood."""
    return iteration_s * (1.0 if plan.algorithm.draws else max(plan.sizes) / plan.sizes[0])


def whole_s(launcher: WalkLauncher, iteration_s: float) -> float:
    """Return the seconds of an iteration of all walks of this rank."""
    rounds = -(-launcher.memory.count // max(1, launcher.side_by_side))
    return longest_s(launcher.plan, iteration_s) * rounds


def is_long(seconds: float, limit_s: float) -> bool:
    """Return True if an iteration of this duration is too long for the last moments of a run."""
    return seconds > longest_launch_s(limit_s, limit_s)


def needs_parts(launcher: WalkLauncher, iteration_s: float, limit_s: float) -> bool:
    """Return True if slices of whole walks would be too long, or cannot be launched."""
    return not launcher.shape.in_one_team or is_long(longest_s(launcher.plan, iteration_s), limit_s)


def slices_for(launcher: WalkLauncher, iteration_s: float, run: Run) -> Slices | None:
    """Return the `Slices` of a run; None if whole iterations are short enough on all ranks.

    All ranks call this. A host that selects, or a tuner that tries launches, is not interrupted.
    """
    limit_s, ranks = run.stop.seconds, launcher.ranks
    if limit_s == inf:
        return None
    nanoseconds = np.zeros(ranks.size, np.int64)
    nanoseconds[ranks.rank] = round(whole_s(launcher, iteration_s) * 1e9)
    ranks.reduce(nanoseconds, "sum")
    slowest_s = nanoseconds.max() / 1e9
    is_whole = launcher.plan.settings.is_published or launcher.shape.is_tuning
    if not is_long(slowest_s, limit_s) or is_whole:
        return None
    slices = Slices(launcher, iteration_s, limit_s, run.monitor.began)
    slices.is_on = slowest_s > longest_launch_s(limit_s, run.before_s)
    return slices


def bind_slices(launcher: WalkLauncher, iteration_s: float, limit_s: float) -> None:
    """Compile the launches of slices, if a run of this limit may make some; before the clock begins.

    ``iteration_s`` is the duration of an iteration of the walks that run side by side.
    """
    is_cut = limit_s != inf and not launcher.plan.settings.is_published
    if not is_cut or not is_long(whole_s(launcher, iteration_s), limit_s):
        return
    if needs_parts(launcher, iteration_s, limit_s):
        with launcher.backend.record():
            launcher.refresh()
            launcher.part(0, 0, 1)
            launcher.step()
    else:  # slices of walks, which begin elsewhere than at the first
        launcher.bind_walk(from_first=False)
