"""Pheromone of ants in fixed point, and weights computed from it (`menezes2019`, equations 1 to 3, algorithms 6, 7).

Max-Min Ant System, its limits and its smoothing: Stützle and Hoos, "MAX-MIN Ant System", Future Generation Computer
Systems 16, 2000. Deposits and sums are integers, so they do not depend on the order of the ants, and deposits of all
ranks can be added.
"""

from __future__ import annotations

from core.ant_colony.kernels.ants import Ant, ColonyState
from core.ant_colony.kernels.roulette import COLUMNS, ChoiceWeights
from core.lang import *
from core.lang.library import team_max, team_sum

MAX_PHEROMONE = 0xFFFFFFFF
NOTHING = 0xFFFFFFFFFFFFFFFF
TOGETHER = 16
"""Independent maxima of a lane, which hide the latency of a chain of dependent ones."""
BLOCK = 512
"""Neighbouring edges in memory that a team takes at a time, so that two teams seldom write one cache line."""
LARGEST_FLOAT = 4294967040.0
"""The largest f32 below 2^32."""


@bundle
class Trails:
    """The pheromone between any two of n cities; each edge is stored once, at the place computed by `edge`.

    Attributes
    ----------
    pheromone : Array, n * n / 2
        Pheromone of every edge.
    deposits : Array, n * n / 2
        Deposits of this iteration.
    """

    pheromone: Array[u32]
    deposits: Array[u32]
    n: i32


@bundle
class Update:
    """Update of pheromone in an iteration; parts are relative to 2^32.

    Attributes
    ----------
    rho
        Part that evaporates (equation 2).
    quota, lower_bound
        A tour of length L deposits quota // max(L, lower_bound) (equation 3).
    floor_ratio
        Max-Min Ant System: the smallest trail as a part of the largest one.
    stagnation, smoothing
        After every ``stagnation`` iterations without a better tour, trails rise towards the largest one by the part
        ``smoothing`` of the difference; 0: never.
    """

    rho: u32
    quota: u64
    lower_bound: u32
    floor_ratio: u32
    stagnation: u32
    smoothing: u32


@function
def edge(a: i32, b: i32) -> i32:
    """Return the place of the edge between two cities.

    The edges of city b to all earlier cities are neighbours, from place b * b / 2 on. All edges of n cities are below
    ``edge(0, n)``; every other city leaves one place unused.
    """
    later = max(a, b)
    return (later * later >> 1) + min(a, b)


@kernel
def begin(trails: Trails, start: u32):
    """Put the same pheromone on every edge."""
    places = edge(0, trails.n)
    for block in range(team_rank() * BLOCK, places, team_count() * BLOCK):
        for k in range(block + lane(), min(block + BLOCK, places), team_size()):
            trails.pheromone[k] = start
            trails.deposits[k] = u32(0)


@bundle
class DepositedTour:
    """The tour that deposits pheromone in a Max-Min Ant System.

    Attributes
    ----------
    cities : Array, n
        All 0 on ranks without the tour, until the ranks have summed their arrays.
    length : Array, 1
        Length of the tour, on every rank.
    """

    cities: Array[u32]
    length: Array[u32]


@function
def is_local_ant(ant: u32, ants: Rows[Ant]) -> boolean:
    """Return True if the ant with this number is among ``ants``."""
    row = i32(ant) - ants[0].first
    return row >= 0 and row < ants.count


@kernel
def end_construction(
    ants: Rows[Ant], adopt: boolean, limited: Const[boolean], best_every: i32, colony: ColonyState, laid: DepositedTour
):
    """End an iteration's construction: store the best tour; choose the depositing tour of a Max-Min Ant System.

    A tour stays on the rank of its ant; its length and ant are known on all ranks.

    Parameters
    ----------
    ants
        Ants of this rank; ``colony.least`` may name an ant of another rank.
    adopt
        True to copy only the tour of `ColonyState.least`, if it is better than the best so far; no iteration has ended.
    limited
        True for a Max-Min Ant System.
    best_every
        In a Max-Min Ant System, period of iterations in which the best tour so far deposits instead of the iteration's
        best; 0: never.
    laid
        Out: the depositing tour, if it is on this rank.
    """
    if team_rank() == 0:
        length = u32(colony.least[0] >> 32)
        ant = u32(colony.least[0])
        is_local = is_local_ant(ant, ants)
        shortest = ants[i32(ant) - ants[0].first if is_local else 0]
        iteration = colony.state.iteration
        record = colony.state.best
        if length < record and is_local:
            for p in range(lane(), shortest.n, team_size()):
                colony.best[p] = shortest.tour[p]
        if limited and not adopt:
            is_best_laid = length >= record and best_every > 0
            is_best_laid = is_best_laid and (iteration + 1) % u32(max(best_every, 1)) == 0
            if is_best_laid:
                is_local = is_local_ant(colony.state.ant, ants)
            for p in range(lane(), shortest.n, team_size()):
                city = u32(0)
                if is_local:
                    city = u32(colony.best[p] if is_best_laid else shortest.tour[p])
                laid.cities[p] = city
            if lane() == 0:
                laid.length[0] = record if is_best_laid else length
        barrier()
        if lane() == 0:
            if length < record:
                colony.state.best = length
                colony.state.ant = ant
                colony.state.found_at = iteration - 1 if adopt else iteration
            if not adopt:
                colony.curve[i32(iteration)] = length
                colony.state.iteration = iteration + 1
            colony.least[0] = NOTHING
            colony.ticket[0] = u32(0)


@function
def deposit_per_edge(length: u32, update: Update) -> u32:
    """Return the deposit of a tour on each of its edges (equation 3)."""
    return u32(update.quota // u64(max(length, update.lower_bound)))


@kernel
def deposit(ants: Rows[Ant], update: Update, trails: Trails):
    """Deposit pheromone on the edges of every ant's tour (algorithm 7)."""
    for row in range(team_rank(), ants.count, team_count()):
        ant = ants[row]
        added = deposit_per_edge(ant.length[0], update)
        for p in range(lane(), ant.n, team_size()):
            next_step = p + 1 if p + 1 < ant.n else 0
            atomic_add(trails.deposits, edge(i32(ant.tour[p]), i32(ant.tour[next_step])), added)


@kernel
def deposit_one_tour(laid: DepositedTour, update: Update, trails: Trails):
    """Deposit the one tour of a Max-Min Ant System, which contains every edge once."""
    added = deposit_per_edge(laid.length[0], update)
    for p in range(team_rank() * team_size() + lane(), trails.n, team_count() * team_size()):
        next_step = p + 1 if p + 1 < trails.n else 0
        trails.deposits[edge(i32(laid.cities[p]), i32(laid.cities[next_step]))] = added


@kernel
def evaporate(trails: Trails, update: Update, limited: Const[boolean], colony: ColonyState):
    """Evaporate a part of the pheromone, and add the deposits (equation 2, algorithm 6).

    If ``limited``, trails stay between a largest value, the limit of repeated deposits of the best tour so far, and a
    part of it.
    """
    highest = u32(MAX_PHEROMONE)
    lowest = u32(1)
    is_smoothed = False
    if limited:
        limit = (u64(deposit_per_edge(colony.state.best, update)) << 32) // u64(update.rho)
        highest = u32(min(limit, u64(MAX_PHEROMONE)))
        lowest = max(u32(1), mulhi(highest, update.floor_ratio))
        waited = colony.state.iteration - 1 - colony.state.found_at
        if update.stagnation > 0 and waited > 0:
            is_smoothed = waited % update.stagnation == 0
    places = edge(0, trails.n)
    for block in range(team_rank() * BLOCK, places, team_count() * BLOCK):
        for k in range(block + lane(), min(block + BLOCK, places), team_size()):
            remaining = trails.pheromone[k] - mulhi(trails.pheromone[k], update.rho)
            trail = remaining + trails.deposits[k]
            if trail < remaining:
                trail = u32(MAX_PHEROMONE)
            if limited:
                if is_smoothed and trail < highest:
                    trail += mulhi(highest - trail, update.smoothing)
                trail = min(max(trail, lowest), highest)
            trails.deposits[k] = u32(0)
            trails.pheromone[k] = trail


@function
def power(x: f32, exponent: Const[i32]) -> f32:
    """Return ``x`` to the power of ``exponent`` / 256, by products and square roots only: equal on every device."""
    if exponent == 256:
        return x
    result = f32(1.0)
    base = x
    integer_part = exponent >> 8
    while integer_part > 0:
        if integer_part & 1 != 0:
            result *= base
        base *= base
        integer_part = integer_part >> 1
    fraction = exponent & 255
    root = x
    while fraction != 0:
        root = sqrt(root)
        if fraction & 128 != 0:
            result *= root
        fraction = (fraction << 1) & 255
    return result


@function
def row_of_trails(i: i32, trails: Trails, choice: ChoiceWeights) -> u32:
    """Copy the trails of a city to its row of weights; return the largest one of this lane."""
    first = i * choice.stride
    largest = u32(0)
    for j in range(lane(), i, team_size()):
        trail = trails.pheromone[edge(0, i) + j]
        choice.weights[first + j] = trail
        largest = max(largest, trail)
    for j in range(i + 1 + lane(), trails.n, team_size()):
        trail = trails.pheromone[edge(0, j) + i]
        choice.weights[first + j] = trail
        largest = max(largest, trail)
    if lane() == 0:
        choice.weights[first + i] = u32(0)
    return largest


@function
def merit(trail: u32, scale: f32, eta: f32, alpha: Const[i32]) -> f32:
    """Return equation 1's tau^alpha * eta^beta of an edge; ``scale`` is the row's largest tau."""
    return power(f32(trail) / scale, alpha) * eta


@function
def largest_merit(
    trails: Array[u32], first: i32, heuristic: Array[f32], row: i32, n: i32, scale: f32, alpha: Const[i32]
) -> f32:
    """Return this lane's largest `merit` of n edges: trails from ``first`` on, heuristics from ``row`` on."""
    best = local_array(TOGETHER, f32)
    for s in range(TOGETHER):
        best[s] = f32(0.0)
    unrolled = n - n % (TOGETHER * team_size())
    for j in range(lane(), unrolled, TOGETHER * team_size()):
        for s in range(TOGETHER):
            k = j + s * team_size()
            best[s] = max(best[s], merit(trails[first + k], scale, heuristic[row + k], alpha))
    largest = f32(0.0)
    for s in range(TOGETHER):
        largest = max(largest, best[s])
    for j in range(unrolled + lane(), n, team_size()):
        largest = max(largest, merit(trails[first + j], scale, heuristic[row + j], alpha))
    return largest


@function
def rough_weight(trail: u32, scale: f32, eta: f32, largest: f32, alpha: Const[i32]) -> u32:
    """Return the weight of an edge on a scale where ``largest``, the row's largest merit, has 32 bits."""
    return u32(merit(trail, scale, eta, alpha) / largest * LARGEST_FLOAT)


@function
def row_factor(total: u64, n: i32) -> u32:
    """Return the factor, relative to 2^32, that scales rough weights with this sum to at most 2^32 - n."""
    return u32(min((u64(MAX_PHEROMONE - u32(n)) << 32) // total, u64(MAX_PHEROMONE)))


@function
def final_weight(rough: u32, factor: u32) -> u32:
    """Return the scaled weight of an edge, at least 1."""
    return max(u32(1), mulhi(rough, factor))


@kernel
def weigh(
    begin: i32,
    end: i32,
    trails: Trails,
    heuristic: Array[f32],
    alpha: Const[i32],
    choice: ChoiceWeights,
    listed: Const[boolean],
):
    """Compute the weights of equation 1, each row scaled to a sum below 2^32.

    Parameters
    ----------
    begin, end
        Cities ``begin`` to ``end - 1`` have the rows to compute.
    heuristic : Array, n * n
        eta^beta as a part of the row's largest; 0 from a city to itself.
    alpha
        256 times the exponent.
    choice
        Out: weights, at least 1 from a city to every other; if ``listed``, also those of the candidate lists.
    """
    trail_of_lane = shared_array(team_size(), u32)
    merit_of_lane = shared_array(team_size(), f32)
    sum_of_lane = shared_array(team_size(), u64)
    n = trails.n
    for i in range(begin + team_rank(), end, team_count()):
        first = i * choice.stride
        trail = row_of_trails(i, trails, choice)
        trail = team_max(trail, trail_of_lane)
        scale = f32(trail)
        largest = largest_merit(choice.weights, first, heuristic, i * n, n, scale, alpha)
        largest = team_max(largest, merit_of_lane)
        total = u64(0)
        for j in range(lane(), n, team_size()):
            weight = rough_weight(choice.weights[first + j], scale, heuristic[i * n + j], largest, alpha)
            total += u64(weight)
            choice.weights[first + j] = weight
        for j in range(n + lane(), choice.stride, team_size()):
            choice.weights[first + j] = u32(0)
        total = team_sum(total, sum_of_lane)
        factor = row_factor(total, n)
        for j in range(lane(), n, team_size()):
            weight = final_weight(choice.weights[first + j], factor)
            choice.weights[first + j] = weight if j != i else 0
        if listed:
            barrier()
            for s in range(lane(), COLUMNS, team_size()):
                near = i32(choice.near_cities[i * COLUMNS + s])
                choice.near_weights[i * COLUMNS + s] = choice.weights[first + near]
