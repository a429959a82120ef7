"""Step of a walk after a scan: the move, the memory, the best solution so far, and the reason to stop."""

from __future__ import annotations

from core.lang import *
from core.lang.library import packed_cost, packed_index, random_word
from core.local_search.kernels.escapes import random_moves_function, restart_function, shake_function
from core.local_search.kernels.hooks import ANNEAL, BEST, FIRST, HALT, LASTING, NO_KEY, TABU, D, Evaluation, Rules
from core.local_search.kernels.moves import forbid
from core.local_search.kernels.neighbour_functions import difference_function, element_function, move_function
from core.local_search.kernels.neighbour_scans import draws_function, proposed, without_success
from core.local_search.kernels.walks import (
    FACTOR,
    ITERATIONS_DONE,
    LOCAL_OPTIMUM,
    NO_IMPROVEMENT,
    NOTHING_CHANGED,
    ONE_MOVE,
    RUNNING,
    TARGET_REACHED,
    AnyMove,
    W,
    Walk,
    WalkSettings,
    keep_best,
    mixed,
)


@function
def note_costs(count: i32, lag: Const[i32], walk: Walk):
    """Store the present cost for the next ``count`` iterations; the memory holds those of the last ``lag``."""
    last_iteration = walk.status.iteration + count - 1
    for k in range(lane(), min(count, lag), team_size()):
        walk.memory[(last_iteration - k) % lag] = walk.status.cost


@function
def stop_reason(walk: Walk, run: WalkSettings, otherwise: i32) -> i32:
    """Return the reason to stop after the present iteration, or ``otherwise``."""
    iteration = walk.status.iteration
    if walk.status.best_cost <= run.limits.target:
        return TARGET_REACHED
    if iteration >= run.limits.most_iterations:
        return ITERATIONS_DONE
    return NO_IMPROVEMENT if iteration - walk.status.best_at >= run.limits.patience else otherwise


def neighbour_step_function(rules: Rules, difference_of: Function, make_move: Function) -> Function:
    """Make ``take_neighbour(index, key, iterations, walk, run, data)``, which the whole team calls."""
    change_kind, memory_kind, rule = rules.change, rules.memory, rules.rule
    element_at = element_function(rules.shapes, rules.decode)

    @function
    def take_neighbour(index: u32, key: u64, iterations: i32, walk: Walk, run: WalkSettings, data: D):
        """Move to the neighbour of this index, and update the tabu memory."""
        level, cost, iteration = walk.status.level, walk.status.cost, walk.status.iteration
        digest = walk.totals.digest
        i = element_at(0, level, index, 0, 0, walk)
        j = element_at(1, level, index, i, 0, walk)
        move = AnyMove(i, j, element_at(2, level, index, i, j, walk), change_kind)
        if rule == BEST or rule == TABU:
            cost += packed_cost(key)
        else:
            difference = difference_of(walk.solution, move, cost, data)
            cost += difference
        if rule == TABU and lane() == 0:
            word = random_word(u64(u32(run.limits.seed)), walk.number[0] + u64(LASTING), u32(iteration), u32(0))
            tenure = run.limits.tenure + i32(word % u32(run.limits.tenure_span + 1))
            forbid(memory_kind, change_kind, walk, index, move, iteration + 1 + tenure)
        if cost >= walk.status.best_cost:
            keep_best(walk)
        make_move(walk, move, data)
        if lane() == 0:
            walk.status.changed = ONE_MOVE
            walk.status.move_i = move.i
            walk.status.move_j = move.j
            walk.status.move_k = move.k
            walk.status.level = 0
            walk.status.cost = cost
            walk.totals.digest = mixed(digest, index, cost)
            walk.status.at_best = 0
            if cost < walk.status.best_cost:
                walk.status.at_best = 1
                walk.status.best_cost = cost
                walk.status.best_at = iteration + iterations

    return take_neighbour


def escape_function(evaluation: Evaluation, rules: Rules, difference_of: Function, make_move: Function) -> Function:
    """Make ``escape(has_moved, level, next_iteration, walk, run, data) -> i32``, which the whole team calls."""
    rule, at_optimum, draws, restarts = rules.rule, rules.at_optimum, rules.draws, rules.restarts
    level_count = len(rules.shapes)
    make_random_moves = random_moves_function(rules, difference_of, make_move)
    leave_optimum = shake_function(evaluation, rules, make_random_moves)
    restart = restart_function(rules, make_random_moves)

    @function
    def escape(has_moved: boolean, level: i32, next_iteration: i32, walk: Walk, run: WalkSettings, data: D) -> i32:
        """Shake or restart a walk if it is at a local optimum or without success; return its `WalkStatus.stop`."""
        reason = RUNNING
        if rule == BEST or rule == FIRST:
            if not has_moved and level + 1 >= level_count:
                if at_optimum != HALT:
                    leave_optimum(walk, run, data)
                elif restarts:
                    restart(next_iteration, walk, run, data)
                else:
                    reason = LOCAL_OPTIMUM
        if restarts:
            if at_optimum != HALT or rule == TABU or draws:
                if without_success(next_iteration, walk) >= run.limits.restart:
                    restart(next_iteration, walk, run, data)
        return reason

    return escape


def step_function(evaluation: Evaluation, rules: Rules) -> Function:
    """Make ``take_step(key, walk, run, data)``, which the whole team calls."""
    rule, record, draws, lag, level_count = rules.rule, rules.note, rules.draws, rules.lag, len(rules.shapes)
    draws_to_try = draws_function(rules.restarts)
    difference_of, make_move = difference_function(evaluation), move_function(evaluation, rules)
    take_neighbour = neighbour_step_function(rules, difference_of, make_move)
    escape = escape_function(evaluation, rules, difference_of, make_move)

    @function
    def take_step(key: u64, walk: W, run: WalkSettings, data: D):
        """Make the move of ``key`` with all its effects."""
        level, iteration = walk.status.level, walk.status.iteration
        evaluated = u64(run.sizes[level])
        iterations = 1
        index = packed_index(key)
        has_moved = key != u64(NO_KEY)
        if draws:
            iterations = draws_to_try(walk, run)
            if has_moved:
                iterations = i32(index) + 1
                index = proposed(index, walk, run)
            evaluated = u64(iterations)
            if lag > 0:
                note_costs(iterations, lag, walk)
        elif rule == FIRST:
            if has_moved:
                evaluated = u64(index) + 1
        elif rule == BEST:
            has_moved = has_moved and packed_cost(key) < 0
        barrier()
        if has_moved:
            take_neighbour(index, key, iterations, walk, run, data)
        elif lane() == 0:
            walk.status.changed = NOTHING_CHANGED
            if level + 1 < level_count:
                walk.status.level = level + 1
        barrier()
        if lag > 0:
            if lane() == 0 and has_moved:
                walk.memory[(iteration + iterations - 1) % lag] = walk.status.cost
        reason = escape(has_moved, level, iteration + iterations, walk, run, data)
        if lane() == 0:
            walk.totals.evaluations = walk.totals.evaluations + evaluated
            if rule == ANNEAL and iteration % run.limits.plateau + iterations >= run.limits.plateau:
                walk.heat[0] = walk.heat[0] * run.cooling[FACTOR]
            walk.status.iteration = iteration + iterations
            walk.status.stop = stop_reason(walk, run, reason)
            if record is not None:
                record(walk)
        barrier()

    return take_step
