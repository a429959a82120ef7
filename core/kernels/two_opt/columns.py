"""Full 2-opt scan for narrow teams: every climber keeps its own copy of the distances in the order of its tour.

In the copy P[c][p] = d(c, t_p) the scan of a row is a plain run over consecutive memory, which compilers turn into
vector instructions without gathers. A move reverses the same stretch of columns in every row.
"""

from __future__ import annotations

from core.kernels.two_opt.climbs import (
    NO_MOVE,
    Climbs,
    CountedClimbs,
    CurrentClimb,
    best_of_team,
    climb_function,
    first_of,
    move_key,
    move_word,
    reverse,
    second_of,
)
from core.lang import *

D = Generic("D")
FAR_BELOW = -0x7FFFFFFF
"""Less than any gain."""


@bundle
class ColumnClimb:
    """An instance, and the tour that a team climbs.

    Position p holds city ``tour[p]`` (position n the first one again), ``edge[p]`` is the length of the edge after it.
    The team's copy of the distances has n rows of n + 1, and begins at ``ordered[copy]``.
    """

    n: Const[i32]
    distances: Array[D]
    ordered: Array[D]
    copy: i32
    tour: Array[i32]
    edge: Array[i32]
    winner: Array[u64]


@function
def load(climber: u32, climbs: Climbs, one: ColumnClimb):
    """Take over a start tour, and copy the distances in its order."""
    n = one.n
    begin = i32(climber) * n
    for p in range(lane(), n, team_size()):
        one.tour[p] = i32(climbs.tours[begin + p])
    if lane() == 0:
        one.tour[n] = i32(climbs.tours[begin])
    barrier()
    for c in range(lane(), n, team_size()):
        one.edge[c] = i32(one.distances[one.tour[c] * n + one.tour[c + 1]])
        for p in range(n + 1):
            one.ordered[one.copy + c * (n + 1) + p] = one.distances[c * n + one.tour[p]]


@function
def best_of_lane(one: ColumnClimb) -> u64:
    """Return the best of the moves with i among this lane's positions."""
    gain, i, j = 0, 0, 0
    for p in range(lane(), one.n - 2, team_size()):
        here = one.copy + one.tour[p] * (one.n + 1)
        after = one.copy + one.tour[p + 1] * (one.n + 1) + 1
        top = FAR_BELOW
        for q in range(p + 2, one.n):
            top = max(top, one.edge[q] - i32(one.ordered[here + q]) - i32(one.ordered[after + q]))
        if top + one.edge[p] > gain:
            gain, i, j = top + one.edge[p], p, p + 2
            while one.edge[j] - i32(one.ordered[here + j]) - i32(one.ordered[after + j]) != top:
                j += 1
    return move_word(gain, move_key(i, j)) if gain > 0 else NO_MOVE


@function
def scan(last: u64, one: ColumnClimb) -> u64:
    """Return the best move."""
    if lane() == 0:
        one.winner[0] = NO_MOVE
    barrier()
    return best_of_team(best_of_lane(one), one.winner)


@function
def apply(move: u64, one: ColumnClimb):
    """Reverse positions i+1..j, in the tour and in every row of the copy."""
    i, j = first_of(move), second_of(move)
    ahead = i32(one.ordered[one.copy + one.tour[i] * (one.n + 1) + j])
    behind = i32(one.ordered[one.copy + one.tour[i + 1] * (one.n + 1) + j + 1])
    barrier()
    for c in range(lane(), one.n, team_size()):
        row = one.copy + c * (one.n + 1)
        for s in range((j - i) >> 1):
            low, high = row + i + 1 + s, row + j - s
            one.ordered[low], one.ordered[high] = one.ordered[high], one.ordered[low]
    reverse(one.tour, i + 1, j)
    reverse(one.edge, i + 1, j - 1)
    if lane() == 0:
        one.edge[i] = ahead
        one.edge[j] = behind
    barrier()


@function
def city_at(p: i32, one: ColumnClimb) -> i32:
    return one.tour[p]


@function
def edge_at(p: i32, one: ColumnClimb) -> i32:
    """Return the length of the edge after a position."""
    return one.edge[p]


climb = climb_function(load, scan, apply, city_at, edge_at)


@kernel
def climb_columns(climbs: CountedClimbs, distances: Array[D], ordered: Array[D]):
    """Climb from each of ``climbs.tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    ordered
        Room for one tour-ordered copy per team.
    """
    one = ColumnClimb(
        climbs.n,
        distances,
        ordered,
        team_rank() * climbs.n * (climbs.n + 1),
        shared_array(climbs.n + 1, i32),
        shared_array(climbs.n + 1, i32),
        shared_array(1, u64),
    )
    turn = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    climb(climbs, one, turn)
