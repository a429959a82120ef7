"""The paper's evaluation of the permuted perceptron problem: a separate histogram for each neighbour.

Y' = A V' follows from Y = A V in linear time (`luong2013`, section 6.2), and a neighbour's cost from the histogram of
Y', which is private to a lane. Section 5.3 puts such a structure into local memory or, if it is too large, into global
memory "using the coalescing transformation" (appendices B.1 and C.3): element g of neighbouring lanes then lies at
neighbouring addresses. The layout chooses; the costs are the same.
"""

from __future__ import annotations

import copy

from core.errors import UserError
from core.lang import *
from core.lang.bundles import RowArray, fields_of
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


def histogram_data(layout: str, groups: object) -> LocalCounts | GlobalCounts:
    """Return the data of the evaluation, from `ProductGroups`; `room_for_lanes` adds memory for lanes."""
    kinds = fields_of(Products).items()
    numbers = {name: getattr(groups, name) for name, kind in kinds if not isinstance(kind, RowArray)}
    count = numbers["groups"]
    return LocalCounts(**numbers, bins=count) if layout == LOCAL else GlobalCounts(**numbers, cells=count, lanes=1)


def room_for_lanes(data: GlobalCounts, lanes: int) -> GlobalCounts:
    """Return the data with a histogram for each of ``lanes`` lanes.

    Raises `UserError` if they have more elements than 32 bits count.
    """
    cells = lanes * data.groups
    if cells >= 2**31:
        raise UserError(
            f"histograms of {data.groups} groups for {lanes} neighbours side by side in global memory: expected less "
            f"than 2^31 elements in all; use layout {LOCAL}"
        )
    enlarged = copy.copy(data)
    enlarged.cells, enlarged.lanes = cells, lanes
    return enlarged
