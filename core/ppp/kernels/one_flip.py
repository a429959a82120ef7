"""Change of a perceptron's cost by one flip, from sums of the matrix's columns over the rows of equal product.

Rows of one group move down or up by one group. The difference of both numbers is the sum of a column's signs over the
group's rows, times the column's sign in the solution. So a neighbour costs one sum for each group, and all sums of a
move one addition for each entry of the matrix, side by side over columns.
"""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.walks import Move, Share
from core.ppp.kernels.products import group_cost
from core.ppp.kernels.row_groups import COST_BEFORE, HIGH, LOW, ProductGroups


@function
def sum_run(group: i32, first: i32, end: i32, ppp: ProductGroups):
    """Sum the columns ``first`` to ``end - 1`` over the rows of a group, in loops that compilers vectorise."""
    sums = (group - ppp.summary[LOW]) * ppp.inputs
    for column in range(first, end):
        ppp.planes[sums + column] = u32(0)
    for slot in range(ppp.cursor[group] - ppp.histogram[group], ppp.cursor[group]):
        signs = ppp.slots[slot] * ppp.inputs
        for column in range(first, end):
            ppp.planes[sums + column] += u32(i32(ppp.matrix[signs + column]))


@function
def sum_cell(group: i32, column: i32, ppp: ProductGroups):
    """Sum one column over the rows of a group."""
    total = 0
    for slot in range(ppp.cursor[group] - ppp.histogram[group], ppp.cursor[group]):
        total += ppp.matrix[ppp.slots[slot] * ppp.inputs + column]
    ppp.planes[(group - ppp.summary[LOW]) * ppp.inputs + column] = u32(total)


@function
def sum_columns(share: Share, changed: i32, move: Move, solution: Array[i32], ppp: ProductGroups):
    """Sum the columns of a share over each group's rows.

    Lanes sum columns side by side; workers that are no lanes have runs of columns in whole cache lines.
    """
    low, high = ppp.summary[LOW], ppp.summary[HIGH]
    begin, end = i32(share.first), i32(share.end)
    columns = end - begin
    if team_size() == 1:
        run = ((columns - 1) // share.workers // 16 + 1) * 16
        first = begin + share.worker * run
        for group in range(low, high + 1):
            sum_run(group, first, min(first + run, end), ppp)
    else:
        for cell in range(share.worker, (high - low + 1) * columns, share.workers):
            sum_cell(low + cell // columns, begin + cell % columns, ppp)


@function
def added_by_sums(solution: Array[i32], index: u32, move: Move, ppp: ProductGroups) -> i32:
    """Return the change of cost by one flip: sweep the groups upwards and sum their costs after it."""
    cost = ppp.summary[COST_BEFORE + 1]
    low, high = ppp.summary[LOW], ppp.summary[HIGH]
    sign = 2 * solution[move.i] - 1
    arrived, risen = 0, 0
    at = move.i
    for group in range(low, high + 1):
        rows = ppp.histogram[group]
        falling = (rows + sign * i32(ppp.planes[at])) // 2
        cost += group_cost(arrived + falling, group - 1, ppp)
        arrived, risen = risen, rows - falling
        at += ppp.inputs
    return cost + group_cost(arrived, high, ppp) + group_cost(risen, high + 1, ppp)
