"""Escapes of a walk from local optima: shakes of an iterated local search, and restarts."""

from __future__ import annotations

from core.lang import *
from core.lang.library import random_below
from core.local_search.kernels.hooks import ANNEAL, RESTARTING, SHAKE_HARDER, SHAKING, D, Evaluation, Rules
from core.local_search.kernels.moves import NEVER
from core.local_search.kernels.neighbour_functions import decoders
from core.local_search.kernels.walks import (
    BEGAN_AT,
    EVERYTHING,
    HEAT_AT_START,
    RESTART_MOVES,
    RESTART_WORDS,
    RESTARTS,
    AnyMove,
    Walk,
    WalkSettings,
    copy_solution,
    keep_best,
    mixed,
)


@function
def arrive(cost: i32, found_at: i32, home_cost: i32, shakes: i32, walk: Walk):
    """Update a walk after random moves; a new best solution is found in iteration ``found_at``."""
    is_best = cost < walk.status.best_cost
    if is_best:
        copy_solution(walk.solution, walk.best, walk.length)
    barrier()
    if lane() == 0:
        if is_best:
            walk.status.best_cost = cost
            walk.status.best_at = found_at
        walk.status.at_best = 0
        walk.status.cost = cost
        walk.status.home_cost = home_cost
        walk.status.shakes = shakes
        walk.status.level = 0
        walk.status.changed = EVERYTHING


def random_moves_function(rules: Rules, difference_of: Function, make_move: Function) -> Function:
    """Make ``make_random_moves(count, first_draw, stream, cost, walk, run, data) -> i32``; the whole team calls it."""
    shape, change_kind = rules.shapes[0], rules.change
    first_of, second_of, third_of = decoders(rules.decode)

    @function
    def make_random_moves(
        count: i32, first_draw: u32, stream: u64, cost: i32, walk: Walk, run: WalkSettings, data: D
    ) -> i32:
        """Make ``count`` random moves from a solution with this cost; return the cost after them."""
        digest = walk.totals.digest
        for k in range(count):
            barrier()
            draw = first_draw + u32(k)
            index = random_below(run.sizes[0], u64(u32(run.limits.seed)), walk.number[0] + stream, draw)
            i = first_of(shape, index, walk)
            j = second_of(shape, index, i, walk)
            move = AnyMove(i, j, third_of(shape, index, i, j, walk), change_kind)
            difference = difference_of(walk.solution, move, cost, data)
            if difference != NEVER:
                make_move(walk, move, data)
                cost += difference
                digest = mixed(digest, index, cost)
        barrier()
        if lane() == 0:
            walk.totals.digest = digest
        return cost

    return make_random_moves


def shake_function(evaluation: Evaluation, rules: Rules, make_random_moves: Function) -> Function:
    """Make ``leave_optimum(walk, run, data)``, which the whole team calls."""
    begin, at_optimum = evaluation.begin, rules.at_optimum

    @function
    def leave_optimum(walk: Walk, run: WalkSettings, data: D):
        """Return to the better of this local optimum and `home`, and shake it by random moves."""
        cost = walk.status.cost
        home_cost = walk.status.home_cost
        strength = run.limits.strength
        if at_optimum == SHAKE_HARDER:
            strength = 1 if cost < home_cost else walk.status.shakes % run.limits.strength + 1
        iteration = walk.status.iteration
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
        first_draw = u32(iteration) * u32(256)
        cost = make_random_moves(strength, first_draw, u64(SHAKING), cost, walk, run, data)
        arrive(cost, iteration + 1, home_cost, strength, walk)
        barrier()

    return leave_optimum


def restart_function(rules: Rules, make_random_moves: Function) -> Function:
    """Make ``restart(iteration, walk, run, data)``, which the whole team calls."""
    rule, lag = rules.rule, rules.lag

    @function
    def restart(iteration: i32, walk: Walk, run: WalkSettings, data: D):
        """Restart the walk from a random solution, reached by a large number of random moves.

        Moves preserve the invariants of a neighbourhood, and their differences add up. Only the best solution is kept.
        """
        number = walk.memory[walk.room - RESTARTS]
        count = RESTART_MOVES * walk.length
        cost = walk.status.cost
        keep_best(walk)
        cost = make_random_moves(count, u32(number) * u32(count), u64(RESTARTING), cost, walk, run, data)
        for k in range(lane(), walk.room - RESTART_WORDS, team_size()):
            walk.memory[k] = cost if lag > 0 else 0
        arrive(cost, iteration, NEVER, 0, walk)
        if lane() == 0:
            walk.memory[walk.room - RESTARTS] = number + 1
            walk.memory[walk.room - BEGAN_AT] = iteration
            if rule == ANNEAL:
                walk.heat[0] = run.cooling[HEAT_AT_START]
        barrier()

    return restart
