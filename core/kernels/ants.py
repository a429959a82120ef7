"""Tours of ants: exact roulette over the cities not yet visited (`menezes2019`, equation 1, algorithms 4 and 5).

A row of weights is a table of 32 columns, city j in column j % 32: 32 cities next to each other in memory are one word
of the ant's mask of unvisited cities. The roulette goes through the table column by column, so its outcome does not
depend on how many lanes share the row: a column's sum is one lane's (or one of several accumulators of a lone lane),
a prefix sum over the columns finds the column, and the lane that owns it finds the city. A row's weights sum to less
than 2^32, so all sums are exact in 32 bits.
"""

from __future__ import annotations

from core.kernels.two_opt import scrambled
from core.lang import (
    Array,
    Const,
    Generic,
    atomic_add,
    atomic_min,
    barrier,
    function,
    i32,
    kernel,
    lane,
    local_array,
    min,
    mulhi,
    shared_array,
    team_count,
    team_rank,
    team_size,
    u16,
    u32,
    u64,
)
from core.lang.library import philox, team_sum

D = Generic("D")
COLUMNS = 32
SOME = 8
"""Columns of a lane that are added up before the others: two short searches are faster than a long one."""
ITERATION, BEST, FOUND_AT, ANT = 0, 1, 2, 3
STATES = 4
"""A colony's state on the device: the next iteration, and the best tour's length, iteration and ant."""


@function
def prefix_sum(value: u32, place: i32, base: i32, lanes: Const[i32], scratch: Array[u32]) -> u64:
    """Sum of a group's values << 32 | sum of those up to ``place``, a lane's rank in the order of the sum.

    Hillis and Steele's scan between two halves of ``scratch``, which has 2 * ``team_size()`` elements; ``base`` is
    the group's first lane. All lanes of the team call it together.
    """
    if lanes == 1:
        return (u64(value) << 32) | u64(value)
    source = base
    target = base + team_size()
    total = value
    scratch[source + place] = total
    barrier()
    reach = 1
    while reach < lanes:
        if place >= reach:
            total += scratch[source + place - reach]
        scratch[target + place] = total
        barrier()
        source, target = target, source
        reach *= 2
    return (u64(scratch[source + lanes - 1]) << 32) | u64(total)


@function
def add_up(sums: Array[u32], columns: Const[i32], parts: Array[u32]) -> u32:
    """Sum of a lane's columns; ``parts`` gets the sums of `SOME` columns each."""
    total = u32(0)
    for s in range(0, columns, SOME):
        part = u32(0)
        for c in range(s, min(s + SOME, columns)):
            part += sums[c]
        parts[s // SOME] = part
        total += part
    return total


@function
def pick(target: u32, sums: Array[u32], columns: Const[i32], parts: Array[u32]) -> u64:
    """The column in which the running sum passes ``target``, in the low half; above, what is left of it there."""
    column = 0
    passed = u32(0)
    run = u32(0)
    if columns > SOME:
        for c in range(columns // SOME):
            run += parts[c]
            if run <= target:
                column = (c + 1) * SOME
                passed = run
        run = passed
    some = column
    for c in range(min(SOME, columns)):
        run += sums[some + c]
        if run <= target:
            column = some + c + 1
            passed = run
    return (u64(target - passed) << 32) | u64(column)


@function
def mask_word(city: i32, pieces: Const[i32], depth: Const[i32]) -> i32:
    """Which word of an ant's mask holds a city: 32 rows of one column of one piece of ``depth`` rows are a word."""
    row = city >> 5
    if pieces == 1:
        return (row & ~31) + (city & 31)
    return ((row // depth) * ((depth + 31) >> 5) + ((row % depth) >> 5)) * COLUMNS + (city & 31)


@function
def mask_bit(city: i32, pieces: Const[i32], depth: Const[i32]) -> u32:
    """The city's bit in that word."""
    row = city >> 5
    if pieces > 1:
        row = row % depth
    return u32(1) << u32(row & 31)


@function
def choose_near(
    draw: u32,
    at: i32,
    near_cities: Array[u16],
    near_weights: Array[u32],
    group: i32,
    groups: Const[i32],
    near_columns: Const[i32],
    pieces: Const[i32],
    blocks: Const[i32],
    rows: Const[i32],
    free: Array[u32],
    scratch: Array[u32],
    chosen: Array[i32],
):
    """Choose the group's next city from the candidate list that begins at ``at``; -1 if all of it is visited."""
    sums = local_array(near_columns, u32)
    parts = local_array((near_columns + SOME - 1) // SOME, u32)
    lanes = team_size() // groups
    member = lane() % lanes
    for s in range(near_columns):
        k = at + member * near_columns + s
        city = i32(near_cities[k])
        weight = near_weights[k]
        word = free[mask_word(city, pieces, blocks * rows) * groups + group]
        sums[s] = weight if word & mask_bit(city, pieces, blocks * rows) != 0 else 0
    total = add_up(sums, near_columns, parts)
    found = prefix_sum(total, member, group * lanes, team_size() // groups, scratch)
    target = mulhi(draw, u32(found >> 32))
    before = u32(found) - total
    if found >> 32 == 0:
        if member == 0:
            chosen[group] = -1
    elif before <= target and target - before < total:
        s = i32(pick(target - before, sums, near_columns, parts) & 0xFFFFFFFF)
        chosen[group] = i32(near_cities[at + member * near_columns + s])


@function
def choose_any(
    draw: u32,
    at: i32,
    weights: Array[u32],
    group: i32,
    groups: Const[i32],
    base: i32,
    lanes: Const[i32],
    columns: Const[i32],
    pieces: Const[i32],
    blocks: Const[i32],
    rows: Const[i32],
    free: Array[u32],
    scratch: Array[u32],
    marks: Array[u32],
    chosen: Array[i32],
):
    """Choose an ant's next city from the whole row of weights that begins at ``at``, by lanes from ``base`` on."""
    sums = local_array(columns, u32)
    parts = local_array((columns + SOME - 1) // SOME, u32)
    member = lane() - base
    width = lanes // pieces
    depth = blocks * rows
    column = member % width * columns
    piece = member // width
    words = piece * ((depth + 31) >> 5)
    first = at + piece * depth * COLUMNS + column
    for s in range(columns):
        sums[s] = u32(0)
    for b in range(blocks):
        masks = (words + (b * rows >> 5)) * COLUMNS + column
        for r in range(rows):
            k = b * rows + r
            for s in range(columns):
                weight = weights[first + k * COLUMNS + s]
                sums[s] += weight if (free[(masks + s) * groups + group] & (u32(1) << u32(k))) != 0 else 0
        for s in range(columns):
            marks[(b * columns + s) * team_size() + lane()] = sums[s]
    total = add_up(sums, columns, parts)
    found = prefix_sum(total, member % width * pieces + piece, base, lanes, scratch)
    target = mulhi(draw, u32(found >> 32))
    before = u32(found) - total
    if before <= target and target - before < total:
        picked = pick(target - before, sums, columns, parts)
        target = u32(picked >> 32)
        s = i32(picked & 0xFFFFFFFF)
        b = 0
        while marks[(b * columns + s) * team_size() + lane()] <= target:
            b += 1
        if b > 0:
            target -= marks[((b - 1) * columns + s) * team_size() + lane()]
        k = b * rows
        word = free[((words + (k >> 5)) * COLUMNS + column + s) * groups + group] >> u32(k)
        run = u32(0)
        for r in range(rows):
            weight = weights[first + (b * rows + r) * COLUMNS + s]
            run += weight if (word >> u32(r)) & 1 != 0 else 0
            if run <= target:
                k += 1
        chosen[group] = (piece * depth + k) * COLUMNS + column + s
    if lanes > 1:
        barrier()


@kernel
def construct(
    weights: Array[u32],
    near_cities: Array[u16],
    near_weights: Array[u32],
    tours: Array[u16],
    n: i32,
    stride: i32,
    ants: i32,
    first: i32,
    colony: u32,
    seed: u64,
    state: Array[u32],
    groups: Const[i32],
    near_columns: Const[i32],
    lanes: Const[i32],
    columns: Const[i32],
    pieces: Const[i32],
    blocks: Const[i32],
    rows: Const[i32],
):
    """Let every ant make a tour; a team has ``groups`` ants in lockstep, each with its share of the lanes.

    Parameters
    ----------
    weights : Array, n * stride
        Of the way from city i to city j at i * stride + j; 0 for j = i and beyond n.
    near_cities, near_weights : Array, n * 32
        Candidate lists, nearest first, and their weights, 0 where a list has ended.
    tours : Array, ants * n
        Out: the tours.
    first
        Number of the first ant: others have earlier ones, on other ranks.
    colony, seed
        With the number of the iteration, of the ant and of the step, they decide every draw.
    state
        Element `ITERATION` is the number of the iteration.
    near_columns
        Candidates per lane of an ant, up to `SOME` or a multiple of it. 0: no lists; then ``lanes`` is
        ``team_size() / groups``. Else it is ``team_size()``: when a list is all visited, the whole team chooses from
        the ant's row.
    lanes
        That share a row: 1, 2, 4, .. 32 or a multiple of 32; each has ``columns`` columns, or one of ``pieces``
        of a column, of ``blocks`` blocks of ``rows`` rows.

    """
    free = shared_array(groups * pieces * ((blocks * rows + 31) // 32) * COLUMNS, u32)
    scratch = shared_array(2 * team_size(), u32)
    marks = shared_array(blocks * columns * team_size(), u32)
    draws = shared_array(4 * team_size(), u32)
    here = shared_array(groups, i32)
    chosen = shared_array(groups, i32)
    counter = local_array(4, u32)

    share = team_size() // groups
    group = lane() // share
    member = lane() % share
    iteration = state[ITERATION]
    for begin in range(team_rank() * groups, ants, team_count() * groups):
        ant = min(begin + group, ants - 1)
        base = ant * n
        for k in range(lane(), groups * pieces * ((blocks * rows + 31) // 32) * COLUMNS, team_size()):
            free[k] = 0xFFFFFFFF
        for step in range(n):
            if step % (4 * share) == 0:
                counter[0] = u32((step >> 2) + member)
                counter[1] = iteration
                counter[2] = u32(first + ant)
                counter[3] = colony
                philox(counter, u32(seed), u32(seed >> 32))
                for k in range(4):
                    draws[lane() * 4 + k] = counter[k]
                if team_size() > 1:
                    barrier()
            turn = step % (4 * share)
            draw = draws[group * share * 4 + turn]
            if step == 0:
                if member == 0:
                    chosen[group] = i32(mulhi(draw, u32(n)))
            elif near_columns == 0:
                choose_any(
                    draw, here[group] * stride, weights, group, groups, group * share, lanes, columns, pieces, blocks,
                    rows, free, scratch, marks, chosen,
                )  # fmt: skip
            else:
                choose_near(
                    draw, here[group] * COLUMNS, near_cities, near_weights, group, groups, near_columns, pieces,
                    blocks, rows, free, scratch, chosen,
                )  # fmt: skip
                if team_size() > 1:
                    barrier()
                for g in range(groups):
                    if chosen[g] < 0:
                        choose_any(
                            draws[g * share * 4 + turn], here[g] * stride, weights, g, groups, 0, lanes, columns,
                            pieces, blocks, rows, free, scratch, marks, chosen,
                        )  # fmt: skip
            if step == 0 and team_size() > 1:
                barrier()
            if member == 0:
                city = chosen[group]
                here[group] = city
                tours[base + step] = u16(city)
                k = mask_word(city, pieces, blocks * rows) * groups + group
                free[k] = free[k] & ~mask_bit(city, pieces, blocks * rows)
            if team_size() > 1:
                barrier()


@kernel
def measure(
    distances: Array[D],
    tours: Array[u16],
    n: i32,
    ants: i32,
    first: i32,
    colony: u32,
    state: Array[u32],
    lengths: Array[u32],
    least: Array[u64],
    digest: Array[u64],
):
    """Measure the tours: lengths, the least (length, ant), and a digest of every (colony, iteration, ant, length).

    The digest is a sum, so it does not depend on the order in which teams finish.
    """
    scratch = shared_array(team_size(), u32)
    for ant in range(team_rank(), ants, team_count()):
        base = ant * n
        length = u32(0)
        for p in range(lane(), n, team_size()):
            after = p + 1 if p + 1 < n else 0
            length += u32(distances[i32(tours[base + p]) * n + i32(tours[base + after])])
        length = team_sum(length, scratch)
        if lane() == 0:
            number = u64(first + ant)
            lengths[ant] = length
            atomic_min(least, 0, (u64(length) << 32) | number)
            name = scrambled(number + (u64(state[ITERATION]) << 32) + u64(0x9E3779B97F4A7C15))
            atomic_add(digest, 0, scrambled(name ^ ((u64(colony) << 32) | u64(length))))
