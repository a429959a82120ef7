"""Data of all evaluations of the permuted perceptron problem: signs, targets, and products Y = A V.

A walk keeps the products and their histogram with its solution (`luong2013`, section 6.2).
"""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.walks import Move

MARGIN = 3
"""Groups by which flips can leave the present range, on either side."""


@bundle
class Products:
    """The matrix of signs and its target histogram, and the products of its rows with the present vector.

    ``matrix`` has the signs of ``rows`` rows of ``inputs`` columns, row by row. ``targets`` has the wanted number of
    rows with product 2 g - inputs at g + `MARGIN`. ``products`` has the product of every row, ``histogram`` the number
    of rows with product 2 g - inputs, for each of ``groups`` groups.
    """

    matrix: Array[i8]
    targets: Array[i32]
    rows: i32
    inputs: i32
    negative_weight: i32
    histogram_weight: i32
    groups: i32
    products: Array[i32] = Row("rows")
    histogram: Array[i32] = Row("groups")


@function
def group_cost(rows: i32, group: i32, ppp: Products) -> i32:
    """Return the cost of ``rows`` rows of product 2 group - inputs, for their sign and for their number."""
    missing = max(ppp.inputs - 2 * group, 0)
    off = abs(ppp.targets[group + MARGIN] - rows)
    return 2 * ppp.negative_weight * missing * rows + ppp.histogram_weight * off


@function
def falls(row: i32, column: i32, solution: Array[i32], ppp: Products) -> i32:
    """Return 1 if flipping ``column`` lowers the product of ``row``, else 0."""
    positive = 1 if ppp.matrix[row * ppp.inputs + column] > 0 else 0
    return 1 if positive == solution[column] else 0


@function
def count_products(solution: Array[i32], ppp: Products):
    """Store Y = A V and its histogram, from scratch; all lanes of a team call it."""
    for group in range(lane(), ppp.inputs + 1, team_size()):
        ppp.histogram[group] = 0
    barrier()
    for row in range(lane(), ppp.rows, team_size()):
        product = 0
        for column in range(ppp.inputs):
            product += 2 * falls(row, column, solution, ppp) - 1
        ppp.products[row] = product
        atomic_add(ppp.histogram, (product + ppp.inputs) // 2, 1)


@function
def product_after(row: i32, solution: Array[i32], move: Move, ppp: Products) -> i32:
    """Return the product of a row after the flips."""
    after = ppp.products[row] + 2 - 4 * falls(row, move.i, solution, ppp)
    if move.j >= 0:
        after += 2 - 4 * falls(row, move.j, solution, ppp)
    if move.k >= 0:
        after += 2 - 4 * falls(row, move.k, solution, ppp)
    return after


@function
def flip_products(solution: Array[i32], move: Move, ppp: Products):
    """Update Y and its histogram for the flips; all lanes of a team call it."""
    for row in range(lane(), ppp.rows, team_size()):
        before = ppp.products[row]
        after = product_after(row, solution, move, ppp)
        if after != before:
            ppp.products[row] = after
            atomic_add(ppp.histogram, (before + ppp.inputs) // 2, -1)
            atomic_add(ppp.histogram, (after + ppp.inputs) // 2, 1)
