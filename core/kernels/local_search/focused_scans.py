"""Choice among the moves that repair a random violated constraint: focused search, such as WalkSAT and min-conflicts.

B. Selman, H. Kautz, B. Cohen, "Noise strategies for improving local search", 1994; S. Minton, M. Johnston, A. Philips,
P. Laird, "Minimizing conflicts: a heuristic repair method", 1992.
"""

from __future__ import annotations

from core.kernels.local_search.hooks import CONSTRAINING, NO_KEY, STRAYING, D, Hooks, Rules
from core.kernels.local_search.neighbour_functions import decoders, difference_function
from core.kernels.local_search.walks import AnyMove, R, Share, Walk
from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import random_below, random_word


def focused_scan_function(hooks: Hooks, rules: Rules) -> Function | None:
    """Make ``scan_repairs(share, walk, run, data) -> u64``: a lane's smallest key among repairs of a random constraint.

    None if the problem has no constraints. A key has the harm of a move, then its index. A repair without harm is
    always taken. Otherwise the repair of least harm is taken, or by chance a random one. One team of one rank scans.
    """
    if hooks.focus is None:
        return None
    violated, violated_at, repairs, repair, harm = hooks.focus
    shape, change_kind = rules.shapes[0], rules.change
    first_of, second_of, third_of = decoders(rules.decode)
    difference_of = difference_function(hooks)

    @function
    def harm_of(index: u32, walk: Walk, data: D) -> i32:
        """Return the harm of a repair, by default the change of the cost."""
        i = first_of(shape, index, walk)
        j = second_of(shape, index, i, walk)
        move = AnyMove(i, j, third_of(shape, index, i, j, walk), change_kind)
        if harm is not None:
            return harm(walk.solution, move, data)
        else:
            return difference_of(walk.solution, move, walk.status.cost, data)

    @function
    def scan_repairs(share: Share, walk: Walk, run: R, data: D) -> u64:
        """Return the smallest key among this lane's repairs."""
        smallest = u64(NO_KEY)
        violated_count = violated(walk.solution, data)
        if share.worker > 0 or share.first > u32(0) or violated_count == 0:
            return smallest
        seed, step = u64(u32(run.limits.seed)), u32(walk.status.iteration)
        rank = i32(random_below(u32(violated_count), seed, walk.number[0] + u64(CONSTRAINING), step))
        constraint = violated_at(walk.solution, rank, data)
        repair_count = repairs(walk.solution, constraint, data)
        word = random_word(seed, walk.number[0] + u64(STRAYING), step, u32(0))
        is_random = i32(word >> 16) < run.limits.noise
        random_place = i32((word & u32(0xFFFF)) * u32(repair_count) >> 16)
        for place in range(lane(), repair_count, team_size()):
            index = repair(walk.solution, constraint, place, data)
            damage = harm_of(index, walk, data)
            if is_random and damage > 0:
                if place == random_place:
                    smallest = min(smallest, packed(1, index))
            else:
                smallest = min(smallest, packed(damage, index))
        return smallest

    return scan_repairs
