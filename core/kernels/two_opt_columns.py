"""Full 2-opt scan for narrow teams: every climber keeps its own copy of the distances in the order of its tour.

In the copy P[c][p] = d(c, t_p) the scan of a row is a plain run over consecutive memory, which compilers turn into
vector instructions without gathers. A move reverses the same stretch of columns in every row.
"""

from __future__ import annotations

from core.kernels.two_opt import finish_climb, move_key
from core.lang import (
    Array,
    Const,
    Generic,
    atomic_add,
    atomic_max,
    barrier,
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
        if lane() == 0:
            turn[0] = atomic_add(ticket, 0, u32(1))
            length[0] = u32(0)
        barrier()
        climber = turn[0]
        if climber >= u32(climbers):
            break
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
        steps = u32(0)
        while True:
            if lane() == 0:
                winner[0] = u64(0)
            barrier()
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
            if gain > 0:
                atomic_max(winner, 0, (u64(gain) << 32) | u64(~move_key(u32(i), u32(j))))
            barrier()
            steps += 1
            won = winner[0]
            if won == 0:
                break
            i = i32(~u32(won) >> 16)
            j = i32(~u32(won) & 0xFFFF)
            ahead = i32(ordered[copy + tour[i] * (n + 1) + j])
            behind = i32(ordered[copy + tour[i + 1] * (n + 1) + j + 1])
            barrier()
            for c in range(lane(), n, team_size()):
                row = copy + c * (n + 1)
                for s in range((j - i) >> 1):
                    low, high = row + i + 1 + s, row + j - s
                    ordered[low], ordered[high] = ordered[high], ordered[low]
            for s in range(lane(), (j - i) >> 1, team_size()):
                tour[i + 1 + s], tour[j - s] = tour[j - s], tour[i + 1 + s]
            for s in range(lane(), (j - i - 1) >> 1, team_size()):
                edge[i + 1 + s], edge[j - 1 - s] = edge[j - 1 - s], edge[i + 1 + s]
            if lane() == 0:
                edge[i] = ahead
                edge[j] = behind
            barrier()
        part = u32(0)
        for p in range(lane(), n, team_size()):
            part += u32(edge[p])
            tours[base + p] = u16(tour[p])
        atomic_add(length, 0, part)
        barrier()
        if lane() == 0:
            finish_climb(first + u64(climber), first, length[0], steps, best, totals)
        barrier()
