"""The template of local search (algorithms 1 and 2 of `luong2013`) as kernels, made for one problem and one rule.

An iteration looks at the neighbours of the current solution (`core.kernels.local_search.neighbour_scans`), takes one by
a rule, and makes the move (`core.kernels.local_search.walk_steps`). `walk` does all of it in one team (a team per walk:
the algorithmic level); `scan` and `step` share one walk's neighbourhood out over teams and ranks (the iteration level),
`scan_and_step` over teams alone. All call the same functions, so every trajectory is the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from core.kernels.local_search.hooks import NO_KEY, TABU, D, Hooks, Rules
from core.kernels.local_search.moves import ASSIGN, INSERT, NEVER, REVERSE, SEGMENT, is_tabu
from core.kernels.local_search.neighbour_functions import element_function, scored_function
from core.kernels.local_search.neighbour_scans import scan_function
from core.kernels.local_search.walk_steps import copy_solution, keep_best, step_function
from core.kernels.local_search.walks import (
    AT_BEST,
    BATCH,
    BEST_COST,
    CHANGED,
    COST,
    EVERYTHING,
    ITERATION,
    LEVEL,
    LOCAL_OPTIMUM,
    MOVE_I,
    MOVE_J,
    MOVE_K,
    NOTHING_CHANGED,
    RUNNING,
    STOP,
    AnyMove,
    Move,
    R,
    S,
    Share,
    W,
    Walk,
    WalkSettings,
)
from core.lang import *
from core.lang.library import team_min


class SearchKernels(NamedTuple):
    """The kernels of one search: see `search_kernels`."""

    begin: Kernel
    walk: Kernel
    refresh: Kernel
    scan: Kernel
    step: Kernel
    scan_and_step: Kernel
    fitness: Kernel
    listed: Kernel
    copied: Kernel
    keep: Kernel
    adopt: Kernel


@lru_cache(maxsize=32)
def search_kernels(hooks: Hooks, rules: Rules) -> SearchKernels:
    """Make the kernels of one search, of the problem's functions and the algorithm's rules; equal ones once."""
    delta, quick, begin, refresh = hooks.delta, hooks.quick, hooks.begin, hooks.refresh
    change_kind, memory_kind, rule, draws = rules.change, rules.memory, rules.rule, rules.draws
    lag = rules.lag
    is_run = change_kind in (REVERSE, SEGMENT, INSERT)  # the neighbour differs from one place to another
    scan = scan_function(hooks, rules)
    take_step = step_function(hooks, rules)
    element_at = element_function(rules.shapes, rules.decode)
    scored = scored_function(hooks.value)

    @function
    def is_stale(one: Walk) -> boolean:
        """Return True if the data of `quick` must be refreshed after the last move before the next scan."""
        running = one.control[STOP] == RUNNING
        return running and one.control[CHANGED] != NOTHING_CHANGED and one.control[LEVEL] == 0

    @function
    def last_move(share: Share, one: Walk, data: D):
        """Let `quick`'s tables follow the last move."""
        move = AnyMove(one.control[MOVE_I], one.control[MOVE_J], one.control[MOVE_K], change_kind)
        refresh(share, one.control[CHANGED], move, one.solution, data)

    @function
    def neighbours_of(one: Walk, run: WalkSettings) -> u32:
        """Return the number of neighbours, or draws, of a scan."""
        return u32(run.limits[BATCH]) if draws else run.sizes[one.control[LEVEL]]

    # --- launches ---

    # The walk's number is an argument of the launch, or a constant if there is `alone` one: PPP is 3 to 5 % faster on
    # an H200 if the compiler knows that its rows begin at the start of their buffers. One core makes 9 % more
    # iterations of QAP if it knows that the first team begins with the first walk.

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
        """Up to ``iterations`` further iterations of the walks ``first`` (or 0) to ``end - 1``."""
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
                if refresh is not None and is_stale(one):
                    last_move(Share(lane(), team_size(), u32(0), run.sizes[0]), one, data)
                    barrier()
                mine = scan(Share(0, 1, u32(0), neighbours_of(one, run)), one, run, sums, data)
                key = team_min(mine, scratch)
                take_step(key, one, run, data)

    @kernel
    def refresh_shared(
        alone: Const[boolean], walk: i32, first: u32, end: u32, walks: Rows[Walk], run: WalkSettings, problem: Rows[D]
    ):
        """Let `quick`'s tables follow a walk's last move, by all lanes of all teams, for this rank's neighbours."""
        w = 0 if alone else walk
        one = walks[w]
        if is_stale(one):
            worker, workers = team_rank() * team_size() + lane(), team_count() * team_size()
            last_move(Share(worker, workers, first, min(end, run.sizes[0])), one, problem[w])

    @kernel
    def scan_shared(
        alone: Const[boolean],
        walk: i32,
        rank: i32,
        ranks: i32,
        keys: Array[u64],
        walks: Rows[Walk],
        run: R,
        problem: Rows[D],
    ):
        """The smallest key among a rank's share of a walk's neighbours, shared out over all teams, into ``keys[0]``."""
        w = 0 if alone else walk
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        one = walks[w]
        if one.control[STOP] == RUNNING:
            all_of_them = neighbours_of(one, run)
            first = u32(u64(all_of_them) * u64(rank) // u64(ranks))
            end = u32(u64(all_of_them) * u64(rank + 1) // u64(ranks))
            mine = scan(Share(team_rank(), team_count(), first, end), one, run, sums, problem[w])
            least = team_min(mine, scratch)
            if lane() == 0 and least != u64(NO_KEY):
                atomic_min(keys, 0, least)

    @kernel
    def step_shared(
        alone: Const[boolean], walk: i32, keys: Array[u64], walks: Rows[W], run: WalkSettings, problem: Rows[D]
    ):
        """The move of a walk that the scan chose, made by one team."""
        w = 0 if alone else walk
        key = keys[0]
        one = walks[w]
        if one.control[STOP] == RUNNING:
            take_step(key, one, run, problem[w])
            if lane() == 0:
                keys[0] = u64(NO_KEY)

    @kernel
    def scan_and_step(finished: Array[u64], keys: Array[u64], walks: Rows[W], run: R, problem: Rows[D]):
        """Both for one rank in one launch: the last team to have scanned, as ``finished`` counts, makes the move."""
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        of_all = shared_array(2, u64)
        one = walks[0]
        if one.control[STOP] == RUNNING:
            share = Share(team_rank(), team_count(), u32(0), neighbours_of(one, run))
            mine = scan(share, one, run, sums, problem[0])
            least = team_min(mine, scratch)
            if lane() == 0:
                # Teams count themselves in the lower half of the word. The upper half is unused; with it the sum waits
                # for the minimum: devices may reorder independent atomics of two addresses.
                before = atomic_min(keys, 0, least)
                counted = atomic_add(finished, 0, (before << u64(32)) + u64(1))
                of_all[0] = u64(u32(counted)) + u64(1)
                if of_all[0] == u64(team_count()):
                    of_all[1] = atomic_min(keys, 0, u64(NO_KEY))
            barrier()
            if of_all[0] == u64(team_count()):
                take_step(of_all[1], one, run, problem[0])
                if lane() == 0:
                    keys[0] = u64(NO_KEY)
                    finished[0] = u64(0)

    @function
    def fitness_of(index: u32, difference: i32, move: Move, one: Walk) -> i32:
        """A neighbour's difference, or `NEVER` if the walk may not go there."""
        if rule == TABU:
            aspires = difference < one.control[BEST_COST] - one.control[COST]
            if not aspires and is_tabu(memory_kind, change_kind, one, index, move, one.control[ITERATION]):
                return NEVER
        return difference

    @kernel
    def write_fitness(
        use_quick: Const[boolean],
        level: i32,
        share: Share,
        fitnesses: Array[i32],
        walks: Rows[Walk],
        problem: Rows[D],
    ):
        """Write the fitness of every neighbour of the share, for a separate selection (algorithm 2, section 3.2)."""
        one = walks[0]
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, share.end - share.first, u32(team_count() * team_size())):
            index = share.first + offset
            i = element_at(0, level, index, 0, 0, one)
            j = element_at(1, level, index, i, 0, one)
            move = AnyMove(i, j, element_at(2, level, index, i, j, one), change_kind)
            difference = 0
            if use_quick and quick is not None:
                difference = quick(one.solution, index, move, problem[0])
            elif delta is not None:
                difference = delta(one.solution, move, problem[0])
            else:
                difference = scored(one.solution, move, one.control[COST], problem[0])
            fitnesses[offset] = fitness_of(index, difference, move, one)

    @kernel
    def write_listed(
        first: u32, end: u32, moves: Array[i32], fitnesses: Array[i32], walks: Rows[Walk], problem: Rows[D]
    ):
        """The same for moves that the host has listed as (i, j, k): for a host that generates (section 3.1)."""
        one = walks[0]
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, end - first, u32(team_count() * team_size())):
            move = AnyMove(moves[3 * offset], moves[3 * offset + 1], moves[3 * offset + 2], change_kind)
            difference = 0
            if delta is not None:
                difference = delta(one.solution, move, problem[0])
            else:
                difference = scored(one.solution, move, one.control[COST], problem[0])
            fitnesses[offset] = fitness_of(first + offset, difference, move, one)

    @kernel
    def write_copied(
        first: u32, end: u32, neighbours: Array[S], fitnesses: Array[i32], walks: Rows[Walk], problem: Rows[D]
    ):
        """The same for whole neighbours, copied one after another (section 3.1); a lane finds its move."""
        one = walks[0]
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, end - first, u32(team_count() * team_size())):
            i, j, k = -1, -1, -1
            for p in range(one.length):
                if neighbours[offset * u32(one.length) + u32(p)] != one.solution[p]:
                    if i < 0:
                        i = p
                    elif j < 0 or is_run:
                        j = p
                    else:
                        k = p
            fitness = NEVER
            if i >= 0:
                if change_kind == ASSIGN:
                    j = i32(neighbours[offset * u32(one.length) + u32(i)])
                if change_kind == REVERSE:  # of positions i + 1 to j
                    i -= 1
                if change_kind == INSERT:  # the element at the end of the run stands at its beginning, or it went right
                    if j > i + 1 and neighbours[offset * u32(one.length) + u32(i)] == one.solution[j]:
                        i, j = j, i
                move = AnyMove(i, j, k, change_kind)
                difference = 0
                if delta is not None:
                    difference = delta(one.solution, move, problem[0])
                else:
                    difference = scored(one.solution, move, one.control[COST], problem[0])
                fitness = fitness_of(first + offset, difference, move, one)
            fitnesses[offset] = fitness

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

    return SearchKernels(
        begin_walks,
        walk_walks,
        refresh_shared,
        scan_shared,
        step_shared,
        scan_and_step,
        write_fitness,
        write_listed,
        write_copied,
        keep_walks,
        adopt_solution,
    )
