"""Exact roulette over the cities that an ant has not visited, by one lane or several (`menezes2019`, equation 1).

A row of weights is a table of 32 columns, with city j in column j % 32. The roulette passes through the table column by
column, so its outcome does not depend on the number of lanes that share the row: every lane sums one or more columns, a
prefix sum over the columns finds the column, and its lane finds the city. A word of the mask of unvisited cities has 32
rows of one column. A row's weights sum to less than 2^32, so all sums are exact in 32 bits.
"""

from __future__ import annotations

from core.lang import *

COLUMNS = 32
BUNCH = 8
"""Number of column sums of a lane that are added first: the wheel finds the bunch, then the column in it."""


@bundle
class ChoiceWeights:
    """The weights by which ants choose, equation 1's tau^alpha * eta^beta in integers.

    Attributes
    ----------
    weights : Array, n * stride
        Weight of the edge from city i to city j at i * stride + j; 0 for j = i and for j >= n.
    near_cities, near_weights : Array, n * 32
        Candidate lists, nearest first, and their weights; 0 after the end of a list.
    """

    weights: Array[u32]
    stride: i32
    near_cities: Array[u16]
    near_weights: Array[u32]


@bundle
class WheelLayout:
    """Distribution of a team's ants and of a row of weights over its lanes.

    Attributes
    ----------
    ants
        Ants of a team, in lockstep; each has an equal share of the lanes.
    near_columns
        Candidates per lane of an ant, up to `BUNCH` or a multiple of it; 0 without lists.
    lanes
        Lanes that share a row: 1, 2, 4, .. 32 or a multiple of 32. They are the lanes of an ant; with lists the whole
        team, since ants rarely exhaust their lists at the same time.
    columns, pieces
        Columns of a lane; if lanes share a column, number of its pieces.
    depth, words
        Rows of a piece, and mask words of each of its columns.
    rows
        Rows of a block of a piece. A lane stores its sums after each block, so it finds the block, then the row in it.
    """

    ants: Const[i32]
    near_columns: Const[i32]
    lanes: Const[i32]
    columns: Const[i32]
    pieces: Const[i32]
    depth: Const[i32]
    words: Const[i32]
    rows: Const[i32]


@bundle
class RouletteTeam:
    """Shared memory of a team.

    Attributes
    ----------
    unvisited : Array, ants * pieces * words * 32
        Masks of the unvisited cities of each ant; the words of all ants alternate.
    scratch : Array, 2 * team_size
        Work space of `spin`.
    marks : Array, depth / rows * columns * team_size
        Sums of every lane's columns up to the end of each block.
    here, chosen : Array, ants
        The city of each ant, and its next city.
    """

    layout: WheelLayout
    unvisited: Array[u32]
    scratch: Array[u32]
    marks: Array[u32]
    here: Array[i32]
    chosen: Array[i32]


@bundle
class ColumnSums:
    """The sums of a lane's columns, and of each `BUNCH` of them."""

    sums: Array[u32]
    bunches: Array[u32]
    count: Const[i32]


@function
def mask_word(city: i32, layout: WheelLayout) -> i32:
    """Return the index of the mask word of a city: 32 rows of one column of one piece are a word."""
    row = city >> 5
    if layout.pieces == 1:
        return (row & ~31) + (city & 31)
    return (row // layout.depth * layout.words + (row % layout.depth >> 5)) * COLUMNS + (city & 31)


@function
def mask_bit(city: i32, layout: WheelLayout) -> u32:
    """Return the city's bit in its mask word."""
    row = city >> 5
    if layout.pieces > 1:
        row = row % layout.depth
    return u32(1) << u32(row & 31)


@function
def is_unvisited(city: i32, ant: i32, team: RouletteTeam) -> boolean:
    """Return True if the team's ant number ``ant`` can still visit the city."""
    word = team.unvisited[mask_word(city, team.layout) * team.layout.ants + ant]
    return word & mask_bit(city, team.layout) != 0


@function
def visit(city: i32, ant: i32, team: RouletteTeam):
    """Move the ant to the city, and mark it as visited."""
    team.here[ant] = city
    k = mask_word(city, team.layout) * team.layout.ants + ant
    team.unvisited[k] = team.unvisited[k] & ~mask_bit(city, team.layout)


@function
def add_up(columns: ColumnSums) -> u32:
    """Sum the bunches of a lane's columns; return the total."""
    total = u32(0)
    for begin in range(0, columns.count, BUNCH):
        bunch = u32(0)
        for s in range(begin, min(begin + BUNCH, columns.count)):
            bunch += columns.sums[s]
        columns.bunches[begin // BUNCH] = bunch
        total += bunch
    return total


@function
def spin(draw: u32, total: u32, place: i32, base: i32, lanes: Const[i32], scratch: Array[u32]) -> u32:
    """Return the position of the ball in this lane's part of the wheel: below ``total`` if the ball stops there.

    The wheel has the totals of ``lanes`` lanes from ``base`` on, in the order of their ``place``. If the ball stops
    before the lane's part, the result is very large, since unsigned numbers wrap around. The prefix sum is Hillis and
    Steele's, between two halves of ``scratch``, so all lanes of the team call this together.
    """
    if lanes == 1:
        return mulhi(draw, total)
    source = base
    target = base + team_size()
    prefix_sum = total
    scratch[source + place] = prefix_sum
    barrier()
    reach = 1
    while reach < lanes:
        if place >= reach:
            prefix_sum += scratch[source + place - reach]
        scratch[target + place] = prefix_sum
        barrier()
        source, target = target, source
        reach *= 2
    return mulhi(draw, scratch[source + lanes - 1]) - (prefix_sum - total)


@function
def pick(target: u32, columns: ColumnSums) -> u64:
    """Return the column in which the running sum exceeds ``target`` (low half), and the rest of ``target`` there."""
    column = 0
    sum_before = u32(0)
    running_sum = u32(0)
    if columns.count > BUNCH:
        for b in range(columns.count // BUNCH):
            running_sum += columns.bunches[b]
            if running_sum <= target:
                column = (b + 1) * BUNCH
                sum_before = running_sum
        running_sum = sum_before
    begin = column
    for s in range(min(BUNCH, columns.count)):
        running_sum += columns.sums[begin + s]
        if running_sum <= target:
            column = begin + s + 1
            sum_before = running_sum
    return (u64(target - sum_before) << 32) | u64(column)


@function
def choose_near(draw: u32, ant: i32, team: RouletteTeam, choice: ChoiceWeights):
    """Choose an ant's next city from the candidate list of its city; -1 if all of the list is visited."""
    layout = team.layout
    columns = ColumnSums(
        local_array(layout.near_columns, u32),
        local_array((layout.near_columns + BUNCH - 1) // BUNCH, u32),
        layout.near_columns,
    )
    member = lane() % (team_size() // layout.ants)
    first = team.here[ant] * COLUMNS + member * layout.near_columns
    for s in range(layout.near_columns):
        weight = choice.near_weights[first + s]
        columns.sums[s] = weight if is_unvisited(i32(choice.near_cities[first + s]), ant, team) else 0
    total = add_up(columns)
    if member == 0:
        team.chosen[ant] = -1
    target = spin(draw, total, member, lane() - member, team_size() // layout.ants, team.scratch)
    if target < total:
        s = i32(pick(target, columns) & 0xFFFFFFFF)
        team.chosen[ant] = i32(choice.near_cities[first + s])


@function
def choose_any(draw: u32, ant: i32, base: i32, team: RouletteTeam, choice: ChoiceWeights):
    """Choose an ant's next city from its whole row of weights, by the lanes from ``base`` on."""
    layout = team.layout
    columns = ColumnSums(
        local_array(layout.columns, u32), local_array((layout.columns + BUNCH - 1) // BUNCH, u32), layout.columns
    )
    member = lane() - base
    width = layout.lanes // layout.pieces
    column = member % width * layout.columns
    piece = member // width
    first = team.here[ant] * choice.stride + piece * layout.depth * COLUMNS + column
    masks = piece * layout.words * COLUMNS + column
    for s in range(layout.columns):
        columns.sums[s] = u32(0)
    for b in range(layout.depth // layout.rows):
        mask = masks + (b * layout.rows >> 5) * COLUMNS
        for r in range(layout.rows):
            k = b * layout.rows + r
            for s in range(layout.columns):
                weight = choice.weights[first + k * COLUMNS + s]
                word = team.unvisited[(mask + s) * layout.ants + ant]
                columns.sums[s] += weight if word & (u32(1) << u32(k)) != 0 else 0
        for s in range(layout.columns):
            team.marks[(b * layout.columns + s) * team_size() + lane()] = columns.sums[s]
    total = add_up(columns)
    target = spin(draw, total, member % width * layout.pieces + piece, base, layout.lanes, team.scratch)
    if target < total:
        picked = pick(target, columns)
        remaining = u32(picked >> 32)
        s = i32(picked & 0xFFFFFFFF)
        b = 0
        while team.marks[(b * layout.columns + s) * team_size() + lane()] <= remaining:
            b += 1
        if b > 0:
            remaining -= team.marks[((b - 1) * layout.columns + s) * team_size() + lane()]
        k = b * layout.rows
        word = team.unvisited[(masks + (k >> 5) * COLUMNS + s) * layout.ants + ant] >> u32(k)
        running_sum = u32(0)
        for r in range(layout.rows):
            weight = choice.weights[first + (b * layout.rows + r) * COLUMNS + s]
            running_sum += weight if (word >> u32(r)) & 1 != 0 else 0
            if running_sum <= remaining:
                k += 1
        team.chosen[ant] = (piece * layout.depth + k) * COLUMNS + column + s
    if layout.lanes > 1:
        barrier()
