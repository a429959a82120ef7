"""Shapes of a search's launches: numbers of teams and lanes that evaluate the neighbours."""

from __future__ import annotations

from typing import Protocol

from core.local_search.plan import Plan
from core.run.devices import ComputeDevice

SMALL = 16_384
"""Largest work of a neighbourhood for a single team: several teams would wait more than they work."""
MOST_LANES = 1024
BLOCK_SIZE = 256
"""Lanes of a block in the paper's experiments (section 6)."""
MOST_TEAMS = 65_535
MOST_TIME_RATIO = 0.95
"""Largest ratio of launch times for a change of the team size, since the kernel is compiled again."""


class LaunchTuner(Protocol):
    """Proposes shapes of launches and learns their times: `backends.tuning.ShapeTuner`."""

    done: bool

    @property
    def best(self) -> tuple[int, int] | None: ...
    def next(self) -> tuple[int, int]: ...
    def report(self, seconds: float) -> None: ...
    def failed(self, error: Exception) -> None: ...


class WalkShape:
    """One team per walk, or a walk's neighbourhood over many teams; both may be set afterwards.

    Parameters
    ----------
    ranks
        Number of ranks that share the search.
    tuner
        Proposes shapes of the scan: see `LocalSearch`. None: the shape is fixed.

    Attributes
    ----------
    in_one_team : bool
        True if one team makes all iterations of a walk in one launch.
    teams, team_size : int
        Teams and lanes of a launch that evaluates the neighbours of one walk.
    step_size : int
        Lanes of a team that makes a move.
    exchanges : bool
        True if ranks exchange their smallest keys inside kernels.
    """

    def __init__(self, plan: Plan, backend: ComputeDevice, ranks: int, tuner: LaunchTuner | None = None) -> None:
        self.plan, self.ranks, self.tuner = plan, ranks, tuner
        self.exchanges = False
        self.limits = limits = backend.capabilities
        self.replays_by_itself = backend.replays_by_itself
        wide, level, largest = limits.lanes_resident > 1, plan.settings.level, max(plan.sizes)
        # A device that has teams but runs one lane at a time may compile the kernel of a whole walk for minutes.
        walks_well = wide or limits.max_team_size == 1
        small = limits.compute_units == 1 or (walks_well and largest * plan.evaluation.work <= SMALL)
        small = small and ranks == 1 and not (plan.settings.is_published or plan.tuned)
        self.in_one_team = level == "algorithm" or small
        if level == "solution":
            self.in_one_team = limits.compute_units == 1 and ranks == 1
        most = min(limits.max_team_size, MOST_LANES)
        self.step_size = min(most, round_to_warps(plan.problem.encoding.n)) if wide else 1
        self.team_size = self._team_size(most, largest) if wide else 1
        self.teams = self._teams(largest)
        self.give_each_neighbour_a_lane()
        if tuner is not None and tuner.done:
            self.take_proposed()

    def _team_size(self, most: int, largest: int) -> int:
        """Return the lanes of a team on a device with teams of lanes."""
        limits, level = self.limits, self.plan.settings.level
        if level == "solution":
            return min(32, most)
        if level == "algorithm":
            return min(256, most, round_to_warps(largest))
        if self.in_one_team:
            return min(most, round_to_warps(largest))
        if self.plan.settings.is_published:
            return self.block_size
        # Large teams divide a neighbourhood best: half of it takes half the time (PPP 1301-1317, rl5915; one H200).
        size = min(most, round_to_warps(-(-largest // limits.compute_units)))
        if self.ranks == 1 and self.step_size <= BLOCK_SIZE and not self.replays_by_itself:
            size = max(size, self.step_size)  # so that it `steps_at_once`
        return size

    def _teams(self, largest: int) -> int:
        """Return the number of teams that share one walk's neighbours."""
        limits, level = self.limits, self.plan.settings.level
        if level == "solution" and limits.lanes_resident > 1:
            return min(-(-largest // self.ranks), MOST_TEAMS)  # one neighbour each: the device hands them out evenly
        lanes = limits.lanes_resident
        if level != "iteration" or self.in_one_team or self.plan.settings.is_published:
            lanes = min(lanes, MOST_LANES)
        at_a_time = max(1, lanes // self.team_size)
        return max(1, min(limits.compute_units * at_a_time, -(-largest // self.team_size)))

    def give_each_neighbour_a_lane(self) -> None:
        """Set the paper's teams, with a lane for every neighbour; a device without teams of lanes loops instead."""
        if self.plan.settings.is_published and self.limits.lanes_resident > 1:
            self.teams = -(-max(self.plan.sizes) // self.team_size)

    def limit_teams(self, lanes: int) -> None:
        """Launch no more teams than run at a time if a compute unit has registers for ``lanes`` lanes.

        Of 264 teams of 1,024 lanes with 51 registers, an H200 runs 132, and 132 others behind them: PPP 1301-1317 takes
        1.17 times as long as with 132.
        """
        if not self.plan.settings.is_published:
            self.teams = min(self.teams, self.limits.compute_units * max(1, lanes // self.team_size))

    def shrink(self) -> bool:
        """Reduce the team size for a kernel that needs more registers. Return False if it is smallest already."""
        limits = self.limits
        if self.step_size <= 32 and self.team_size <= 32:
            return False
        self.step_size = min(self.step_size, max(32, round_to_warps(self.step_size // 2)))
        if self.in_one_team or self.step_size <= 32:
            self.team_size = min(self.team_size, max(32, round_to_warps(self.team_size // 2)))
        neighbours = max(self.plan.sizes)
        most = limits.compute_units * limits.lanes_resident // self.team_size
        self.teams = max(1, min(most, -(-neighbours // self.team_size)))
        self.give_each_neighbour_a_lane()
        return True

    @property
    def key(self) -> tuple[int, int, int]:
        """Numbers on which recorded launches depend."""
        return self.teams, self.team_size, self.step_size

    @property
    def steps_at_once(self) -> bool:
        """True if one launch scans and makes the move: with teams of the lanes that a move needs.

        Several ranks must exchange keys inside the kernel. A launch takes 1 to 2 us in a CUDA graph, and some 10 us
        through OpenCL.
        """
        settings = self.plan.settings
        shared = settings.level == "iteration" and not self.in_one_team and not settings.is_published
        shared = shared and (self.ranks == 1 or self.exchanges) and self.tuner is None
        return shared and self.step_size <= self.team_size

    @property
    def block_size(self) -> int:
        """Lanes of the paper's blocks, at most those of the device."""
        limits = self.limits
        return min(BLOCK_SIZE, limits.max_team_size) if limits.lanes_resident > 1 else 1

    def walk_teams(self, walks: int) -> int:
        """Return the teams of a launch that gives every walk a team: the number that runs side by side."""
        limits = self.limits
        return max(1, min(walks, limits.compute_units * max(1, limits.lanes_resident // self.team_size)))

    def most_lanes(self, walks: int) -> int:
        """Return the largest number of lanes of a launch that evaluates neighbours."""
        lanes = max(max(self.teams, self.walk_teams(walks)) * self.team_size, self.step_size)
        if self.tuner is not None:  # from about the size of a solution to that of the neighbourhood
            lanes = max(lanes, max(2 * self.plan.problem.encoding.n, *self.plan.sizes) + MOST_LANES)
        return lanes

    # --- tuning ---

    @property
    def is_tuning(self) -> bool:
        """True while shapes of launches are tried."""
        return self.tuner is not None and not self.tuner.done

    def take_proposed(self) -> None:
        """Set the shape that the tuner proposes."""
        if self.tuner is not None:
            self.teams, self.team_size = self.tuner.next()


def even_team(walks: int, lanes: int, largest: int) -> int:
    """Return the team size with which a compute unit completes its walks soonest.

    A compute unit runs as many teams at a time as it has lanes for, and the others in further rounds, of which the last
    may leave most of it idle: 4 walks of 256 lanes take two rounds where there are 768, those of 192 lanes take one. A
    round takes longer with fewer lanes in a team.

    Parameters
    ----------
    walks
        Of one compute unit.
    lanes
        Simultaneous lanes of one compute unit.
    largest
        The largest team; a smaller one must save a twentieth of the time.
    """

    def seconds(size: int) -> float:
        return -(-walks // (lanes // size)) / size

    sizes = [size for size in range(32, largest + 1, 32) if size <= lanes]
    best = min(sizes, key=lambda size: (seconds(size), -size), default=largest)
    return best if largest > lanes or seconds(best) < MOST_TIME_RATIO * seconds(largest) else largest


def round_to_warps(lanes: int) -> int:
    """Return the lanes rounded up to whole warps."""
    return -(-lanes // 32) * 32
