"""Functions from an index to a move, and from a move to its change of cost and its effect."""

from __future__ import annotations

import functools

from core.lang import *
from core.local_search.kernels.hooks import D, Evaluation, Rules
from core.local_search.kernels.moves import CUSTOM, NEVER, change, first_of, second_of, third_of
from core.local_search.kernels.walks import AnyMove, S, Walk


def decoders(decode: tuple[Function, ...]) -> tuple[Function, Function, Function]:
    """Return the functions that find a neighbour's i, j and k: those of `moves`, except for `CUSTOM` shapes.

    Parameters
    ----------
    decode
        See `core.local_search.encodings.Neighbourhood.custom`; empty if the search has no custom neighbourhood.

    Returns
    -------
    first, second, third : Function
        With the parameters of `first_of`, `second_of` and `third_of`.
    """
    if not decode:
        return first_of, second_of, third_of
    custom_first, custom_second, custom_third = (*decode, None, None)[:3]

    @function
    def first(shape: Const[i32], index: u32, walk: Walk) -> i32:
        """Return the i of neighbour ``index``."""
        if shape == CUSTOM:
            return custom_first(index, walk.length)
        return first_of(shape, index, walk)

    @function
    def second(shape: Const[i32], index: u32, i: i32, walk: Walk) -> i32:
        """Return the j of neighbour ``index`` with this i."""
        if shape == CUSTOM:
            return custom_second(index, i, walk.length) if custom_second is not None else -1
        return second_of(shape, index, i, walk)

    @function
    def third(shape: Const[i32], index: u32, i: i32, j: i32, walk: Walk) -> i32:
        """Return the k of neighbour ``index`` with this i and j."""
        if shape == CUSTOM:
            return custom_third(index, i, j, walk.length) if custom_third is not None else -1
        return third_of(shape, index, i, j, walk)

    return first, second, third


@functools.lru_cache(maxsize=64)
def listing_kernel(decode: tuple[Function, ...]) -> Kernel:
    """Make ``list_moves(first, count, n, listed)``: (i, j, k) of neighbours in a custom neighbourhood, for the host."""
    custom_first, custom_second, custom_third = (*decode, None, None)[:3]

    @kernel
    def list_moves(first: u32, count: i32, n: i32, listed: Array[i32]):
        """Write ``count`` neighbours from ``first`` on: three numbers each, -1 if not used."""
        for m in range(count):
            index = first + u32(m)
            i, j, k = custom_first(index, n), -1, -1
            if custom_second is not None:
                j = custom_second(index, i, n)
            if custom_third is not None:
                k = custom_third(index, i, j, n)
            listed[3 * m] = i
            listed[3 * m + 1] = j
            listed[3 * m + 2] = k

    return list_moves


@functools.lru_cache(maxsize=64)
def checking_kernel(decode: tuple[Function, ...]) -> Kernel:
    """Make ``find_wrong_move(size, n, limits, wrong)``: the first move of a custom neighbourhood beyond its limits."""
    custom_first, custom_second, custom_third = (*decode, None, None)[:3]

    @kernel
    def find_wrong_move(size: u32, n: i32, limits: Array[i32], wrong: Array[u64]):
        """Find the first index with a move beyond ``limits``: the smallest i, j and k, then the largest."""
        for number in range(u64(team_rank() * team_size() + lane()), u64(size), u64(team_count() * team_size())):
            index = u32(number)
            i, j, k = custom_first(index, n), -1, -1
            if custom_second is not None:
                j = custom_second(index, i, n)
            if custom_third is not None:
                k = custom_third(index, i, j, n)
            if (
                i < limits[0] or j < limits[1] or k < limits[2]
                or i > limits[3] or j > limits[4] or k > limits[5]
            ):  # fmt: skip
                atomic_min(wrong, 0, number)

    return find_wrong_move


def element_function(shapes: tuple[int, ...], decode: tuple[Function, ...]) -> Function:
    """Make ``element_at(place, level, index, i, j, walk) -> i32``: i, j or k in one of several neighbourhoods."""
    first, second, third = decoders(decode)

    @function
    def element_at(place: Const[i32], level: i32, index: u32, i: i32, j: i32, walk: Walk) -> i32:
        """Return the i, j or k (``place`` 0, 1 or 2) of a neighbour of the neighbourhood ``level``."""
        for searched in unroll(len(shapes) - 1, 0, -1):
            if level == searched:
                if place == 0:
                    return first(shapes[searched], index, walk)
                elif place == 1:
                    return second(shapes[searched], index, i, walk)
                else:
                    return third(shapes[searched], index, i, j, walk)
        if place == 0:
            return first(shapes[0], index, walk)
        elif place == 1:
            return second(shapes[0], index, i, walk)
        else:
            return third(shapes[0], index, i, j, walk)

    return element_at


def difference_function(evaluation: Evaluation) -> Function:
    """Make ``difference_of(solution, move, cost, data) -> i32``, from `delta` or else `value`."""
    delta, value = evaluation.delta, evaluation.value

    @function
    def difference_of(solution: Array[S], move: AnyMove, cost: i32, data: D) -> i32:
        """Return the change of ``cost`` by a move, or `NEVER` without a neighbour."""
        difference = 0
        if delta is not None:
            difference = delta(solution, move, data)
        else:
            neighbour_cost = value(solution, move, data)
            difference = neighbour_cost - cost if neighbour_cost != NEVER else NEVER
        return difference

    return difference_of


def move_function(evaluation: Evaluation, rules: Rules) -> Function:
    """Make ``make_move(walk, move, data)``, which the whole team calls."""
    update, move_by, apply, change_kind = evaluation.update, evaluation.move, rules.apply, rules.change

    @function
    def make_move(walk: Walk, move: AnyMove, data: D):
        """Update the state and make a move, between barriers."""
        barrier()
        if update is not None:
            update(walk.solution, move, data)
            barrier()
        if move_by is not None:
            move_by(walk.solution, move, data)
        elif apply is not None:
            apply(walk.solution, move, walk.length)
        else:
            change(change_kind, walk.solution, move)
        barrier()

    return make_move
