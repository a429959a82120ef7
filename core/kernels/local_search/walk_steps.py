"""Step of a walk after a scan: the move, the memory, the best solution so far, and the escape from local optima."""

from __future__ import annotations

from core.kernels.local_search.hooks import (
    ANNEAL,
    BEST,
    FIRST,
    FOCUSED,
    HALT,
    LASTING,
    NO_KEY,
    RESTARTING,
    SHAKE_HARDER,
    SHAKING,
    TABU,
    D,
    Hooks,
    Rules,
)
from core.kernels.local_search.moves import NEVER, change, forbid
from core.kernels.local_search.neighbour_functions import decoders, element_function, scored_function
from core.kernels.local_search.neighbour_scans import draws_function, proposed, without_success
from core.kernels.local_search.walks import (
    AT_BEST,
    BEGAN_AT,
    BEST_AT,
    BEST_COST,
    CHANGED,
    COST,
    DIGEST,
    EVALUATIONS,
    EVERYTHING,
    FACTOR,
    HEAT_AT_START,
    HOME_COST,
    ITERATION,
    ITERATIONS_DONE,
    LEVEL,
    LOCAL_OPTIMUM,
    MOST_ITERATIONS,
    MOVE_I,
    MOVE_J,
    MOVE_K,
    NO_IMPROVEMENT,
    NOTHING_CHANGED,
    ONE_MOVE,
    PATIENCE,
    PLATEAU,
    RESTART,
    RESTART_MOVES,
    RESTART_WORDS,
    RESTARTS,
    RUNNING,
    SEED,
    SHAKES,
    STOP,
    STRENGTH,
    TARGET,
    TARGET_REACHED,
    TENURE,
    TENURE_SPAN,
    AnyMove,
    S,
    W,
    Walk,
    WalkSettings,
)
from core.kernels.two_opt.climbs import splitmix64
from core.lang import *
from core.lang.library import packed_cost, packed_index, random_below, random_word


@function
def copy_solution(source: Array[S], target: Array[S], length: i32):
    """Copy a solution by all lanes of the team."""
    for p in range(lane(), length, team_size()):
        target[p] = source[p]


@function
def keep_best(walk: Walk):
    """Copy the present solution to `Walk.best` if it is the best so far; call it before the walk leaves it."""
    if walk.control[AT_BEST] == 1:
        copy_solution(walk.solution, walk.best, walk.length)


@function
def mixed(digest: u64, index: u32, cost: i32) -> u64:
    """Return the digest of a trajectory after one more move."""
    return splitmix64(digest + u64(0x9E3779B97F4A7C15) ^ ((u64(index) << 32) | u64(u32(cost))))


@function
def note_costs(count: i32, lag: Const[i32], walk: Walk):
    """Store the present cost for the next ``count`` iterations; the memory holds those of the last ``lag``."""
    last_iteration = walk.control[ITERATION] + count - 1
    for k in range(lane(), min(count, lag), team_size()):
        walk.memory[(last_iteration - k) % lag] = walk.control[COST]


@function
def stop_reason(walk: Walk, run: WalkSettings, otherwise: i32) -> i32:
    """Return the reason to stop after the present iteration, or ``otherwise``."""
    iteration = walk.control[ITERATION]
    if walk.control[BEST_COST] <= run.limits[TARGET]:
        return TARGET_REACHED
    if iteration >= run.limits[MOST_ITERATIONS]:
        return ITERATIONS_DONE
    return NO_IMPROVEMENT if iteration - walk.control[BEST_AT] >= run.limits[PATIENCE] else otherwise


def step_function(hooks: Hooks, rules: Rules) -> Function:
    """Make ``take_step(key, walk, run, data)``, which the whole team calls."""
    delta, begin, update, move_by, apply = hooks.delta, hooks.begin, hooks.update, hooks.move, rules.apply
    shapes, change_kind, memory_kind, rule = rules.shapes, rules.change, rules.memory, rules.rule
    at_optimum, record, draws, lag, restarts = rules.at_optimum, rules.note, rules.draws, rules.lag, rules.restarts
    draws_to_try = draws_function(rules.restarts)
    first_of, second_of, third_of = decoders(rules.decode)
    element_at = element_function(shapes, rules.decode)
    scored = scored_function(hooks.value)

    @function
    def make_move(walk: Walk, move: AnyMove, data: D):
        """Update the state and make a move, between barriers."""
        barrier()
        if update is not None:
            update(walk.solution, move, data)
            barrier()
        if move_by is not None:
            move_by(walk.solution, move, data)
        elif apply is not None:
            apply(walk.solution, move, walk.length)
        else:
            change(change_kind, walk.solution, move)
        barrier()

    @function
    def leave_optimum(walk: Walk, run: WalkSettings, data: D):
        """Return to the better of this local optimum and `home`, and shake it by random moves."""
        cost = walk.control[COST]
        home_cost = walk.control[HOME_COST]
        strength = run.limits[STRENGTH]
        if at_optimum == SHAKE_HARDER:
            strength = 1 if cost < home_cost else walk.control[SHAKES] % run.limits[STRENGTH] + 1
        digest = walk.totals[DIGEST]
        iteration = walk.control[ITERATION]
        keep_best(walk)
        barrier()
        if cost <= home_cost:
            copy_solution(walk.solution, walk.home, walk.length)
            home_cost = cost
        else:
            copy_solution(walk.home, walk.solution, walk.length)
            barrier()
            if begin is not None:
                begin(walk.solution, data)
            cost = home_cost
        for shake in range(strength):
            barrier()
            draw = u32(iteration) * u32(256) + u32(shake)
            index = random_below(run.sizes[0], u64(u32(run.limits[SEED])), walk.number[0] + u64(SHAKING), draw)
            i = first_of(shapes[0], index, walk)
            j = second_of(shapes[0], index, i, walk)
            move = AnyMove(i, j, third_of(shapes[0], index, i, j, walk), change_kind)
            difference = 0
            if delta is not None:
                difference = delta(walk.solution, move, data)
            else:
                difference = scored(walk.solution, move, cost, data)
            if difference != NEVER:
                make_move(walk, move, data)
                cost += difference
                digest = mixed(digest, index, cost)
        barrier()
        is_best = cost < walk.control[BEST_COST]
        if is_best:
            copy_solution(walk.solution, walk.best, walk.length)
        barrier()
        if lane() == 0:
            if is_best:
                walk.control[BEST_COST] = cost
                walk.control[BEST_AT] = iteration + 1
            walk.control[AT_BEST] = 0
            walk.control[COST] = cost
            walk.control[HOME_COST] = home_cost
            walk.control[SHAKES] = strength
            walk.control[LEVEL] = 0
            walk.control[CHANGED] = EVERYTHING
            walk.totals[DIGEST] = digest

    @function
    def begin_again(iteration: i32, walk: Walk, run: WalkSettings, data: D):
        """Restart the walk from a random solution, reached by a large number of random moves.

        Moves preserve the invariants of a neighbourhood, and their differences add up. Only the best solution is kept.
        """
        cost = walk.control[COST]
        digest = walk.totals[DIGEST]
        restart = walk.memory[walk.room - RESTARTS]
        moves = RESTART_MOVES * walk.length
        keep_best(walk)
        for shake in range(moves):
            barrier()
            draw = u32(restart) * u32(moves) + u32(shake)
            index = random_below(run.sizes[0], u64(u32(run.limits[SEED])), walk.number[0] + u64(RESTARTING), draw)
            i = first_of(shapes[0], index, walk)
            j = second_of(shapes[0], index, i, walk)
            move = AnyMove(i, j, third_of(shapes[0], index, i, j, walk), change_kind)
            difference = 0
            if delta is not None:
                difference = delta(walk.solution, move, data)
            else:
                difference = scored(walk.solution, move, cost, data)
            if difference != NEVER:
                make_move(walk, move, data)
                cost += difference
                digest = mixed(digest, index, cost)
        barrier()
        is_best = cost < walk.control[BEST_COST]
        if is_best:
            copy_solution(walk.solution, walk.best, walk.length)
        for k in range(lane(), walk.room - RESTART_WORDS, team_size()):
            walk.memory[k] = cost if lag > 0 else 0
        barrier()
        if lane() == 0:
            if is_best:
                walk.control[BEST_COST] = cost
                walk.control[BEST_AT] = iteration
            walk.control[AT_BEST] = 0
            walk.control[COST] = cost
            walk.control[HOME_COST] = NEVER
            walk.control[SHAKES] = 0
            walk.control[LEVEL] = 0
            walk.control[CHANGED] = EVERYTHING
            walk.totals[DIGEST] = digest
            walk.memory[walk.room - RESTARTS] = restart + 1
            walk.memory[walk.room - BEGAN_AT] = iteration
            if rule == ANNEAL:
                walk.heat[0] = run.cooling[HEAT_AT_START]
        barrier()

    @function
    def take_neighbour(index: u32, key: u64, iterations: i32, walk: Walk, run: WalkSettings, data: D):
        """Move to the neighbour of this index, and update the tabu memory."""
        level, cost, iteration = walk.control[LEVEL], walk.control[COST], walk.control[ITERATION]
        digest = walk.totals[DIGEST]
        i = element_at(0, level, index, 0, 0, walk)
        j = element_at(1, level, index, i, 0, walk)
        move = AnyMove(i, j, element_at(2, level, index, i, j, walk), change_kind)
        if rule == BEST or rule == TABU:
            cost += packed_cost(key)
        elif delta is not None:
            difference = delta(walk.solution, move, data)
            cost += difference
        else:
            difference = scored(walk.solution, move, cost, data)
            cost += difference
        if rule == TABU and lane() == 0:
            word = random_word(u64(u32(run.limits[SEED])), walk.number[0] + u64(LASTING), u32(iteration), u32(0))
            tenure = run.limits[TENURE] + i32(word % u32(run.limits[TENURE_SPAN] + 1))
            forbid(memory_kind, change_kind, walk, index, move, iteration + 1 + tenure)
        if cost >= walk.control[BEST_COST]:
            keep_best(walk)
        make_move(walk, move, data)
        if lane() == 0:
            walk.control[CHANGED] = ONE_MOVE
            walk.control[MOVE_I] = move.i
            walk.control[MOVE_J] = move.j
            walk.control[MOVE_K] = move.k
            walk.control[LEVEL] = 0
            walk.control[COST] = cost
            walk.totals[DIGEST] = mixed(digest, index, cost)
            walk.control[AT_BEST] = 0
            if cost < walk.control[BEST_COST]:
                walk.control[AT_BEST] = 1
                walk.control[BEST_COST] = cost
                walk.control[BEST_AT] = iteration + iterations

    @function
    def take_step(key: u64, walk: W, run: WalkSettings, data: D):
        """Make the move of ``key`` with all its effects."""
        level, iteration = walk.control[LEVEL], walk.control[ITERATION]
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
        elif rule == FOCUSED:
            evaluated = u64(1)
        elif rule == FIRST:
            if has_moved:
                evaluated = u64(index) + 1
        elif rule == BEST:
            has_moved = has_moved and packed_cost(key) < 0
        barrier()
        if has_moved:
            take_neighbour(index, key, iterations, walk, run, data)
        elif lane() == 0:
            walk.control[CHANGED] = NOTHING_CHANGED
            if level + 1 < len(shapes):
                walk.control[LEVEL] = level + 1
        barrier()
        if lag > 0:
            if lane() == 0 and has_moved:
                walk.memory[(iteration + iterations - 1) % lag] = walk.control[COST]
        reason = RUNNING
        if rule == BEST or rule == FIRST:
            if not has_moved and level + 1 >= len(shapes):
                if at_optimum == HALT:
                    if restarts:
                        begin_again(iteration + 1, walk, run, data)
                    else:
                        reason = LOCAL_OPTIMUM
                else:
                    leave_optimum(walk, run, data)
                    barrier()
        if rule == FOCUSED and not has_moved:
            reason = LOCAL_OPTIMUM
        if restarts:
            if at_optimum != HALT or rule == TABU or rule == FOCUSED or draws:
                if without_success(iteration + iterations, walk) >= run.limits[RESTART]:
                    begin_again(iteration + iterations, walk, run, data)
        if lane() == 0:
            walk.totals[EVALUATIONS] = walk.totals[EVALUATIONS] + evaluated
            if rule == ANNEAL and iteration % run.limits[PLATEAU] + iterations >= run.limits[PLATEAU]:
                walk.heat[0] = walk.heat[0] * run.cooling[FACTOR]
            walk.control[ITERATION] = iteration + iterations
            walk.control[STOP] = stop_reason(walk, run, reason)
            if record is not None:
                record(walk)
        barrier()

    return take_step
