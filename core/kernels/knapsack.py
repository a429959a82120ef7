"""The 0-1 knapsack problem by dynamic programming over capacities (`oconnell2014`, equation 4), and tracing it.

S_i[j] = max(S_{i-1}[j], S_{i-1}[j - w_i] + v_i) is the best value of the first i items within capacity j. A pass takes
two items at once, so that a row of values travels half as often: with A = S_i,

    A[j]     = max(S[j],       S[j - w1] + v1)
    A[j-w2]  = max(S[j - w2],  S[j - w1 - w2] + v1)
    S_i+1[j] = max(A[j],       A[j - w2] + v2)

The second line is the neighbour's first, computed again from the row before the pass. An item is taken only if that is
strictly better, so the decisions, one bit of each cell and item, are the same for every shape of a launch.

Cells of a block of 32 * team_size() belong to lanes in turn: lane r packs cells k * team_size() + r into bit k of the
block's word r, so that lanes read and write neighbouring values and each writes words of its own.
"""

from __future__ import annotations

from core.lang import (
    Array,
    Const,
    Generic,
    barrier,
    boolean,
    function,
    i32,
    i64,
    kernel,
    lane,
    local_array,
    max,
    min,
    team_count,
    team_rank,
    team_size,
    u8,
    u32,
    u64,
    unroll,
)

V = Generic("V")
CELLS = 32
"""Cells of a lane in a block: the bits of a word."""
AT_ONCE = 8
"""Cells that a lane of a wide team loads before it stores the first."""
NOTHING, FIRST, EITHER, BOTH, SOME = 0, 1, 2, 3, 4
"""What fits the cells of a block: no item, only the first (the lighter), either but not both, both, or it depends."""
ITEM, CELL = 0, 1
"""A trace: the next item to decide, and the capacity that is left for it and the earlier ones."""


@kernel
def begin(values: Array[V], clock: Array[i32], teams: i32, trace: Array[i32], item: i32, capacity: i32):
    """Set up a run: no item yet, so the best value is 0; every team's clock at the first pass; the trace at the end."""
    for team in range(lane(), teams, team_size()):
        clock[team] = 0
    if lane() == 0:
        values[0] = V(0)
        trace[ITEM] = item
        trace[CELL] = capacity


@function
def value_at(row: Array[V], cell: i32, reach: i32, fits: Const[i32]) -> V:
    """Value of a cell of a row: above ``reach`` all items fit and nothing changes."""
    if fits == SOME:
        return row[min(max(cell, 0), reach)]
    return row[cell]


@function
def fill(
    source: Array[V],
    target: Array[V],
    base: i32,
    reach: i32,
    weight1: i32,
    value1: V,
    weight2: i32,
    value2: V,
    fits: Const[i32],
    at_once: Const[i32],
) -> u64:
    """One lane's cells of a block, ``base`` the first: values into ``target``, the two items' decisions in two words.

    All values of ``at_once`` cells are loaded before the first is stored, since a compiler cannot know that rows do not
    overlap.
    """
    here = local_array(at_once, V)
    one = local_array(at_once, V)
    two = local_array(at_once, V)
    both = local_array(at_once, V)
    first = u32(0)
    second = u32(0)
    for k in range(0, CELLS, at_once):
        for s in unroll(at_once):
            cell = base + (k + s) * team_size()
            here[s] = value_at(source, cell, reach, fits)
            if fits >= FIRST:
                one[s] = value_at(source, cell - weight1, reach, fits)
            if fits >= EITHER:
                two[s] = value_at(source, cell - weight2, reach, fits)
            if fits >= BOTH:
                both[s] = value_at(source, cell - weight1 - weight2, reach, fits)
        for t in unroll(at_once):
            at = base + (k + t) * team_size()
            best = here[t]
            if fits >= FIRST:
                added = one[t] + value1
                if added > best and (fits < SOME or at >= weight1):
                    best = added
                    first = first | (u32(1) << u32(k + t))
            if fits >= EITHER:
                below = two[t]
                if fits >= BOTH:
                    deeper = both[t] + value1
                    if deeper > below and (fits < SOME or at >= weight1 + weight2):
                        below = deeper
                below = below + value2
                if below > best and (fits < SOME or at >= weight2):
                    best = below
                    second = second | (u32(1) << u32(k + t))
            target[at] = best
    return (u64(second) << 32) | u64(first)


@kernel
def two_items(
    weights: Array[i32],
    values: Array[V],
    low: Array[i32],
    high: Array[i32],
    clock: Array[i32],
    source: Array[V],
    target: Array[V],
    kept: Array[u32],
    words: i32,
    passes_kept: i32,
    left: i32,
    right: i32,
    tracing: Const[boolean],
    at_once: Const[i32],
    blocks: Const[i32],
):
    """One pass: two further items. Which, a team reads from its clock, so that one recorded launch serves all passes.

    Parameters
    ----------
    weights, values : Array, 2 * passes
        The lighter item of a pass first.
    low, high : Array, passes + 1
        Pass p computes cells low[p + 1] to high[p + 1] at least; ``source`` has cells low[p] to high[p].
    clock : Array, team_count()
        Every team's next pass.
    source, target : Array, whole blocks
        The rows of values before and after the pass.
    kept : Array, passes_kept * 2 * words
        Out, if ``tracing``: the decisions; pass p has place p % passes_kept in it, ``words`` for each item.
    left, right
        Only blocks with cells from ``left`` to ``right`` - 1 are computed: other ranks have the others.
    at_once
        See `fill`.
    blocks
        Neighbouring blocks that a team computes before it goes on to others.

    """
    step = clock[team_rank()]
    weight1 = weights[2 * step]
    weight2 = weights[2 * step + 1]
    value1 = values[2 * step]
    value2 = values[2 * step + 1]
    reach = high[step]
    lowest = max(low[step + 1], left) // (CELLS * team_size())
    highest = min(high[step + 1], right - 1) // (CELLS * team_size())
    row = i64(step % passes_kept) * i64(2 * words)
    for share in range(lowest // blocks + team_rank(), highest // blocks + 1, team_count()):
        for block in range(max(lowest, share * blocks), min(highest + 1, (share + 1) * blocks)):
            base = block * (CELLS * team_size())
            last = base + CELLS * team_size() - 1
            mine = base + lane()
            found = u64(0)
            if last > reach:
                found = fill(source, target, mine, reach, weight1, value1, weight2, value2, SOME, at_once)
            elif base >= weight1 + weight2:
                found = fill(source, target, mine, reach, weight1, value1, weight2, value2, BOTH, at_once)
            elif base >= weight2 and last < weight1 + weight2:
                found = fill(source, target, mine, reach, weight1, value1, weight2, value2, EITHER, at_once)
            elif base >= weight1 and last < weight2:
                found = fill(source, target, mine, reach, weight1, value1, weight2, value2, FIRST, at_once)
            elif last < weight1:
                found = fill(source, target, mine, reach, weight1, value1, weight2, value2, NOTHING, at_once)
            else:
                found = fill(source, target, mine, reach, weight1, value1, weight2, value2, SOME, at_once)
            if tracing:
                word = row + i64(block * team_size() + lane())
                kept[word] = u32(found & 0xFFFFFFFF)
                kept[word + i64(words)] = u32(found >> 32)
    barrier()
    if lane() == 0:
        clock[team_rank()] = step + 1


@kernel
def follow(
    weights: Array[i32],
    high: Array[i32],
    kept: Array[u32],
    words: i32,
    first: i32,
    left: i32,
    lanes: Const[i32],
    trace: Array[i32],
    chosen: Array[u8],
):
    """Trace the items of the passes in ``kept``, last first, as far as their cells are not below ``left``; one lane.

    Parameters
    ----------
    kept, words
        As `two_items` left them, launched with ``lanes`` lanes a team; ``first`` is the earliest pass in it.
    trace : Array, 2
        In and out: `ITEM` and `CELL`.
    chosen : Array, 2 * passes
        Out: 1 for each item taken.

    """
    item = trace[ITEM]
    cell = trace[CELL]
    while item >= 2 * first:
        weight = weights[item]
        cell = min(cell, high[(item >> 1) + 1])
        if cell < left:
            break
        block = cell // (CELLS * lanes)
        within = cell - block * (CELLS * lanes)
        row = i64(item - 2 * first) * i64(words)
        word = kept[row + i64(block * lanes + within % lanes)]
        if (word >> u32(within // lanes)) & 1 != 0:
            chosen[item] = u8(1)
            cell -= weight
        item -= 1
    trace[ITEM] = item
    trace[CELL] = cell


@function
def best_value(
    wave: i32,
    index: i32,
    window: Array[V],
    one: i32,
    two: i32,
    choice: Array[u32],
    weights: Array[i32],
    values: Array[V],
) -> V:
    """One cell of equation 4 for the engine of `core.search.dp.waves`: a wave is an item, its cells are capacities.

    The best value of items 0 to ``wave`` within capacity ``index``; the choice is 1 if the last of them is taken.
    """
    left_out = V(0)
    taken = V(0)
    if wave > 0:
        left_out = window[one + index]
    if index >= weights[wave]:
        taken = values[wave]
        if wave > 0:
            taken += window[one + index - weights[wave]]
    if taken > left_out:
        choice[0] = u32(1)
        return taken
    return left_out
