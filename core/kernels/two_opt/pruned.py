"""Exact best-improvement 2-opt that leaves out moves which cannot win, by neighbour lists sorted by distance.

A move's gain is (e_i - d(t_i, t_j)) + (e_j - d(t_i+1, t_j+1)), so if it reaches g then one of the two brackets reaches
g / 2. It is therefore met when every position walks the sorted list of its city only as far as the bracket holds:
from t_i for a partner t_j behind it, or from t_j+1 for a partner t_i+1 before it. The walk keeps moves that *equal* g,
so ties are settled as in the full scan, and the trajectory is that of the paper.
"""

from __future__ import annotations

from core.kernels.two_opt.climbs import (
    EVALUATIONS,
    NO_MOVE,
    Climbs,
    CountedClimbs,
    CurrentClimb,
    best_of_team,
    climb_function,
    first_of,
    gain_of,
    move_key,
    move_word,
    reverse,
    second_of,
)
from core.lang import *

D = Generic("D")
P = Generic("P")
ANY_GAIN = 1 << 17
"""More than a first step gains, as a rule: two distances of 16 bits."""


@bundle
class PrunedClimb:
    """An instance, and the tour that a team climbs.

    Position p holds city ``tour[p]`` (position n the first one again), ``place[city]`` is p, and ``edge[p]`` the length
    of the edge after it. ``counted`` are the moves that each lane has evaluated.
    """

    n: Const[i32]
    distances: Array[D]
    neighbours: Array[P]
    tour: Array[u16]
    place: Array[u16]
    edge: Array[i32]
    winner: Array[u64]
    counted: Array[u64]


@function
def distance(a: i32, b: i32, one: PrunedClimb) -> i32:
    return i32(one.distances[a * one.n + b])


@function
def load(climber: u32, climbs: Climbs, one: PrunedClimb):
    """Take over a start tour."""
    begin = i32(climber) * one.n
    for p in range(lane(), one.n, team_size()):
        one.tour[p] = climbs.tours[begin + p]
        one.place[climbs.tours[begin + p]] = u16(p)
    if lane() == 0:
        one.tour[one.n] = climbs.tours[begin]
    barrier()
    for p in range(lane(), one.n, team_size()):
        one.edge[p] = distance(i32(one.tour[p]), i32(one.tour[p + 1]), one)


@function
def best_of_lane(wanted: i32, one: PrunedClimb) -> u64:
    """Return the best of the moves that gain ``wanted`` or more and are met from this lane's positions."""
    best = NO_MOVE
    gain = wanted
    half = (gain + 1) >> 1
    count = u32(0)
    for p in range(lane(), one.n, team_size()):
        here = i32(one.tour[p])
        after = i32(one.tour[p + 1])
        for end in unroll(2):
            # From t_p (end 0) a new edge leads to a t_q behind it, from t_p+1 (end 1) to a t_q+1 before it.
            k = (here if end == 0 else after) * one.n
            reach = one.edge[p] - half
            pair = one.neighbours[k]
            while i32(pair >> 16) <= reach:
                q = i32(one.place[i32(pair & 0xFFFF)]) - end
                if (q > p) if end == 0 else (q >= 0 and q < p):
                    count += 1
                    other = distance(after if end == 0 else here, i32(one.tour[q + 1 - end]), one)
                    offered = one.edge[p] + one.edge[q] - i32(pair >> 16) - other
                    if offered >= gain:
                        move = move_word(offered, move_key(min(p, q), max(p, q)))
                        if move > best:
                            best, gain = move, offered
                            half = (gain + 1) >> 1
                            reach = one.edge[p] - half
                k += 1
                pair = one.neighbours[k]
    one.counted[lane()] += u64(count)
    return best


@function
def scan(last: u64, one: PrunedClimb) -> u64:
    """Return the best move: what a step is likely to gain after the last one is lowered until a move reaches it."""
    wanted = ANY_GAIN if last == NO_MOVE else max(gain_of(last) - (gain_of(last) >> 3), 1)
    best = NO_MOVE
    while True:
        if lane() == 0:
            one.winner[0] = NO_MOVE
        barrier()
        mine = best_of_lane(wanted, one)
        best = best_of_team(mine, one.winner)
        if best != NO_MOVE or wanted == 1:
            break
        wanted = wanted - (wanted >> 2) if wanted > 64 else 1
        barrier()
    return best


@function
def apply(move: u64, one: PrunedClimb):
    """Reverse positions i+1..j."""
    i, j = first_of(move), second_of(move)
    ahead = distance(i32(one.tour[i]), i32(one.tour[j]), one)
    behind = distance(i32(one.tour[i + 1]), i32(one.tour[j + 1]), one)
    barrier()
    for s in range(lane(), (j - i) >> 1, team_size()):
        low, high = i + 1 + s, j - s
        one.tour[low], one.tour[high] = one.tour[high], one.tour[low]
        one.place[one.tour[low]] = u16(low)
        one.place[one.tour[high]] = u16(high)
    reverse(one.edge, i + 1, j - 1)
    if lane() == 0:
        one.edge[i] = ahead
        one.edge[j] = behind
    barrier()


@function
def city_at(p: i32, one: PrunedClimb) -> i32:
    return i32(one.tour[p])


@function
def edge_at(p: i32, one: PrunedClimb) -> i32:
    """Return the length of the edge after a position."""
    return one.edge[p]


climb = climb_function(load, scan, apply, city_at, edge_at)


@kernel
def climb_pruned(climbs: CountedClimbs, distances: Array[D], neighbours: Array[P]):
    """Climb from each of ``climbs.tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    neighbours
        For each city all others by ascending distance, as distance << 16 | city; the last entry of a row is a
        sentinel with a distance above all edges.
    """
    one = PrunedClimb(
        climbs.n,
        distances,
        neighbours,
        shared_array(climbs.n + 1, u16),
        shared_array(climbs.n, u16),
        shared_array(climbs.n + 1, i32),
        shared_array(1, u64),
        shared_array(team_size(), u64),
    )
    turn = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    one.counted[lane()] = u64(0)
    climb(climbs, one, turn)
    atomic_add(climbs.totals, EVALUATIONS, one.counted[lane()])
