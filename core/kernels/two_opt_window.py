"""Full 2-opt scan for wide teams: several climbers in lockstep over one table of distances in shared memory.

The neighbourhood is swept by diagonals, j = i + k. A lane owns consecutive k and slides a window over the tour, so
every pair costs one new distance (the other is that of the row before), and all lanes of a climber read one row of the
table. The scan keeps only the largest gain of every chunk of rows; the chunks that hold the maximum are read again to
find the move itself, which keeps the order of moves out of the inner loop.
"""

from __future__ import annotations

from core.kernels.two_opt import finish_climb, move_key
from core.lang import (
    Array,
    Const,
    atomic_add,
    atomic_min,
    barrier,
    function,
    i32,
    kernel,
    lane,
    local_array,
    max,
    min,
    shared_array,
    team_size,
    u16,
    u32,
    u64,
    unroll,
)

FAR_BELOW = -(1 << 20)
NO_MOVE = u32(0xFFFFFFFF)


@function
def city(word: u32) -> i32:
    """The city of a tour word."""
    return i32(word & 0xFFFF)


@function
def edge(word: u32) -> i32:
    """The length of the edge that leads to the city of a tour word."""
    return i32(word >> 16)


@function
def wrapped(p: i32, n: Const[i32]) -> i32:
    """A position of the closed tour."""
    once = p - n if p >= n else p
    return once - n if once >= n else once


@function
def offer(
    words: Array[u32],
    table: Array[u16],
    base: i32,
    n: Const[i32],
    i: i32,
    j: i32,
    gain: i32,
    winner: Array[u32],
    g: i32,
):
    """Enter the move between positions i and j for climber ``g`` if its gain is ``gain`` and its order the smallest."""
    ahead = i32(table[city(words[base + i]) * n + city(words[base + j])])
    behind = i32(table[city(words[base + i + 1]) * n + city(words[base + j + 1])])
    if edge(words[base + i + 1]) + edge(words[base + j + 1]) - ahead - behind == gain:
        one, other = wrapped(i, n), wrapped(j, n)
        atomic_min(winner, g, move_key(u32(min(one, other)), u32(max(one, other))))


@kernel
def climb_window(
    distances: Array[u16],
    tours: Array[u16],
    n: Const[i32],
    lanes: Const[i32],
    diagonals: Const[i32],
    rows: Const[i32],
    stride: Const[i32],
    climbers: i32,
    first: u64,
    ticket: Array[u32],
    best: Array[u64],
    totals: Array[u64],
):
    """Climb from each of ``tours`` to a local optimum; ``lanes`` lanes climb one tour.

    Tour word p (1..n, and on beyond n for the window) is city t_p | d(t_p-1, t_p) << 16.

    Parameters
    ----------
    distances : Array, n * n
    tours : Array, climbers * n
        Start tours in, local optima out.
    lanes, diagonals
        A lane owns ``diagonals`` consecutive k from 2 on; together all k up to n / 2, or all but n / 2 of an even n.
    rows
        Rows of a chunk; fewer than 127 chunks.
    stride
        Words per climber, at least chunks * rows + lanes * diagonals + 2.
    ticket, best, totals
        As in `core.kernels.two_opt_pruned.climb_pruned`.

    """
    table = shared_array(n * n, u16)
    words = shared_array(team_size() // lanes * stride, u32)
    maxima = shared_array(team_size(), u32)
    winner = shared_array(team_size() // lanes, u32)
    taken = shared_array(team_size() // lanes, u32)
    lengths = shared_array(team_size() // lanes, u32)
    finished = shared_array(1, i32)
    renewed = local_array((n + lanes - 1) // lanes, u32)
    column = local_array(diagonals, i32)
    length = local_array(diagonals, i32)
    before = local_array(diagonals, i32)

    chunks = (n + rows - 1) // rows
    beyond = chunks * rows + lanes * diagonals + 1 - n
    alone = (n // 2 + lanes - 1) // lanes
    group, member = lane() // lanes, lane() % lanes
    base = group * stride
    mine = base + 2 + member * diagonals
    for i in range(lane(), n * n, team_size()):
        table[i] = distances[i]
    if lane() == 0:
        finished[0] = 0
    if member == 0:
        taken[group] = atomic_add(ticket, 0, u32(1))
        lengths[group] = u32(0)
        winner[group] = NO_MOVE
    fresh, busy = True, False
    climber, steps = u32(0), u32(0)
    barrier()
    while True:
        # Words low..high change: all of a new climber's, or those that the winning move reverses. First read ...
        low, high, fetch = 1, 0, False
        if fresh:
            if busy and member == 0:
                finish_climb(first + u64(climber), first, lengths[group], steps, best, totals)
            climber = taken[group]
            fresh, fetch, steps = False, True, u32(0)
            busy = climber < u32(climbers)
            if busy:
                high = n
                start = i32(climber) * n
                for m in unroll((n + lanes - 1) // lanes):
                    p = 1 + member + m * lanes
                    if p <= n:
                        here = i32(tours[start + wrapped(p, n)])
                        renewed[m] = u32(here) | (u32(table[i32(tours[start + p - 1]) * n + here]) << 16)
            elif member == 0:
                atomic_add(finished, 0, 1)
        elif busy:
            i, j = i32(winner[group] >> 16), i32(winner[group] & 0xFFFF)
            low, high = i + 1, j + 1
            for m in unroll((n + lanes - 1) // lanes):
                p = low + member + m * lanes
                if p <= high:
                    here = city(words[base + (p if p == high else low + j - p)])
                    reach = 0
                    if p == low:
                        reach = i32(table[city(words[base + i]) * n + here])
                    elif p == high:
                        reach = i32(table[city(words[base + low]) * n + here])
                    else:
                        reach = edge(words[base + low + j - p + 1])
                    renewed[m] = u32(here) | (u32(reach) << 16)
        barrier()
        # ... then write.
        for m in unroll((n + lanes - 1) // lanes):
            p = low + member + m * lanes
            if p <= high:
                words[base + p] = renewed[m]
                if p <= beyond:
                    words[base + p + n] = renewed[m]
                if p == n:
                    words[base] = renewed[m]
        if member == 0:
            winner[group] = NO_MOVE
            lengths[group] = u32(0)
            if fetch:
                taken[group] = atomic_add(ticket, 0, u32(1))
        barrier()
        if finished[0] == team_size() // lanes:
            break
        # The scan: the largest gain of this lane, and the first and last chunk that reach it.
        most, earliest, latest = 0, 0, 0
        if busy:
            row = city(words[base]) * n
            for q in unroll(diagonals):
                column[q] = city(words[mine + q])
                length[q] = edge(words[mine + q])
                before[q] = i32(table[row + column[q]])
            for chunk in range(chunks):
                top = FAR_BELOW
                for r in unroll(rows):
                    word = words[base + chunk * rows + r + 1]
                    row = city(word) * n
                    ahead = words[mine + diagonals + chunk * rows + r]
                    across = FAR_BELOW
                    for q in unroll(diagonals):
                        if q + 1 < diagonals:
                            column[q] = column[q + 1]
                            length[q] = length[q + 1]
                        else:
                            column[q] = city(ahead)
                            length[q] = edge(ahead)
                        distance = i32(table[row + column[q]])
                        across = max(across, length[q] - before[q] - distance)
                        before[q] = distance
                    top = max(top, across + edge(word))
                if top >= most:
                    if top > most:
                        earliest = chunk
                    latest = chunk
                    most = top
            if n % 2 == 0 and 2 + lanes * diagonals == n // 2:
                # The diagonal k = n / 2 holds every pair twice: half of its rows, consecutive ones for each lane.
                top = FAR_BELOW
                near, far = words[base + member * alone], words[base + member * alone + n // 2]
                last = i32(table[city(near) * n + city(far)])
                for r in unroll((n // 2 + lanes - 1) // lanes):
                    near = words[base + member * alone + r + 1]
                    far = words[base + member * alone + r + 1 + n // 2]
                    distance = i32(table[city(near) * n + city(far)])
                    top = max(top, edge(near) + edge(far) - last - distance)
                    last = distance
                if top >= most:
                    if top > most:
                        earliest = chunks
                    latest = chunks
                    most = top
        maxima[lane()] = (u32(most) << 8) | (u32(earliest) << 1) | (u32(1) if earliest != latest else u32(0))
        barrier()
        largest = u32(0)
        owner, owners = 0, 0
        for o in unroll(lanes):
            candidate = maxima[group * lanes + o]
            if candidate >> 8 == largest >> 8:
                owners += 1
            elif candidate >> 8 > largest >> 8:
                owners = 1
            if candidate > largest:
                owner = o
                largest = candidate
        gain = i32(largest >> 8)
        if busy:
            steps += 1
            if gain == 0:
                fresh = True
                part = u32(0)
                for p in range(1 + member, n + 1, lanes):
                    part += words[base + p] >> 16
                    tours[i32(climber) * n + wrapped(p, n)] = u16(words[base + p] & 0xFFFF)
                atomic_add(lengths, group, part)
            else:
                # One chunk of one lane holds the maximum, and all lanes share its pairs; or each lane reads its own.
                shared = owners == 1 and (largest & 1) == 0
                begin = i32((largest >> 1) & 127) if shared else earliest
                end = begin if shared else latest if most == gain else -1
                whose = owner if shared else member
                for chunk in range(begin, end + 1):
                    pairs = alone if chunk == chunks else rows * diagonals
                    for m in range(member if shared else 0, pairs, lanes if shared else 1):
                        if chunk == chunks:
                            i = whose * alone + m
                            offer(words, table, base, n, i, i + n // 2, gain, winner, group)
                        else:
                            i = chunk * rows + m // diagonals
                            j = i + 2 + whose * diagonals + m % diagonals
                            offer(words, table, base, n, i, j, gain, winner, group)
        barrier()
