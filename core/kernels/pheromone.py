"""Pheromone of ants in fixed point, and the weights that it gives (`menezes2019`, equations 1 to 3, algorithms 6, 7).

Max-Min Ant System, its limits and its smoothing: Stützle and Hoos, "MAX-MIN Ant System", Future Generation Computer
Systems 16, 2000. A deposit is an integer and so are all sums: no order of the ants can change them.
"""

from __future__ import annotations

from core.kernels.ants import ANT, BEST, FOUND_AT, ITERATION, Ant, Colony
from core.kernels.roulette import COLUMNS, Choice
from core.lang import (
    Array,
    Const,
    Rows,
    atomic_add,
    barrier,
    boolean,
    bundle,
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
    u32,
    u64,
)
from core.lang.library import team_max, team_sum

MOST = 0xFFFFFFFF
NOTHING = 0xFFFFFFFFFFFFFFFF
TOGETHER = 16
"""Independent maxima of a lane, which hide the latency of a chain of dependent ones."""
LARGEST_FLOAT = 4294967040.0
"""The largest f32 below 2^32."""


@bundle
class Trails:
    """The pheromone between any two of n cities.

    Attributes
    ----------
    pheromone : Array, n * n
        The same from i to j and from j to i; 0 from a city to itself.
    deposits : Array, n * n
        Of this iteration, from the smaller to the larger city.

    """

    pheromone: Array[u32]
    deposits: Array[u32]
    n: i32


@bundle
class Update:
    """How pheromone changes from iteration to iteration; parts are those of 2^32.

    Attributes
    ----------
    rho
        Part that evaporates (equation 2).
    quota, lower_bound
        A tour of length L deposits quota // max(L, lower_bound) (equation 3).
    floor_ratio
        Max-Min Ant System: the smallest trail as a part of the largest one.
    stagnation, smoothing
        After every such number of iterations without a better tour trails move towards the largest by this part of
        the way; 0: never.

    """

    rho: u32
    quota: u64
    lower_bound: u32
    floor_ratio: u32
    stagnation: u32
    smoothing: u32


@kernel
def begin(trails: Trails, start: u32):
    """Put the same pheromone on every edge, and none on the way from a city to itself."""
    n = trails.n
    for k in range(team_rank() * team_size() + lane(), n * n, team_count() * team_size()):
        trails.pheromone[k] = start if k % (n + 1) != 0 else 0
        trails.deposits[k] = u32(0)


@kernel
def judge(ants: Rows[Ant], adopt: boolean, best_every: i32, colony: Colony, laid: Ant):
    """End an iteration's construction: keep the best tour; choose the one that deposits in a Max-Min Ant System.

    Parameters
    ----------
    ants
        Among them the one that ``colony.least`` names.
    adopt
        Only take over its tour, if it is better than the best so far; no iteration has ended.
    best_every
        The best tour so far deposits in every such iteration, the iteration's best in others; 0: never.
    laid
        Out: the tour that deposits.

    """
    if team_rank() == 0:
        length = u32(colony.least[0] >> 32)
        ant = u32(colony.least[0])
        shortest = ants[i32(ant) - ants[0].first]
        iteration = colony.state[ITERATION]
        record = colony.state[BEST]
        if length < record:
            for p in range(lane(), laid.n, team_size()):
                colony.best[p] = shortest.tour[p]
        if not adopt:
            lays_best = length >= record and best_every > 0
            lays_best = lays_best and (iteration + 1) % u32(max(best_every, 1)) == 0
            for p in range(lane(), laid.n, team_size()):
                if lays_best:
                    laid.tour[p] = colony.best[p]
                else:
                    laid.tour[p] = shortest.tour[p]
            if lane() == 0:
                laid.length[0] = record if lays_best else length
        barrier()
        if lane() == 0:
            if length < record:
                colony.state[BEST] = length
                colony.state[ANT] = ant
                colony.state[FOUND_AT] = iteration - 1 if adopt else iteration
            if not adopt:
                colony.curve[i32(iteration)] = length
                colony.state[ITERATION] = iteration + 1
            colony.least[0] = NOTHING
            colony.ticket[0] = u32(0)


@function
def share(length: u32, update: Update) -> u32:
    """What a tour deposits on each of its edges (equation 3)."""
    return u32(update.quota // u64(max(length, update.lower_bound)))


@kernel
def deposit(ants: Rows[Ant], update: Update, trails: Trails):
    """Algorithm 7: every ant adds its share to the edges of its tour."""
    for row in range(team_rank(), ants.count, team_count()):
        one = ants[row]
        added = share(one.length[0], update)
        for p in range(lane(), one.n, team_size()):
            a = i32(one.tour[p])
            b = i32(one.tour[p + 1 if p + 1 < one.n else 0])
            atomic_add(trails.deposits, min(a, b) * one.n + max(a, b), added)


@kernel
def evaporate(trails: Trails, update: Update, limited: Const[boolean], colony: Colony):
    """Equation 2 and algorithm 6: a part of the pheromone evaporates, the deposits come on top.

    If they are ``limited``, trails stay between a largest value, which the best tour so far would reach if it deposited
    for ever, and a part of it.
    """
    n = trails.n
    highest = u32(MOST)
    lowest = u32(1)
    smooth = False
    if limited:
        limit = (u64(share(colony.state[BEST], update)) << 32) // u64(update.rho)
        highest = u32(min(limit, u64(MOST)))
        lowest = max(u32(1), mulhi(highest, update.floor_ratio))
        waited = colony.state[ITERATION] - 1 - colony.state[FOUND_AT]
        if update.stagnation > 0 and waited > 0:
            smooth = waited % update.stagnation == 0
    for i in range(team_rank(), n, team_count()):
        for j in range(i + 1 + lane(), n, team_size()):
            k = i * n + j
            left = trails.pheromone[k] - mulhi(trails.pheromone[k], update.rho)
            trail = left + trails.deposits[k]
            if trail < left:
                trail = u32(MOST)
            if limited:
                if smooth and trail < highest:
                    trail += mulhi(highest - trail, update.smoothing)
                trail = min(max(trail, lowest), highest)
            trails.deposits[k] = u32(0)
            trails.pheromone[k] = trail
            trails.pheromone[j * n + i] = trail


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


@function
def largest_trail(i: i32, trails: Trails) -> u32:
    """The largest trail of a city that this lane sees."""
    trail = u32(0)
    for j in range(lane(), trails.n, team_size()):
        trail = max(trail, trails.pheromone[i * trails.n + j])
    return trail


@function
def merit(k: i32, scale: f32, trails: Trails, heuristic: Array[f32], alpha: Const[i32]) -> f32:
    """Equation 1's tau^alpha * eta^beta of an edge, where ``scale`` is the row's largest tau."""
    return power(f32(trails.pheromone[k]) / scale, alpha) * heuristic[k]


@function
def largest_merit(i: i32, scale: f32, trails: Trails, heuristic: Array[f32], alpha: Const[i32]) -> f32:
    """The largest `merit` of a city that this lane sees."""
    n = trails.n
    best = local_array(TOGETHER, f32)
    for s in range(TOGETHER):
        best[s] = f32(0.0)
    whole = n - n % (TOGETHER * team_size())
    for j in range(lane(), whole, TOGETHER * team_size()):
        for s in range(TOGETHER):
            best[s] = max(best[s], merit(i * n + j + s * team_size(), scale, trails, heuristic, alpha))
    largest = f32(0.0)
    for s in range(TOGETHER):
        largest = max(largest, best[s])
    for j in range(whole + lane(), n, team_size()):
        largest = max(largest, merit(i * n + j, scale, trails, heuristic, alpha))
    return largest


@function
def rough_weight(k: i32, scale: f32, largest: f32, trails: Trails, heuristic: Array[f32], alpha: Const[i32]) -> u32:
    """The weight of an edge before its row's sum is known: as if ``largest``, the row's largest merit, had 32 bits."""
    return u32(merit(k, scale, trails, heuristic, alpha) / largest * LARGEST_FLOAT)


@function
def row_factor(total: u64, n: i32) -> u32:
    """The part of 2^32 that brings a row of rough weights with this sum below 2^32, and leaves room for n ones."""
    return u32(min((u64(MOST - u32(n)) << 32) // total, u64(MOST)))


@function
def final_weight(rough: u32, factor: u32) -> u32:
    """The weight of an edge, at least 1."""
    return max(u32(1), mulhi(rough, factor))


@kernel
def weigh(trails: Trails, heuristic: Array[f32], alpha: Const[i32], choice: Choice, listed: Const[boolean]):
    """The weights of equation 1, scaled row by row so that a row sums to less than 2^32.

    Parameters
    ----------
    heuristic : Array, n * n
        eta^beta as a part of the row's largest; 0 from a city to itself.
    alpha
        256 times the exponent.
    choice
        Out: weights, at least 1 from a city to every other; if ``listed``, those of the candidate lists too.

    """
    trail_of_lane = shared_array(team_size(), u32)
    merit_of_lane = shared_array(team_size(), f32)
    sum_of_lane = shared_array(team_size(), u64)
    n = trails.n
    for i in range(team_rank(), n, team_count()):
        trail = team_max(largest_trail(i, trails), trail_of_lane)
        scale = f32(trail)
        largest = team_max(largest_merit(i, scale, trails, heuristic, alpha), merit_of_lane)
        total = u64(0)
        for j in range(lane(), n, team_size()):
            weight = rough_weight(i * n + j, scale, largest, trails, heuristic, alpha)
            total += u64(weight)
            choice.weights[i * choice.stride + j] = weight
        for j in range(n + lane(), choice.stride, team_size()):
            choice.weights[i * choice.stride + j] = u32(0)
        total = team_sum(total, sum_of_lane)
        factor = row_factor(total, n)
        for j in range(lane(), n, team_size()):
            weight = final_weight(choice.weights[i * choice.stride + j], factor)
            choice.weights[i * choice.stride + j] = weight if j != i else 0
        if listed:
            barrier()
            for s in range(lane(), COLUMNS, team_size()):
                near = i32(choice.near_cities[i * COLUMNS + s])
                choice.near_weights[i * COLUMNS + s] = choice.weights[i * choice.stride + near]
