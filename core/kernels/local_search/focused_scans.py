"""Choice among the moves that repair a random violated constraint: focused search, such as WalkSAT and min-conflicts.

B. Selman, H. Kautz, B. Cohen, "Noise strategies for improving local search", 1994; S. Minton, M. Johnston, A. Philips,
P. Laird, "Minimizing conflicts: a heuristic repair method", 1992.
"""

from __future__ import annotations

from core.kernels.local_search.hooks import CONSTRAINING, NO_KEY, STRAYING, D, Hooks, Rules
from core.kernels.local_search.neighbour_functions import decoders, scored_function
from core.kernels.local_search.walks import COST, ITERATION, NOISE, SEED, AnyMove, R, Share, Walk
from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import random_below, random_word


def focused_scan_function(hooks: Hooks, rules: Rules) -> Function | None:
    """``scan_repairs(share, one, run, data) -> u64``: a lane's smallest key among the repairs of a drawn constraint.

    None if the problem names no constraints. A key has the harm of a move, then its index. A repair without harm is
    always taken; else, by chance, a random one instead of that of least harm. One team of one rank does it all.
    """
    if hooks.focus is None:
        return None
    violated, violated_at, repairs, repair, harm = hooks.focus
    delta, shape, change_kind = hooks.delta, rules.shapes[0], rules.change
    first_of, second_of, third_of = decoders(rules.decode)
    scored = scored_function(hooks.value)

    @function
    def harm_of(index: u32, one: Walk, data: D) -> i32:
        """Return what a repair breaks, or adds to the cost."""
        i = first_of(shape, index, one)
        j = second_of(shape, index, i, one)
        move = AnyMove(i, j, third_of(shape, index, i, j, one), change_kind)
        if harm is not None:
            return harm(one.solution, move, data)
        elif delta is not None:
            return delta(one.solution, move, data)
        else:
            return scored(one.solution, move, one.control[COST], data)

    @function
    def scan_repairs(share: Share, one: Walk, run: R, data: D) -> u64:
        """The smallest key among this lane's repairs."""
        smallest = u64(NO_KEY)
        count = violated(one.solution, data)
        if share.worker > 0 or share.first > u32(0) or count == 0:
            return smallest
        seed, step = u64(u32(run.limits[SEED])), u32(one.control[ITERATION])
        rank = i32(random_below(u32(count), seed, one.number[0] + u64(CONSTRAINING), step))
        constraint = violated_at(one.solution, rank, data)
        moves = repairs(one.solution, constraint, data)
        word = random_word(seed, one.number[0] + u64(STRAYING), step, u32(0))
        strays = i32(word >> 16) < run.limits[NOISE]
        chosen = i32((word & u32(0xFFFF)) * u32(moves) >> 16)
        for place in range(lane(), moves, team_size()):
            index = repair(one.solution, constraint, place, data)
            found = harm_of(index, one, data)
            if strays and found > 0:
                if place == chosen:
                    smallest = min(smallest, packed(1, index))
            else:
                smallest = min(smallest, packed(found, index))
        return smallest

    return scan_repairs
