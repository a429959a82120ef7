"""Two knapsack tables, of the lighter items and of the heavier ones, and the one selection that both make together.

With L[j] the best value of the lighter items within capacity j and H[j] that of the heavier ones, the largest value is
the maximum of H[x] + L[c - x] over all *splits* x of the capacity c (Horowitz and Sahni's division, J. ACM 21(2), 1974,
with tables in place of lists).

Several splits may reach it, with different selections. The one that the trace of a single table finds leaves out the
last item if any best selection does, then the item before it if any of those that are left does, and so on. So all best
splits are traced together, each with its own capacity: an item is left out if the decision at the capacity of any split
says so, and the others are dropped then; an item that no split leaves out takes its weight from the capacities of all.
"""

from __future__ import annotations

from core.kernels.dp.knapsack import CELLS, DecisionBits, Passes
from core.lang import *
from core.lang.library import team_max

V = Generic("V")
DROPPED = -1
"""Mark instead of the cell of a dropped split."""


@bundle
class HalfTables:
    """The last rows of both tables; a split x, ``first`` to ``last``, leaves ``capacity`` - x to the lighter items."""

    lighter: Array[V]
    heavier: Array[V]
    capacity: i32
    first: i32
    last: i32


@bundle
class Splits:
    """The best splits, and the progress of their trace.

    Attributes
    ----------
    count : Array, 1
        Number of splits.
    cells : Array
        The remaining capacity of each remaining split, if all fit; or `DROPPED`.
    alive : Array, blocks * lanes
        The same for any number of splits: a bit for each remaining one, in the order of
        `core.kernels.dp.knapsack.DecisionBits`.
    leaves : Array, items
        1 if any split leaves the item out.
    taken : Array, items
        The weight of the later items that all splits take, for each item.
    clock : Array, teams
        The next item.
    """

    count: Array[i32]
    cells: Array[i32]
    alive: Array[u32]
    leaves: Array[i32]
    taken: Array[i32]
    clock: Array[i32]


@kernel
def best_values(tables: HalfTables, best: Array[V]):
    """Find the largest sum of both tables for every team's splits: ``best`` has one element for each team."""
    scratch = shared_array(team_size(), V)
    found = V(0)
    for split in range(
        tables.first + team_rank() * team_size() + lane(), tables.last + 1, team_count() * team_size()
    ):  # fmt: skip
        found = max(found, tables.heavier[split] + tables.lighter[tables.capacity - split])
    found = team_max(found, scratch)
    if lane() == 0:
        best[team_rank()] = found


@kernel
def mark_splits(tables: HalfTables, value: V, splits: Splits, blocks: i32, room: i32):
    """Mark the splits that reach a value, and list the first ``room`` of them.

    Of neighbours with equal values in both tables only the last is marked, since it allows all that the others do.
    """
    for block in range(team_rank(), blocks, team_count()):
        word = u32(0)
        for k in range(CELLS):
            split = (block * CELLS + k) * team_size() + lane()
            if split >= tables.first and split <= tables.last:
                heavier, lighter = tables.heavier[split], tables.lighter[tables.capacity - split]
                if heavier + lighter == value:
                    hidden = False
                    if split < tables.last:
                        if tables.heavier[split + 1] == heavier:
                            hidden = tables.lighter[tables.capacity - split - 1] == lighter
                    if not hidden:
                        word = word | (u32(1) << u32(k))
        splits.alive[block * team_size() + lane()] = word
        if word != 0:
            place = atomic_add(splits.count, 0, popcount(word))
            for k in set_bits(word):
                if place < room:
                    splits.cells[place] = (block * CELLS + k) * team_size() + lane()
                place += 1


@kernel
def trace_few(
    passes: Passes, kept: DecisionBits, first: i32, splits: Splits, count: i32, lanes: Const[i32], chosen: Array[u8]
):  # fmt: skip
    """Decide the items of the passes in ``kept``, the last first; one team, and a list of ``count`` splits.

    Parameters
    ----------
    first
        The earliest pass in ``kept``; teams of ``lanes`` lanes made them.
    chosen : Array, items
        Out: 1 for each item taken.
    """
    leaving = shared_array(3, i32)  # of this item, the one before it and the next one
    item = splits.clock[0]
    if lane() == 0:
        leaving[item % 3] = 0
    barrier()
    while item >= 2 * first:
        weight, reach = passes.weights[item], passes.high[(item >> 1) + 1]
        row = i64(item - 2 * first) * i64(kept.words)
        for k in range(lane(), count, team_size()):
            cell = min(splits.cells[k], reach)
            if cell != DROPPED and decision(kept, row, cell, lanes) == 0:
                atomic_max(leaving, item % 3, 1)
        if lane() == 0:
            leaving[(item + 2) % 3] = 0
        barrier()
        leaves = leaving[item % 3] != 0
        for k in range(lane(), count, team_size()):
            cell = min(splits.cells[k], reach)
            if cell != DROPPED:
                if not leaves:
                    splits.cells[k] = cell - weight
                elif decision(kept, row, cell, lanes) != 0:
                    splits.cells[k] = DROPPED
        if lane() == 0 and not leaves:
            chosen[item] = u8(1)
        item -= 1
    barrier()
    if lane() == 0:
        splits.clock[0] = item


@function
def decision(kept: DecisionBits, row: i64, cell: i32, lanes: Const[i32]) -> u32:
    """Return True if the item with the first word ``row`` is taken in a cell."""
    block = cell // (CELLS * lanes)
    within = cell - block * (CELLS * lanes)
    return (kept.bits[row + i64(block * lanes + within % lanes)] >> u32(within // lanes)) & 1


@bundle
class Span:
    """Passes ``first`` to ``end`` - 1 with stored decisions, and their numbers of items and of blocks of cells."""

    first: i32
    end: i32
    items: i32
    blocks: i32


@bundle
class ShiftedDecisions:
    """Place of the decisions for an item, relative to splits that have used some weight.

    Attributes
    ----------
    row : i64
        First word of the item.
    columns, lanes : i32
        Columns of the block, and further lanes, by which the weight moves a cell to the left.
    reach : i32
        From this cell on all decisions are alike.
    """

    row: i64
    columns: i32
    lanes: i32
    reach: i32


@function
def decisions_at(kept: DecisionBits, moved: ShiftedDecisions, block: i32, lanes: Const[i32]) -> u32:
    """Return the decisions for the splits of a lane's word of a block; arbitrary bits for cells below 0."""
    column, which = block * CELLS - moved.columns, lane() - moved.lanes
    if which < 0:
        which += lanes
        column -= 1
    word, offset = column >> 5, u32(column & 31)
    bits = u32(0)
    if word >= 0:
        bits = kept.bits[moved.row + i64(word * lanes + which)] >> offset
    if offset > 0 and word >= -1:
        bits = bits | (kept.bits[moved.row + i64((word + 1) * lanes + which)] << (u32(32) - offset))
    inside = (moved.reach - which + lanes) // lanes - column
    if inside < CELLS:
        last = decision(kept, moved.row, moved.reach, lanes)
        beyond = ~u32(0) if inside <= 0 else ~((u32(1) << u32(inside)) - 1)
        bits = (bits & ~beyond) | (beyond if last != 0 else u32(0))
    return bits


@kernel
def narrow(passes: Passes, kept: DecisionBits, splits: Splits, span: Span, lanes: Const[i32], chosen: Array[u8]):
    """Decide an item: drop the splits that take it, if any leaves it out. Then check if any leaves out the next.

    The passes of the span are in ``kept``; as many launches as they have items, and one more, decide them.

    Parameters
    ----------
    lanes
        Of the teams of `core.kernels.dp.knapsack.add_two_items`, and of these.
    chosen : Array, items
        Out: 1 for each item taken.
    """
    item = splits.clock[team_rank()]
    decided = item + 1
    leaves = True
    before = i32(0)
    taken = i32(0)
    if decided < span.items:
        leaves = splits.leaves[decided] != 0
        before = splits.taken[decided]
        taken = before if leaves else before + passes.weights[decided]
    # Earlier launches have followed the decisions of their passes, which are no longer stored.
    drops = leaves and decided < 2 * span.end
    asks = item >= 2 * span.first
    there, next_there = min(decided, 2 * span.end - 1), max(item, 2 * span.first)
    row, next_row = i64(there - 2 * span.first), i64(next_there - 2 * span.first)
    left = ShiftedDecisions(row * i64(kept.words), before // lanes, before % lanes, passes.high[(there >> 1) + 1])
    asked = ShiftedDecisions(
        next_row * i64(kept.words), taken // lanes, taken % lanes, passes.high[(next_there >> 1) + 1]
    )
    leaving = u32(0)
    for block in range(team_rank(), span.blocks, team_count()):
        place = block * team_size() + lane()
        alive = splits.alive[place]
        if alive != 0:
            if drops:
                alive = alive & ~decisions_at(kept, left, block, lanes)
                splits.alive[place] = alive
            if asks:
                leaving = leaving | (alive & ~decisions_at(kept, asked, block, lanes))
    if leaving != 0:
        atomic_max(splits.leaves, item, 1)
    if team_rank() == 0 and lane() == 0:
        if not leaves:
            chosen[decided] = u8(1)
        if asks:
            splits.taken[item] = taken
    barrier()
    if lane() == 0 and asks:
        splits.clock[team_rank()] = item - 1
