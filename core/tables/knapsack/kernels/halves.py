"""Two knapsack tables, of the lighter items and of the heavier ones, and the selection that both determine together.

With L[j] the best value of the lighter items within capacity j and H[j] that of the heavier ones, the largest value is
the maximum of H[x] + L[c - x] over all *splits* x of the capacity c (Horowitz and Sahni's division, J. ACM 21(2), 1974,
with tables in place of lists).

Several splits may reach it, with different selections. The trace of a single table leaves out the last item if any best
selection does, then the item before it if any remaining selection does, and so on. To find the same selection, all best
splits are traced together, each with its capacity. If the decision of any split leaves an item out, it is left out, and
splits that take it are dropped. Otherwise its weight is subtracted from the capacities of all splits.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import team_max
from core.tables.knapsack.kernels.table import CELLS, DecisionBits, Passes

V = Generic("V")
DROPPED = -1
"""Mark in place of the cell of a dropped split."""


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
        Capacity of each split in the list, or `DROPPED`.
    alive : Array, blocks * lanes
        A bit for each remaining split, for any number of splits, in the order of
        `core.tables.knapsack.kernels.table.DecisionBits`.
    leaves : Array, items
        1 if any split leaves the item out.
    taken : Array, items
        For each item, the weight of the later items that all splits take.
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
    """Write the largest sum of both tables over each team's splits; ``best`` has one element for each team."""
    scratch = shared_array(team_size(), V)
    largest = V(0)
    for split in range(
        tables.first + team_rank() * team_size() + lane(), tables.last + 1, team_count() * team_size()
    ):  # fmt: skip
        largest = max(largest, tables.heavier[split] + tables.lighter[tables.capacity - split])
    largest = team_max(largest, scratch)
    if lane() == 0:
        best[team_rank()] = largest


@kernel
def mark_splits(tables: HalfTables, value: V, splits: Splits, blocks: i32, list_size: i32):
    """Mark the splits that reach a value, and list up to ``list_size`` of them.

    Of neighbours with equal values in both tables, only the last is marked: it allows all selections of the others.
    """
    for block in range(team_rank(), blocks, team_count()):
        word = u32(0)
        for k in range(CELLS):
            split = (block * CELLS + k) * team_size() + lane()
            if split >= tables.first and split <= tables.last:
                heavier, lighter = tables.heavier[split], tables.lighter[tables.capacity - split]
                if heavier + lighter == value:
                    is_hidden = False
                    if split < tables.last:
                        if tables.heavier[split + 1] == heavier:
                            is_hidden = tables.lighter[tables.capacity - split - 1] == lighter
                    if not is_hidden:
                        word = word | (u32(1) << u32(k))
        splits.alive[block * team_size() + lane()] = word
        if word != 0:
            place = atomic_add(splits.count, 0, popcount(word))
            for k in set_bits(word):
                if place < list_size:
                    splits.cells[place] = (block * CELLS + k) * team_size() + lane()
                place += 1


@kernel
def trace_few(
    passes: Passes, stored: DecisionBits, first: i32, splits: Splits, count: i32, lanes: Const[i32], chosen: Array[u8]
):  # fmt: skip
    """Decide the items of the passes in ``stored``, last first, with a list of ``count`` splits; one team.

    Parameters
    ----------
    first
        The earliest pass in ``stored``, which teams of ``lanes`` lanes made.
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
        row = i64(item - 2 * first) * i64(stored.words)
        for k in range(lane(), count, team_size()):
            cell = min(splits.cells[k], reach)
            if cell != DROPPED and decision(stored, row, cell, lanes) == 0:
                atomic_max(leaving, item % 3, 1)
        if lane() == 0:
            leaving[(item + 2) % 3] = 0
        barrier()
        is_left_out = leaving[item % 3] != 0
        for k in range(lane(), count, team_size()):
            cell = min(splits.cells[k], reach)
            if cell != DROPPED:
                if not is_left_out:
                    splits.cells[k] = cell - weight
                elif decision(stored, row, cell, lanes) != 0:
                    splits.cells[k] = DROPPED
        if lane() == 0 and not is_left_out:
            chosen[item] = u8(1)
        item -= 1
    barrier()
    if lane() == 0:
        splits.clock[0] = item


@function
def decision(stored: DecisionBits, row: i64, cell: i32, lanes: Const[i32]) -> u32:
    """Return 1 if the item with the first word ``row`` is taken in a cell, else 0."""
    block = cell // (CELLS * lanes)
    within = cell - block * (CELLS * lanes)
    return (stored.bits[row + i64(block * lanes + within % lanes)] >> u32(within // lanes)) & 1


@bundle
class Span:
    """Passes ``first`` to ``end`` - 1 with stored decisions, and their numbers of items and of blocks of cells."""

    first: i32
    end: i32
    items: i32
    blocks: i32


@bundle
class ShiftedDecisions:
    """Place of the decisions of an item, relative to splits that have used some weight.

    Attributes
    ----------
    row : i64
        First word of the item.
    columns, lanes : i32
        Columns of a block and further lanes by which the weight shifts a cell to the left.
    reach : i32
        Decisions of all cells from this one on are equal.
    """

    row: i64
    columns: i32
    lanes: i32
    reach: i32


@function
def decisions_at(stored: DecisionBits, moved: ShiftedDecisions, block: i32, lanes: Const[i32]) -> u32:
    """Return the decisions of the splits in a lane's word of a block; arbitrary bits for cells below 0."""
    column, which = block * CELLS - moved.columns, lane() - moved.lanes
    if which < 0:
        which += lanes
        column -= 1
    word, offset = column >> 5, u32(column & 31)
    bits = u32(0)
    if word >= 0:
        bits = stored.bits[moved.row + i64(word * lanes + which)] >> offset
    if offset > 0 and word >= -1:
        bits = bits | (stored.bits[moved.row + i64((word + 1) * lanes + which)] << (u32(32) - offset))
    inside = (moved.reach - which + lanes) // lanes - column
    if inside < CELLS:
        last_decision = decision(stored, moved.row, moved.reach, lanes)
        beyond = ~u32(0) if inside <= 0 else ~((u32(1) << u32(inside)) - 1)
        bits = (bits & ~beyond) | (beyond if last_decision != 0 else u32(0))
    return bits


@kernel
def narrow(passes: Passes, stored: DecisionBits, splits: Splits, span: Span, lanes: Const[i32], chosen: Array[u8]):
    """Decide an item: if any split leaves it out, drop the splits that take it. Then check the next item.

    The passes of the span are in ``stored``. Launch this once for each item of the span, and once more.

    Parameters
    ----------
    lanes
        Lanes of a team, here and in `core.tables.knapsack.kernels.table.add_two_items`.
    chosen : Array, items
        Out: 1 for each item taken.
    """
    item = splits.clock[team_rank()]
    decided = item + 1
    leaves = True
    weight_before = i32(0)
    weight_taken = i32(0)
    if decided < span.items:
        leaves = splits.leaves[decided] != 0
        weight_before = splits.taken[decided]
        weight_taken = weight_before if leaves else weight_before + passes.weights[decided]
    # Items of passes that are no longer stored were decided by earlier launches.
    is_narrowing = leaves and decided < 2 * span.end
    is_checking = item >= 2 * span.first
    decided_place, next_place = min(decided, 2 * span.end - 1), max(item, 2 * span.first)
    row, next_row = i64(decided_place - 2 * span.first), i64(next_place - 2 * span.first)
    decided_bits = ShiftedDecisions(
        row * i64(stored.words), weight_before // lanes, weight_before % lanes, passes.high[(decided_place >> 1) + 1]
    )
    next_bits = ShiftedDecisions(
        next_row * i64(stored.words), weight_taken // lanes, weight_taken % lanes, passes.high[(next_place >> 1) + 1]
    )
    leaving = u32(0)
    for block in range(team_rank(), span.blocks, team_count()):
        place = block * team_size() + lane()
        alive = splits.alive[place]
        if alive != 0:
            if is_narrowing:
                alive = alive & ~decisions_at(stored, decided_bits, block, lanes)
                splits.alive[place] = alive
            if is_checking:
                leaving = leaving | (alive & ~decisions_at(stored, next_bits, block, lanes))
    if leaving != 0:
        atomic_max(splits.leaves, item, 1)
    if team_rank() == 0 and lane() == 0:
        if not leaves:
            chosen[decided] = u8(1)
        if is_checking:
            splits.taken[item] = weight_taken
    barrier()
    if lane() == 0 and is_checking:
        splits.clock[team_rank()] = item - 1
