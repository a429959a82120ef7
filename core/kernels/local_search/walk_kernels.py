"""Kernels with a team for each walk: its begin, its iterations, its best solution, and a solution from elsewhere."""

from __future__ import annotations

from core.kernels.local_search.hooks import D, Hooks, Rules
from core.kernels.local_search.kept_differences import keeping_function
from core.kernels.local_search.walk_steps import copy_solution, keep_best
from core.kernels.local_search.walks import (
    AT_BEST,
    BATCH,
    CHANGED,
    COST,
    EVERYTHING,
    LEVEL,
    LOCAL_OPTIMUM,
    MOVE_I,
    MOVE_J,
    MOVE_K,
    NOTHING_CHANGED,
    RUNNING,
    STOP,
    AnyMove,
    R,
    S,
    Share,
    W,
    Walk,
    WalkSettings,
)
from core.lang import *
from core.lang.library import team_min


@function
def is_stale(one: Walk) -> boolean:
    """Return True if the data of `quick` must be refreshed after the last move before the next scan."""
    running = one.control[STOP] == RUNNING
    return running and one.control[CHANGED] != NOTHING_CHANGED and one.control[LEVEL] == 0


def last_move_function(hooks: Hooks, rules: Rules) -> Function | None:
    """Make ``last_move(share, one, data)``: refresh the data of `quick`, or the kept differences; None without both."""
    refresh, change_kind = hooks.refresh, rules.change
    if rules.keeps:
        return keeping_function(hooks, rules)
    if refresh is None:
        return None

    @function
    def last_move(share: Share, one: Walk, data: D):
        """Refresh the data of `quick` after the last move."""
        move = AnyMove(one.control[MOVE_I], one.control[MOVE_J], one.control[MOVE_K], change_kind)
        refresh(share, one.control[CHANGED], move, one.solution, data)

    return last_move


def neighbour_count_function(draws: bool) -> Function:
    """Make ``neighbours_of(one, run) -> u32``, the length of a scan."""

    @function
    def neighbours_of(one: Walk, run: WalkSettings) -> u32:
        """Return the number of neighbours, or draws, of a scan."""
        return u32(run.limits[BATCH]) if draws else run.sizes[one.control[LEVEL]]

    return neighbours_of


def begin_kernel(begin: Function | None, lag: int) -> Kernel:
    """Make the kernel that builds the state of every walk."""

    @kernel
    def begin_walks(walks: Rows[Walk], problem: Rows[D]):
        """Build the state of every walk from its solution, with a blank memory."""
        for w in range(team_rank(), walks.count, team_count()):
            one = walks[w]
            for k in range(lane(), one.room, team_size()):
                one.memory[k] = 0
            if lag > 0:
                for k in range(lane(), lag, team_size()):
                    one.memory[k] = one.control[COST]
            copy_solution(one.solution, one.best, one.length)
            copy_solution(one.solution, one.home, one.length)
            barrier()
            if begin is not None:
                begin(one.solution, problem[w])
            barrier()

    return begin_walks


def walk_kernel(hooks: Hooks, rules: Rules, scan: Function, take_step: Function) -> Kernel:
    """Make the kernel of whole iterations, a team for each walk.

    With ``from_first`` one core makes 9 % more iterations of QAP: the first team begins with the first walk.
    """
    last_move, neighbours_of = last_move_function(hooks, rules), neighbour_count_function(rules.draws)

    @kernel
    def walk_walks(
        from_first: Const[boolean],
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
        if not from_first:
            start += first
        for w in range(start, end, team_count()):
            one, data = walks[w], problem[w]
            for _ in range(iterations):
                if one.control[STOP] != RUNNING:
                    break
                if last_move is not None and is_stale(one):
                    last_move(Share(lane(), team_size(), u32(0), run.sizes[0]), one, data)
                    barrier()
                mine = scan(Share(0, 1, u32(0), neighbours_of(one, run)), one, run, sums, data)
                key = team_min(mine, scratch)
                take_step(key, one, run, data)

    return walk_walks


@kernel
def keep_walks(walks: Rows[Walk]):
    """Let every walk's `best` hold its best solution, for the host."""
    for w in range(team_rank(), walks.count, team_count()):
        one = walks[w]
        keep_best(one)
        barrier()
        if lane() == 0:
            one.control[AT_BEST] = 0
        barrier()


def adopt_kernel(begin: Function | None) -> Kernel:
    """Make the kernel that gives all worse walks a solution of the host."""

    @kernel
    def adopt_solution(cost: i32, given: Array[S], walks: Rows[Walk], problem: Rows[D]):
        """Continue every walk with a cost above ``cost`` from the solution ``given``."""
        for w in range(team_rank(), walks.count, team_count()):
            one = walks[w]
            if one.control[COST] > cost:
                copy_solution(given, one.solution, one.length)
                barrier()
                if begin is not None:
                    begin(one.solution, problem[w])
                barrier()
                if lane() == 0:
                    one.control[COST] = cost
                    one.control[LEVEL] = 0
                    one.control[CHANGED] = EVERYTHING
                    if one.control[STOP] == LOCAL_OPTIMUM:
                        one.control[STOP] = RUNNING
                barrier()

    return adopt_solution
