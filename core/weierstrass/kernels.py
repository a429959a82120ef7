"""The Weierstrass function in fixed point: f(x) = sum over k and i of 2^(-i/4) sin(2^i x_k) (`luong2013`, 6.3).

Every sine's argument is reduced exactly, in integers: a coordinate is a multiple X of 2^-24, and the part of 2^i x
beyond whole turns is a window of bits of X / (2 pi). The sine itself is a polynomial, multiplied and added in one
order. So no device's sine is used, and all devices agree bit for bit.
"""

from __future__ import annotations

from dataclasses import replace

from core.lang import *
from core.lang.library import philox
from core.local_search.kernels.hooks import Evaluation
from core.local_search.kernels.walks import Move

R = Generic("R")

GRID = 16_777_216
"""Coordinates are multiples of 1 / GRID = 2^-24, which 32-bit floats in [-1, 1] hold exactly."""
COST_UNITS = 1_048_576.0
"""Costs are whole numbers of 2^-20, rounded coordinate by coordinate."""
FIRST_BIT, LAST_BIT = 9, 108
"""First bits of the turns of 2 x and 2^100 x in the 192 bits of X / (2 pi)."""

# The words of a walk's state: number of moves, number of the walk, present cost.
MOVES_MADE, WALK_NUMBER, PRESENT = range(3)
DIRECTION, RADIUS, STEP = 1, 2, 3


@function
def sine_32(first: u32, second: u32, third: u32, shift: i32) -> f32:
    """Return the sine of the turn in the bits of three words from ``shift`` on.

    An odd polynomial with an error of 7e-9 before rounding.
    """
    turn = (first << shift) | ((second >> 1) >> (31 - shift))
    if (turn ^ (turn << 1)) >= 0x80000000:  # beyond a quarter turn: sin(half a turn - t) = sin(t)
        turn = 0x80000000 - turn
    y = f32(i32(turn)) * 9.313225746154785e-10  # 2^-30: quarter turns
    z = y * y
    p = ((0.00015167170360 * z - 0.004674143838021253) * z + 0.07968991832894332) * z - 0.6459637595835206
    return (p * z + 1.5707963200386006) * y


@function
def sine_64(first: u32, second: u32, third: u32, shift: i32) -> f64:
    """Return the same sine in 64 bits, with an error of 2e-15 before rounding."""
    high = u64((first << shift) | ((second >> 1) >> (31 - shift)))
    turn = (high << 32) | u64((second << shift) | ((third >> 1) >> (31 - shift)))
    if (turn ^ (turn << 1)) >= 0x8000000000000000:
        turn = 0x8000000000000000 - turn
    y = f64(i64(turn)) * 2.168404344971009e-19  # 2^-62
    z = y * y
    p = (-2.2301334583884972e-11 * z - 5.547437009290771e-10) * z + 5.673407285229127e-08
    p = ((p * z - 3.598681222351675e-06) * z + 0.00016044110640215466) * z - 0.004681754114320468
    return (((p * z + 0.07969262624329988) * z - 0.6459640975060829) * z + 1.5707963267948941) * y


@function
def divide_by_turns(magnitude: u32, words: Array[u32]):
    """Store magnitude / (2 pi) as 32 bits before the point and 160 after it."""
    words[5] = magnitude * u32(0x36D8A566)
    carry = mulhi(magnitude, u32(0x36D8A566))
    low = magnitude * u32(0x7D4D3770)
    words[4] = low + carry
    carry = mulhi(magnitude, u32(0x7D4D3770)) + (1 if words[4] < low else u32(0))
    low = magnitude * u32(0x7F09D5F4)
    words[3] = low + carry
    carry = mulhi(magnitude, u32(0x7F09D5F4)) + (1 if words[3] < low else u32(0))
    low = magnitude * u32(0x9391054A)
    words[2] = low + carry
    carry = mulhi(magnitude, u32(0x9391054A)) + (1 if words[2] < low else u32(0))
    low = magnitude * u32(0x28BE60DB)
    words[1] = low + carry
    words[0] = mulhi(magnitude, u32(0x28BE60DB)) + (1 if words[1] < low else u32(0))


@bundle
class Surface:
    """The function with its dimensions, its random points, and the memory of a walk.

    Neighbour c is drawn from a crown of width ``crown`` around the solution. The words of ``state`` are `MOVES_MADE`,
    `WALK_NUMBER` and `PRESENT`; ``costs`` has the contribution of each coordinate to the last, ``squares`` is scratch
    memory for a move.
    """

    amplitudes: Array[R]
    dimensions: i32
    seed: i32
    crown: f32
    state: Array[i32] = Row(3)
    costs: Array[i32] = Row("dimensions")
    squares: Array[f32] = Row("dimensions")


@function
def random_four(block: u32, neighbour: i32, purpose: u32, surface: Surface, words: Array[u32]):
    """Store four words for four coordinates of a neighbour: Philox keyed by (seed; walk, move, neighbour, block)."""
    words[0] = block
    words[1] = u32(neighbour)
    words[2] = u32(surface.state[MOVES_MADE])
    words[3] = u32(surface.state[WALK_NUMBER])
    philox(words, u32(surface.seed), purpose)


@function
def from_word(word: u32) -> f32:
    """Return a float in [-1, 1), a multiple of 2^-23."""
    return f32(i32(word >> 8) - 8_388_608) * 1.1920928955078125e-07


@function
def stride(neighbour: i32, surface: Surface, words: Array[u32]) -> f32:
    """Return the factor of the random direction, in steps of the grid, that puts the point into its crown."""
    squares = f32(0.0)
    for k in range(surface.dimensions):
        if k % 4 == 0:
            random_four(u32(k // 4), neighbour, u32(DIRECTION), surface, words)
        component = from_word(words[k % 4])
        squares += component * component
    factor = stride_from_squares(squares, neighbour, surface, words)
    return factor


@function
def stride_from_squares(squares: f32, neighbour: i32, surface: Surface, words: Array[u32]) -> f32:
    """Return the factor of `stride` for a known sum of the direction's squares."""
    random_four(u32(0), neighbour, u32(RADIUS), surface, words)
    radius = surface.crown * (f32(neighbour) + 0.5 * (from_word(words[0]) + 1.0))
    return radius / sqrt(max(squares, 1e-30)) * f32(GRID)


@function
def moved_coordinate(at: i32, word: u32, scale: f32) -> i32:
    """Return a coordinate of the neighbour, in steps of the grid and inside the domain."""
    return min(max(at + i32(from_word(word) * scale), -GRID), GRID)


@function
def step_along_axis(neighbour: i32, surface: Surface, words: Array[u32]) -> i32:
    """Return the steps from the solution to a point of a crown along an axis, in a random direction."""
    random_four(u32(0), neighbour, u32(STEP), surface, words)
    radius = surface.crown * (f32(neighbour) + 0.5 * (from_word(words[0]) + 1.0))
    steps = i32(radius * f32(GRID))
    return steps if words[1] >= 0x80000000 else -steps


def make_wave(sine: Function) -> Function:
    """Return the function for the cost of one coordinate, with one of the two sines."""

    @function
    def wave(at: i32, amplitudes: Array[R], words: Array[u32]) -> i32:
        """Return the cost of one coordinate: 100 terms."""
        divide_by_turns(u32(-at if at < 0 else at), words)
        total = R(0.0)
        for w in range(4):
            first, second, third = words[w], words[w + 1], words[w + 2]
            begin = FIRST_BIT if w == 0 else 0
            end = LAST_BIT % 32 + 1 if w == LAST_BIT // 32 else 32
            for shift in range(begin, end):
                total += amplitudes[32 * w + shift - FIRST_BIT] * sine(first, second, third, shift)
        cost = i32(total * COST_UNITS + (R(0.5) if total >= 0.0 else R(-0.5)))
        return -cost if at < 0 else cost

    return wave


def make_begin(wave: Function) -> Function:
    """Return the function that fills the rows of a walk."""

    @function
    def begin_state(solution: Array[R], surface: Surface):
        """Reset the moves, compute the cost from scratch, and number the walk by its start."""
        words = local_array(6, u32)
        barrier()
        if lane() == 0:
            surface.state[MOVES_MADE] = 0
            surface.state[WALK_NUMBER] = 0
            surface.state[PRESENT] = 0
        barrier()
        for c in range(lane(), surface.dimensions, team_size()):
            at = i32(solution[c] * R(GRID))
            atomic_add(surface.state, WALK_NUMBER, i32((u32(at) + u32(c)) * u32(0x9E3779B9) >> 8))
            cost = wave(at, surface.amplitudes, words)
            surface.costs[c] = cost
            atomic_add(surface.state, PRESENT, cost)
        barrier()

    return begin_state


def make_crown_evaluation(wave: Function, begin: Function) -> Evaluation:
    """Return the evaluation of points that differ in all coordinates: each in full."""

    @function
    def partial(worker: i32, workers: i32, solution: Array[R], move: Move, surface: Surface) -> i32:
        """Return a worker's part of the change of cost by point i; the parts add up."""
        draws = local_array(4, u32)
        words = local_array(6, u32)
        scale = stride(move.i, surface, draws)
        cost = -surface.state[PRESENT] if worker == 0 else 0
        for block in range(worker, (surface.dimensions + 3) // 4, workers):
            random_four(u32(block), move.i, u32(DIRECTION), surface, draws)
            for c in range(4 * block, min(4 * block + 4, surface.dimensions)):
                at = i32(solution[c] * R(GRID))
                contribution = wave(moved_coordinate(at, draws[c % 4], scale), surface.amplitudes, words)
                cost += contribution
        return cost

    @function
    def added(solution: Array[R], move: Move, surface: Surface) -> i32:
        """Return the change of cost by point i: a full evaluation."""
        difference = partial(0, 1, solution, move, surface)
        return difference

    @function
    def move_point(solution: Array[R], move: Move, surface: Surface):
        draws = local_array(4, u32)
        words = local_array(6, u32)
        for c in range(lane(), surface.dimensions, team_size()):
            random_four(u32(c // 4), move.i, u32(DIRECTION), surface, draws)
            component = from_word(draws[c % 4])
            surface.squares[c] = component * component
        barrier()
        squares = f32(0.0)
        for c in range(surface.dimensions):  # in the order of `stride`
            squares += surface.squares[c]
        scale = stride_from_squares(squares, move.i, surface, draws)
        for c in range(lane(), surface.dimensions, team_size()):
            random_four(u32(c // 4), move.i, u32(DIRECTION), surface, draws)
            after = moved_coordinate(i32(solution[c] * R(GRID)), draws[c % 4], scale)
            solution[c] = R(after) / R(GRID)
            cost = wave(after, surface.amplitudes, words)
            atomic_add(surface.state, PRESENT, cost - surface.costs[c])
            surface.costs[c] = cost
        barrier()
        if lane() == 0:
            surface.state[MOVES_MADE] += 1

    return Evaluation(added, begin=begin, move=move_point, partial=partial, work=100_000)


def make_axes_evaluations(wave: Function, begin: Function) -> dict[str, Evaluation]:
    """Return the evaluations of points that differ in one coordinate: from kept contributions, and in full."""

    @function
    def moved_along_axis(axis: i32, solution: Array[R], move: Move, surface: Surface) -> i32:
        """Return the coordinate of point i on its axis, in steps of the grid and inside the domain."""
        draws = local_array(4, u32)
        steps = step_along_axis(move.i, surface, draws)
        return min(max(i32(solution[axis] * R(GRID)) + steps, -GRID), GRID)

    @function
    def added_by_axis(solution: Array[R], move: Move, surface: Surface) -> i32:
        """Return the change of cost by point i, which differs in one coordinate: one contribution."""
        words = local_array(6, u32)
        axis = move.i % surface.dimensions
        after = moved_along_axis(axis, solution, move, surface)
        cost = wave(after, surface.amplitudes, words)
        return cost - surface.costs[axis]

    @function
    def added_by_all_axes(solution: Array[R], move: Move, surface: Surface) -> i32:
        """Return the change of cost by a full evaluation."""
        words = local_array(6, u32)
        axis = move.i % surface.dimensions
        after = moved_along_axis(axis, solution, move, surface)
        cost = -surface.state[PRESENT]
        for c in range(surface.dimensions):
            contribution = wave(after if c == axis else i32(solution[c] * R(GRID)), surface.amplitudes, words)
            cost += contribution
        return cost

    @function
    def move_along_axis(solution: Array[R], move: Move, surface: Surface):
        words = local_array(6, u32)
        if lane() == 0:
            axis = move.i % surface.dimensions
            after = moved_along_axis(axis, solution, move, surface)
            cost = wave(after, surface.amplitudes, words)
            solution[axis] = R(after) / R(GRID)
            surface.state[PRESENT] += cost - surface.costs[axis]
            surface.costs[axis] = cost
            surface.state[MOVES_MADE] += 1

    by_axis = Evaluation(added_by_axis, begin=begin, move=move_along_axis, work=1_000)
    return {"kept": by_axis, "full": replace(by_axis, delta=added_by_all_axes)}


def make_evaluations(sine: Function) -> dict[str, dict[str, Evaluation]]:
    """Return the evaluations of each neighbourhood with one of the two sines."""
    wave = make_wave(sine)
    begin = make_begin(wave)
    return {"crowns": {"full": make_crown_evaluation(wave, begin)}, "axes": make_axes_evaluations(wave, begin)}


EVALUATIONS = {"float32": make_evaluations(sine_32), "float64": make_evaluations(sine_64)}
