"""Exact roulette over the cities that an ant has not visited, by one lane or several (`menezes2019`, equation 1).

A row of weights is a table of 32 columns, city j in column j % 32: 32 cities next to each other in memory are one word
of the ant's mask of unvisited cities. The roulette goes through the table column by column, so its outcome does not
depend on how many lanes share the row: a column's sum is one lane's (or one of several accumulators of a lone lane),
a prefix sum over the columns finds the column, and the lane that owns it finds the city. A row's weights sum to less
than 2^32, so all sums are exact in 32 bits.
"""

from __future__ import annotations

from core.lang import *

COLUMNS = 32
BUNCH = 8
"""A lane's column sums are added in bunches of 8: the wheel first finds the bunch, then the column in it."""


@bundle
class ChoiceWeights:
    """The weights by which ants choose, equation 1's tau^alpha * eta^beta in integers.

    Attributes
    ----------
    weights : Array, n * stride
        Of the edge from city i to city j at i * stride + j; 0 for j = i and beyond n.
    near_cities, near_weights : Array, n * 32
        Candidate lists, nearest first, and their weights, 0 where a list has ended.
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
        Of a team, in lockstep; each has an equal share of the lanes.
    near_columns
        Candidates per lane of an ant, up to `BUNCH` or a multiple of it; 0 without lists.
    lanes
        Lanes that share a row: 1, 2, 4, .. 32 or a multiple of 32. Those of an ant; with lists the whole team, since
        ants rarely exhaust their lists at the same time.
    columns, pieces
        Columns of a lane; if lanes share a column, the pieces into which it is cut.
    depth, words
        Rows of a piece, and words of a mask for each of its columns.
    rows
        Rows of a block of a piece: a lane notes its sums after each, so it finds first the block, then the row in it.
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
        Masks of the cities left to each ant; the words of all ants alternate.
    scratch : Array, 2 * team_size
        For `spin`.
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
    """The city's bit in that word."""
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
    """Move the ant to the city, to which it will not come again."""
    team.here[ant] = city
    k = mask_word(city, team.layout) * team.layout.ants + ant
    team.unvisited[k] = team.unvisited[k] & ~mask_bit(city, team.layout)


@function
def add_up(own: ColumnSums) -> u32:
    """The sum of a lane's columns."""
    total = u32(0)
    for begin in range(0, own.count, BUNCH):
        bunch = u32(0)
        for s in range(begin, min(begin + BUNCH, own.count)):
            bunch += own.sums[s]
        own.bunches[begin // BUNCH] = bunch
        total += bunch
    return total


@function
def spin(draw: u32, total: u32, place: i32, base: i32, lanes: Const[i32], scratch: Array[u32]) -> u32:
    """Return the ball's distance into this lane's part of the wheel: below the part's ``total`` if it stops there.

    The wheel has the totals of ``lanes`` lanes from ``base`` on, in the order of their ``place``. For a ball that stops
    before the lane's part the result is very large, since unsigned numbers wrap around. The prefix sum is Hillis
    and Steele's, between two halves of ``scratch``, so all lanes of the team call this together.
    """
    if lanes == 1:
        return mulhi(draw, total)
    source = base
    target = base + team_size()
    run = total
    scratch[source + place] = run
    barrier()
    reach = 1
    while reach < lanes:
        if place >= reach:
            run += scratch[source + place - reach]
        scratch[target + place] = run
        barrier()
        source, target = target, source
        reach *= 2
    return mulhi(draw, scratch[source + lanes - 1]) - (run - total)


@function
def pick(target: u32, own: ColumnSums) -> u64:
    """The column in which the running sum passes ``target``, in the low half; above, what is left of it there."""
    column = 0
    passed = u32(0)
    run = u32(0)
    if own.count > BUNCH:
        for b in range(own.count // BUNCH):
            run += own.bunches[b]
            if run <= target:
                column = (b + 1) * BUNCH
                passed = run
        run = passed
    begin = column
    for s in range(min(BUNCH, own.count)):
        run += own.sums[begin + s]
        if run <= target:
            column = begin + s + 1
            passed = run
    return (u64(target - passed) << 32) | u64(column)


@function
def choose_near(draw: u32, ant: i32, team: RouletteTeam, choice: ChoiceWeights):
    """Choose an ant's next city from the candidate list of the city where it is; -1 if all of it is visited."""
    layout = team.layout
    own = ColumnSums(
        local_array(layout.near_columns, u32),
        local_array((layout.near_columns + BUNCH - 1) // BUNCH, u32),
        layout.near_columns,
    )
    member = lane() % (team_size() // layout.ants)
    first = team.here[ant] * COLUMNS + member * layout.near_columns
    for s in range(layout.near_columns):
        weight = choice.near_weights[first + s]
        own.sums[s] = weight if is_unvisited(i32(choice.near_cities[first + s]), ant, team) else 0
    total = add_up(own)
    if member == 0:
        team.chosen[ant] = -1
    target = spin(draw, total, member, lane() - member, team_size() // layout.ants, team.scratch)
    if target < total:
        s = i32(pick(target, own) & 0xFFFFFFFF)
        team.chosen[ant] = i32(choice.near_cities[first + s])


@function
def choose_any(draw: u32, ant: i32, base: i32, team: RouletteTeam, choice: ChoiceWeights):
    """Choose an ant's next city from its whole row of weights, by the lanes from ``base`` on that share it."""
    layout = team.layout
    own = ColumnSums(
        local_array(layout.columns, u32), local_array((layout.columns + BUNCH - 1) // BUNCH, u32), layout.columns
    )
    member = lane() - base
    width = layout.lanes // layout.pieces
    column = member % width * layout.columns
    piece = member // width
    first = team.here[ant] * choice.stride + piece * layout.depth * COLUMNS + column
    masks = piece * layout.words * COLUMNS + column
    for s in range(layout.columns):
        own.sums[s] = u32(0)
    for b in range(layout.depth // layout.rows):
        mask = masks + (b * layout.rows >> 5) * COLUMNS
        for r in range(layout.rows):
            k = b * layout.rows + r
            for s in range(layout.columns):
                weight = choice.weights[first + k * COLUMNS + s]
                word = team.unvisited[(mask + s) * layout.ants + ant]
                own.sums[s] += weight if word & (u32(1) << u32(k)) != 0 else 0
        for s in range(layout.columns):
            team.marks[(b * layout.columns + s) * team_size() + lane()] = own.sums[s]
    total = add_up(own)
    target = spin(draw, total, member % width * layout.pieces + piece, base, layout.lanes, team.scratch)
    if target < total:
        picked = pick(target, own)
        left = u32(picked >> 32)
        s = i32(picked & 0xFFFFFFFF)
        b = 0
        while team.marks[(b * layout.columns + s) * team_size() + lane()] <= left:
            b += 1
        if b > 0:
            left -= team.marks[((b - 1) * layout.columns + s) * team_size() + lane()]
        k = b * layout.rows
        word = team.unvisited[(masks + (k >> 5) * COLUMNS + s) * layout.ants + ant] >> u32(k)
        run = u32(0)
        for r in range(layout.rows):
            weight = choice.weights[first + (b * layout.rows + r) * COLUMNS + s]
            run += weight if (word >> u32(r)) & 1 != 0 else 0
            if run <= left:
                k += 1
        team.chosen[ant] = (piece * layout.depth + k) * COLUMNS + column + s
    if layout.lanes > 1:
        barrier()
