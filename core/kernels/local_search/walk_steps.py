"""Step of a walk after a scan: the move, the memory, the best so far, and the escape from local optima."""

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
    """Copy a solution, shared out over the lanes."""
    for p in range(lane(), length, team_size()):
        target[p] = source[p]


@function
def keep_best(one: Walk):
    """Copy the best solution so far to `Walk.best`, if it is the walk's present one, before the walk leaves it."""
    if one.control[AT_BEST] == 1:
        copy_solution(one.solution, one.best, one.length)


@function
def mixed(digest: u64, index: u32, cost: i32) -> u64:
    """The digest of a trajectory after one more move."""
    return splitmix64(digest + u64(0x9E3779B97F4A7C15) ^ ((u64(index) << 32) | u64(u32(cost))))


@function
def note_costs(passed: i32, lag: Const[i32], one: Walk):
    """Note the present cost as that of the next ``passed`` iterations, of which the last ``lag`` are remembered."""
    last = one.control[ITERATION] + passed - 1
    for k in range(lane(), min(passed, lag), team_size()):
        one.memory[(last - k) % lag] = one.control[COST]


@function
def stop_reason(one: Walk, run: WalkSettings, otherwise: i32) -> i32:
    """Why the walk ends after its present iteration, or ``otherwise``."""
    iteration = one.control[ITERATION]
    if one.control[BEST_COST] <= run.limits[TARGET]:
        return TARGET_REACHED
    if iteration >= run.limits[MOST_ITERATIONS]:
        return ITERATIONS_DONE
    return NO_IMPROVEMENT if iteration - one.control[BEST_AT] >= run.limits[PATIENCE] else otherwise


def step_function(hooks: Hooks, rules: Rules) -> Function:
    """``step(key, one, run, data)``: make the move of ``key``; the whole team calls it."""
    delta, begin, update, move_by, apply = hooks.delta, hooks.begin, hooks.update, hooks.move, rules.apply
    shapes, change_kind, memory_kind, rule = rules.shapes, rules.change, rules.memory, rules.rule
    at_optimum, note, draws, lag, restarts = rules.at_optimum, rules.note, rules.draws, rules.lag, rules.restarts
    draws_to_try = draws_function(rules.restarts)
    first_of, second_of, third_of = decoders(rules.decode)
    element_at = element_function(shapes, rules.decode)
    scored = scored_function(hooks.value)

    @function
    def make_move(one: Walk, move: AnyMove, data: D):
        """Follow and make a move; all lanes of the team meet before and after."""
        barrier()
        if update is not None:
            update(one.solution, move, data)
            barrier()
        if move_by is not None:
            move_by(one.solution, move, data)
        elif apply is not None:
            apply(one.solution, move, one.length)
        else:
            change(change_kind, one.solution, move)
        barrier()

    @function
    def leave_optimum(one: Walk, run: WalkSettings, data: D):
        """Keep the better of this local optimum and the last one kept, and shake it by random moves."""
        cost = one.control[COST]
        safe = one.control[HOME_COST]
        strength = run.limits[STRENGTH]
        if at_optimum == SHAKE_HARDER:
            strength = 1 if cost < safe else one.control[SHAKES] % run.limits[STRENGTH] + 1
        digest = one.totals[DIGEST]
        iteration = one.control[ITERATION]
        keep_best(one)
        barrier()
        if cost <= safe:
            copy_solution(one.solution, one.home, one.length)
            safe = cost
        else:
            copy_solution(one.home, one.solution, one.length)
            barrier()
            if begin is not None:
                begin(one.solution, data)
            cost = safe
        for shake in range(strength):
            barrier()
            draw = u32(iteration) * u32(256) + u32(shake)
            index = random_below(run.sizes[0], u64(u32(run.limits[SEED])), one.number[0] + u64(SHAKING), draw)
            i = first_of(shapes[0], index, one)
            j = second_of(shapes[0], index, i, one)
            move = AnyMove(i, j, third_of(shapes[0], index, i, j, one), change_kind)
            difference = 0
            if delta is not None:
                difference = delta(one.solution, move, data)
            else:
                difference = scored(one.solution, move, cost, data)
            if difference != NEVER:
                make_move(one, move, data)
                cost += difference
                digest = mixed(digest, index, cost)
        barrier()
        is_best = cost < one.control[BEST_COST]
        if is_best:
            copy_solution(one.solution, one.best, one.length)
        barrier()
        if lane() == 0:
            if is_best:
                one.control[BEST_COST] = cost
                one.control[BEST_AT] = iteration + 1
            one.control[AT_BEST] = 0
            one.control[COST] = cost
            one.control[HOME_COST] = safe
            one.control[SHAKES] = strength
            one.control[LEVEL] = 0
            one.control[CHANGED] = EVERYTHING
            one.totals[DIGEST] = digest

    @function
    def begin_again(iteration: i32, one: Walk, run: WalkSettings, data: D):
        """Go to a random solution by a large number of random moves.

        Moves preserve the invariants of a neighbourhood, and their costs add up. Of the walk only its best remains.
        """
        cost = one.control[COST]
        digest = one.totals[DIGEST]
        restart = one.memory[one.room - RESTARTS]
        moves = RESTART_MOVES * one.length
        keep_best(one)
        for shake in range(moves):
            barrier()
            draw = u32(restart) * u32(moves) + u32(shake)
            index = random_below(run.sizes[0], u64(u32(run.limits[SEED])), one.number[0] + u64(RESTARTING), draw)
            i = first_of(shapes[0], index, one)
            j = second_of(shapes[0], index, i, one)
            move = AnyMove(i, j, third_of(shapes[0], index, i, j, one), change_kind)
            difference = 0
            if delta is not None:
                difference = delta(one.solution, move, data)
            else:
                difference = scored(one.solution, move, cost, data)
            if difference != NEVER:
                make_move(one, move, data)
                cost += difference
                digest = mixed(digest, index, cost)
        barrier()
        is_best = cost < one.control[BEST_COST]
        if is_best:
            copy_solution(one.solution, one.best, one.length)
        for k in range(lane(), one.room - RESTART_WORDS, team_size()):
            one.memory[k] = cost if lag > 0 else 0
        barrier()
        if lane() == 0:
            if is_best:
                one.control[BEST_COST] = cost
                one.control[BEST_AT] = iteration
            one.control[AT_BEST] = 0
            one.control[COST] = cost
            one.control[HOME_COST] = NEVER
            one.control[SHAKES] = 0
            one.control[LEVEL] = 0
            one.control[CHANGED] = EVERYTHING
            one.totals[DIGEST] = digest
            one.memory[one.room - RESTARTS] = restart + 1
            one.memory[one.room - BEGAN_AT] = iteration
            if rule == ANNEAL:
                one.heat[0] = run.cooling[HEAT_AT_START]
        barrier()

    @function
    def take_neighbour(index: u32, key: u64, passed: i32, one: Walk, run: WalkSettings, data: D):
        """Go to the neighbour of this index, and remember what the rule remembers of the move."""
        level, cost, iteration = one.control[LEVEL], one.control[COST], one.control[ITERATION]
        digest = one.totals[DIGEST]
        i = element_at(0, level, index, 0, 0, one)
        j = element_at(1, level, index, i, 0, one)
        move = AnyMove(i, j, element_at(2, level, index, i, j, one), change_kind)
        if rule == BEST or rule == TABU:
            cost += packed_cost(key)
        elif delta is not None:
            difference = delta(one.solution, move, data)
            cost += difference
        else:
            difference = scored(one.solution, move, cost, data)
            cost += difference
        if rule == TABU and lane() == 0:
            word = random_word(u64(u32(run.limits[SEED])), one.number[0] + u64(LASTING), u32(iteration), u32(0))
            tenure = run.limits[TENURE] + i32(word % u32(run.limits[TENURE_SPAN] + 1))
            forbid(memory_kind, change_kind, one, index, move, iteration + 1 + tenure)
        if cost >= one.control[BEST_COST]:
            keep_best(one)
        make_move(one, move, data)
        if lane() == 0:
            one.control[CHANGED] = ONE_MOVE
            one.control[MOVE_I] = move.i
            one.control[MOVE_J] = move.j
            one.control[MOVE_K] = move.k
            one.control[LEVEL] = 0
            one.control[COST] = cost
            one.totals[DIGEST] = mixed(digest, index, cost)
            one.control[AT_BEST] = 0
            if cost < one.control[BEST_COST]:
                one.control[AT_BEST] = 1
                one.control[BEST_COST] = cost
                one.control[BEST_AT] = iteration + passed

    @function
    def take_step(key: u64, one: W, run: WalkSettings, data: D):
        """Make the move of ``key`` with all its effects; the whole team calls this."""
        level, iteration = one.control[LEVEL], one.control[ITERATION]
        looked_at = u64(run.sizes[level])
        passed = 1
        index = packed_index(key)
        moved = key != u64(NO_KEY)
        if draws:
            passed = draws_to_try(one, run)
            if moved:
                passed = i32(index) + 1
                index = proposed(index, one, run)
            looked_at = u64(passed)
            if lag > 0:
                note_costs(passed, lag, one)
        elif rule == FOCUSED:
            looked_at = u64(1)
        elif rule == FIRST:
            if moved:
                looked_at = u64(index) + 1
        elif rule == BEST:
            moved = moved and packed_cost(key) < 0
        barrier()
        if moved:
            take_neighbour(index, key, passed, one, run, data)
        elif lane() == 0:
            one.control[CHANGED] = NOTHING_CHANGED
            if level + 1 < len(shapes):
                one.control[LEVEL] = level + 1
        barrier()
        if lag > 0:
            if lane() == 0 and moved:
                one.memory[(iteration + passed - 1) % lag] = one.control[COST]
        ended = RUNNING
        if rule == BEST or rule == FIRST:
            if not moved and level + 1 >= len(shapes):
                if at_optimum == HALT:
                    if restarts:
                        begin_again(iteration + 1, one, run, data)
                    else:
                        ended = LOCAL_OPTIMUM
                else:
                    leave_optimum(one, run, data)
                    barrier()
        if rule == FOCUSED and not moved:
            ended = LOCAL_OPTIMUM
        if restarts:
            if at_optimum != HALT or rule == TABU or rule == FOCUSED or draws:
                if without_success(iteration + passed, one) >= run.limits[RESTART]:
                    begin_again(iteration + passed, one, run, data)
        if lane() == 0:
            one.totals[EVALUATIONS] = one.totals[EVALUATIONS] + looked_at
            if rule == ANNEAL and iteration % run.limits[PLATEAU] + passed >= run.limits[PLATEAU]:
                one.heat[0] = one.heat[0] * run.cooling[FACTOR]
            one.control[ITERATION] = iteration + passed
            one.control[STOP] = stop_reason(one, run, ended)
            if note is not None:
                note(one)
        barrier()

    return take_step
