"""Ant System as `menezes2019` maps it to a device: algorithms 3 to 7, without the improvements of this project.

An ant weighs every city again in each step, and one lane sums the weights and chooses. Three differences from the paper
make the tours equal to those of the other kernels:

- Weights are the integers of `core.ant_colony.kernels.pheromone`. `scale_rows` prepares three numbers of every row once
  an iteration. The factor eta^beta of equation 1 is read from a table, since the last bits of powers depend on the
  device.
- A draw is multiplied by the sum of the weights. The paper divides every weight by it.
- Cities are numbered in the order of the wheel (`place_on_wheel`), so a plain loop from city 0 on chooses the same city
  as `core.ant_colony.kernels.roulette`.
"""

from __future__ import annotations

from core.ant_colony.kernels.ants import Ant, ColonyState, draw_words
from core.ant_colony.kernels.pheromone import (
    MAX_PHEROMONE,
    Update,
    deposit_per_edge,
    final_weight,
    largest_merit,
    rough_weight,
    row_factor,
)
from core.ant_colony.kernels.roulette import COLUMNS
from core.lang import *
from core.lang.library import team_max, team_sum


@bundle
class PheromoneMatrix:
    """The pheromone from every city to every other, stored twice for each edge as in the paper.

    Attributes
    ----------
    pheromone : Array, n * n
        Equal from i to j and from j to i; 0 from a city to itself.
    """

    pheromone: Array[u32]
    n: i32


@bundle
class WeighingAnt(Ant):
    """An ant with weights of cities.

    Attributes
    ----------
    visited : Row, n
        1 for each city that the ant has visited, else 0.
    weights : Row, n
        Equation 1's tau^alpha * eta^beta from the ant's position to each city; 0 for visited ones.
    """

    visited: Array[u8] = Row("n")
    weights: Array[u32] = Row("n")


@bundle
class Scales:
    """Scale factors that make the numerators of equation 1 integers (`core.ant_colony.kernels.pheromone.weigh`).

    Attributes
    ----------
    heuristic : Array, n * n
        eta^beta as a part of the row's largest; 0 from a city to itself.
    trails, merits, factors : Array, n
        Largest pheromone, largest merit, and `row_factor` of each row.
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
    """The city of an ant, and the numbers of its row of `Scales`."""

    city: i32
    trail: f32
    merit: f32
    factor: u32


@kernel
def begin(trails: PheromoneMatrix, start: u32):
    """Put the same pheromone on every edge, and none from a city to itself."""
    n = trails.n
    for k in range(team_rank() * team_size() + lane(), n * n, team_count() * team_size()):
        trails.pheromone[k] = start if k % (n + 1) != 0 else 0


@kernel
def scale_rows(trails: PheromoneMatrix, scales: Scales):
    """Compute the scale factors of every row. The paper has no integer weights, and so no such step."""
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
    """Return the draw of an ant's step for the choosing lane; ``draws`` stores its next three."""
    if step % 4 == 0:
        draw_words(u32(step >> 2), ant, colony, draws)
    return draws[lane() * 4 + step % 4]


@function
def weight(position: AntPosition, j: i32, ant: WeighingAnt, trails: PheromoneMatrix, scales: Scales) -> u32:
    """Return equation 1's tau^alpha * eta^beta of the edge to city ``j``; 0 if the ant has visited it."""
    if ant.visited[j] != 0:
        return u32(0)
    k = position.city * trails.n + j
    rough = rough_weight(trails.pheromone[k], position.trail, scales.heuristic[k], position.merit, scales.alpha)
    return final_weight(rough, position.factor)


@function
def sum_of_weights(ant: WeighingAnt) -> u32:
    """Return the denominator of equation 1, summed by one lane."""
    total = u32(0)
    for j in range(ant.n):
        total += ant.weights[j]
    return total


@function
def chosen_city(target: u32, ant: WeighingAnt) -> i32:
    """Return the city at which the running sum of the weights exceeds ``target``, which is less than their sum."""
    j = 0
    running_sum = ant.weights[0]
    while running_sum <= target:
        j += 1
        running_sum += ant.weights[j]
    return j


@function
def move_to(city: i32, step: i32, ant: WeighingAnt):
    """Move the ant to the city, and mark it as visited."""
    ant.tour[step] = u16(city)
    ant.visited[city] = u8(1)


@kernel
def construct_coarse(ants: Rows[WeighingAnt], trails: PheromoneMatrix, scales: Scales, colony: ColonyState):
    """Construct the tours with one lane per ant (algorithm 4)."""
    draws = shared_array(4 * team_size(), u32)
    for ant_i in range(team_rank() * team_size() + lane(), ants.count, team_count() * team_size()):
        ant = ants[ant_i]
        for j in range(ant.n):
            ant.visited[j] = u8(0)
        draw = next_draw(0, ant.first + ant_i, colony, draws)
        move_to(place_on_wheel(i32(mulhi(draw, u32(ant.n))), ant.n), 0, ant)
        for step in range(1, ant.n):
            city_i = i32(ant.tour[step - 1])
            position = AntPosition(city_i, f32(scales.trails[city_i]), scales.merits[city_i], scales.factors[city_i])
            for city_j in range(ant.n):
                ant.weights[city_j] = weight(position, city_j, ant, trails, scales)
            total = sum_of_weights(ant)
            draw = next_draw(step, ant.first + ant_i, colony, draws)
            move_to(chosen_city(mulhi(draw, total), ant), step, ant)


@kernel
def construct_fine(ants: Rows[WeighingAnt], trails: PheromoneMatrix, scales: Scales, colony: ColonyState):
    """Construct the tours with a team per ant: each lane weighs one city, the first lane chooses (algorithm 5).

    With more cities than lanes, a lane weighs several.
    """
    draws = shared_array(4, u32)
    for ant_i in range(team_rank(), ants.count, team_count()):
        ant = ants[ant_i]
        for city_j in range(lane(), ant.n, team_size()):
            ant.visited[city_j] = u8(0)
        barrier()
        if lane() == 0:
            draw = next_draw(0, ant.first + ant_i, colony, draws)
            move_to(place_on_wheel(i32(mulhi(draw, u32(ant.n))), ant.n), 0, ant)
        barrier()
        for step in range(1, ant.n):
            city_i = i32(ant.tour[step - 1])
            position = AntPosition(city_i, f32(scales.trails[city_i]), scales.merits[city_i], scales.factors[city_i])
            for city_j in range(lane(), ant.n, team_size()):
                ant.weights[city_j] = weight(position, city_j, ant, trails, scales)
            barrier()
            if lane() == 0:
                total = sum_of_weights(ant)
                draw = next_draw(step, ant.first + ant_i, colony, draws)
                move_to(chosen_city(mulhi(draw, total), ant), step, ant)
            barrier()


# --- pheromone ---


@function
def increased(trail: u32, added: u32) -> u32:
    """Return an edge's pheromone after a deposit (equation 3), at most `MAX_PHEROMONE`."""
    return trail + added if trail <= u32(MAX_PHEROMONE) - added else u32(MAX_PHEROMONE)


@kernel
def update_by_one_lane(ants: Rows[Ant], update: Update, trails: PheromoneMatrix):
    """Evaporate all pheromone, then deposit for all ants: algorithm 3's ``pheromone_update_kernel<<<1, 1>>>``.

    Launch it with one lane. Pheromone from i to j and from j to i is equal, so an ant adds its deposit to both.
    """
    n = trails.n
    for edge in range(n * n):
        trails.pheromone[edge] = trails.pheromone[edge] - mulhi(trails.pheromone[edge], update.rho)
    for ant_k in range(ants.count):
        ant = ants[ant_k]
        added = deposit_per_edge(ant.length[0], update)
        for step in range(n):
            city_i = i32(ant.tour[step])
            city_j = i32(ant.tour[step + 1 if step + 1 < n else 0])
            trails.pheromone[city_i * n + city_j] = increased(trails.pheromone[city_i * n + city_j], added)
            trails.pheromone[city_j * n + city_i] = increased(trails.pheromone[city_j * n + city_i], added)


@kernel
def evaporate_edges(trails: PheromoneMatrix, update: Update):
    """Evaporate pheromone with a lane for every edge, in many teams (algorithm 6)."""
    edges = u32(trails.n * trails.n)
    first = u32(team_rank() * team_size() + lane())
    for edge in range(first, edges, u32(team_count() * team_size())):
        trails.pheromone[edge] = trails.pheromone[edge] - mulhi(trails.pheromone[edge], update.rho)


@function
def add_pheromone(edge: i32, added: u32, trails: PheromoneMatrix):
    """Add to an edge's pheromone, atomically.

    If the sum wraps around, the lane stores the largest pheromone instead. Later additions wrap around again and also
    store the largest, so this is the result.
    """
    old_pheromone = atomic_add(trails.pheromone, edge, added)
    if old_pheromone > u32(MAX_PHEROMONE) - added:
        atomic_max(trails.pheromone, edge, u32(MAX_PHEROMONE))


@kernel
def deposit_edges(ants: Rows[Ant], update: Update, trails: PheromoneMatrix):
    """Deposit with a team for every ant and a lane for every edge of its tour, by atomic additions (algorithm 7)."""
    n = trails.n
    for ant_k in range(team_rank(), ants.count, team_count()):
        ant = ants[ant_k]
        added = deposit_per_edge(ant.length[0], update)
        for step in range(lane(), n, team_size()):
            city_i = i32(ant.tour[step])
            city_j = i32(ant.tour[step + 1 if step + 1 < n else 0])
            add_pheromone(city_i * n + city_j, added, trails)
            add_pheromone(city_j * n + city_i, added, trails)
