"""Full 2-opt scan for narrow teams: every climber keeps its own copy of the distances in the order of its tour.

In the copy P[c][p] = d(c, t_p) the scan of a row is a plain run over consecutive memory, which compilers turn into
vector instructions without gathers. A move reverses the same stretch of columns in every row.
"""

from __future__ import annotations

from core.kernels.two_opt import finish_climb, hand_out, key_of, move_key, move_word, next_climber, reverse
from core.lang import (
    Array,
    Const,
    Generic,
    atomic_max,
    barrier,
    function,
    i32,
    kernel,
    lane,
    max,
    shared_array,
    team_rank,
    team_size,
    u16,
    u32,
    u64,
)

D = Generic("D")
FAR_BELOW = -0x7FFFFFFF


@function
def load(
    climber: u32,
    distances: Array[D],
    ordered: Array[D],
    tours: Array[u16],
    tour: Array[i32],
    edge: Array[i32],
    copy: i32,
    n: Const[i32],
):
    """Take over a start tour, and bring the columns of the distances into its order."""
    base = i32(climber) * n
    for p in range(lane(), n, team_size()):
        tour[p] = i32(tours[base + p])
    if lane() == 0:
        tour[n] = i32(tours[base])
    barrier()
    for c in range(lane(), n, team_size()):
        edge[c] = i32(distances[tour[c] * n + tour[c + 1]])
        for p in range(n + 1):
            ordered[copy + c * (n + 1) + p] = distances[c * n + tour[p]]


@function
def best_of_lane(ordered: Array[D], tour: Array[i32], edge: Array[i32], copy: i32, n: Const[i32]) -> u64:
    """The best move whose first position is one of this lane's."""
    gain, i, j = 0, 0, 0
    for p in range(lane(), n - 2, team_size()):
        here = copy + tour[p] * (n + 1)
        after = copy + tour[p + 1] * (n + 1) + 1
        top = FAR_BELOW
        for q in range(p + 2, n):
            top = max(top, edge[q] - i32(ordered[here + q]) - i32(ordered[after + q]))
        if top + edge[p] > gain:
            gain, i, j = top + edge[p], p, p + 2
            while edge[j] - i32(ordered[here + j]) - i32(ordered[after + j]) != top:
                j += 1
    return move_word(gain, move_key(u32(i), u32(j))) if gain > 0 else u64(0)


@function
def scan(ordered: Array[D], tour: Array[i32], edge: Array[i32], winner: Array[u64], copy: i32, n: Const[i32]) -> u64:
    """The best move of all."""
    if lane() == 0:
        winner[0] = u64(0)
    barrier()
    best = best_of_lane(ordered, tour, edge, copy, n)
    if best != 0:
        atomic_max(winner, 0, best)
    barrier()
    return winner[0]


@function
def apply(move: u64, ordered: Array[D], tour: Array[i32], edge: Array[i32], copy: i32, n: Const[i32]):
    """Make a move: the same stretch is turned round in the tour and in every row of the copy."""
    i, j = i32(key_of(move) >> 16), i32(key_of(move) & 0xFFFF)
    ahead = i32(ordered[copy + tour[i] * (n + 1) + j])
    behind = i32(ordered[copy + tour[i + 1] * (n + 1) + j + 1])
    barrier()
    for c in range(lane(), n, team_size()):
        row = copy + c * (n + 1)
        for s in range((j - i) >> 1):
            low, high = row + i + 1 + s, row + j - s
            ordered[low], ordered[high] = ordered[high], ordered[low]
    reverse(tour, i + 1, j)
    reverse(edge, i + 1, j - 1)
    if lane() == 0:
        edge[i] = ahead
        edge[j] = behind
    barrier()


@kernel
def climb_columns(
    distances: Array[D],
    ordered: Array[D],
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
    ordered : Array, teams * n * (n + 1)
        Room for one tour-ordered copy per team.
    tours : Array, climbers * n
        Start tours in, local optima out.
    ticket, best, totals
        As in `core.kernels.two_opt_pruned.climb_pruned`.

    """
    tour = shared_array(n + 1, i32)
    edge = shared_array(n + 1, i32)
    turn = shared_array(1, u32)
    winner = shared_array(1, u64)
    length = shared_array(1, u32)
    copy = team_rank() * n * (n + 1)
    while True:
        climber = next_climber(ticket, turn, length)
        if climber >= u32(climbers):
            break
        load(climber, distances, ordered, tours, tour, edge, copy, n)
        steps = u32(0)
        while True:
            move = scan(ordered, tour, edge, winner, copy, n)
            steps += 1
            if move == 0:
                break
            apply(move, ordered, tour, edge, copy, n)
        hand_out(climber, tour, edge, n, tours, length)
        if lane() == 0:
            finish_climb(first + u64(climber), first, length[0], steps, best, totals)
