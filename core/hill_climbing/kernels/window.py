"""Full 2-opt scan for wide teams: several climbers in lockstep over one table of distances in shared memory.

The neighbourhood is swept by diagonals, j = i + k. A lane owns consecutive k and slides a window over the tour. So
every pair costs one new distance (the other is that of the row before), and all lanes of a climber read one row of the
table. The scan keeps only the largest gain of every chunk of rows. The chunks with the maximum are then read again to
find the move, so that the inner loop needs no order of moves.

The climbers of a team share barriers, but start and finish their climbs at different times. So their loop is not that
of `core.hill_climbing.kernels.climbs.climb_function`, where a team climbs one tour at a time.
"""

from __future__ import annotations

from core.hill_climbing.kernels.climb_states import DistanceMatrix, distance
from core.hill_climbing.kernels.climbs import (
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

    A lane owns ``diagonals`` consecutive k. All lanes together own k from 2 to n / 2, for an even n perhaps without
    n / 2. A chunk has ``rows`` rows; there are fewer than 127 chunks. A climber has ``stride`` words of the team's
    memory, at least chunks * rows + lanes * diagonals + 2.
    """

    lanes: Const[i32]
    diagonals: Const[i32]
    rows: Const[i32]
    stride: Const[i32]


@bundle
class Climber(DistanceMatrix):
    """View of the team's memory, with the table of distances, by lane ``member`` of climber ``group``.

    Tour word p of the climber is ``words[base + p]``, see `core.hill_climbing.kernels.climbs`. ``maxima`` has a word
    for every lane, see `maximum`. ``winner`` (the smallest key), ``upcoming`` (the next climb) and ``length`` have a
    word for every climber of the team. ``done[0]`` is the number of climbers without a further climb.

    A sweep has ``chunks`` chunks of rows. A lane has ``share`` words of the tour, and ``halves`` rows of k = n / 2.
    """

    chunks: Const[i32]
    share: Const[i32]
    halves: Const[i32]
    shape: ClimberGroups
    group: i32
    member: i32
    base: i32
    words: Array[u32]
    maxima: Array[u32]
    winner: Array[u32]
    upcoming: Array[u32]
    length: Array[u32]
    done: Array[i32]


# --- what changes before a scan ---


@function
def start_word(p: i32, climber: u32, climbs: CountedClimbs, state: Climber) -> u32:
    """Return tour word ``p`` of a climber's start tour."""
    begin = i32(climber) * state.n
    c = i32(climbs.tours[begin + wrapped(p, state.n)])
    return tour_word(c, distance(i32(climbs.tours[begin + p - 1]), c, state))


@function
def reversed_word(p: i32, low: i32, high: i32, state: Climber) -> u32:
    """Return tour word ``p`` after a reversal of words ``low`` to ``high`` - 1, which changes word ``high`` too."""
    mirrored = state.base + low + high - 1 - p
    c = city(state.words[state.base + p if p == high else mirrored])
    length = 0
    if p == low:
        length = distance(city(state.words[state.base + low - 1]), c, state)
    elif p == high:
        length = distance(city(state.words[state.base + low]), c, state)
    else:
        length = edge(state.words[mirrored + 1])
    return tour_word(c, length)


@function
def renew(climber: u32, fresh: boolean, busy: boolean, climbs: CountedClimbs, state: Climber):
    """Write the start tour of a fresh climber, or the words that the best move changes, and prepare the next scan.

    All words are computed before the first is written. A fresh climber also takes its next climb.
    """
    renewed = local_array(state.share, u32)
    low, high = 1, 0
    if busy and fresh:
        high = state.n
        for m in unroll(state.share):
            p = 1 + state.member + m * state.shape.lanes
            if p <= high:
                renewed[m] = start_word(p, climber, climbs, state)
    elif busy:
        low, high = i32(state.winner[state.group] >> 16) + 1, i32(state.winner[state.group] & 0xFFFF) + 1
        for m in unroll(state.share):
            p = low + state.member + m * state.shape.lanes
            if p <= high:
                renewed[m] = reversed_word(p, low, high, state)
    barrier()
    for m in unroll(state.share):
        p = low + state.member + m * state.shape.lanes
        if p <= high:
            state.words[state.base + p] = renewed[m]
            if p <= state.chunks * state.shape.rows + state.shape.lanes * state.shape.diagonals + 1 - state.n:
                state.words[state.base + p + state.n] = renewed[m]
            if p == state.n:
                state.words[state.base] = renewed[m]
    if state.member == 0:
        state.winner[state.group] = NO_KEY
        state.length[state.group] = u32(0)
        if fresh:
            state.upcoming[state.group] = atomic_add(climbs.ticket, 0, u32(1))
    barrier()


# --- the scan ---


@function
def maximum(gain: i32, earliest: i32, latest: i32) -> u32:
    """Return gain << 14 | first chunk << 7 | last chunk: a lane's maximum and the chunks that reach it."""
    return (u32(gain) << 14) | (u32(earliest) << 7) | u32(latest)


@function
def gain_of(word: u32) -> i32:
    return i32(word >> 14)


@function
def earliest_of(word: u32) -> i32:
    return i32((word >> 7) & 127)


@function
def latest_of(word: u32) -> i32:
    return i32(word & 127)


@function
def top_of_half(state: Climber) -> i32:
    """Return the largest gain of this lane's rows of the diagonal k = n / 2, which has every pair twice."""
    top = FAR_BELOW
    begin = state.base + state.member * state.halves
    near, far = state.words[begin], state.words[begin + state.n // 2]
    before = distance(city(near), city(far), state)
    for r in unroll(state.halves):
        near, far = state.words[begin + r + 1], state.words[begin + r + 1 + state.n // 2]
        added = distance(city(near), city(far), state)
        top = max(top, edge(near) + edge(far) - before - added)
        before = added
    return top


@function
def scan(state: Climber) -> u32:
    """Return the `maximum` of this lane's diagonals by chunks of rows; the last chunk is its rows of k = n / 2."""
    column = local_array(state.shape.diagonals, i32)
    length = local_array(state.shape.diagonals, i32)
    before = local_array(state.shape.diagonals, i32)
    first = state.base + 2 + state.member * state.shape.diagonals
    row = city(state.words[state.base]) * state.n
    for q in unroll(state.shape.diagonals):
        column[q] = city(state.words[first + q])
        length[q] = edge(state.words[first + q])
        before[q] = i32(state.distances[row + column[q]])
    most, earliest, latest = 0, 0, 0
    for chunk in range(state.chunks):
        top = FAR_BELOW
        for r in unroll(state.shape.rows):
            word = state.words[state.base + chunk * state.shape.rows + r + 1]
            row = city(word) * state.n
            next_word = state.words[first + state.shape.diagonals + chunk * state.shape.rows + r]
            row_top = FAR_BELOW
            for q in unroll(state.shape.diagonals):
                if q + 1 < state.shape.diagonals:
                    column[q] = column[q + 1]
                    length[q] = length[q + 1]
                else:
                    column[q] = city(next_word)
                    length[q] = edge(next_word)
                entry = i32(state.distances[row + column[q]])
                row_top = max(row_top, length[q] - before[q] - entry)
                before[q] = entry
            top = max(top, row_top + edge(word))
        if top >= most:
            if top > most:
                earliest = chunk
            latest = chunk
            most = top
    if state.n % 2 == 0 and 2 + state.shape.lanes * state.shape.diagonals == state.n // 2:
        top = top_of_half(state)
        if top >= most:
            if top > most:
                earliest = state.chunks
            latest = state.chunks
            most = top
    return maximum(most, earliest, latest)


@function
def best_of_group(state: Climber) -> u64:
    """Return member << 32 | maximum: the largest maximum of the climber, and the member that has it.

    If several members reach its gain, the member is `ClimberGroups.lanes`.
    """
    largest = u32(0)
    owner = state.shape.lanes
    for o in unroll(state.shape.lanes):
        candidate = state.maxima[state.group * state.shape.lanes + o]
        if gain_of(candidate) == gain_of(largest):
            owner = state.shape.lanes
        elif candidate > largest:
            owner = o
            largest = candidate
    return (u64(owner) << 32) | u64(largest)


# --- the winning move ---


@function
def offer(i: i32, j: i32, gain: i32, state: Climber):
    """Offer the key of the move between positions i and j to ``winner`` if its gain is ``gain``."""
    word_i, word_j = state.words[state.base + i], state.words[state.base + j]
    next_i, next_j = state.words[state.base + i + 1], state.words[state.base + j + 1]
    added = distance(city(word_i), city(word_j), state) + distance(city(next_i), city(next_j), state)
    if edge(next_i) + edge(next_j) - added == gain:
        p, q = wrapped(i, state.n), wrapped(j, state.n)
        atomic_min(state.winner, state.group, move_key(min(p, q), max(p, q)))


@function
def locate(own: u32, largest: u32, owner: i32, state: Climber):
    """Search the chunks with the maximum again for the move.

    If it is one chunk of one lane, all lanes of the climber share its pairs. Otherwise each lane searches its own
    chunks.
    """
    gain = gain_of(largest)
    is_single_chunk = owner < state.shape.lanes and earliest_of(largest) == latest_of(largest)
    begin = earliest_of(largest if is_single_chunk else own)
    end = begin if is_single_chunk else latest_of(own) if gain_of(own) == gain else -1
    source = owner if is_single_chunk else state.member
    for chunk in range(begin, end + 1):
        pairs = state.halves if chunk == state.chunks else state.shape.rows * state.shape.diagonals
        for m in range(state.member if is_single_chunk else 0, pairs, state.shape.lanes if is_single_chunk else 1):
            if chunk == state.chunks:
                i = source * state.halves + m
                offer(i, i + state.n // 2, gain, state)
            else:
                i = chunk * state.shape.rows + m // state.shape.diagonals
                offer(i, i + 2 + source * state.shape.diagonals + m % state.shape.diagonals, gain, state)


@function
def store_optimum(climber: u32, climbs: CountedClimbs, state: Climber):
    """Store a local optimum, and sum up its edges."""
    length = u32(0)
    for p in range(1 + state.member, state.n + 1, state.shape.lanes):
        word = state.words[state.base + p]
        length += u32(edge(word))
        climbs.tours[i32(climber) * state.n + wrapped(p, state.n)] = u16(city(word))
    atomic_add(state.length, state.group, length)


@function
def climb(climbs: CountedClimbs, state: Climber):
    """Iterative hill climbing by the climbers of a team, in lockstep until no climb is left."""
    fresh, busy = True, False
    climber, steps = u32(0), u32(0)
    barrier()
    while True:
        if fresh:
            if busy and state.member == 0:
                count_climb(climber, state.length[state.group], steps, climbs)
            climber, steps = state.upcoming[state.group], u32(0)
            busy = climber < u32(climbs.count)
            if not busy and state.member == 0:
                atomic_add(state.done, 0, 1)
        renew(climber, fresh, busy, climbs, state)
        fresh = False
        if state.done[0] == team_size() // state.shape.lanes:
            break
        own = scan(state) if busy else u32(0)
        state.maxima[lane()] = own
        barrier()
        best = best_of_group(state)
        if busy:
            steps += 1
            fresh = gain_of(u32(best)) == 0
            if fresh:
                store_optimum(climber, climbs, state)
            else:
                locate(own, u32(best), i32(best >> 32), state)
        barrier()


@kernel
def climb_window(climbs: CountedClimbs, distances: Array[u16], shape: ClimberGroups):
    """Climb from each of ``climbs.tours`` to a local optimum, ``team_size()`` / ``shape.lanes`` tours at a time.

    Parameters
    ----------
    climbs
        See `core.hill_climbing.kernels.climbs`.
    distances : Array, n * n
    """
    group, member = lane() // shape.lanes, lane() % shape.lanes
    state = Climber(
        climbs.n,
        shared_array(climbs.n * climbs.n, u16),
        (climbs.n + shape.rows - 1) // shape.rows,
        (climbs.n + shape.lanes - 1) // shape.lanes,
        (climbs.n // 2 + shape.lanes - 1) // shape.lanes,
        shape,
        group,
        member,
        group * shape.stride,
        shared_array(team_size() // shape.lanes * shape.stride, u32),
        shared_array(team_size(), u32),
        shared_array(team_size() // shape.lanes, u32),
        shared_array(team_size() // shape.lanes, u32),
        shared_array(team_size() // shape.lanes, u32),
        shared_array(1, i32),
    )
    for k in range(lane(), climbs.n * climbs.n, team_size()):
        state.distances[k] = distances[k]
    if lane() == 0:
        state.done[0] = 0
    if member == 0:
        state.upcoming[group] = atomic_add(climbs.ticket, 0, u32(1))
    climb(climbs, state)
