"""Single iterations in slices, for a search that a clock shall end and whose iterations are long.

The host looks at the clock between launches. Where one iteration of all walks takes longer than it shall wait, a launch
makes the iteration of some walks alone; where a walk's own iteration does, it looks at a part of its neighbours. Walks
are independent, and the key of the neighbour that a walk takes is a minimum over all parts: so the moves are those of
whole iterations, unless the time is over before all slices are done.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from core.kernels import walks
from core.kernels.hooks import ANNEAL

LONG_S = 0.2
"""Iterations that take longer are cut into slices."""
SLICE_S = 0.1
"""How long a slice shall take."""
MOST_GROWTH = 4
"""A slice has at most so many times as many walks as the one before."""


class Slices:
    """Makes iterations of a `LocalSearch` until the time is over.

    Parameters
    ----------
    search
        The search, whose ``iteration_s`` says how long one iteration of those walks took that run side by side.
    deadline : float
        When the time is over, by `time.perf_counter`.

    Attributes
    ----------
    is_cut : bool
        Whether the time was over before all slices of an iteration were done: some walks have not made it.

    """

    def __init__(self, search: Any, deadline: float) -> None:
        self.search = search
        self.deadline = deadline
        self.is_cut = False
        self.side_by_side = search.side_by_side
        self.size = self.side_by_side
        """Walks of a slice."""
        self.pace = search.sizes[0] / search.own_share[1] / max(search.iteration_s, 1e-9)
        """Neighbours that a scan of this rank looks at in a second."""
        self.in_parts = not search.in_one_team or longest_s(search) > LONG_S

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.deadline

    def iterate(self, count: int) -> None:
        """Let every walk make ``count`` iterations, or fewer if the time is over before."""
        for _ in range(count):
            if not self.is_cut:
                (self.by_parts if self.in_parts else self.by_walks)()

    # --- some walks at a time ---

    def by_walks(self) -> None:
        """Launch some walks after others."""
        search = self.search
        first = 0
        while first < search.here:
            if first and self.is_late:
                self.is_cut = True
                return
            end = min(search.here, first + self.size)
            began = time.perf_counter()
            search.launch_walks(1, first, end)
            search.backend.synchronize()
            self.size = self.next_size(end - first, time.perf_counter() - began)
            first = end

    def next_size(self, size: int, seconds: float) -> int:
        """Walks of the next slice, after so many took so long: whole rounds of those that run side by side."""
        wanted = min(MOST_GROWTH * size, int(size * SLICE_S / max(seconds, 1e-9)))
        return max(1, wanted // self.side_by_side) * self.side_by_side

    # --- a part of one walk's neighbours at a time ---

    def by_parts(self) -> None:
        """Launch walk after walk, which all of the device shares, in parts of its neighbourhood."""
        search = self.search
        control = search.rows_of(search.walkers.control, walks.CONTROL)
        for walk in range(search.here):
            if control[walk, walks.STOP] == walks.RUNNING or search.shares_neighbours:
                self.is_cut = self.is_cut_for_all(not self.scanned(walk, search.sizes[control[walk, walks.LEVEL]]))
                if self.is_cut:
                    return
                if search.shares_neighbours:
                    search.agree()
                search.launch_step(walk)
                if walk + 1 < search.here and self.is_late:
                    self.is_cut = True
                    return

    def scanned(self, walk: int, neighbours: int) -> bool:
        """Look at this rank's neighbours of a walk, in parts; whether the time sufficed for all of them."""
        search = self.search
        rank, ranks = search.own_share
        parts = max(1, round(neighbours / ranks / (SLICE_S * self.pace)))
        search.launch_refresh(walk)
        for part in range(parts):
            if part and self.is_late:
                return False
            began = time.perf_counter()
            search.launch_part(walk, rank * parts + part, ranks * parts)
            search.backend.synchronize()
            self.pace = neighbours / ranks / parts / max(time.perf_counter() - began, 1e-9)
        return True

    def is_cut_for_all(self, is_cut: bool) -> bool:
        """Whether a rank of those that share one walk's neighbours has not looked at all of its own: all call this."""
        search = self.search
        if not search.shares_neighbours:
            return is_cut
        told = np.array([is_cut], np.int64)
        search.communicator.reduce(told, "sum")
        return bool(told[0])


def longest_s(search: Any) -> float:
    """Seconds of an iteration of those walks that run side by side, in the largest of their neighbourhoods."""
    larger = 1.0 if search.algorithm.rule == ANNEAL else max(search.sizes) / search.sizes[0]
    return float(search.iteration_s * larger)


def whole_s(search: Any) -> float:
    """Seconds of an iteration of all walks of this rank."""
    return longest_s(search) * -(-search.here // max(1, search.side_by_side))


def slices_for(search: Any, seconds: float, began: float) -> Slices | None:
    """What makes the iterations of a run with so much time; None where whole iterations are short enough on all ranks.

    All ranks call this. A host that selects, or a tuner that tries launches, is not interrupted.
    """
    if seconds == float("inf"):
        return None
    communicator = search.communicator
    told = np.zeros(communicator.size, np.int64)
    told[communicator.rank] = round(whole_s(search) * 1e9)
    communicator.reduce(told, "sum")
    if told.max() <= LONG_S * 1e9 or search.host_loop is not None or search.is_tuning:
        return None
    return Slices(search, began + seconds)
