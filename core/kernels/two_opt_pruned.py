"""Exact best-improvement 2-opt that leaves out moves which cannot win, by neighbour lists sorted by distance.

A move's gain is (e_i - d(t_i, t_j)) + (e_j - d(t_i+1, t_j+1)), so if it reaches g then one of the two brackets reaches
g / 2. It is therefore found when every position walks the sorted list of its city only as far as the bracket holds:
from t_i for a partner t_j behind it, or from t_j+1 for a partner t_i+1 before it. The walk keeps moves that *equal* g,
so ties are settled as in the full scan, and the trajectory is that of the paper.
"""

from __future__ import annotations

from core.kernels.two_opt import (
    EVALUATIONS,
    finish_climb,
    gain_of,
    hand_out,
    key_of,
    move_key,
    move_word,
    next_climber,
    reverse,
)
from core.lang import (
    Array,
    Const,
    Generic,
    atomic_add,
    atomic_max,
    barrier,
    function,
    i32,
    kernel,
    lane,
    max,
    min,
    shared_array,
    team_size,
    u16,
    u32,
    u64,
    unroll,
)

D = Generic("D")
P = Generic("P")
NO_GAIN = 0x7FFFFFFF


@function
def load(
    climber: u32,
    distances: Array[D],
    tours: Array[u16],
    tour: Array[u16],
    place: Array[u16],
    edge: Array[i32],
    n: Const[i32],
):
    """Take over a start tour."""
    base = i32(climber) * n
    for p in range(lane(), n, team_size()):
        tour[p] = tours[base + p]
        place[tours[base + p]] = u16(p)
    if lane() == 0:
        tour[n] = tours[base]
    barrier()
    for p in range(lane(), n, team_size()):
        edge[p] = i32(distances[i32(tour[p]) * n + i32(tour[p + 1])])


@function
def best_of_lane(
    wanted: i32,
    distances: Array[D],
    neighbours: Array[P],
    tour: Array[u16],
    place: Array[u16],
    edge: Array[i32],
    counted: Array[u64],
    n: Const[i32],
) -> u64:
    """The best move that gains ``wanted`` or more, of those that this lane's positions find."""
    best = u64(0)
    gain = wanted
    half = (wanted + 1) >> 1
    count = u32(0)
    for p in range(lane(), n, team_size()):
        here = i32(tour[p])
        after = i32(tour[p + 1])
        for side in unroll(2):
            # side 0 joins t_p to a t_q behind it, side 1 joins t_p+1 to a t_q+1 before it
            near = here if side == 0 else after
            other = after if side == 0 else here
            reach = edge[p] - half
            k = near * n
            pair = neighbours[k]
            while i32(pair >> 16) <= reach:
                q = i32(place[i32(pair & 0xFFFF)]) - side
                if (q > p) if side == 0 else (q >= 0 and q < p):
                    count += 1
                    beyond = i32(tour[q + 1 - side])
                    one = edge[p] + edge[q] - i32(pair >> 16) - i32(distances[other * n + beyond])
                    if one >= gain:
                        move = move_word(one, move_key(u32(min(p, q)), u32(max(p, q))))
                        if move > best:
                            best, gain = move, one
                            half = (gain + 1) >> 1
                            reach = edge[p] - half
                k += 1
                pair = neighbours[k]
    counted[lane()] += u64(count)
    return best


@function
def scan(
    last: u64,
    distances: Array[D],
    neighbours: Array[P],
    tour: Array[u16],
    place: Array[u16],
    edge: Array[i32],
    winner: Array[u64],
    counted: Array[u64],
    n: Const[i32],
) -> u64:
    """The best move of all."""
    wanted = 1 << 17 if last == 0 else max(gain_of(last) - (gain_of(last) >> 3), 1)
    while True:
        if lane() == 0:
            winner[0] = u64(0)
        barrier()
        best = best_of_lane(wanted, distances, neighbours, tour, place, edge, counted, n)
        if best != 0:
            atomic_max(winner, 0, best)
        barrier()
        if winner[0] != 0 or wanted == 1:
            break
        wanted = wanted - (wanted >> 2) if wanted > 64 else 1
        barrier()
    return winner[0]


@function
def apply(move: u64, distances: Array[D], tour: Array[u16], place: Array[u16], edge: Array[i32], n: Const[i32]):
    """Make a move."""
    i, j = i32(key_of(move) >> 16), i32(key_of(move) & 0xFFFF)
    ahead = i32(distances[i32(tour[i]) * n + i32(tour[j])])
    behind = i32(distances[i32(tour[i + 1]) * n + i32(tour[j + 1])])
    barrier()
    for s in range(lane(), (j - i) >> 1, team_size()):
        low, high = i + 1 + s, j - s
        tour[low], tour[high] = tour[high], tour[low]
        place[tour[low]] = u16(low)
        place[tour[high]] = u16(high)
    reverse(edge, i + 1, j - 1)
    if lane() == 0:
        edge[i] = ahead
        edge[j] = behind
    barrier()


@kernel
def climb_pruned(
    distances: Array[D],
    neighbours: Array[P],
    tours: Array[u16],
    n: Const[i32],
    climbers: i32,
    first: u64,
    ticket: Array[u32],
    best: Array[u64],
    totals: Array[u64],
):
    """Climb from each of ``tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    distances : Array, n * n
    neighbours : Array, n * n
        For each city all others by ascending distance, as distance << 16 | city; the last entry of a row is a
        sentinel whose distance no edge reaches.
    tours : Array, climbers * n
        Start tours in, local optima out.
    ticket : Array, 1
        The next climber to take.
    best, totals
        See `core.kernels.two_opt`.

    """
    tour = shared_array(n + 1, u16)
    place = shared_array(n, u16)
    edge = shared_array(n + 1, i32)
    turn = shared_array(1, u32)
    winner = shared_array(1, u64)
    length = shared_array(1, u32)
    counted = shared_array(team_size(), u64)
    counted[lane()] = u64(0)
    while True:
        climber = next_climber(ticket, turn, length)
        if climber >= u32(climbers):
            break
        load(climber, distances, tours, tour, place, edge, n)
        steps = u32(0)
        move = u64(0)
        while True:
            move = scan(move, distances, neighbours, tour, place, edge, winner, counted, n)
            steps += 1
            if move == 0:
                break
            apply(move, distances, tour, place, edge, n)
        hand_out(climber, tour, edge, n, tours, length)
        if lane() == 0:
            finish_climb(first + u64(climber), first, length[0], steps, best, totals)
    atomic_add(totals, EVALUATIONS, counted[lane()])
