"""Scans of neighbours, all or random ones, that choose a move by the rule of the algorithm.

A lane's result is a key: cost and index of the best neighbour, the index of the first improving one, or the number of
an accepted draw. The smallest key of all lanes, teams and ranks is chosen.
"""

from __future__ import annotations

from functools import cache

from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import random_below, random_word, team_sum
from core.local_search.kernels.hooks import ACCEPTING, ANNEAL, FIRST, NO_KEY, PROPOSING, TABU, D, Evaluation, Rules
from core.local_search.kernels.moves import INSERTIONS, NEVER, PAIRS, TRIPLES, is_tabu
from core.local_search.kernels.neighbour_functions import decoders, difference_function
from core.local_search.kernels.walks import BEGAN_AT, DRAWS, AnyMove, Draw, R, Share, W, Walk, WalkSettings

FEW_ROWS = 8
"""Rows of pairs that a step may pass one by one: decoding the index of a pair takes as long as five of them."""


@function
def proposed(slot: u32, walk: Walk, run: WalkSettings) -> u32:
    """Return the neighbour proposed by draw ``slot`` after the present iteration."""
    step = u32(walk.status.iteration) + slot
    return random_below(run.sizes[0], u64(u32(run.limits.seed)), walk.number[0] + u64(PROPOSING), step)


@function
def without_success(iteration: i32, walk: Walk) -> i32:
    """Return the iterations of a restarting walk since its best solution or its last restart."""
    return iteration - max(walk.status.best_at, walk.memory[walk.room - BEGAN_AT])


@cache
def draws_function(restarts: bool) -> Function:
    """Make ``draws_to_try(walk, run) -> i32``: draws until a new temperature, a restart or the end of the search."""

    @function
    def draws_to_try(walk: Walk, run: WalkSettings) -> i32:
        """Return the number of draws that may be tried at once."""
        iteration = walk.status.iteration
        plateau = run.limits.plateau - iteration % run.limits.plateau
        patience = run.limits.patience - (iteration - walk.status.best_at)
        if restarts:
            patience = min(patience, run.limits.restart - without_success(iteration, walk))
        return min(min(run.limits.batch, plateau), min(patience, run.limits.most_iterations - iteration))

    return draws_to_try


def accepted_function(rules: Rules) -> Function:
    """Make ``accepted(slot, difference, word, walk, run) -> boolean`` for a user's rule of acceptance."""
    accepts, has_parameters, lag = rules.accepts, rules.has_parameters, rules.lag

    @function
    def accepted(slot: u32, difference: i32, word: u32, walk: Walk, run: R) -> boolean:
        """Return True if the rule accepts a draw; earlier draws of this scan were rejected."""
        cost = walk.status.cost
        iteration = walk.status.iteration + i32(slot)
        earlier_cost = cost
        if lag > 0:
            if i32(slot) < lag:
                earlier_cost = walk.memory[iteration % lag]
        draw = Draw(cost, cost + difference, walk.status.best_cost, earlier_cost, iteration, word)
        if has_parameters:
            return accepts(draw, run.parameters)
        else:
            return accepts(draw)

    return accepted


def evaluation_function(evaluation: Evaluation, rules: Rules) -> Function:
    """Make ``evaluate(use_quick, index, move, cost, walk, sums, data) -> i32``, the change of cost in a scan."""
    quick, partial = evaluation.quick, evaluation.partial
    by_team = rules.by_team and partial is not None
    difference_of = difference_function(evaluation)

    @function
    def evaluate(
        use_quick: Const[boolean], index: u32, move: AnyMove, cost: i32, walk: Walk, sums: Array[i32], data: D
    ) -> i32:
        """Return the change of cost by a neighbour, computed by the team or by the lane alone."""
        difference = 0
        if by_team:
            part = partial(lane(), team_size(), walk.solution, move, data)
            difference = team_sum(part, sums)
        elif use_quick:
            difference = quick(walk.solution, index, move, data)
        else:
            difference = difference_of(walk.solution, move, cost, data)
        return difference

    return evaluate


def level_scan_function(evaluation: Evaluation, rules: Rules) -> Function:
    """Make ``scan_level(shape, use_quick, first, end, walk, sums, data) -> u64``, a scan of one neighbourhood."""
    change_kind, memory_kind, rule = rules.change, rules.memory, rules.rule
    by_team = rules.by_team and evaluation.partial is not None
    first_of, second_of, third_of = decoders(rules.decode)
    evaluate = evaluation_function(evaluation, rules)

    @function
    def scan_level(
        shape: Const[i32], use_quick: Const[boolean], first: u32, end: u32, walk: Walk, sums: Array[i32], data: D
    ) -> u64:
        """Return the smallest key of neighbours ``first + lane()``, ``first + lane() + team_size()`` ... below ``end``.

        If the team evaluates together, every lane scans all neighbours.
        """
        smallest = u64(NO_KEY)
        least = NEVER
        step = 1 if by_team else team_size()
        index = first if by_team else first + u32(lane())
        if index >= end:
            return smallest
        cost = walk.status.cost
        aspiration = walk.status.best_cost - cost
        iteration = walk.status.iteration
        length = walk.length
        i = first_of(shape, index, walk)
        j = second_of(shape, index, i, walk)
        k = third_of(shape, index, i, j, walk)
        while True:
            difference = evaluate(use_quick, index, AnyMove(i, j, k, change_kind), cost, walk, sums, data)
            if difference < least:
                if rule == FIRST:
                    if difference < 0:
                        return u64(index)
                elif rule == TABU:
                    move = AnyMove(i, j, k, change_kind)
                    is_forbidden = is_tabu(memory_kind, change_kind, walk, index, move, iteration)
                    if not is_forbidden or difference < aspiration:
                        least = difference
                        smallest = packed(difference, index)
                else:
                    least = difference
                    smallest = packed(difference, index)
            if end - index <= u32(step):
                break
            index += u32(step)
            # Advancing in a row is cheaper than decoding an index, unless a step passes many rows.
            if shape == PAIRS and step <= max(length, 1):
                j += step
                if j >= length:
                    if step > FEW_ROWS and (length - i) * FEW_ROWS < step:
                        i = first_of(shape, index, walk)
                        j = second_of(shape, index, i, walk)
                    else:
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
                i = first_of(shape, index, walk)
                j = second_of(shape, index, i, walk)
                k = third_of(shape, index, i, j, walk)
        return smallest

    return scan_level


def draw_scan_function(evaluation: Evaluation, rules: Rules) -> Function:
    """Make ``scan_draws(first, end, walk, run, data) -> u64``, a scan of random neighbours."""
    shape, change_kind, rule = rules.shapes[0], rules.change, rules.rule
    first_of, second_of, third_of = decoders(rules.decode)
    difference_of, accepted = difference_function(evaluation), accepted_function(rules)

    @function
    def scan_draws(first: u32, end: u32, walk: Walk, run: R, data: D) -> u64:
        """Return the first of this lane's draws that the rule accepts."""
        for slot in range(first + u32(lane()), end, u32(team_size())):
            index = proposed(slot, walk, run)
            i = first_of(shape, index, walk)
            j = second_of(shape, index, i, walk)
            move = AnyMove(i, j, third_of(shape, index, i, j, walk), change_kind)
            difference = difference_of(walk.solution, move, walk.status.cost, data)
            if difference != NEVER:
                seed, stream = u64(u32(run.limits.seed)), walk.number[0] + u64(ACCEPTING)
                word = random_word(seed, stream, u32(walk.status.iteration) + slot, u32(0))
                if rule == ANNEAL:  # Metropolis' rule: delta <= -T ln(u)
                    if difference <= 0 or f32(difference) <= walk.heat[0] * run.cooling[DRAWS + i32(word >> 20)]:
                        return u64(slot)
                elif accepted(slot, difference, word, walk, run):
                    return u64(slot)
        return u64(NO_KEY)

    return scan_draws


def scan_function(evaluation: Evaluation, rules: Rules) -> Function:
    """Make ``scan(share, walk, run, sums, data) -> u64``: a lane's smallest key in its team's share of the neighbours.

    ``sums`` is a shared array of ``team_size()`` elements.
    """
    quick, shapes, draws = evaluation.quick, rules.shapes, rules.draws
    draws_to_try = draws_function(rules.restarts)
    scan_level, scan_draws = level_scan_function(evaluation, rules), draw_scan_function(evaluation, rules)

    @function
    def scan_share(share: Share, walk: W, run: R, sums: Array[i32], data: D) -> u64:
        """Return the smallest key of this lane in its team's share."""
        first, end = share.first, share.end
        if draws:
            end = min(end, u32(draws_to_try(walk, run)))
        count = end - first if end > first else u32(0)
        share_size = (count - 1) // u32(share.workers) + 1 if count > 0 else u32(0)
        low = min(u32(share.worker) * share_size, count)
        high = min(low + share_size, count)
        low += first
        high += first
        if draws:
            return scan_draws(low, high, walk, run, data)
        for level in unroll(len(shapes) - 1, 0, -1):
            if walk.status.level == level:
                return scan_level(shapes[level], False, low, high, walk, sums, data)
        return scan_level(shapes[0], quick is not None, low, high, walk, sums, data)

    return scan_share
