"""Exact best-improvement 2-opt that leaves out moves which cannot win, by neighbour lists sorted by distance.

A move's gain is (e_i - d(t_i, t_j)) + (e_j - d(t_i+1, t_j+1)), so if it reaches g then one of the two brackets reaches
g / 2. It is therefore found when every position walks the sorted list of its city only as far as the bracket holds:
from t_i for a partner t_j behind it, or from t_j+1 for a partner t_i+1 before it. The walk keeps moves that *equal* g,
so ties are settled as in the full scan, and the trajectory is that of the paper.
"""

from __future__ import annotations

from core.kernels.two_opt import EVALUATIONS, finish_climb, move_key
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
    team_size,
    u16,
    u32,
    u64,
)

D = Generic("D")
P = Generic("P")
NO_GAIN = 0x7FFFFFFF


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
    evaluations = u64(0)
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
            tour[p] = tours[base + p]
            place[tours[base + p]] = u16(p)
        if lane() == 0:
            tour[n] = tours[base]
        barrier()
        for p in range(lane(), n, team_size()):
            edge[p] = i32(distances[i32(tour[p]) * n + i32(tour[p + 1])])
        steps = u32(0)
        expected = 1 << 17
        while True:
            # `wanted` starts at a gain that the last step makes likely, and is lowered until a move reaches it.
            wanted = max(expected, 1)
            while True:
                if lane() == 0:
                    winner[0] = u64(0)
                barrier()
                gain = wanted
                key = u32(0)
                found = 0
                half = (gain + 1) >> 1
                for p in range(lane(), n, team_size()):
                    reach = edge[p] - half
                    here = i32(tour[p])
                    after = i32(tour[p + 1])
                    k = here * n
                    pair = neighbours[k]
                    while i32(pair >> 16) <= reach:
                        q = i32(place[i32(pair & 0xFFFF)])
                        if q > p:
                            evaluations += 1
                            one = edge[p] + edge[q] - i32(pair >> 16) - i32(distances[after * n + i32(tour[q + 1])])
                            order = move_key(u32(p), u32(q))
                            if one > gain or (one == gain and (found == 0 or order < key)):
                                gain, key, found = one, order, 1
                                half = (gain + 1) >> 1
                                reach = edge[p] - half
                        k += 1
                        pair = neighbours[k]
                    k = after * n
                    pair = neighbours[k]
                    while i32(pair >> 16) <= reach:
                        q = i32(place[i32(pair & 0xFFFF)]) - 1
                        if q >= 0 and q < p:
                            evaluations += 1
                            one = edge[p] + edge[q] - i32(pair >> 16) - i32(distances[here * n + i32(tour[q])])
                            order = move_key(u32(q), u32(p))
                            if one > gain or (one == gain and (found == 0 or order < key)):
                                gain, key, found = one, order, 1
                                half = (gain + 1) >> 1
                                reach = edge[p] - half
                        k += 1
                        pair = neighbours[k]
                if found != 0:
                    atomic_max(winner, 0, (u64(gain) << 32) | u64(~key))
                barrier()
                if winner[0] != 0 or wanted == 1:
                    break
                wanted = wanted - (wanted >> 2) if wanted > 64 else 1
                barrier()
            steps += 1
            won = winner[0]
            if won == 0:
                break
            gain = i32(won >> 32)
            expected = gain - (gain >> 3)
            i = i32(~u32(won) >> 16)
            j = i32(~u32(won) & 0xFFFF)
            ahead = i32(distances[i32(tour[i]) * n + i32(tour[j])])
            behind = i32(distances[i32(tour[i + 1]) * n + i32(tour[j + 1])])
            barrier()
            for s in range(lane(), (j - i) >> 1, team_size()):
                low, high = i + 1 + s, j - s
                tour[low], tour[high] = tour[high], tour[low]
                place[tour[low]] = u16(low)
                place[tour[high]] = u16(high)
            for s in range(lane(), (j - i - 1) >> 1, team_size()):
                low, high = i + 1 + s, j - 1 - s
                edge[low], edge[high] = edge[high], edge[low]
            if lane() == 0:
                edge[i] = ahead
                edge[j] = behind
            barrier()
        part = u32(0)
        for p in range(lane(), n, team_size()):
            part += u32(edge[p])
            tours[base + p] = tour[p]
        atomic_add(length, 0, part)
        barrier()
        if lane() == 0:
            finish_climb(first + u64(climber), first, length[0], steps, best, totals)
        barrier()
    atomic_add(totals, EVALUATIONS, evaluations)
