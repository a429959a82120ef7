"""Full 2-opt scan for narrow teams: every climber has a copy of the distances in the order of its tour.

In the copy P[c][p] = d(c, t_p) the scan of a row reads consecutive memory. Compilers make vector instructions of it
that need no gathers. A move reverses the same range of columns in every row.
"""

from __future__ import annotations

from core.hill_climbing.kernels.climb_states import EdgeTour, city_at, edge_at, reverse
from core.hill_climbing.kernels.climbs import (
    NO_MOVE,
    Climbs,
    CountedClimbs,
    CurrentClimb,
    best_of_team,
    climb_function,
    first_of,
    move_key,
    move_word,
    second_of,
)
from core.lang import *

D = Generic("D")
FAR_BELOW = -0x7FFFFFFF
"""Less than any gain."""


@bundle
class ColumnClimb(EdgeTour):
    """State of a team. Its copy of the distances has n rows of n + 1, and begins at ``ordered[copy]``."""

    ordered: Array[D]
    copy: i32
    winner: Array[u64]


@function
def load(climber: u32, climbs: Climbs, state: ColumnClimb):
    """Load a start tour, and copy the distances in its order."""
    n = state.n
    begin = i32(climber) * n
    for p in range(lane(), n, team_size()):
        state.tour[p] = i32(climbs.tours[begin + p])
    if lane() == 0:
        state.tour[n] = i32(climbs.tours[begin])
    barrier()
    for c in range(lane(), n, team_size()):
        state.edge[c] = i32(state.distances[state.tour[c] * n + state.tour[c + 1]])
        for p in range(n + 1):
            state.ordered[state.copy + c * (n + 1) + p] = state.distances[c * n + state.tour[p]]


@function
def best_of_lane(state: ColumnClimb) -> u64:
    """Return the best move (i, j) with i among this lane's positions."""
    gain, i, j = 0, 0, 0
    for p in range(lane(), state.n - 2, team_size()):
        row = state.copy + state.tour[p] * (state.n + 1)
        next_row = state.copy + state.tour[p + 1] * (state.n + 1) + 1
        top = FAR_BELOW
        for q in range(p + 2, state.n):
            top = max(top, state.edge[q] - i32(state.ordered[row + q]) - i32(state.ordered[next_row + q]))
        if top + state.edge[p] > gain:
            gain, i, j = top + state.edge[p], p, p + 2
            while state.edge[j] - i32(state.ordered[row + j]) - i32(state.ordered[next_row + j]) != top:
                j += 1
    return move_word(gain, move_key(i, j)) if gain > 0 else NO_MOVE


@function
def scan(last: u64, state: ColumnClimb) -> u64:
    if lane() == 0:
        state.winner[0] = NO_MOVE
    barrier()
    return best_of_team(best_of_lane(state), state.winner)


@function
def apply(move: u64, state: ColumnClimb):
    """Reverse positions i+1..j, in the tour and in every row of the copy."""
    i, j = first_of(move), second_of(move)
    edge_i = i32(state.ordered[state.copy + state.tour[i] * (state.n + 1) + j])
    edge_j = i32(state.ordered[state.copy + state.tour[i + 1] * (state.n + 1) + j + 1])
    barrier()
    for c in range(lane(), state.n, team_size()):
        begin = state.copy + c * (state.n + 1)
        for s in range((j - i) >> 1):
            low, high = begin + i + 1 + s, begin + j - s
            state.ordered[low], state.ordered[high] = state.ordered[high], state.ordered[low]
    reverse(state.tour, i + 1, j, True)
    reverse(state.edge, i + 1, j - 1, True)
    if lane() == 0:
        state.edge[i] = edge_i
        state.edge[j] = edge_j
    barrier()


climb = climb_function(load, scan, apply, city_at, edge_at)


@kernel
def climb_columns(climbs: CountedClimbs, distances: Array[D], ordered: Array[D]):
    """Climb from each of ``climbs.tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    climbs
        See `core.hill_climbing.kernels.climbs`.
    distances : Array, n * n
    ordered : Array, teams * n * (n + 1)
        Room for one tour-ordered copy per team.
    """
    state = ColumnClimb(
        climbs.n,
        distances,
        shared_array(climbs.n + 1, i32),
        shared_array(climbs.n + 1, i32),
        ordered,
        team_rank() * climbs.n * (climbs.n + 1),
        shared_array(1, u64),
    )
    current = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    climb(climbs, state, current)
