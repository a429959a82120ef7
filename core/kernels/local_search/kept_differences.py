"""Differences of all neighbours that a walk keeps, of which a move changes few, and the least of each part of them.

Neighbours are divided in parts of consecutive indices. A part knows its least key of those that may be taken and of
those that are tabu, and the iteration in which one of its neighbours ceases to be tabu. A scan reads these keys. It
looks at the neighbours of a part again only if its least key may have grown or another neighbour is below it, or if
that iteration has come. So it takes the same neighbour as a scan of all.
"""

from __future__ import annotations

from core.kernels.local_search.hooks import NO_KEY, TABU, D, Hooks, Rules
from core.kernels.local_search.moves import NEVER
from core.kernels.local_search.neighbour_functions import decoders, scored_function
from core.kernels.local_search.walks import (
    BEST_COST,
    CHANGED,
    COST,
    ITERATION,
    MOVE_I,
    MOVE_J,
    MOVE_K,
    ONE_MOVE,
    AnyMove,
    RecordingWalk,
    Share,
    Walk,
)
from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import packed_cost

CHANGED_PART = 0
"""The expiry of a part whose neighbours are to be looked at again."""


@bundle
class KeepingWalk(Walk):
    """A walk with the differences of its ``kept`` neighbours, and the least keys of ``parts`` of them.

    A part has 2 to the power of ``part_bits`` neighbours. ``free`` has the least keys of those that may be taken,
    ``held`` of those that are tabu, and ``expiry`` the first iteration in which another one may be taken.
    """

    differences: Array[i32] = Row("kept")
    free: Array[u64] = Row("parts")
    held: Array[u64] = Row("parts")
    expiry: Array[i32] = Row("parts")
    kept: i32
    parts: i32
    part_bits: i32


@bundle
class RecordingKeepingWalk(RecordingWalk):
    """The same of a walk with a history."""

    differences: Array[i32] = Row("kept")
    free: Array[u64] = Row("parts")
    held: Array[u64] = Row("parts")
    expiry: Array[i32] = Row("parts")
    kept: i32
    parts: i32
    part_bits: i32


K = Generic("K")  # a walk that keeps differences


@function
def first_part(neighbour: u32, one: K) -> i32:
    """Return the first part that begins at a neighbour or behind it."""
    return min(i32((neighbour + (u32(1) << u32(one.part_bits)) - u32(1)) >> u32(one.part_bits)), one.parts)


def keeping_function(hooks: Hooks, rules: Rules) -> Function:
    """``keep_differences(share, one, data)``: compute what the last move has changed; by all lanes of all teams."""
    delta, touches, touched = hooks.delta, hooks.touches, hooks.touched
    shape, change_kind, rule = rules.shapes[0], rules.change, rules.rule
    first_of, second_of, third_of = decoders(rules.decode)
    scored = scored_function(hooks.value)

    @function
    def difference_of(index: u32, one: K, data: D) -> i32:
        """Return what a neighbour adds to the cost."""
        i = first_of(shape, index, one)
        j = second_of(shape, index, i, one)
        move = AnyMove(i, j, third_of(shape, index, i, j, one), change_kind)
        if delta is not None:
            return delta(one.solution, move, data)
        else:
            return scored(one.solution, move, one.control[COST], data)

    @function
    def is_part_changed(part: i32, before: u64, index: u32, one: K) -> boolean:
        """Return True if a neighbour's new difference may change the least keys of its part."""
        free, held = one.free[part], one.held[part]
        least = free
        if rule == TABU:
            if one.memory[i32(index)] > one.control[ITERATION]:
                least = held
        return before == free or before == held or packed(one.differences[i32(index)], index) < least

    @function
    def keep_differences(share: Share, one: K, data: D):
        """Compute the differences that the last move may have changed, in the parts of the share."""
        move = AnyMove(one.control[MOVE_I], one.control[MOVE_J], one.control[MOVE_K], change_kind)
        low, high = first_part(share.first, one), first_part(share.end, one)
        count = -1
        if one.control[CHANGED] == ONE_MOVE:
            count = touches(one.solution, move, data)
        are_all = count < 0
        if are_all:
            count = min(high << one.part_bits, one.kept) - (low << one.part_bits)
        for place in range(share.worker, count, share.workers):
            index = u32((low << one.part_bits) + place)
            if not are_all:
                index = touched(one.solution, place, move, data)
            part = i32(index >> u32(one.part_bits))
            if low <= part < high:
                before = packed(one.differences[i32(index)], index)
                one.differences[i32(index)] = difference_of(index, one, data)
                if are_all or is_part_changed(part, before, index, one):
                    atomic_min(one.expiry, part, CHANGED_PART)

    return keep_differences


def part_scan_function(rules: Rules) -> Function:
    """``scan_parts(share, one) -> u64``: the smallest key of a lane in its team's share of the parts."""
    rule = rules.rule

    @function
    def look_again(part: i32, one: K):
        """Find the least keys of a part, and when one of its neighbours ceases to be tabu."""
        iteration = one.control[ITERATION]
        least, least_held = NEVER, NEVER
        key, key_held = u64(NO_KEY), u64(NO_KEY)
        expiry = NEVER
        first = part << one.part_bits
        for index in range(first, min(first + (1 << one.part_bits), one.kept)):
            difference = one.differences[index]
            until = 0
            if rule == TABU:
                until = one.memory[index]
            if until > iteration:
                expiry = min(expiry, until)
                if difference < least_held:
                    least_held = difference
                    key_held = packed(difference, u32(index))
            elif difference < least:
                least = difference
                key = packed(difference, u32(index))
        one.free[part] = key
        one.held[part] = key_held
        one.expiry[part] = expiry

    @function
    def scan_parts(share: Share, one: K) -> u64:
        """The smallest key among those of this lane's parts; of tabu neighbours only those better than the best."""
        low, high = first_part(share.first, one), first_part(share.end, one)
        each = (high - low + share.workers - 1) // share.workers
        first = min(low + share.worker * each, high)
        aspired = one.control[BEST_COST] - one.control[COST]
        iteration = one.control[ITERATION]
        smallest = u64(NO_KEY)
        for part in range(first + lane(), min(first + each, high), team_size()):
            if one.expiry[part] <= iteration:
                look_again(part, one)
            smallest = min(smallest, one.free[part])
            if rule == TABU:
                if packed_cost(one.held[part]) < aspired:
                    smallest = min(smallest, one.held[part])
        return smallest

    return scan_parts
