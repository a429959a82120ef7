"""Ant System as `menezes2019` lays it on a device: algorithms 3 to 7, without the suite's own ideas.

An ant weighs every city anew in each of its steps, and one lane adds up the weights and chooses. What differs from the
paper keeps the tours equal to the suite's, number by number. Weights are the integers of
`core.kernels.ant_colony.pheromone`, for which `scale_rows` prepares three numbers of every row once in an iteration;
the factor eta^beta of equation 1 comes from a table, because devices do not agree on the last bits of a power. A draw
is multiplied by the sum of the weights, where the paper divides every weight by it. Cities are numbered as the suite's
wheel has them (`place_on_wheel`), so that a plain loop from city 0 on turns the wheel of
`core.kernels.ant_colony.roulette`.
"""

from __future__ import annotations

from core.kernels.ant_colony.ants import Ant, ColonyState, draw_words
from core.kernels.ant_colony.pheromone import (
    MAX_PHEROMONE,
    Update,
    deposit_per_edge,
    final_weight,
    largest_merit,
    rough_weight,
    row_factor,
)
from core.kernels.ant_colony.roulette import COLUMNS
from core.lang import *
from core.lang.library import team_max, team_sum


@bundle
class PheromoneMatrix:
    """The pheromone from every city to every other, as the paper keeps it: of each edge twice.

    Attributes
    ----------
    pheromone : Array, n * n
        The same from i to j and from j to i; 0 from a city to itself.
    """

    pheromone: Array[u32]
    n: i32


@bundle
class WeighingAnt(Ant):
    """An ant that weighs cities itself.

    Attributes
    ----------
    visited : Row, n
        Of each city, 1 if the ant has been there, else 0.
    weights : Row, n
        Of each city, equation 1's tau^alpha * eta^beta from where the ant is; 0 if it has been there.
    """

    visited: Array[u8] = Row("n")
    weights: Array[u32] = Row("n")


@bundle
class Scales:
    """Scale factors that make the numerators of equation 1 integers (`core.kernels.ant_colony.pheromone.weigh`).

    Attributes
    ----------
    heuristic : Array, n * n
        eta^beta as a part of the row's largest; 0 from a city to itself.
    trails, merits, factors : Array, n
        Of each row the largest pheromone, the largest merit, and `row_factor`.
    alpha
        256 times the exponent.
    """

    heuristic: Array[f32]
    trails: Array[u32]
    merits: Array[f32]
    factors: Array[u32]
    alpha: Const[i32]


@bundle
class AntPosition:
    """A city where an ant is, and the numbers of its row of `Scales`."""

    city: i32
    trail: f32
    merit: f32
    factor: u32


@kernel
def begin(trails: PheromoneMatrix, start: u32):
    """Put the same pheromone on every edge, and none on the way from a city to itself."""
    n = trails.n
    for k in range(team_rank() * team_size() + lane(), n * n, team_count() * team_size()):
        trails.pheromone[k] = start if k % (n + 1) != 0 else 0


@kernel
def scale_rows(trails: PheromoneMatrix, scales: Scales):
    """Prepare the numbers by which ants weigh; the paper has no integers, and so nothing like this."""
    trail_of_lane = shared_array(team_size(), u32)
    merit_of_lane = shared_array(team_size(), f32)
    sum_of_lane = shared_array(team_size(), u64)
    n = trails.n
    for i in range(team_rank(), n, team_count()):
        trail = u32(0)
        for j in range(lane(), n, team_size()):
            trail = max(trail, trails.pheromone[i * n + j])
        trail = team_max(trail, trail_of_lane)
        scale = f32(trail)
        largest = largest_merit(trails.pheromone, i * n, scales.heuristic, i * n, n, scale, scales.alpha)
        largest = team_max(largest, merit_of_lane)
        total = u64(0)
        for k in range(i * n + lane(), (i + 1) * n, team_size()):
            total += u64(rough_weight(trails.pheromone[k], scale, scales.heuristic[k], largest, scales.alpha))
        total = team_sum(total, sum_of_lane)
        if lane() == 0:
            scales.trails[i] = trail
            scales.merits[i] = largest
            scales.factors[i] = row_factor(total, n)


# --- tours ---


@function
def place_on_wheel(city: i32, n: i32) -> i32:
    """Return the position of a city on a wheel that passes through 32 columns, column by column."""
    column = city % COLUMNS
    return city // COLUMNS + column * (n // COLUMNS) + min(column, n % COLUMNS)


@function
def next_draw(step: i32, ant: i32, colony: ColonyState, draws: Array[u32]) -> u32:
    """The draw of an ant's step, for the lane that chooses; ``draws`` keeps the lane's next three."""
    if step % 4 == 0:
        draw_words(u32(step >> 2), ant, colony, draws)
    return draws[lane() * 4 + step % 4]


@function
def weight(here: AntPosition, j: i32, one: WeighingAnt, trails: PheromoneMatrix, scales: Scales) -> u32:
    """Return equation 1's tau^alpha * eta^beta of the edge to city ``j``; 0 if the ant has visited it."""
    if one.visited[j] != 0:
        return u32(0)
    k = here.city * trails.n + j
    rough = rough_weight(trails.pheromone[k], here.trail, scales.heuristic[k], here.merit, scales.alpha)
    return final_weight(rough, here.factor)


@function
def sum_of_weights(one: WeighingAnt) -> u32:
    """The denominator of equation 1, by one lane."""
    total = u32(0)
    for j in range(one.n):
        total += one.weights[j]
    return total


@function
def chosen_city(target: u32, one: WeighingAnt) -> i32:
    """The city at which the running sum of the weights passes ``target``, which is less than their sum."""
    j = 0
    run = one.weights[0]
    while run <= target:
        j += 1
        run += one.weights[j]
    return j


@function
def move_to(city: i32, step: i32, one: WeighingAnt):
    """Move the ant to the city, to which it will not come again."""
    one.tour[step] = u16(city)
    one.visited[city] = u8(1)


@kernel
def construct_coarse(ants: Rows[WeighingAnt], trails: PheromoneMatrix, scales: Scales, colony: ColonyState):
    """Algorithm 4: every ant is one lane, which makes its tour alone."""
    draws = shared_array(4 * team_size(), u32)
    for ant_i in range(team_rank() * team_size() + lane(), ants.count, team_count() * team_size()):
        one = ants[ant_i]
        for j in range(one.n):
            one.visited[j] = u8(0)
        draw = next_draw(0, one.first + ant_i, colony, draws)
        move_to(place_on_wheel(i32(mulhi(draw, u32(one.n))), one.n), 0, one)
        for step in range(1, one.n):
            city_i = i32(one.tour[step - 1])
            here = AntPosition(city_i, f32(scales.trails[city_i]), scales.merits[city_i], scales.factors[city_i])
            for city_j in range(one.n):
                one.weights[city_j] = weight(here, city_j, one, trails, scales)
            total = sum_of_weights(one)
            draw = next_draw(step, one.first + ant_i, colony, draws)
            move_to(chosen_city(mulhi(draw, total), one), step, one)


@kernel
def construct_fine(ants: Rows[WeighingAnt], trails: PheromoneMatrix, scales: Scales, colony: ColonyState):
    """Algorithm 5: every ant is a team; each lane weighs one city and the first lane chooses.

    With more cities than lanes, a lane weighs several.
    """
    draws = shared_array(4, u32)
    for ant_i in range(team_rank(), ants.count, team_count()):
        one = ants[ant_i]
        for city_j in range(lane(), one.n, team_size()):
            one.visited[city_j] = u8(0)
        barrier()
        if lane() == 0:
            draw = next_draw(0, one.first + ant_i, colony, draws)
            move_to(place_on_wheel(i32(mulhi(draw, u32(one.n))), one.n), 0, one)
        barrier()
        for step in range(1, one.n):
            city_i = i32(one.tour[step - 1])
            here = AntPosition(city_i, f32(scales.trails[city_i]), scales.merits[city_i], scales.factors[city_i])
            for city_j in range(lane(), one.n, team_size()):
                one.weights[city_j] = weight(here, city_j, one, trails, scales)
            barrier()
            if lane() == 0:
                total = sum_of_weights(one)
                draw = next_draw(step, one.first + ant_i, colony, draws)
                move_to(chosen_city(mulhi(draw, total), one), step, one)
            barrier()


# --- pheromone ---


@function
def increased(trail: u32, added: u32) -> u32:
    """Equation 3 for an edge, up to the largest pheromone there is."""
    return trail + added if trail <= u32(MAX_PHEROMONE) - added else u32(MAX_PHEROMONE)


@kernel
def update_by_one_lane(ants: Rows[Ant], update: Update, trails: PheromoneMatrix):
    """Algorithm 3's ``pheromone_update_kernel<<<1, 1>>>``: all pheromone evaporates, then all ants deposit.

    One lane does it all, and others would be too many.
    Pheromone from i to j and from j to i is the same, so an ant adds its share to both.
    """
    n = trails.n
    for edge in range(n * n):
        trails.pheromone[edge] = trails.pheromone[edge] - mulhi(trails.pheromone[edge], update.rho)
    for ant_k in range(ants.count):
        one = ants[ant_k]
        added = deposit_per_edge(one.length[0], update)
        for step in range(n):
            city_i = i32(one.tour[step])
            city_j = i32(one.tour[step + 1 if step + 1 < n else 0])
            trails.pheromone[city_i * n + city_j] = increased(trails.pheromone[city_i * n + city_j], added)
            trails.pheromone[city_j * n + city_i] = increased(trails.pheromone[city_j * n + city_i], added)


@kernel
def evaporate_edges(trails: PheromoneMatrix, update: Update):
    """Algorithm 6: a lane for every edge, in many teams."""
    edges = u32(trails.n * trails.n)
    first = u32(team_rank() * team_size() + lane())
    for edge in range(first, edges, u32(team_count() * team_size())):
        trails.pheromone[edge] = trails.pheromone[edge] - mulhi(trails.pheromone[edge], update.rho)


@function
def add_pheromone(edge: i32, added: u32, trails: PheromoneMatrix):
    """Add to an edge's pheromone while all lanes do so.

    A sum beyond the largest pheromone wraps around, and its lane stores the largest instead. Later additions wrap
    around again and do the same, so the result is the largest.
    """
    old = atomic_add(trails.pheromone, edge, added)
    if old > u32(MAX_PHEROMONE) - added:
        atomic_max(trails.pheromone, edge, u32(MAX_PHEROMONE))


@kernel
def deposit_edges(ants: Rows[Ant], update: Update, trails: PheromoneMatrix):
    """Algorithm 7: a team for every ant, and a lane for every edge of its tour, by atomic additions."""
    n = trails.n
    for ant_k in range(team_rank(), ants.count, team_count()):
        one = ants[ant_k]
        added = deposit_per_edge(one.length[0], update)
        for step in range(lane(), n, team_size()):
            city_i = i32(one.tour[step])
            city_j = i32(one.tour[step + 1 if step + 1 < n else 0])
            add_pheromone(city_i * n + city_j, added, trails)
            add_pheromone(city_j * n + city_i, added, trails)
