"""Scans of neighbours, all of them or random ones, until the rule of the algorithm has chosen.

A lane's result is a key: of the best neighbour cost and index, of the first improving one its index, of an accepted
draw the number of the draw; the smallest key of all lanes, teams and ranks is taken.
"""

from __future__ import annotations

from functools import cache

from core.kernels.local_search.focused_scans import focused_scan_function
from core.kernels.local_search.hooks import ACCEPTING, ANNEAL, FIRST, FOCUSED, NO_KEY, PROPOSING, TABU, D, Hooks, Rules
from core.kernels.local_search.kept_differences import part_scan_function
from core.kernels.local_search.moves import INSERTIONS, NEVER, PAIRS, TRIPLES, is_tabu
from core.kernels.local_search.neighbour_functions import decoders, scored_function
from core.kernels.local_search.walks import (
    BATCH,
    BEGAN_AT,
    BEST_AT,
    BEST_COST,
    COST,
    DRAWS,
    ITERATION,
    LEVEL,
    MOST_ITERATIONS,
    PATIENCE,
    PLATEAU,
    RESTART,
    SEED,
    AnyMove,
    Draw,
    R,
    Share,
    W,
    Walk,
    WalkSettings,
)
from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import random_below, random_word, team_sum


@function
def proposed(slot: u32, one: Walk, run: WalkSettings) -> u32:
    """The neighbour that draw ``slot`` after the present iteration proposes."""
    step = u32(one.control[ITERATION]) + slot
    return random_below(run.sizes[0], u64(u32(run.limits[SEED])), one.number[0] + u64(PROPOSING), step)


@function
def without_success(iteration: i32, one: Walk) -> i32:
    """Iterations of a walk that restarts since its best solution, or since it began again."""
    return iteration - max(one.control[BEST_AT], one.memory[one.room - BEGAN_AT])


@cache
def draws_function(restarts: bool) -> Function:
    """``draws(one, run) -> i32``: draws that may be tried by one rule before the search ends, or the walk restarts."""

    @function
    def draws_to_try(one: Walk, run: WalkSettings) -> i32:
        """Draws that may be tried at the present temperature, before the search ends."""
        iteration = one.control[ITERATION]
        plateau = run.limits[PLATEAU] - iteration % run.limits[PLATEAU]
        patience = run.limits[PATIENCE] - (iteration - one.control[BEST_AT])
        if restarts:
            patience = min(patience, run.limits[RESTART] - without_success(iteration, one))
        return min(min(run.limits[BATCH], plateau), min(patience, run.limits[MOST_ITERATIONS] - iteration))

    return draws_to_try


def accepted_function(rules: Rules) -> Function:
    """``accepted(slot, difference, word, one, run) -> boolean``: True if a user's rule accepts a draw."""
    accepts, has_parameters, lag = rules.accepts, rules.has_parameters, rules.lag

    @function
    def accepted(slot: u32, difference: i32, word: u32, one: Walk, run: R) -> boolean:
        """Return what the rule says. No draw of this scan before it was accepted, so the cost is the present one."""
        cost = one.control[COST]
        iteration = one.control[ITERATION] + i32(slot)
        before = cost
        if lag > 0:
            if i32(slot) < lag:
                before = one.memory[iteration % lag]
        draw = Draw(cost, cost + difference, one.control[BEST_COST], before, iteration, word)
        if has_parameters:
            return accepts(draw, run.parameters)
        else:
            return accepts(draw)

    return accepted


def scan_function(hooks: Hooks, rules: Rules) -> Function:
    """``scan(share, one, run, sums, data) -> u64``: the smallest key of a lane in its team's share of the neighbours.

    ``sums`` is a shared array of as many elements as a team has lanes.
    """
    delta, quick, partial = hooks.delta, hooks.quick, hooks.partial
    shapes, change_kind, memory_kind, rule = rules.shapes, rules.change, rules.memory, rules.rule
    draws = rules.draws
    by_team = rules.by_team and partial is not None
    first_of, second_of, third_of = decoders(rules.decode)
    scored = scored_function(hooks.value)
    draws_to_try = draws_function(rules.restarts)
    accepted = accepted_function(rules)
    scan_repairs = focused_scan_function(hooks, rules)
    keeps, scan_parts = rules.keeps, part_scan_function(rules)

    @function
    def scan_level(
        shape: Const[i32], use_quick: Const[boolean], first: u32, end: u32, one: Walk, sums: Array[i32], data: D
    ) -> u64:
        """The smallest key among neighbours ``first + lane()``, ``first + lane() + team_size()`` ... below ``end``.

        If the team evaluates together, every lane looks at all of them.
        """
        smallest = u64(NO_KEY)
        least = NEVER
        step = 1 if by_team else team_size()
        index = first if by_team else first + u32(lane())
        if index >= end:
            return smallest
        cost = one.control[COST]
        aspired = one.control[BEST_COST] - cost
        iteration = one.control[ITERATION]
        length = one.length
        i = first_of(shape, index, one)
        j = second_of(shape, index, i, one)
        k = third_of(shape, index, i, j, one)
        while True:
            difference = 0
            if by_team:
                addend = partial(lane(), team_size(), one.solution, AnyMove(i, j, k, change_kind), data)
                difference = team_sum(addend, sums)
            elif use_quick:
                difference = quick(one.solution, index, AnyMove(i, j, k, change_kind), data)
            elif delta is not None:
                difference = delta(one.solution, AnyMove(i, j, k, change_kind), data)
            else:
                difference = scored(one.solution, AnyMove(i, j, k, change_kind), cost, data)
            if difference < least:
                if rule == FIRST:
                    if difference < 0:
                        return u64(index)
                elif rule == TABU:
                    move = AnyMove(i, j, k, change_kind)
                    forbidden = is_tabu(memory_kind, change_kind, one, index, move, iteration)
                    if not forbidden or difference < aspired:
                        least = difference
                        smallest = packed(difference, index)
                else:
                    least = difference
                    smallest = packed(difference, index)
            if end - index <= u32(step):
                break
            index += u32(step)
            # Walking on through a row is cheaper than decoding an index, unless a step passes many rows.
            if shape == PAIRS and step <= max(length, 1):
                j += step
                while j >= length:
                    i += 1
                    j += i + 1 - length
            elif shape == TRIPLES and step <= max(length, 1):
                k += step
                while k >= length:
                    j += 1
                    if j >= length - 1:
                        i += 1
                        k += j - length + 1
                        j = i + 1
                    k += j + 1 - length
            elif shape == INSERTIONS and step <= max(length, 1):
                row = i if j > i else i - 1
                column = j - 1 if j > i else j
                column += step
                while column >= length - 1:
                    row += 1
                    column -= length - 1
                i = row if column >= row else row + 1
                j = column + 1 if column >= row else column
            else:
                i = first_of(shape, index, one)
                j = second_of(shape, index, i, one)
                k = third_of(shape, index, i, j, one)
        return smallest

    @function
    def scan_draws(first: u32, end: u32, one: Walk, run: R, data: D) -> u64:
        """The first of this lane's draws that the rule accepts."""
        for slot in range(first + u32(lane()), end, u32(team_size())):
            index = proposed(slot, one, run)
            i = first_of(shapes[0], index, one)
            j = second_of(shapes[0], index, i, one)
            move = AnyMove(i, j, third_of(shapes[0], index, i, j, one), change_kind)
            difference = 0
            if delta is not None:
                difference = delta(one.solution, move, data)
            else:
                difference = scored(one.solution, move, one.control[COST], data)
            if difference != NEVER:
                seed, stream = u64(u32(run.limits[SEED])), one.number[0] + u64(ACCEPTING)
                word = random_word(seed, stream, u32(one.control[ITERATION]) + slot, u32(0))
                if rule == ANNEAL:  # Metropolis' rule: delta <= -T ln(u)
                    if difference <= 0 or f32(difference) <= one.heat[0] * run.cooling[DRAWS + i32(word >> 20)]:
                        return u64(slot)
                elif accepted(slot, difference, word, one, run):
                    return u64(slot)
        return u64(NO_KEY)

    @function
    def scan_share(share: Share, one: W, run: R, sums: Array[i32], data: D) -> u64:
        """The smallest key of this lane in its team's share."""
        if rule == FOCUSED:
            return scan_repairs(share, one, run, data)
        first, end = share.first, share.end
        if draws:
            end = min(end, u32(draws_to_try(one, run)))
        count = end - first if end > first else u32(0)
        each = (count - 1) // u32(share.workers) + 1 if count > 0 else u32(0)
        low = min(u32(share.worker) * each, count)
        high = min(low + each, count)
        low += first
        high += first
        if draws:
            return scan_draws(low, high, one, run, data)
        for level in unroll(len(shapes) - 1, 0, -1):
            if one.control[LEVEL] == level:
                return scan_level(shapes[level], False, low, high, one, sums, data)
        if keeps:
            return scan_parts(share, one)
        else:
            return scan_level(shapes[0], quick is not None, low, high, one, sums, data)

    return scan_share
