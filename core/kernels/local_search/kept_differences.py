"""Stored cost differences of all neighbours of a walk, for problems where a move changes few of them.

Neighbours are divided into parts of consecutive indices. A part stores its least key of neighbours that may be taken,
its least key of tabu neighbours, and the iteration in which its next neighbour ceases to be tabu. A scan reads these
keys. It scans the neighbours of a part again if the least key may have changed or if that iteration has come. So it
takes the same neighbour as a scan of all.
"""

from __future__ import annotations

from core.kernels.local_search.hooks import NO_KEY, TABU, D, Hooks, Rules
from core.kernels.local_search.moves import ATTRIBUTES, CHOICES, NEVER
from core.kernels.local_search.neighbour_functions import decoders, difference_function
from core.kernels.local_search.walks import ONE_MOVE, AnyMove, RecordingWalk, Share, Walk
from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import packed_cost

CHANGED_PART = 0
"""Expiry of a part that must be scanned again."""


@bundle
class KeepingWalk(Walk):
    """A walk with the differences of its ``kept`` neighbours, and the least keys of their ``parts`` parts.

    A part has 2 to the power of ``part_bits`` neighbours. ``free`` has the least keys of neighbours that may be
    taken, ``held`` those of tabu neighbours, and ``expiry`` the first iteration in which another one may be taken.
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
    """A `KeepingWalk` with a history."""

    differences: Array[i32] = Row("kept")
    free: Array[u64] = Row("parts")
    held: Array[u64] = Row("parts")
    expiry: Array[i32] = Row("parts")
    kept: i32
    parts: i32
    part_bits: i32


K = Generic("K")  # a walk that keeps differences


@function
def first_part(neighbour: u32, walk: K) -> i32:
    """Return the first part that begins at or after a neighbour."""
    return min(i32((neighbour + (u32(1) << u32(walk.part_bits)) - u32(1)) >> u32(walk.part_bits)), walk.parts)


def tabu_status_function(rules: Rules) -> Function:
    """Make ``tabu_until(index, walk) -> i32``, the first iteration in which a neighbour may be taken."""
    shape = rules.shapes[0]
    is_by_value = shape == CHOICES and rules.memory == ATTRIBUTES
    first_of, second_of, _ = decoders(rules.decode)

    @function
    def tabu_until(index: u32, walk: K) -> i32:
        """Return a word of the memory: that of the neighbour, or of its element and new value."""
        place = i32(index)
        if is_by_value:
            i = first_of(shape, index, walk)
            place = i * walk.choices + second_of(shape, index, i, walk)
        return walk.memory[place]

    return tabu_until


def keeping_function(hooks: Hooks, rules: Rules) -> Function:
    """Make ``keep_differences(share, walk, data)``, which all lanes of all teams call."""
    touches, touched = hooks.touches, hooks.touched
    shape, change_kind, rule = rules.shapes[0], rules.change, rules.rule
    first_of, second_of, third_of = decoders(rules.decode)
    difference_of, tabu_until = difference_function(hooks), tabu_status_function(rules)
    is_by_value = shape == CHOICES and rules.memory == ATTRIBUTES

    @function
    def difference_at(index: u32, walk: K, data: D) -> i32:
        """Return the change of cost by a neighbour."""
        i = first_of(shape, index, walk)
        j = second_of(shape, index, i, walk)
        move = AnyMove(i, j, third_of(shape, index, i, j, walk), change_kind)
        return difference_of(walk.solution, move, walk.status.cost, data)

    @function
    def is_part_changed(part: i32, old_key: u64, index: u32, walk: K) -> boolean:
        """Return True if a neighbour's new difference may change the least keys of its part."""
        free, held = walk.free[part], walk.held[part]
        least = free
        if rule == TABU:
            if tabu_until(index, walk) > walk.status.iteration:
                least = held
        return old_key == free or old_key == held or packed(walk.differences[i32(index)], index) < least

    @function
    def keep_differences(share: Share, walk: K, data: D):
        """Compute the differences that the last move may have changed, in the parts of the share."""
        move = AnyMove(walk.status.move_i, walk.status.move_j, walk.status.move_k, change_kind)
        begin, end = first_part(share.first, walk), first_part(share.end, walk)
        count = -1
        if walk.status.changed == ONE_MOVE:
            count = touches(walk.solution, move, data)
        is_complete = count < 0
        if is_complete:
            count = min(end << walk.part_bits, walk.kept) - (begin << walk.part_bits)
        for place in range(share.worker, count, share.workers):
            index = u32((begin << walk.part_bits) + place)
            if not is_complete:
                index = touched(walk.solution, place, move, data)
            part = i32(index >> u32(walk.part_bits))
            if begin <= part < end:
                old_key = packed(walk.differences[i32(index)], index)
                walk.differences[i32(index)] = difference_at(index, walk, data)
                is_changed = is_complete or is_part_changed(part, old_key, index, walk)
                if is_by_value:
                    is_changed = is_changed or first_of(shape, index, walk) == move.i  # an index means another value
                if is_changed:
                    atomic_min(walk.expiry, part, CHANGED_PART)

    return keep_differences


def part_scan_function(rules: Rules) -> Function:
    """Make ``scan_parts(share, walk) -> u64``, the smallest key of a lane in its team's share of the parts."""
    rule, tabu_until = rules.rule, tabu_status_function(rules)

    @function
    def look_again(part: i32, walk: K):
        """Find the least keys of a part, and the iteration in which its next neighbour ceases to be tabu."""
        iteration = walk.status.iteration
        least, least_tabu = NEVER, NEVER
        key, tabu_key = u64(NO_KEY), u64(NO_KEY)
        expiry = NEVER
        first = part << walk.part_bits
        for index in range(first, min(first + (1 << walk.part_bits), walk.kept)):
            difference = walk.differences[index]
            end_of_tabu = 0
            if rule == TABU:
                end_of_tabu = tabu_until(u32(index), walk)
            if end_of_tabu > iteration:
                expiry = min(expiry, end_of_tabu)
                if difference < least_tabu:
                    least_tabu = difference
                    tabu_key = packed(difference, u32(index))
            elif difference < least:
                least = difference
                key = packed(difference, u32(index))
        walk.free[part] = key
        walk.held[part] = tabu_key
        walk.expiry[part] = expiry

    @function
    def scan_parts(share: Share, walk: K) -> u64:
        """Return the smallest key of this lane's parts; tabu neighbours count if better than the best solution."""
        begin, end = first_part(share.first, walk), first_part(share.end, walk)
        share_size = (end - begin + share.workers - 1) // share.workers
        first = min(begin + share.worker * share_size, end)
        aspiration = walk.status.best_cost - walk.status.cost
        iteration = walk.status.iteration
        smallest = u64(NO_KEY)
        for part in range(first + lane(), min(first + share_size, end), team_size()):
            if walk.expiry[part] <= iteration:
                look_again(part, walk)
            smallest = min(smallest, walk.free[part])
            if rule == TABU:
                if packed_cost(walk.held[part]) < aspiration:
                    smallest = min(smallest, walk.held[part])
        return smallest

    return scan_parts
