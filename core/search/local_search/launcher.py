"""Shapes of a search's launches: how many teams of how many lanes look at the neighbours, and who tries others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from core.errors import LaunchRefused
from core.kernels.local_search.moves import CUSTOM, OWN
from core.search.local_search.plan import Plan

SMALL = 16_384
"""Neighbourhoods of up to so much work are walked by one team: others would wait more than they work."""
MOST_LANES = 1024
BLOCK_SIZE = 256
"""Lanes of a block in the paper's experiments (section 6)."""
MOST_TEAMS = 65_535
MOST_TIME_RATIO = 0.95
"""Of the time of a launch: teams of another size must save the rest, since their kernel is compiled anew."""


class WalkLauncher(Plan):
    """A `Plan` on a device: `core.search.local_search.search.LocalSearch` sets what is declared here."""

    backend: Any
    communicator: Any
    kernels: Any
    tuner: Any
    recorded: dict[tuple[object, ...], Any]
    here: int
    walkers: Any
    shared: Any
    data: Any

    def settle_launch(self) -> None:
        """Compile all that a run launches."""
        raise NotImplementedError

    def choose_launch(self) -> None:
        """One team per walk, or a walk's neighbourhood over many teams; the shapes of launches may be set after."""
        limits = self.backend.capabilities
        wide = limits.lanes_resident > 1
        largest = max(self.sizes)
        # A device that has teams but runs one lane at a time may compile the kernel of a whole walk for minutes.
        walks_well = wide or limits.max_team_size == 1
        small = limits.compute_units == 1 or (walks_well and largest * self.evaluation.work <= SMALL)
        small = small and self.communicator.size == 1 and not self.keeps_apart
        self.in_one_team = self.level == "algorithm" or small
        most, resident = min(limits.max_team_size, MOST_LANES), min(limits.lanes_resident, MOST_LANES)
        self.step_size = min(most, round_to_warps(self.problem.encoding.n)) if wide else 1
        if self.level == "solution":
            self.in_one_team = limits.compute_units == 1 and self.communicator.size == 1
            self.team_size = min(32, most) if wide else 1
        elif self.level == "algorithm":
            self.team_size = min(256, most, round_to_warps(largest)) if wide else 1
        elif self.in_one_team:
            self.team_size = min(most, round_to_warps(largest)) if wide else 1
        elif self.mapping == "published":
            self.team_size = self.block_size
        else:
            # Large teams divide a neighbourhood best: half of it takes half the time (PPP 1301-1317, rl5915; one H200).
            resident = limits.lanes_resident
            self.team_size = min(most, round_to_warps(-(-largest // limits.compute_units))) if wide else 1
            if self.communicator.size == 1 and self.step_size <= BLOCK_SIZE and not self.backend.replays_by_itself:
                self.team_size = max(self.team_size, self.step_size)  # so that it `steps_at_once`
        beside = max(1, resident // self.team_size)
        self.teams = max(1, min(limits.compute_units * beside, -(-largest // self.team_size)))
        if self.level == "solution" and wide:
            self.teams = min(largest, MOST_TEAMS)  # one neighbour each: the device hands them out evenly
        self.give_each_neighbour_a_lane()
        if self.tuner is not None and self.tuner.done:
            self.teams, self.team_size = self.tuner.next()

    def give_each_neighbour_a_lane(self) -> None:
        """As the paper launches: as many threads as neighbours; a device without teams of lanes loops instead."""
        if self.mapping == "published" and self.backend.capabilities.lanes_resident > 1:
            self.teams = -(-max(self.sizes) // self.team_size)

    def even_out(self) -> None:
        """Where every walk has a team: smaller teams, if all of them then fit the device at a time."""
        limits = self.backend.capabilities
        if self.level != "algorithm" or limits.lanes_resident == 1 or not self.here:
            return
        given = (True, 0, 1, 1, self.walkers, self.shared, self.data)
        executable = self.backend.bind(self.kernels.walk, 1, self.team_size, given).executable
        walks = -(-self.here // limits.compute_units)
        size = even_team(walks, self.backend.resident_lanes(executable), self.team_size)
        if size != self.team_size:
            self.team_size = size
            self.settle_launch()

    @property
    def steps_at_once(self) -> bool:
        """Whether one launch scans and makes the move: one rank's, whose teams have as many lanes as a move needs.

        A launch less is 1 to 2 us of an iteration in a CUDA graph, and some 10 us through OpenCL.
        """
        shared = self.level == "iteration" and not self.in_one_team and not self.is_host_driven
        return shared and self.communicator.size == 1 and self.tuner is None and self.step_size <= self.team_size

    @property
    def block_size(self) -> int:
        """Lanes of the paper's blocks, where the device has so many."""
        limits = self.backend.capabilities
        return min(BLOCK_SIZE, limits.max_team_size) if limits.lanes_resident > 1 else 1

    @property
    def evaluating(self) -> Any:
        """The kernel in which the neighbours of an iteration are evaluated, whose shape a tuner tries."""
        if not self.is_host_driven:
            return self.kernels.scan
        if self.generate == "device":
            return self.kernels.fitness
        return self.kernels.copied if self.copies_solutions else self.kernels.listed

    @property
    def copies_solutions(self) -> bool:
        """Whether a host that generates copies whole solutions.

        Random points are made on the device in any case. Of a user's own neighbourhood moves are copied: a solution
        does not tell which of several that lead there was meant.
        """
        one = self.neighbourhoods[0]
        return self.mapping == "published" and one.change != OWN and one.shape != CUSTOM

    @property
    def walk_teams(self) -> int:
        """Teams of a launch that gives every walk a team: as many as run side by side."""
        limits = self.backend.capabilities
        return max(1, min(self.here, limits.compute_units * max(1, limits.lanes_resident // self.team_size)))

    @property
    def most_lanes(self) -> int:
        """Lanes of a launch that evaluates neighbours, at most."""
        lanes = max(max(self.teams, self.walk_teams) * self.team_size, self.step_size)
        if self.tuner is not None:  # which begins near the size of a solution and ends near that of the neighbourhood
            lanes = max(lanes, max(2 * self.problem.encoding.n, *self.sizes) + MOST_LANES)
        return lanes

    def repeat(self, key: tuple[object, ...], launch: Callable[[], None]) -> None:
        """Queue launches that are the same whenever ``key`` is: they are checked, and a graph made of them, once."""
        key = (*key, self.teams, self.team_size, self.step_size)
        if key not in self.recorded:
            with self.backend.record() as self.recorded[key]:
                launch()
        self.recorded[key].replay()

    @property
    def is_tuning(self) -> bool:
        """Whether shapes of launches are being tried."""
        return self.tuner is not None and not self.tuner.done

    def launch_tuned(self, launch: Callable[[], None]) -> None:
        """Queue launches with the shape that the tuner proposes, and tell it the time."""
        while True:
            self.teams, self.team_size = self.tuner.next()
            try:
                began = time.perf_counter()
                launch()
                self.backend.synchronize()
                self.tuner.report(time.perf_counter() - began)
                break
            except (LaunchRefused, MemoryError) as error:
                self.tuner.failed(error)
        self.teams, self.team_size = self.tuner.next()


def even_team(walks: int, lanes: int, largest: int) -> int:
    """Lanes of a team with which a compute unit has its walks done soonest.

    It has as many teams in hand as it has lanes for, and takes the others in further rounds, of which the last may
    leave most of it idle: 4 walks of 256 lanes take two rounds where there are 768, those of 192 lanes take one. A
    round takes the longer the fewer lanes a team has.

    Parameters
    ----------
    walks
        Of one compute unit.
    lanes
        That it runs at a time.
    largest
        The largest team; a smaller one must save a twentieth of the time.

    """

    def seconds(size: int) -> float:
        return -(-walks // (lanes // size)) / size

    sizes = [size for size in range(32, largest + 1, 32) if size <= lanes]
    best = min(sizes, key=lambda size: (seconds(size), -size), default=largest)
    return best if largest > lanes or seconds(best) < MOST_TIME_RATIO * seconds(largest) else largest


def round_to_warps(lanes: int) -> int:
    """Lanes rounded up to whole warps."""
    return -(-lanes // 32) * 32
