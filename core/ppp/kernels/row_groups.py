"""Rows of the perceptron's matrix, grouped by their product: data of a walk for evaluations by groups."""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.walks import Move
from core.ppp.kernels.products import MARGIN, Products, count_products, flip_products, group_cost

# The words of `summary`: the first and last group of rows, words in use, and minus the present cost of all groups that
# flips of 1, 2 or 3 columns can reach.
LOW, HIGH, WORDS, COST_BEFORE = 0, 1, 2, 2
SUMMARY = 6
LAST_OF_GROUP = 64
"""Mark of the last word of a group in `info`; its low bits count rows."""


@bundle
class ProductGroups(Products):
    """The products, and the rows of the matrix grouped by them, which belong to a walk.

    ``slots`` has the rows, those of each group in adjacent words of 32 slots, and ``cursor`` the end of a group's rows.
    ``info`` has the number of rows in each word of slots, + `LAST_OF_GROUP` for a group's last one; ``summary`` has the
    words LOW, HIGH ... above. ``planes`` has, for every word of slots and every column, the rows with a product that
    falls when the column is flipped; for one flip, the sum of the rows' signs for every group from LOW on and every
    column.
    """

    cursor: Array[i32] = Row("groups")
    slots: Array[i32] = Row("most_slots")
    info: Array[i32] = Row("most_words")
    planes: Array[u32] = Row("most_cells")
    summary: Array[i32] = Row(SUMMARY)
    most_words: i32
    most_slots: i32
    most_cells: i32


@function
def words_of(rows: i32) -> i32:
    """Return the number of words of a group: one even if it is empty."""
    return max(1, (rows + 31) // 32)


@function
def place_rows(ppp: ProductGroups):
    """Place every row among those of its product; the order within a group does not matter."""
    barrier()
    if lane() == 0:
        ppp.summary[LOW] = ppp.inputs
        ppp.summary[HIGH] = 0
        for reach in range(1, 4):
            ppp.summary[COST_BEFORE + reach] = 0
    barrier()
    for group in range(lane(), ppp.inputs + 1, team_size()):
        if ppp.histogram[group] > 0:
            atomic_min(ppp.summary, LOW, group)
            atomic_max(ppp.summary, HIGH, group)
    barrier()
    low, high = ppp.summary[LOW], ppp.summary[HIGH]
    for group in range(low - MARGIN + lane(), high + MARGIN + 1, team_size()):
        count = 0
        if group >= low and group <= high:
            count = ppp.histogram[group]
            first = 0
            for before in range(low, group):
                first += words_of(ppp.histogram[before])
            ppp.cursor[group] = 32 * first
            words = words_of(count)
            for w in range(words):
                inside = min(32, count - 32 * w)
                ppp.info[first + w] = inside + LAST_OF_GROUP if w == words - 1 else inside
            if group == high:
                ppp.summary[WORDS] = first + words
        cost = group_cost(count, group, ppp)
        for reach in range(1, 4):
            if group >= low - reach and group <= high + reach:
                atomic_add(ppp.summary, COST_BEFORE + reach, -cost)
    barrier()
    for row in range(lane(), ppp.rows, team_size()):
        slot = atomic_add(ppp.cursor, (ppp.products[row] + ppp.inputs) // 2, 1)
        ppp.slots[slot] = row
    barrier()


@function
def begin_groups(solution: Array[i32], ppp: ProductGroups):
    """Store products and groups from scratch."""
    count_products(solution, ppp)
    place_rows(ppp)


@function
def update_groups(solution: Array[i32], move: Move, ppp: ProductGroups):
    """Update products and groups for the flips."""
    flip_products(solution, move, ppp)
    place_rows(ppp)
