"""Kernels with a team for each walk: start, iterations, best solution, and a new solution from the host."""

from __future__ import annotations

from core.lang import *
from core.lang.library import team_min
from core.local_search.kernels.hooks import D, Evaluation, Rules
from core.local_search.kernels.walks import (
    EVERYTHING,
    LOCAL_OPTIMUM,
    NOTHING_CHANGED,
    RUNNING,
    AnyMove,
    R,
    S,
    Share,
    W,
    Walk,
    WalkSettings,
    copy_solution,
    keep_best,
)


@function
def is_stale(walk: Walk) -> boolean:
    """Return True if the data of `quick` must be refreshed before the next scan."""
    is_running = walk.status.stop == RUNNING
    return is_running and walk.status.changed != NOTHING_CHANGED and walk.status.level == 0


def last_move_function(evaluation: Evaluation, rules: Rules) -> Function | None:
    """Make ``last_move(share, walk, data)``: refresh the data of `quick`; None without `refresh`."""
    refresh, change_kind = evaluation.refresh, rules.change
    if refresh is None:
        return None

    @function
    def last_move(share: Share, walk: Walk, data: D):
        """Refresh the data of `quick` after the last move."""
        move = AnyMove(walk.status.move_i, walk.status.move_j, walk.status.move_k, change_kind)
        refresh(share, walk.status.changed, move, walk.solution, data)

    return last_move


def neighbour_count_function(draws: bool) -> Function:
    """Make ``neighbours_of(walk, run) -> u32``, the length of a scan."""

    @function
    def neighbours_of(walk: Walk, run: WalkSettings) -> u32:
        """Return the number of neighbours, or draws, of a scan."""
        return u32(run.limits.batch) if draws else run.sizes[walk.status.level]

    return neighbours_of


def begin_kernel(begin: Function | None, lag: int) -> Kernel:
    """Make the kernel that builds the state of every walk."""

    @kernel
    def begin_walks(walks: Rows[Walk], problem: Rows[D]):
        """Build the state of every walk from its solution, with a blank memory."""
        for w in range(team_rank(), walks.count, team_count()):
            walk = walks[w]
            for k in range(lane(), walk.room, team_size()):
                walk.memory[k] = 0
            if lag > 0:
                for k in range(lane(), lag, team_size()):
                    walk.memory[k] = walk.status.cost
            copy_solution(walk.solution, walk.best, walk.length)
            copy_solution(walk.solution, walk.home, walk.length)
            barrier()
            if begin is not None:
                begin(walk.solution, problem[w])
            barrier()

    return begin_walks


def walk_kernel(evaluation: Evaluation, rules: Rules, scan: Function, take_step: Function) -> Kernel:
    """Make the kernel of whole iterations, a team for each walk.

    With ``is_from_first`` the first team begins with the first walk: one core makes 9 % more iterations of QAP.
    """
    last_move, neighbours_of = last_move_function(evaluation, rules), neighbour_count_function(rules.draws)

    @kernel
    def walk_walks(
        is_from_first: Const[boolean],
        first: i32,
        end: i32,
        iterations: i32,
        walks: Rows[W],
        run: R,
        problem: Rows[D],
    ):
        """Make up to ``iterations`` further iterations of the walks ``first`` (or 0) to ``end - 1``."""
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        start = team_rank()
        if not is_from_first:
            start += first
        for w in range(start, end, team_count()):
            walk, data = walks[w], problem[w]
            for _ in range(iterations):
                if walk.status.stop != RUNNING:
                    break
                if last_move is not None and is_stale(walk):
                    last_move(Share(lane(), team_size(), u32(0), run.sizes[0]), walk, data)
                    barrier()
                lane_key = scan(Share(0, 1, u32(0), neighbours_of(walk, run)), walk, run, sums, data)
                key = team_min(lane_key, scratch)
                take_step(key, walk, run, data)

    return walk_walks


@kernel
def keep_walks(walks: Rows[Walk]):
    """Copy every walk's best solution to its `best`, for the host."""
    for w in range(team_rank(), walks.count, team_count()):
        walk = walks[w]
        keep_best(walk)
        barrier()
        if lane() == 0:
            walk.status.at_best = 0
        barrier()


def adopt_kernel(begin: Function | None) -> Kernel:
    """Make the kernel that moves all worse walks to a solution of the host."""

    @kernel
    def adopt_solution(cost: i32, solution: Array[S], walks: Rows[Walk], problem: Rows[D]):
        """Continue every walk with a cost above ``cost`` from the solution ``solution``."""
        for w in range(team_rank(), walks.count, team_count()):
            walk = walks[w]
            if walk.status.cost > cost:
                copy_solution(solution, walk.solution, walk.length)
                barrier()
                if begin is not None:
                    begin(walk.solution, problem[w])
                barrier()
                if lane() == 0:
                    walk.status.cost = cost
                    walk.status.level = 0
                    walk.status.changed = EVERYTHING
                    if walk.status.stop == LOCAL_OPTIMUM:
                        walk.status.stop = RUNNING
                barrier()

    return adopt_solution
