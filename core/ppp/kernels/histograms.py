"""The paper's evaluation of the permuted perceptron problem: a separate histogram for each neighbour.

Y' = A V' follows from Y = A V in linear time (`luong2013`, section 6.2), and a neighbour's cost from the histogram of
Y', which is private to a lane. Section 5.3 puts such a structure into local memory or, if it is too large, into global
memory "using the coalescing transformation" (appendices B.1 and C.3): element g of neighbouring lanes then lies at
neighbouring addresses. The layout chooses; the costs are the same.
"""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.walks import Move
from core.ppp.kernels.products import Products, group_cost, product_after

LOCAL, COLUMNS, ROWS = LAYOUTS = ("local", "columns", "rows")
"""Place of a lane's histogram: local memory; global memory, coalesced; or global memory, contiguous."""


@bundle
class LocalCounts(Products):
    """The products, with ``bins`` groups of a histogram in a lane's local memory."""

    bins: Const[i32]


@bundle
class GlobalCounts(Products):
    """The products, with memory for a histogram of each of ``lanes`` simultaneous lanes."""

    counts: Array[i32] = Row("cells")
    cells: i32
    lanes: i32


@function
def added_by_histogram(
    counts: Array[i32], first: i32, step: i32, solution: Array[i32], move: Move, ppp: Products
) -> i32:
    """Return the change of cost by the flips; group g is counted at ``first + g * step``."""
    for group in range(ppp.groups):
        counts[first + group * step] = 0
    for row in range(ppp.rows):
        at = first + (product_after(row, solution, move, ppp) + ppp.inputs) // 2 * step
        counts[at] = counts[at] + 1
    added = 0
    for group in range(ppp.groups):
        added += group_cost(counts[first + group * step], group, ppp) - group_cost(ppp.histogram[group], group, ppp)
    return added


@function
def added_by_local_counts(solution: Array[i32], move: Move, ppp: LocalCounts) -> i32:
    """Return the change of cost by the flips, counted in the lane's local memory."""
    counts = local_array(ppp.bins, i32)
    return added_by_histogram(counts, 0, 1, solution, move, ppp)


@function
def added_by_columns(solution: Array[i32], move: Move, ppp: GlobalCounts) -> i32:
    """Return the change of cost by the flips; the counts of a group are adjacent for all lanes."""
    worker = team_rank() * team_size() + lane()
    return added_by_histogram(ppp.counts, worker, team_count() * team_size(), solution, move, ppp)


@function
def added_by_rows(solution: Array[i32], move: Move, ppp: GlobalCounts) -> i32:
    """Return the change of cost by the flips; the counts of a lane are adjacent."""
    worker = team_rank() * team_size() + lane()
    return added_by_histogram(ppp.counts, worker * ppp.groups, 1, solution, move, ppp)


DELTAS: dict[str, Function] = {LOCAL: added_by_local_counts, COLUMNS: added_by_columns, ROWS: added_by_rows}
