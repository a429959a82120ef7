"""Full 2-opt scan for large instances on wide teams: rows of the distances are staged through shared memory.

As in `two_opt_window` a lane owns consecutive diagonals and slides a window over the tour, but a team climbs one tour,
and the rows it needs next are fetched from global memory while it works on the present tile. Two rows are staged as
one: word c holds d(t_r, c) | d(t_r+1, c) << 16, so one read serves two rows of the sweep.
"""

from __future__ import annotations

from core.kernels.two_opt import finish_climb, move_key
from core.kernels.two_opt_window import FAR_BELOW, NO_MOVE, city, edge, wrapped
from core.lang import (
    Array,
    Const,
    atomic_add,
    atomic_max,
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

NO_PAIR_YET = 1 << 20


@function
def spot(p: i32, spread: Const[i32]) -> i32:
    """Where tour word ``p`` lies: spread over the memory banks if lanes would otherwise meet on few of them."""
    return p + (p >> 5) if spread != 0 else p


@function
def fetch_rows(
    pairs: Array[u32],
    words: Array[u32],
    fetched: Array[u32],
    tile: i32,
    n: Const[i32],
    rows: Const[i32],
    spread: Const[i32],
):
    """Read this lane's part of a tile's rows from global memory into registers."""
    for r in unroll(rows):
        start = city(words[spot(tile * rows + r, spread)]) * ((n + 1) // 2)
        for s in unroll(((n + 1) // 2 + team_size() - 1) // team_size()):
            m = lane() + s * team_size()
            if m < (n + 1) // 2:
                fetched[r * (((n + 1) // 2 + team_size() - 1) // team_size()) + s] = pairs[start + m]


@function
def stage_rows(staged: Array[u32], fetched: Array[u32], place: i32, n: Const[i32], rows: Const[i32]):
    """Write fetched rows into shared memory, two rows to a word."""
    for pair in unroll(rows // 2):
        start = (place * (rows // 2) + pair) * 2 * ((n + 1) // 2)
        for s in unroll(((n + 1) // 2 + team_size() - 1) // team_size()):
            m = lane() + s * team_size()
            if m < (n + 1) // 2:
                one = fetched[2 * pair * (((n + 1) // 2 + team_size() - 1) // team_size()) + s]
                two = fetched[(2 * pair + 1) * (((n + 1) // 2 + team_size() - 1) // team_size()) + s]
                staged[start + m] = (one & 0xFFFF) | (two << 16)
                staged[start + (n + 1) // 2 + m] = (one >> 16) | (two & 0xFFFF0000)


@kernel
def climb_tiles(
    distances: Array[u16],
    pairs: Array[u32],
    tours: Array[u16],
    n: Const[i32],
    diagonals: Const[i32],
    rows: Const[i32],
    spread: Const[i32],
    climbers: i32,
    first: u64,
    ticket: Array[u32],
    best: Array[u64],
    totals: Array[u64],
):
    """Climb from each of ``tours`` to a local optimum; a team climbs one tour at a time.

    Tour words are those of `two_opt_window.climb_window`.

    Parameters
    ----------
    distances : Array, n * n
    pairs : Array, n * M with M = ceil(n / 2)
        d(r, m) | d(r, m + M) << 16.
    tours : Array, climbers * n
        Start tours in, local optima out.
    diagonals
        Consecutive k per lane; the team's together reach n / 2.
    rows
        Rows of a tile, even.
    spread
        Not 0 spreads the tour over the memory banks, for even ``diagonals``.
    ticket, best, totals
        As in `core.kernels.two_opt_pruned.climb_pruned`.

    """
    staged = shared_array(rows * 2 * ((n + 1) // 2), u32)
    words = shared_array(
        ((n + rows) // rows * rows + team_size() * diagonals + 2)
        + ((n + rows) // rows * rows + team_size() * diagonals + 2) // 32
        + 1,
        u32,
    )
    turn = shared_array(1, u32)
    largest = shared_array(1, i32)
    winner = shared_array(1, u32)
    length = shared_array(1, u32)
    renewed = local_array((n + team_size() - 1) // team_size(), u32)
    fetched = local_array(rows * (((n + 1) // 2 + team_size() - 1) // team_size()), u32)
    window = local_array(diagonals + rows - 1, u32)
    before = local_array(diagonals, i32)
    columns = local_array(diagonals + 1, u32)

    tiles = (n + rows) // rows
    beyond = tiles * rows + team_size() * diagonals - n
    mine = 2 + lane() * diagonals
    fresh = True
    climber, steps = u32(0), u32(0)
    if lane() == 0:
        turn[0] = atomic_add(ticket, 0, u32(1))
        winner[0] = NO_MOVE
        length[0] = u32(0)
    barrier()
    while True:
        # Words low..high change: all of a new climber's, or those that the winning move reverses. First read ...
        low, high = 1, n
        if fresh:
            climber, steps, fresh = turn[0], u32(0), False
            if climber >= u32(climbers):
                break
            start = i32(climber) * n
            for m in unroll((n + team_size() - 1) // team_size()):
                p = 1 + lane() + m * team_size()
                if p <= n:
                    here = i32(tours[start + wrapped(p, n)])
                    reach = distances[i32(tours[start + p - 1]) * n + here]
                    renewed[m] = u32(here) | (u32(reach) << 16)
        else:
            i, j = i32(winner[0] >> 16), i32(winner[0] & 0xFFFF)
            low, high = i + 1, j + 1
            for m in unroll((n + team_size() - 1) // team_size()):
                p = low + lane() + m * team_size()
                if p <= high:
                    here = city(words[spot(p if p == high else low + j - p, spread)])
                    reach = u32(0)
                    if p == low:
                        reach = u32(distances[city(words[spot(i, spread)]) * n + here])
                    elif p == high:
                        reach = u32(distances[city(words[spot(low, spread)]) * n + here])
                    else:
                        reach = words[spot(low + j - p + 1, spread)] >> 16
                    renewed[m] = u32(here) | (reach << 16)
        barrier()
        # ... then write.
        for m in unroll((n + team_size() - 1) // team_size()):
            p = low + lane() + m * team_size()
            if p <= high:
                words[spot(p, spread)] = renewed[m]
                if p <= beyond:
                    words[spot(p + n, spread)] = renewed[m]
                if p == n:
                    words[0] = renewed[m]
        if lane() == 0:
            largest[0] = 0
            winner[0] = NO_MOVE
            length[0] = u32(0)
        barrier()
        # The scan: the largest gain of this lane, and the first and last tile that reach it.
        most, earliest, latest = 0, 0, 0
        fetch_rows(pairs, words, fetched, 0, n, rows, spread)
        stage_rows(staged, fetched, 0, n, rows)
        for q in unroll(diagonals):
            before[q] = NO_PAIR_YET
        for m in unroll(diagonals - 1):
            window[rows + m] = words[spot(mine + m, spread)]
        barrier()
        for tile in range(tiles):
            if tile + 1 < tiles:
                fetch_rows(pairs, words, fetched, tile + 1, n, rows, spread)
            for m in unroll(diagonals - 1):
                window[m] = window[rows + m]
            for m in unroll(diagonals - 1, diagonals + rows - 1):
                window[m] = words[spot(tile * rows + mine + m, spread)]
            top = FAR_BELOW
            for pair in unroll(rows // 2):
                start = ((tile & 1) * (rows // 2) + pair) * 2 * ((n + 1) // 2)
                for m in unroll(diagonals + 1):
                    columns[m] = staged[start + city(window[2 * pair + m])]
                upper, lower = FAR_BELOW, FAR_BELOW
                for q in unroll(diagonals):
                    near, far = i32(columns[q] & 0xFFFF), i32(columns[q + 1] >> 16)
                    upper = max(upper, edge(window[2 * pair + q]) - before[q] - near)
                    lower = max(lower, edge(window[2 * pair + q + 1]) - near - far)
                    before[q] = far
                top = max(top, upper + edge(words[spot(tile * rows + 2 * pair, spread)]))
                top = max(top, lower + edge(words[spot(tile * rows + 2 * pair + 1, spread)]))
            if top >= most:
                if top > most:
                    earliest = tile
                latest = tile
                most = top
            if tile + 1 < tiles:
                stage_rows(staged, fetched, (tile + 1) & 1, n, rows)
            barrier()
        if most > 0:
            atomic_max(largest, 0, most)
        barrier()
        gain = largest[0]
        steps += 1
        if gain == 0:
            fresh = True
            part = u32(0)
            for p in range(1 + lane(), n + 1, team_size()):
                part += words[spot(p, spread)] >> 16
                tours[i32(climber) * n + wrapped(p, n)] = u16(words[spot(p, spread)] & 0xFFFF)
            atomic_add(length, 0, part)
            barrier()
            if lane() == 0:
                finish_climb(first + u64(climber), first, length[0], steps, best, totals)
                turn[0] = atomic_add(ticket, 0, u32(1))
        elif most == gain:
            for r in range(max(earliest * rows, 1), (latest + 1) * rows):
                one, two = words[spot(r - 1, spread)], words[spot(r, spread)]
                for q in range(diagonals):
                    three, four = words[spot(r + mine + q - 1, spread)], words[spot(r + mine + q, spread)]
                    ahead = i32(distances[city(one) * n + city(three)])
                    behind = i32(distances[city(two) * n + city(four)])
                    if edge(two) + edge(four) - ahead - behind == gain:
                        i, j = wrapped(r - 1, n), wrapped(r - 1 + mine + q, n)
                        atomic_min(winner, 0, move_key(u32(min(i, j)), u32(max(i, j))))
        barrier()
