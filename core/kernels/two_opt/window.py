"""Full 2-opt scan for wide teams: several climbers in lockstep over one table of distances in shared memory.

The neighbourhood is swept by diagonals, j = i + k. A lane owns consecutive k and slides a window over the tour, so
every pair costs one new distance (the other is that of the row before), and all lanes of a climber read one row of the
table. The scan keeps only the largest gain of every chunk of rows; the chunks that hold the maximum are read again to
find the move itself, which keeps the order of moves out of the inner loop.

Climbers of a team meet at the same barriers while one begins, one steps and one ends, so their loop is not that of
`core.kernels.two_opt.climbs.climb_function`, which climbs one tour at a time.
"""

from __future__ import annotations

from core.kernels.two_opt.climbs import (
    FAR_BELOW,
    NO_KEY,
    CountedClimbs,
    city,
    count_climb,
    edge,
    move_key,
    tour_word,
    wrapped,
)
from core.lang import *


@bundle
class ClimberGroups:
    """Division of a team into groups: ``lanes`` lanes climb one tour.

    A lane owns ``diagonals`` consecutive k from 2 on; together all k up to n / 2, or all but n / 2 of an even n. A
    chunk has ``rows`` rows; there are fewer than 127. A climber has ``stride`` words of the team's memory, at least
    chunks * rows + lanes * diagonals + 2.
    """

    lanes: Const[i32]
    diagonals: Const[i32]
    rows: Const[i32]
    stride: Const[i32]


@bundle
class Climber:
    """A lane's view of the team's memory: it is the ``member``-th of the lanes of climber ``group``.

    Tour word p of the climber is ``words[base + p]``, see `core.kernels.two_opt.climbs`. ``maxima`` has a word for
    every lane, see `maximum`; ``winner`` (the smallest key), ``taken`` (the climb to begin next) and ``length`` have
    one for every climber of the team; ``done[0]`` counts climbers that find no climb left.

    A sweep has ``chunks`` chunks of rows; a lane has ``share`` words of the tour, and ``alone`` rows of k = n / 2.
    """

    n: Const[i32]
    chunks: Const[i32]
    share: Const[i32]
    alone: Const[i32]
    shape: ClimberGroups
    group: i32
    member: i32
    base: i32
    table: Array[u16]
    words: Array[u32]
    maxima: Array[u32]
    winner: Array[u32]
    taken: Array[u32]
    length: Array[u32]
    done: Array[i32]


@function
def distance(a: i32, b: i32, one: Climber) -> i32:
    return i32(one.table[a * one.n + b])


# --- what changes before a scan ---


@function
def start_word(p: i32, climber: u32, climbs: CountedClimbs, one: Climber) -> u32:
    """Tour word ``p`` of a climber's start tour."""
    begin = i32(climber) * one.n
    here = i32(climbs.tours[begin + wrapped(p, one.n)])
    return tour_word(here, distance(i32(climbs.tours[begin + p - 1]), here, one))


@function
def reversed_word(p: i32, low: i32, high: i32, one: Climber) -> u32:
    """Tour word ``p`` after cities ``low`` to ``high`` - 1 are reversed, which changes the edge to ``high`` too."""
    mirrored = one.base + low + high - 1 - p
    here = city(one.words[one.base + p if p == high else mirrored])
    reach = 0
    if p == low:
        reach = distance(city(one.words[one.base + low - 1]), here, one)
    elif p == high:
        reach = distance(city(one.words[one.base + low]), here, one)
    else:
        reach = edge(one.words[mirrored + 1])
    return tour_word(here, reach)


@function
def renew(climber: u32, fresh: boolean, busy: boolean, climbs: CountedClimbs, one: Climber):
    """Write the words of a fresh climber's start tour, or those that the winning move changes; all are read first.

    Then the climber's shared words are ready for a scan, and for a fresh climber the next one is taken.
    """
    renewed = local_array(one.share, u32)
    low, high = 1, 0
    if busy and fresh:
        high = one.n
        for m in unroll(one.share):
            p = 1 + one.member + m * one.shape.lanes
            if p <= high:
                renewed[m] = start_word(p, climber, climbs, one)
    elif busy:
        low, high = i32(one.winner[one.group] >> 16) + 1, i32(one.winner[one.group] & 0xFFFF) + 1
        for m in unroll(one.share):
            p = low + one.member + m * one.shape.lanes
            if p <= high:
                renewed[m] = reversed_word(p, low, high, one)
    barrier()
    for m in unroll(one.share):
        p = low + one.member + m * one.shape.lanes
        if p <= high:
            one.words[one.base + p] = renewed[m]
            if p <= one.chunks * one.shape.rows + one.shape.lanes * one.shape.diagonals + 1 - one.n:
                one.words[one.base + p + one.n] = renewed[m]
            if p == one.n:
                one.words[one.base] = renewed[m]
    if one.member == 0:
        one.winner[one.group] = NO_KEY
        one.length[one.group] = u32(0)
        if fresh:
            one.taken[one.group] = atomic_add(climbs.ticket, 0, u32(1))
    barrier()


# --- the scan ---


@function
def maximum(gain: i32, earliest: i32, latest: i32) -> u32:
    """Return a lane's maximum in one word: the gain, and below it the first and the last chunk that reach it."""
    return (u32(gain) << 14) | (u32(earliest) << 7) | u32(latest)


@function
def gain_of(word: u32) -> i32:
    return i32(word >> 14)


@function
def earliest_of(word: u32) -> i32:
    """Return the first chunk that reaches a maximum."""
    return i32((word >> 7) & 127)


@function
def latest_of(word: u32) -> i32:
    """Return the last chunk that reaches a maximum."""
    return i32(word & 127)


@function
def top_of_half(one: Climber) -> i32:
    """Return the largest gain of this lane's rows of the diagonal k = n / 2, which holds every pair twice."""
    top = FAR_BELOW
    begin = one.base + one.member * one.alone
    near, far = one.words[begin], one.words[begin + one.n // 2]
    last = distance(city(near), city(far), one)
    for r in unroll(one.alone):
        near, far = one.words[begin + r + 1], one.words[begin + r + 1 + one.n // 2]
        ahead = distance(city(near), city(far), one)
        top = max(top, edge(near) + edge(far) - last - ahead)
        last = ahead
    return top


@function
def scan(one: Climber) -> u32:
    """Return the `maximum` of this lane's diagonals, by chunks of rows; the last chunk is its part of k = n / 2."""
    column = local_array(one.shape.diagonals, i32)
    length = local_array(one.shape.diagonals, i32)
    before = local_array(one.shape.diagonals, i32)
    mine = one.base + 2 + one.member * one.shape.diagonals
    row = city(one.words[one.base]) * one.n
    for q in unroll(one.shape.diagonals):
        column[q] = city(one.words[mine + q])
        length[q] = edge(one.words[mine + q])
        before[q] = i32(one.table[row + column[q]])
    most, earliest, latest = 0, 0, 0
    for chunk in range(one.chunks):
        top = FAR_BELOW
        for r in unroll(one.shape.rows):
            word = one.words[one.base + chunk * one.shape.rows + r + 1]
            row = city(word) * one.n
            ahead = one.words[mine + one.shape.diagonals + chunk * one.shape.rows + r]
            across = FAR_BELOW
            for q in unroll(one.shape.diagonals):
                if q + 1 < one.shape.diagonals:
                    column[q] = column[q + 1]
                    length[q] = length[q + 1]
                else:
                    column[q] = city(ahead)
                    length[q] = edge(ahead)
                entry = i32(one.table[row + column[q]])
                across = max(across, length[q] - before[q] - entry)
                before[q] = entry
            top = max(top, across + edge(word))
        if top >= most:
            if top > most:
                earliest = chunk
            latest = chunk
            most = top
    if one.n % 2 == 0 and 2 + one.shape.lanes * one.shape.diagonals == one.n // 2:
        top = top_of_half(one)
        if top >= most:
            if top > most:
                earliest = one.chunks
            latest = one.chunks
            most = top
    return maximum(most, earliest, latest)


@function
def best_of_group(one: Climber) -> u64:
    """Return the largest of a climber's maxima, and above it the member that alone reaches its gain, else `lanes`."""
    largest = u32(0)
    owner = one.shape.lanes
    for o in unroll(one.shape.lanes):
        candidate = one.maxima[one.group * one.shape.lanes + o]
        if gain_of(candidate) == gain_of(largest):
            owner = one.shape.lanes
        elif candidate > largest:
            owner = o
            largest = candidate
    return (u64(owner) << 32) | u64(largest)


# --- the winning move ---


@function
def offer(i: i32, j: i32, gain: i32, one: Climber):
    """Enter the move between positions i and j if its gain is ``gain`` and its key the smallest."""
    here, there = one.words[one.base + i], one.words[one.base + j]
    after, beyond = one.words[one.base + i + 1], one.words[one.base + j + 1]
    added = distance(city(here), city(there), one) + distance(city(after), city(beyond), one)
    if edge(after) + edge(beyond) - added == gain:
        p, q = wrapped(i, one.n), wrapped(j, one.n)
        atomic_min(one.winner, one.group, move_key(min(p, q), max(p, q)))


@function
def locate(mine: u32, largest: u32, owner: i32, one: Climber):
    """Read the chunks again that hold the maximum, and enter the move.

    Is it one chunk of one lane, then all lanes of the climber share its pairs; else each lane reads its own chunks.
    """
    gain = gain_of(largest)
    is_one = owner < one.shape.lanes and earliest_of(largest) == latest_of(largest)
    begin = earliest_of(largest if is_one else mine)
    end = begin if is_one else latest_of(mine) if gain_of(mine) == gain else -1
    whose = owner if is_one else one.member
    for chunk in range(begin, end + 1):
        pairs = one.alone if chunk == one.chunks else one.shape.rows * one.shape.diagonals
        for m in range(one.member if is_one else 0, pairs, one.shape.lanes if is_one else 1):
            if chunk == one.chunks:
                i = whose * one.alone + m
                offer(i, i + one.n // 2, gain, one)
            else:
                i = chunk * one.shape.rows + m // one.shape.diagonals
                offer(i, i + 2 + whose * one.shape.diagonals + m % one.shape.diagonals, gain, one)


@function
def store_optimum(climber: u32, climbs: CountedClimbs, one: Climber):
    """Write a local optimum back, and add up its edges."""
    length = u32(0)
    for p in range(1 + one.member, one.n + 1, one.shape.lanes):
        word = one.words[one.base + p]
        length += u32(edge(word))
        climbs.tours[i32(climber) * one.n + wrapped(p, one.n)] = u16(city(word))
    atomic_add(one.length, one.group, length)


@function
def climb(climbs: CountedClimbs, one: Climber):
    """Iterative hill climbing by the climbers of a team, in lockstep until none of them finds a climb left."""
    fresh, busy = True, False
    climber, steps = u32(0), u32(0)
    barrier()
    while True:
        if fresh:
            if busy and one.member == 0:
                count_climb(climber, one.length[one.group], steps, climbs)
            climber, steps = one.taken[one.group], u32(0)
            busy = climber < u32(climbs.count)
            if not busy and one.member == 0:
                atomic_add(one.done, 0, 1)
        renew(climber, fresh, busy, climbs, one)
        fresh = False
        if one.done[0] == team_size() // one.shape.lanes:
            break
        mine = scan(one) if busy else u32(0)
        one.maxima[lane()] = mine
        barrier()
        best = best_of_group(one)
        if busy:
            steps += 1
            fresh = gain_of(u32(best)) == 0
            if fresh:
                store_optimum(climber, climbs, one)
            else:
                locate(mine, u32(best), i32(best >> 32), one)
        barrier()


@kernel
def climb_window(climbs: CountedClimbs, distances: Array[u16], shape: ClimberGroups):
    """Climb from each of ``climbs.tours`` to a local optimum, ``team_size()`` / ``shape.lanes`` tours at a time."""
    group, member = lane() // shape.lanes, lane() % shape.lanes
    one = Climber(
        climbs.n,
        (climbs.n + shape.rows - 1) // shape.rows,
        (climbs.n + shape.lanes - 1) // shape.lanes,
        (climbs.n // 2 + shape.lanes - 1) // shape.lanes,
        shape,
        group,
        member,
        group * shape.stride,
        shared_array(climbs.n * climbs.n, u16),
        shared_array(team_size() // shape.lanes * shape.stride, u32),
        shared_array(team_size(), u32),
        shared_array(team_size() // shape.lanes, u32),
        shared_array(team_size() // shape.lanes, u32),
        shared_array(team_size() // shape.lanes, u32),
        shared_array(1, i32),
    )
    for k in range(lane(), climbs.n * climbs.n, team_size()):
        one.table[k] = distances[k]
    if lane() == 0:
        one.done[0] = 0
    if member == 0:
        one.taken[group] = atomic_add(climbs.ticket, 0, u32(1))
    climb(climbs, one)
