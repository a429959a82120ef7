"""Exact best-improvement 2-opt that skips moves by neighbour lists sorted by distance.

A move's gain is (e_i - d(t_i, t_j)) + (e_j - d(t_i+1, t_j+1)). If it is at least g, one of the two brackets is at least
g / 2. So a scan of each city's sorted list may end where the bracket falls below g / 2: it finds the move from t_i with
a later t_j, or from t_j+1 with an earlier t_i+1. Moves that *equal* g are kept, so ties are settled as in the full
scan, and the trajectory is that of the paper.
"""

from __future__ import annotations

from core.hill_climbing.kernels.climb_states import EdgeTour, city_at, distance, edge_at, reverse
from core.hill_climbing.kernels.climbs import (
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
    second_of,
)
from core.lang import *

D = Generic("D")
P = Generic("P")
ANY_GAIN = 1 << 17
"""Gain of two distances of 16 bits, usually more than that of a first step."""


@bundle
class PrunedClimb(EdgeTour):
    """State of a team: ``place[city]`` is a city's position, ``evaluations[k]`` the moves evaluated by lane k."""

    neighbours: Array[P]
    place: Array[u16]
    winner: Array[u64]
    evaluations: Array[u64]


@function
def load(climber: u32, climbs: Climbs, state: PrunedClimb):
    begin = i32(climber) * state.n
    for p in range(lane(), state.n, team_size()):
        state.tour[p] = climbs.tours[begin + p]
        state.place[climbs.tours[begin + p]] = u16(p)
    if lane() == 0:
        state.tour[state.n] = climbs.tours[begin]
    barrier()
    for p in range(lane(), state.n, team_size()):
        state.edge[p] = distance(i32(state.tour[p]), i32(state.tour[p + 1]), state)


@function
def best_of_lane(wanted: i32, state: PrunedClimb) -> u64:
    """Return the best move with a gain of at least ``wanted`` from this lane's positions."""
    best = NO_MOVE
    least = wanted
    half = (least + 1) >> 1
    evaluations = u32(0)
    for p in range(lane(), state.n, team_size()):
        city = i32(state.tour[p])
        next_city = i32(state.tour[p + 1])
        for end in unroll(2):
            # The new edge leads from t_p to a later t_q (end 0), or from t_p+1 to an earlier t_q+1 (end 1).
            k = (city if end == 0 else next_city) * state.n
            reach = state.edge[p] - half
            entry = state.neighbours[k]
            while i32(entry >> 16) <= reach:
                q = i32(state.place[i32(entry & 0xFFFF)]) - end
                if (q > p) if end == 0 else (q >= 0 and q < p):
                    evaluations += 1
                    other = distance(next_city if end == 0 else city, i32(state.tour[q + 1 - end]), state)
                    gain = state.edge[p] + state.edge[q] - i32(entry >> 16) - other
                    if gain >= least:
                        move = move_word(gain, move_key(min(p, q), max(p, q)))
                        if move > best:
                            best, least = move, gain
                            half = (least + 1) >> 1
                            reach = state.edge[p] - half
                k += 1
                entry = state.neighbours[k]
    state.evaluations[lane()] += u64(evaluations)
    return best


@function
def scan(last: u64, state: PrunedClimb) -> u64:
    """Return the best move: lower the gain expected after the last step until a move reaches it."""
    wanted = ANY_GAIN if last == NO_MOVE else max(gain_of(last) - (gain_of(last) >> 3), 1)
    best = NO_MOVE
    while True:
        if lane() == 0:
            state.winner[0] = NO_MOVE
        barrier()
        lane_best = best_of_lane(wanted, state)
        best = best_of_team(lane_best, state.winner)
        if best != NO_MOVE or wanted == 1:
            break
        wanted = wanted - (wanted >> 2) if wanted > 64 else 1
        barrier()
    return best


@function
def apply(move: u64, state: PrunedClimb):
    i, j = first_of(move), second_of(move)
    edge_i = distance(i32(state.tour[i]), i32(state.tour[j]), state)
    edge_j = distance(i32(state.tour[i + 1]), i32(state.tour[j + 1]), state)
    barrier()
    for s in range(lane(), (j - i) >> 1, team_size()):
        low, high = i + 1 + s, j - s
        state.tour[low], state.tour[high] = state.tour[high], state.tour[low]
        state.place[state.tour[low]] = u16(low)
        state.place[state.tour[high]] = u16(high)
    reverse(state.edge, i + 1, j - 1, True)
    if lane() == 0:
        state.edge[i] = edge_i
        state.edge[j] = edge_j
    barrier()


climb = climb_function(load, scan, apply, city_at, edge_at)


@kernel
def climb_pruned(climbs: CountedClimbs, distances: Array[D], neighbours: Array[P]):
    """Climb from each of ``climbs.tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    climbs
        See `core.hill_climbing.kernels.climbs`.
    distances : Array, n * n
    neighbours : Array, n * n
        For each city all others by ascending distance, as distance << 16 | city. A row ends with a sentinel: a
        distance above those of all edges.
    """
    tour = shared_array(climbs.n + 1, u16)
    place = shared_array(climbs.n, u16)
    edge = shared_array(climbs.n + 1, i32)
    state = PrunedClimb(
        climbs.n, distances, tour, edge, neighbours, place, shared_array(1, u64), shared_array(team_size(), u64)
    )
    current = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    state.evaluations[lane()] = u64(0)
    climb(climbs, state, current)
    atomic_add(climbs.totals, EVALUATIONS, state.evaluations[lane()])
