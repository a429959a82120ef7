"""Pheromone of ants in fixed point, and the weights that it gives (`menezes2019`, equations 1 to 3, algorithms 6, 7).

Max-Min Ant System, its limits and its smoothing: Stützle and Hoos, "MAX-MIN Ant System", Future Generation Computer
Systems 16, 2000. A deposit is an integer and so are all sums: no order of the ants can change them.
"""

from __future__ import annotations

from core.kernels.ants import ANT, BEST, COLUMNS, FOUND_AT, ITERATION
from core.lang import (
    Array,
    Const,
    atomic_add,
    barrier,
    f32,
    function,
    i32,
    kernel,
    lane,
    local_array,
    max,
    min,
    mulhi,
    shared_array,
    sqrt,
    team_count,
    team_rank,
    team_size,
    u16,
    u32,
    u64,
)
from core.lang.library import team_max, team_sum

MOST = 0xFFFFFFFF
NOTHING = 0xFFFFFFFFFFFFFFFF
TOGETHER = 16
"""Maxima that a lane keeps side by side: one after the other, each would wait for the last."""
LARGEST_FLOAT = 4294967040.0
"""The largest f32 below 2^32."""


@kernel
def begin(pheromone: Array[u32], delta: Array[u32], n: i32, start: u32):
    """Put the same pheromone on every edge, and none on the way from a city to itself."""
    for k in range(team_rank() * team_size() + lane(), n * n, team_count() * team_size()):
        pheromone[k] = start if k % (n + 1) != 0 else 0
        delta[k] = u32(0)


@function
def share(quota: u64, lower_bound: u32, length: u32) -> u32:
    """A deposit of equation 3 in units of pheromone: ``quota`` / length."""
    return u32(quota // u64(max(length, lower_bound)))


@kernel
def judge(
    tours: Array[u16],
    n: i32,
    first: i32,
    adopt: i32,
    best_every: i32,
    state: Array[u32],
    least: Array[u64],
    curve: Array[u32],
    best: Array[u16],
    laid: Array[u16],
    laid_length: Array[u32],
    ticket: Array[u32],
):
    """End an iteration's construction: keep the best tour; choose the one that deposits in a Max-Min Ant System.

    Parameters
    ----------
    tours : Array, ants * n
    first
        Number of the ant whose tour is the first.
    adopt
        1: only take over the tour, if it is better than the best so far; no iteration has ended.
    best_every
        The best tour so far deposits in every such iteration, the iteration's best in others; 0: never.
    least : Array, 1
        Length << 32 | ant of the iteration's best tour; emptied for the next.
    curve : Array, iterations
        Out: that length.
    best, laid : Array, n
        Out: the best tour so far, and the one that deposits; ``laid_length`` its length.
    ticket : Array, 1
        Set to 0, for the local search of the next iteration.

    """
    if team_rank() == 0:
        length = u32(least[0] >> 32)
        ant = u32(least[0])
        base = (i32(ant) - first) * n
        iteration = state[ITERATION]
        known = state[BEST]
        if length < known:
            for p in range(lane(), n, team_size()):
                best[p] = tours[base + p]
        if adopt == 0:
            old = length >= known and best_every > 0
            old = old and (iteration + 1) % u32(max(best_every, 1)) == 0
            for p in range(lane(), n, team_size()):
                if old:
                    laid[p] = best[p]
                else:
                    laid[p] = tours[base + p]
            if lane() == 0:
                laid_length[0] = known if old else length
        barrier()
        if lane() == 0:
            if length < known:
                state[BEST] = length
                state[ANT] = ant
                state[FOUND_AT] = iteration if adopt == 0 else iteration - 1
            if adopt == 0:
                curve[i32(iteration)] = length
                state[ITERATION] = iteration + 1
            least[0] = NOTHING
            ticket[0] = u32(0)


@kernel
def deposit(tours: Array[u16], lengths: Array[u32], n: i32, ants: i32, quota: u64, lower_bound: u32, delta: Array[u32]):
    """Equation 3 and algorithm 7: every ant adds its share to the edges of its tour, at (smaller city, larger city)."""
    for ant in range(team_rank(), ants, team_count()):
        base = ant * n
        added = share(quota, lower_bound, lengths[ant])
        for p in range(lane(), n, team_size()):
            a = i32(tours[base + p])
            b = i32(tours[base + (p + 1 if p + 1 < n else 0)])
            atomic_add(delta, min(a, b) * n + max(a, b), added)


@kernel
def evaporate(
    pheromone: Array[u32],
    delta: Array[u32],
    n: i32,
    rho: u32,
    limited: Const[i32],
    quota: u64,
    lower_bound: u32,
    floor_ratio: u32,
    stagnation: u32,
    smoothing: u32,
    state: Array[u32],
):
    """Equations 2 and 3 and algorithm 6: a part ``rho`` / 2^32 evaporates, the deposits come on top.

    With ``limited`` the trails stay between a largest value, which the best tour so far would reach if it deposited
    for ever, and ``floor_ratio`` / 2^32 of it; after every ``stagnation`` iterations without a better tour they move
    towards the largest by ``smoothing`` / 2^32 of the way.
    """
    highest = u32(MOST)
    lowest = u32(1)
    smooth = False
    if limited != 0:
        top = (u64(share(quota, lower_bound, state[BEST])) << 32) // u64(rho)
        highest = u32(min(top, u64(MOST)))
        lowest = max(u32(1), mulhi(highest, floor_ratio))
        waited = state[ITERATION] - 1 - state[FOUND_AT]
        if stagnation > 0 and waited > 0:
            smooth = waited % stagnation == 0
    for i in range(team_rank(), n, team_count()):
        for j in range(i + 1 + lane(), n, team_size()):
            k = i * n + j
            left = pheromone[k] - mulhi(pheromone[k], rho)
            trail = left + delta[k]
            if trail < left:
                trail = u32(MOST)
            if limited != 0:
                if smooth and trail < highest:
                    trail += mulhi(highest - trail, smoothing)
                trail = min(max(trail, lowest), highest)
            delta[k] = u32(0)
            pheromone[k] = trail
            pheromone[j * n + i] = trail


@function
def power(x: f32, exponent: Const[i32]) -> f32:
    """``x`` to the power of ``exponent`` / 256, by products and square roots only: the same on every device."""
    if exponent == 256:
        return x
    result = f32(1.0)
    base = x
    whole = exponent >> 8
    while whole > 0:
        if whole & 1 != 0:
            result *= base
        base *= base
        whole = whole >> 1
    bits = exponent & 255
    root = x
    while bits != 0:
        root = sqrt(root)
        if bits & 128 != 0:
            result *= root
        bits = (bits << 1) & 255
    return result


@kernel
def weigh(
    pheromone: Array[u32],
    heuristic: Array[f32],
    alpha: Const[i32],
    n: i32,
    stride: i32,
    weights: Array[u32],
    near_cities: Array[u16],
    near_weights: Array[u32],
    listed: Const[i32],
):
    """The weights of equation 1, tau^alpha * eta^beta, scaled row by row so that a row sums to less than 2^32.

    Parameters
    ----------
    heuristic : Array, n * n
        eta^beta as a part of the row's largest; 0 from a city to itself.
    alpha
        256 times the exponent.
    weights : Array, n * stride
        Out: at least 1 from a city to every other, 0 to itself and beyond n.
    near_cities : Array, n * 32
        Candidate lists; if ``listed``, their weights come to ``near_weights``.

    """
    most_trail = shared_array(team_size(), u32)
    most = shared_array(team_size(), f32)
    sums = shared_array(team_size(), u64)
    best = local_array(TOGETHER, f32)
    for i in range(team_rank(), n, team_count()):
        trail = u32(0)
        for j in range(lane(), n, team_size()):
            trail = max(trail, pheromone[i * n + j])
        trail = team_max(trail, most_trail)
        scale = f32(trail)
        for s in range(TOGETHER):
            best[s] = f32(0.0)
        whole = n - n % (TOGETHER * team_size())
        for j in range(lane(), whole, TOGETHER * team_size()):
            for s in range(TOGETHER):
                k = i * n + j + s * team_size()
                best[s] = max(best[s], power(f32(pheromone[k]) / scale, alpha) * heuristic[k])
        largest = f32(0.0)
        for s in range(TOGETHER):
            largest = max(largest, best[s])
        for j in range(whole + lane(), n, team_size()):
            largest = max(largest, power(f32(pheromone[i * n + j]) / scale, alpha) * heuristic[i * n + j])
        largest = team_max(largest, most)
        total = u64(0)
        for j in range(lane(), n, team_size()):
            part = power(f32(pheromone[i * n + j]) / scale, alpha) * heuristic[i * n + j]
            weight = u32(part / largest * LARGEST_FLOAT)
            total += u64(weight)
            weights[i * stride + j] = weight
        for j in range(n + lane(), stride, team_size()):
            weights[i * stride + j] = u32(0)
        total = team_sum(total, sums)
        factor = u32(min((u64(MOST - u32(n)) << 32) // total, u64(MOST)))
        for j in range(lane(), n, team_size()):
            weight = max(u32(1), mulhi(weights[i * stride + j], factor))
            weights[i * stride + j] = weight if j != i else 0
        if listed != 0:
            barrier()
            for s in range(lane(), COLUMNS, team_size()):
                near_weights[i * COLUMNS + s] = weights[i * stride + i32(near_cities[i * COLUMNS + s])]
