"""Tours of ants: exact roulette over the cities that an ant has not visited (`menezes2019`, equation 1, algorithms 4, 5).

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
def mask_word(city: i32, pieces: Const[i32], blocks: Const[i32], rows: Const[i32]) -> i32:
    """Which word of an ant's mask holds a city: 32 rows of one column are a word."""
    depth = blocks * rows
    row = city >> 5
    return ((row // depth) * ((depth + 31) >> 5) + ((row % depth) >> 5)) * COLUMNS + (city & 31)


@function
def mask_bit(city: i32, blocks: Const[i32], rows: Const[i32]) -> u32:
    """The city's bit in that word."""
    return u32((city >> 5) % (blocks * rows)) & 31


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
    lanes: Const[i32],
    columns: Const[i32],
    pieces: Const[i32],
    blocks: Const[i32],
    rows: Const[i32],
    candidates: Const[i32],
):
    """Let every ant make a tour: a group of ``lanes`` lanes per ant, ``team_size() / lanes`` ants per team in lockstep.

    Parameters
    ----------
    weights : Array, n * stride
        Of the way from city i to city j at i * stride + j; 0 for j = i and beyond n.
    near_cities, near_weights : Array, n * 32
        Candidate lists, nearest first, and their weights, 0 where a list ends; read if ``candidates`` > 0.
    tours : Array, ants * n
        Out: the tours.
    first
        Number of the first ant: others have earlier ones, on other ranks.
    colony, seed
        With the number of the iteration, of the ant and of the step, they decide every draw.
    state
        Element `ITERATION` is the number of the iteration.
    lanes
        1, 2, 4, .. 32 or a multiple of 32. Several ants of a team with candidate lists need ``lanes`` = 1.
    blocks, rows
        A lane has ``blocks`` * ``rows`` rows of the table; it remembers its sums after every block.

    """
    free = shared_array(team_size() // lanes * pieces * ((blocks * rows + 31) // 32) * COLUMNS, u32)
    scratch = shared_array(2 * team_size(), u32)
    marks = shared_array(blocks * columns * team_size(), u32)
    draws = shared_array(4 * team_size(), u32)
    chosen = shared_array(team_size() // lanes, i32)
    words = local_array(4, u32)
    sums = local_array(columns, u32)
    bits = local_array(columns, u32)

    groups = team_size() // lanes
    width = lanes // pieces
    depth = blocks * rows
    deep = (depth + 31) // 32
    group = lane() // lanes
    member = lane() % lanes
    column = member % width * columns
    piece = member // width
    place = member % width * pieces + piece
    iteration = state[ITERATION]

    for begin in range(team_rank() * groups, ants, team_count() * groups):
        ant = min(begin + group, ants - 1)
        base = ant * n
        for k in range(member, pieces * deep * COLUMNS, lanes):
            free[k * groups + group] = 0xFFFFFFFF
        if lanes > 1:
            barrier()
        city = 0
        for step in range(n):
            if step % (4 * lanes) == 0:
                words[0] = u32((step >> 2) + member)
                words[1] = iteration
                words[2] = u32(first + ant)
                words[3] = colony
                philox(words, u32(seed), u32(seed >> 32))
                for k in range(4):
                    draws[lane() * 4 + k] = words[k]
                if lanes > 1:
                    barrier()
            draw = draws[group * lanes * 4 + step % (4 * lanes)]
            if step == 0:
                city = i32(mulhi(draw, u32(n)))
                if member == 0:
                    k = mask_word(city, pieces, blocks, rows) * groups + group
                    free[k] = free[k] & ~(u32(1) << mask_bit(city, blocks, rows))
                    tours[base] = u16(city)
                if lanes > 1:
                    barrier()
            else:
                missing = 1
                if candidates > 0:
                    total = u32(0)
                    for s in range(columns):
                        other = i32(near_cities[city * COLUMNS + column + s])
                        word = free[mask_word(other, pieces, blocks, rows) * groups + group]
                        unvisited = (word >> mask_bit(other, blocks, rows)) & 1 != 0
                        total += near_weights[city * COLUMNS + column + s] if unvisited and piece == 0 else 0
                        sums[s] = total
                    found = prefix_sum(total, place, group * lanes, lanes, scratch)
                    bound = u32(found >> 32)
                    if bound != 0:
                        missing = 0
                        target = mulhi(draw, bound)
                        before = u32(found) - total
                        if before <= target and target - before < total:
                            target -= before
                            skipped = 0
                            for s in range(columns):
                                if sums[s] <= target:
                                    skipped += 1
                            chosen[group] = i32(near_cities[city * COLUMNS + column + skipped])
                if missing != 0:
                    at = city * stride + piece * depth * COLUMNS + column
                    for s in range(columns):
                        sums[s] = u32(0)
                    for b in range(blocks):
                        mask = (piece * deep + (b * rows >> 5)) * COLUMNS + column
                        for s in range(columns):
                            bits[s] = free[(mask + s) * groups + group]
                        for r in range(rows):
                            k = b * rows + r
                            for s in range(columns):
                                weight = weights[at + k * COLUMNS + s]
                                sums[s] += weight if (bits[s] & (u32(1) << u32(k))) != 0 else 0
                        for s in range(columns):
                            marks[(b * columns + s) * team_size() + lane()] = sums[s]
                    total = u32(0)
                    for s in range(columns):
                        total += sums[s]
                    found = prefix_sum(total, place, group * lanes, lanes, scratch)
                    target = mulhi(draw, u32(found >> 32))
                    before = u32(found) - total
                    if before <= target and target - before < total:
                        target -= before
                        s = 0
                        last = (blocks - 1) * columns * team_size() + lane()
                        while marks[last + s * team_size()] <= target:
                            target -= marks[last + s * team_size()]
                            s += 1
                        b = 0
                        while marks[(b * columns + s) * team_size() + lane()] <= target:
                            b += 1
                        if b > 0:
                            target -= marks[((b - 1) * columns + s) * team_size() + lane()]
                        k = b * rows
                        word = free[((piece * deep + (k >> 5)) * COLUMNS + column + s) * groups + group] >> u32(k)
                        run = u32(0)
                        for r in range(rows):
                            weight = weights[at + (b * rows + r) * COLUMNS + s]
                            run += weight if (word >> u32(r)) & 1 != 0 else 0
                            if run <= target:
                                k += 1
                        chosen[group] = (piece * depth + k) * COLUMNS + column + s
                if lanes > 1:
                    barrier()
                city = chosen[group]
                if member == 0:
                    k = mask_word(city, pieces, blocks, rows) * groups + group
                    free[k] = free[k] & ~(u32(1) << mask_bit(city, blocks, rows))
                    tours[base + step] = u16(city)
                if lanes > 1:
                    barrier()
        if lanes > 1:
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
    """Measure the tours: each one's length, the least (length, ant), and a digest of all (colony, iteration, ant, length).

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
