"""The 0-1 knapsack problem by dynamic programming over capacities (`oconnell2014`, equation 4), and its trace.

S_i[j] = max(S_{i-1}[j], S_{i-1}[j - w_i] + v_i) is the best value of the first i items within capacity j. A pass adds
two items, which halves the traffic of rows. With A = S_i:

    A[j]     = max(S[j],       S[j - w1] + v1)
    A[j-w2]  = max(S[j - w2],  S[j - w1 - w2] + v1)
    S_i+1[j] = max(A[j],       A[j - w2] + v2)

The second line is the first line of another cell, computed again from the row before the pass. An item is taken only if
this is strictly better, so the decisions, one bit of each cell and item, are equal for every shape of a launch.

Cells of a block of 32 * team_size() belong to lanes in turn: lane r packs cells k * team_size() + r into bit k of the
block's word r, so that lanes read and write neighbouring values and each word has one writer.
"""

from __future__ import annotations

from core.lang import *

V = Generic("V")
CELLS = 32
"""Cells of a lane in a block: the bits of a word."""
AT_ONCE = 8
"""Cells that a lane of a wide team loads before it stores the first."""
NOTHING, FIRST, EITHER, BOTH, SOME = 0, 1, 2, 3, 4
"""Items that fit the cells of a block: none, only the first (lighter) one, either but not both, both, or varying."""


class ItemTrace(NamedArray):
    """State of a trace."""

    item: i32
    """Next item to decide."""
    cell: i32
    """Capacity left for it and the earlier items."""


@bundle
class Passes:
    """The items, two to a pass, and the progress of every team.

    Attributes
    ----------
    weights, values : Array, 2 * passes
        The lighter item of a pass first.
    low, high : Array, passes + 1
        Pass p computes cells low[p + 1] to high[p + 1] at least; the row before it has cells low[p] to high[p].
    clock : Array, teams
        Every team's next pass, so that one recorded launch serves all passes.
    """

    weights: Array[i32]
    values: Array[V]
    low: Array[i32]
    high: Array[i32]
    clock: Array[i32]


@bundle
class Pair:
    """The two items of a pass, the lighter first."""

    weight1: i32
    value1: V
    weight2: i32
    value2: V


@bundle
class DecisionBits:
    """Decisions of items and cells, ``words`` words for each item; pass p has place p % passes."""

    bits: Array[u32]
    words: i32
    passes: i32


@bundle
class Slice:
    """Capacities from ``left`` to ``right`` - 1: the first ``width`` blocks of every ``period`` blocks."""

    left: i32
    right: i32
    width: i32
    period: i32


@bundle
class CapacityShare:
    """Blocks of a rank: in pass p, those at its ``place`` among ``ranks`` neighbouring parts of widths[p] blocks."""

    widths: Array[i32]
    ranks: i32
    place: i32


@kernel
def begin(passes: Passes, values: Array[V], trace: ItemTrace, teams: i32, item: i32, capacity: i32):
    """Set up a run: the value 0 without items, every team's clock at the first pass, the trace at the last item."""
    for team in range(lane(), teams, team_size()):
        passes.clock[team] = 0
    if lane() == 0:
        values[0] = V(0)
        trace.item = item
        trace.cell = capacity


@function
def value_at(row: Array[V], cell: i32, reach: i32, fits: Const[i32]) -> V:
    """Return the value of a cell of a row; cells above ``reach`` equal that at ``reach``, since all items fit."""
    if fits == SOME:
        return row[min(max(cell, 0), reach)]
    return row[cell]


@function
def fill(
    source: Array[V], target: Array[V], base: i32, reach: i32, pair: Pair, fits: Const[i32], at_once: Const[i32]
) -> u64:  # fmt: skip
    """Compute a lane's cells of a block from ``base`` on; return the decisions of both items in two words.

    All values of ``at_once`` cells are loaded before the first is stored, since a compiler does not know that rows do
    not overlap.
    """
    without = local_array(at_once, V)
    with_first = local_array(at_once, V)
    with_second = local_array(at_once, V)
    with_both = local_array(at_once, V)
    first = u32(0)
    second = u32(0)
    for k in range(0, CELLS, at_once):
        for s in unroll(at_once):
            cell = base + (k + s) * team_size()
            without[s] = value_at(source, cell, reach, fits)
            if fits >= FIRST:
                with_first[s] = value_at(source, cell - pair.weight1, reach, fits)
            if fits >= EITHER:
                with_second[s] = value_at(source, cell - pair.weight2, reach, fits)
            if fits >= BOTH:
                with_both[s] = value_at(source, cell - pair.weight1 - pair.weight2, reach, fits)
        for t in unroll(at_once):
            at = base + (k + t) * team_size()
            best = without[t]
            if fits >= FIRST:
                added = with_first[t] + pair.value1
                if added > best and (fits < SOME or at >= pair.weight1):
                    best = added
                    first = first | (u32(1) << u32(k + t))
            if fits >= EITHER:
                below = with_second[t]
                if fits >= BOTH:
                    deeper = with_both[t] + pair.value1
                    if deeper > below and (fits < SOME or at >= pair.weight1 + pair.weight2):
                        below = deeper
                below = below + pair.value2
                if below > best and (fits < SOME or at >= pair.weight2):
                    best = below
                    second = second | (u32(1) << u32(k + t))
            target[at] = best
    return (u64(second) << 32) | u64(first)


@kernel
def add_two_items(
    passes: Passes,
    source: Array[V],
    target: Array[V],
    stored: DecisionBits,
    part: Slice,
    tracing: Const[boolean],
    at_once: Const[i32],
    blocks: Const[i32],
):
    """Make one pass: add the two items at a team's clock.

    Parameters
    ----------
    source, target : Array, whole blocks
        The rows of values before and after the pass.
    stored
        Out, if ``tracing``.
    part
        Cells of this rank: only blocks with these cells are computed.
    blocks
        Number of neighbouring blocks that a team computes at a time.
    """
    step = passes.clock[team_rank()]
    light, heavy = 2 * step, 2 * step + 1
    pair = Pair(passes.weights[light], passes.values[light], passes.weights[heavy], passes.values[heavy])
    reach = passes.high[step]
    left = part.left // (CELLS * team_size())
    lowest = max(passes.low[step + 1], part.left) // (CELLS * team_size()) - left
    highest = min(passes.high[step + 1], part.right - 1) // (CELLS * team_size()) - left
    first, last = lowest // part.period * part.width, (highest // part.period + 1) * part.width - 1
    row = i64(step % stored.passes) * i64(2 * stored.words)
    for share in range(first // blocks + team_rank(), last // blocks + 1, team_count()):
        for own in range(max(first, share * blocks), min(last + 1, (share + 1) * blocks)):
            place = own // part.width * part.period + own % part.width
            if place < lowest or place > highest:
                continue
            block = left + place
            base = block * (CELLS * team_size())
            last_cell = base + CELLS * team_size() - 1
            first_cell = base + lane()
            decided = u64(0)
            if last_cell > reach:
                decided = fill(source, target, first_cell, reach, pair, SOME, at_once)
            elif base >= pair.weight1 + pair.weight2:
                decided = fill(source, target, first_cell, reach, pair, BOTH, at_once)
            elif base >= pair.weight2 and last_cell < pair.weight1 + pair.weight2:
                decided = fill(source, target, first_cell, reach, pair, EITHER, at_once)
            elif base >= pair.weight1 and last_cell < pair.weight2:
                decided = fill(source, target, first_cell, reach, pair, FIRST, at_once)
            elif last_cell < pair.weight1:
                decided = fill(source, target, first_cell, reach, pair, NOTHING, at_once)
            else:
                decided = fill(source, target, first_cell, reach, pair, SOME, at_once)
            if tracing:
                word = row + i64(block * team_size() + lane())
                stored.bits[word] = u32(decided & 0xFFFFFFFF)
                stored.bits[word + i64(stored.words)] = u32(decided >> 32)
    barrier()
    if lane() == 0:
        passes.clock[team_rank()] = step + 1


@kernel
def trace_items(
    passes: Passes,
    stored: DecisionBits,
    first: i32,
    lowest_cell: i32,
    share: CapacityShare,
    lanes: Const[i32],
    trace: ItemTrace,
    chosen: Array[u8],
):
    """Trace the items of the passes in ``stored``, last first, down to the cell ``lowest_cell``; one lane.

    Parameters
    ----------
    share
        The trace ends where it leaves the blocks of this rank.
    stored
        Decisions of `add_two_items`, launched with ``lanes`` lanes a team; ``first`` is their earliest pass.
    chosen : Array, 2 * passes
        Out: 1 for each item taken.
    """
    item = trace.item
    cell = trace.cell
    while item >= 2 * first:
        weight = passes.weights[item]
        cell = min(cell, passes.high[(item >> 1) + 1])
        if cell < lowest_cell:
            break
        block = cell // (CELLS * lanes)
        if block // share.widths[item >> 1] % share.ranks != share.place:
            break
        within = cell - block * (CELLS * lanes)
        row = i64(item - 2 * first) * i64(stored.words)
        word = stored.bits[row + i64(block * lanes + within % lanes)]
        if (word >> u32(within // lanes)) & 1 != 0:
            chosen[item] = u8(1)
            cell -= weight
        item -= 1
    trace.item = item
    trace.cell = cell
