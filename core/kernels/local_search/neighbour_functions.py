"""Index to move, and its change of the cost, by functions of the problem or the neighbourhood."""

from __future__ import annotations

import functools

from core.kernels.local_search.hooks import D
from core.kernels.local_search.moves import CUSTOM, NEVER, first_of, second_of, third_of
from core.kernels.local_search.walks import AnyMove, S, Walk
from core.lang import *


def decoders(decode: tuple[Function, ...]) -> tuple[Function, Function, Function]:
    """The functions that find a neighbour's i, j and k: those of `moves`, except for `CUSTOM` shapes.

    Parameters
    ----------
    decode
        See `core.problems.encodings.Neighbourhood.custom`; empty, if no neighbourhood of the search is custom.

    Returns
    -------
    first, second, third : Function
        With the parameters of `first_of`, `second_of` and `third_of`.
    """
    if not decode:
        return first_of, second_of, third_of
    own_first, own_second, own_third = (*decode, None, None)[:3]

    @function
    def first(shape: Const[i32], index: u32, one: Walk) -> i32:
        """The i of neighbour ``index``."""
        if shape == CUSTOM:
            return own_first(index, one.length)
        return first_of(shape, index, one)

    @function
    def second(shape: Const[i32], index: u32, i: i32, one: Walk) -> i32:
        """The j of neighbour ``index``, given its i."""
        if shape == CUSTOM:
            return own_second(index, i, one.length) if own_second is not None else -1
        return second_of(shape, index, i, one)

    @function
    def third(shape: Const[i32], index: u32, i: i32, j: i32, one: Walk) -> i32:
        """The k of neighbour ``index``, given its i and j."""
        if shape == CUSTOM:
            return own_third(index, i, j, one.length) if own_third is not None else -1
        return third_of(shape, index, i, j, one)

    return first, second, third


@functools.lru_cache(maxsize=64)
def listing_kernel(decode: tuple[Function, ...]) -> Kernel:
    """``list_moves(first, count, n, listed)``: (i, j, k) of a custom neighbourhood's neighbours, for the host."""
    own_first, own_second, own_third = (*decode, None, None)[:3]

    @kernel
    def list_moves(first: u32, count: i32, n: i32, listed: Array[i32]):
        """Neighbours ``first`` and on; three numbers each, -1 where not used."""
        for m in range(count):
            index = first + u32(m)
            i, j, k = own_first(index, n), -1, -1
            if own_second is not None:
                j = own_second(index, i, n)
            if own_third is not None:
                k = own_third(index, i, j, n)
            listed[3 * m] = i
            listed[3 * m + 1] = j
            listed[3 * m + 2] = k

    return list_moves


@functools.lru_cache(maxsize=64)
def checking_kernel(decode: tuple[Function, ...]) -> Kernel:
    """``find_wrong_move(size, n, limits, wrong)``: the first move of a custom neighbourhood that leaves its limits."""
    own_first, own_second, own_third = (*decode, None, None)[:3]

    @kernel
    def find_wrong_move(size: u32, n: i32, limits: Array[i32], wrong: Array[u64]):
        """``limits``: the least i, j and k, then the largest."""
        for number in range(u64(team_rank() * team_size() + lane()), u64(size), u64(team_count() * team_size())):
            index = u32(number)
            i, j, k = own_first(index, n), -1, -1
            if own_second is not None:
                j = own_second(index, i, n)
            if own_third is not None:
                k = own_third(index, i, j, n)
            if (
                i < limits[0] or j < limits[1] or k < limits[2]
                or i > limits[3] or j > limits[4] or k > limits[5]
            ):  # fmt: skip
                atomic_min(wrong, 0, number)

    return find_wrong_move


def element_function(shapes: tuple[int, ...], decode: tuple[Function, ...]) -> Function:
    """``element_at(place, level, index, i, j, one) -> i32``: part of a neighbour in one of several neighbourhoods."""
    first, second, third = decoders(decode)

    @function
    def element_at(place: Const[i32], level: i32, index: u32, i: i32, j: i32, one: Walk) -> i32:
        """The i, j or k (``place`` 0, 1 or 2) of a neighbour, given those before it."""
        for other in unroll(len(shapes) - 1, 0, -1):
            if level == other:
                if place == 0:
                    return first(shapes[other], index, one)
                elif place == 1:
                    return second(shapes[other], index, i, one)
                else:
                    return third(shapes[other], index, i, j, one)
        if place == 0:
            return first(shapes[0], index, one)
        elif place == 1:
            return second(shapes[0], index, i, one)
        else:
            return third(shapes[0], index, i, j, one)

    return element_at


def scored_function(value: Function | None) -> Function:
    """``scored(solution, move, cost, data) -> i32``: what a move adds to the cost, by the neighbour's `Hooks.value`."""

    @function
    def scored(solution: Array[S], move: AnyMove, cost: i32, data: D) -> i32:
        """The neighbour's value less the cost that the walk holds; `NEVER` where there is no neighbour."""
        worth = value(solution, move, data)
        return worth - cost if worth != NEVER else NEVER

    return scored
