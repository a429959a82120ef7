"""The permuted perceptron problem for local search: rows grouped by their product, flips counted by popcounts.

A flip changes a product by -2 or +2, so what a neighbour costs depends only on how many rows of each product value go
which way. Rows of equal value share 32-bit words ("info" and "slots"); for every column a word of "planes" holds the
rows whose product falls when that column is flipped. The linear evaluation of the paper (`luong2013`, section 6.2)
looks at the same rows one by one.
"""

from __future__ import annotations

import os

import numpy as np

from core.lang import (
    Array,
    Const,
    atomic_add,
    atomic_max,
    atomic_min,
    barrier,
    function,
    i8,
    i32,
    lane,
    max,
    min,
    popcount,
    team_size,
    u32,
)
from core.problems import perceptron
from core.problems.encodings import Bits
from core.problems.problem import Evaluation, Kept, Problem

# The words of `summary`: the first and last group of rows, words in use, and minus the present cost of all groups that
# flips of 1, 2 or 3 columns can reach.
LOW, HIGH, WORDS, COST_BEFORE = 0, 1, 2, 2
SUMMARY = 6
MARGIN = 3
"""Groups by which flips can leave the present range, on either side."""
LAST = 64
"""Marks the last word of a group in `info`, whose low bits count rows."""


@function
def group_cost(
    rows: i32, group: i32, inputs: i32, targets: Array[i32], negative_weight: i32, histogram_weight: i32
) -> i32:
    """What ``rows`` rows of product 2 group - inputs cost: their sign, and their difference from the target."""
    missing = max(inputs - 2 * group, 0)
    return 2 * negative_weight * missing * rows + histogram_weight * abs(targets[group + MARGIN] - rows)


@function
def falls(row: i32, column: i32, solution: Array[i32], matrix: Array[i8], inputs: i32) -> i32:
    """1 if flipping ``column`` lowers the product of ``row``, else 0."""
    positive = 1 if matrix[row * inputs + column] > 0 else 0
    return 1 if positive == solution[column] else 0


@function
def words_of(rows: i32) -> i32:
    """Words that a group takes: one even if it is empty."""
    return max(1, (rows + 31) // 32)


@function
def rows_falling(
    least: Const[i32], reach: Const[i32], word: i32, i: i32, j: i32, k: i32, inputs: i32, planes: Array[u32]
) -> i32:
    """Rows of a word that at least ``least`` of ``reach`` flips lower."""
    p = planes[word * inputs + i]
    if reach == 1:
        return popcount(p) if least == 1 else 0
    q = planes[word * inputs + j]
    if reach == 2:
        return popcount(p | q) if least == 1 else popcount(p & q) if least == 2 else 0
    r = planes[word * inputs + k]
    if least == 1:
        return popcount(p | q | r)
    return popcount((p & q) | (r & (p | q))) if least == 2 else popcount(p & q & r)


@function
def rows_falling_one_by_one(
    reach: Const[i32], word: i32, count: i32, solution: Array[i32], i: i32, j: i32, k: i32, matrix: Array[i8],
    inputs: i32, slots: Array[i32],
) -> i32:  # fmt: skip
    """Rows of a word that at least 1, 2 or 3 flips lower: six bits each."""
    one, two, three = 0, 0, 0
    for bit in range(count):
        row = slots[32 * word + bit]
        lowered = falls(row, i, solution, matrix, inputs)
        if reach >= 2:
            lowered += falls(row, j, solution, matrix, inputs)
        if reach == 3:
            lowered += falls(row, k, solution, matrix, inputs)
        one += 1 if lowered >= 1 else 0
        two += 1 if lowered >= 2 else 0
        three += 1 if lowered >= 3 else 0
    return one | (two << 6) | (three << 12)


@function
def swept(
    reach: Const[i32], by_words: Const[i32], solution: Array[i32], i: i32, j: i32, k: i32, matrix: Array[i8],
    targets: Array[i32], inputs: i32, negative_weight: i32, histogram_weight: i32, slots: Array[i32],
    info: Array[i32], planes: Array[u32], summary: Array[i32],
) -> i32:  # fmt: skip
    """Sweep the groups upwards and sum what they cost after ``reach`` flips.

    Rows of group g go to g - reach, g - reach + 2 ... g + reach; a0 ... a6 collect what arrives at g - reach,
    g - reach + 1 ..., so that a0 is complete when group g is done.
    """
    cost = summary[COST_BEFORE + reach]
    group = summary[LOW] - reach
    words = summary[WORDS]
    a0, a1, a2, a3, a4, a5, a6 = 0, 0, 0, 0, 0, 0, 0
    for w in range(words):
        word = info[w]
        count = word & (LAST - 1)
        one, two, three = 0, 0, 0
        if by_words != 0:
            one = rows_falling(1, reach, w, i, j, k, inputs, planes)
            two = rows_falling(2, reach, w, i, j, k, inputs, planes)
            three = rows_falling(3, reach, w, i, j, k, inputs, planes)
        else:
            lowered = rows_falling_one_by_one(reach, w, count, solution, i, j, k, matrix, inputs, slots)
            one, two, three = lowered & 63, (lowered >> 6) & 63, lowered >> 12
        if reach == 1:
            a0 += one
            a2 += count - one
        if reach == 2:
            a0 += two
            a2 += one - two
            a4 += count - one
        if reach == 3:
            a0 += three
            a2 += two - three
            a4 += one - two
            a6 += count - one
        if word >= LAST:
            cost += group_cost(a0, group, inputs, targets, negative_weight, histogram_weight)
            a0, a1, a2, a3, a4, a5, a6 = a1, a2, a3, a4, a5, a6, 0
            group += 1
    for _ in range(2 * reach):
        cost += group_cost(a0, group, inputs, targets, negative_weight, histogram_weight)
        a0, a1, a2, a3, a4, a5, a6 = a1, a2, a3, a4, a5, a6, 0
        group += 1
    return cost


@function
def arriving(
    reach: Const[i32], by_words: Const[i32], group: i32, solution: Array[i32], i: i32, j: i32, k: i32,
    matrix: Array[i8], inputs: i32, histogram: Array[i32], cursor: Array[i32], slots: Array[i32], planes: Array[u32],
    summary: Array[i32],
) -> i32:  # fmt: skip
    """Rows of a group after the flips: of each group that can reach it, those that go just so far."""
    rows = 0
    for lowered_by in range(reach + 1):
        source = group + 2 * lowered_by - reach
        if source >= summary[LOW] and source <= summary[HIGH]:
            all_of_them = histogram[source]
            first = (cursor[source] - all_of_them) // 32
            for w in range(words_of(all_of_them)):
                count = min(32, all_of_them - 32 * w)
                word = first + w
                one, two, three = 0, 0, 0
                if by_words != 0:
                    one = rows_falling(1, reach, word, i, j, k, inputs, planes)
                    two = rows_falling(2, reach, word, i, j, k, inputs, planes)
                    three = rows_falling(3, reach, word, i, j, k, inputs, planes)
                else:
                    lowered = rows_falling_one_by_one(reach, word, count, solution, i, j, k, matrix, inputs, slots)
                    one, two, three = lowered & 63, (lowered >> 6) & 63, lowered >> 12
                if lowered_by == 0:
                    rows += count - one
                elif lowered_by == 1:
                    rows += one - two
                else:
                    rows += two - three if lowered_by == 2 else three
    return rows


@function
def swept_part(
    worker: i32, workers: i32, reach: Const[i32], by_words: Const[i32], solution: Array[i32], i: i32, j: i32, k: i32,
    matrix: Array[i8], targets: Array[i32], inputs: i32, negative_weight: i32, histogram_weight: i32,
    histogram: Array[i32], cursor: Array[i32], slots: Array[i32], planes: Array[u32], summary: Array[i32],
) -> i32:  # fmt: skip
    """This worker's groups of the same sum."""
    cost = summary[COST_BEFORE + reach] if worker == 0 else 0
    for group in range(summary[LOW] - reach + worker, summary[HIGH] + reach + 1, workers):
        rows = arriving(
            reach, by_words, group, solution, i, j, k, matrix, inputs, histogram, cursor, slots, planes, summary
        )
        cost += group_cost(rows, group, inputs, targets, negative_weight, histogram_weight)
    return cost


@function
def added(
    solution: Array[i32], i: i32, j: i32, k: i32, matrix: Array[i8], targets: Array[i32], inputs: i32,
    negative_weight: i32, histogram_weight: i32, slots: Array[i32], info: Array[i32], planes: Array[u32],
    summary: Array[i32],
) -> i32:  # fmt: skip
    """What the flips add to the cost, row by row: linear in the number of rows."""
    if k >= 0:
        return swept(3, 0, solution, i, j, k, matrix, targets, inputs, negative_weight, histogram_weight, slots, info,
                     planes, summary)  # fmt: skip
    if j >= 0:
        return swept(2, 0, solution, i, j, k, matrix, targets, inputs, negative_weight, histogram_weight, slots, info,
                     planes, summary)  # fmt: skip
    return swept(1, 0, solution, i, j, k, matrix, targets, inputs, negative_weight, histogram_weight, slots, info,
                 planes, summary)  # fmt: skip


@function
def added_by_words(
    solution: Array[i32], index: u32, i: i32, j: i32, k: i32, matrix: Array[i8], targets: Array[i32], inputs: i32,
    negative_weight: i32, histogram_weight: i32, slots: Array[i32], info: Array[i32], planes: Array[u32],
    summary: Array[i32],
) -> i32:  # fmt: skip
    """The same, a word of rows at a time."""
    if k >= 0:
        return swept(3, 1, solution, i, j, k, matrix, targets, inputs, negative_weight, histogram_weight, slots, info,
                     planes, summary)  # fmt: skip
    if j >= 0:
        return swept(2, 1, solution, i, j, k, matrix, targets, inputs, negative_weight, histogram_weight, slots, info,
                     planes, summary)  # fmt: skip
    return swept(1, 1, solution, i, j, k, matrix, targets, inputs, negative_weight, histogram_weight, slots, info,
                 planes, summary)  # fmt: skip


@function
def added_in_parts(
    worker: i32, workers: i32, solution: Array[i32], i: i32, j: i32, k: i32, matrix: Array[i8], targets: Array[i32],
    inputs: i32, negative_weight: i32, histogram_weight: i32, histogram: Array[i32], cursor: Array[i32],
    slots: Array[i32], planes: Array[u32], summary: Array[i32],
) -> i32:  # fmt: skip
    """A worker's part of what the flips add, row by row."""
    if k >= 0:
        return swept_part(worker, workers, 3, 0, solution, i, j, k, matrix, targets, inputs, negative_weight,
                          histogram_weight, histogram, cursor, slots, planes, summary)  # fmt: skip
    if j >= 0:
        return swept_part(worker, workers, 2, 0, solution, i, j, k, matrix, targets, inputs, negative_weight,
                          histogram_weight, histogram, cursor, slots, planes, summary)  # fmt: skip
    return swept_part(worker, workers, 1, 0, solution, i, j, k, matrix, targets, inputs, negative_weight,
                      histogram_weight, histogram, cursor, slots, planes, summary)  # fmt: skip


@function
def added_in_parts_by_words(
    worker: i32, workers: i32, solution: Array[i32], i: i32, j: i32, k: i32, matrix: Array[i8], targets: Array[i32],
    inputs: i32, negative_weight: i32, histogram_weight: i32, histogram: Array[i32], cursor: Array[i32],
    slots: Array[i32], planes: Array[u32], summary: Array[i32],
) -> i32:  # fmt: skip
    """A worker's part of what the flips add, a word of rows at a time."""
    if k >= 0:
        return swept_part(worker, workers, 3, 1, solution, i, j, k, matrix, targets, inputs, negative_weight,
                          histogram_weight, histogram, cursor, slots, planes, summary)  # fmt: skip
    if j >= 0:
        return swept_part(worker, workers, 2, 1, solution, i, j, k, matrix, targets, inputs, negative_weight,
                          histogram_weight, histogram, cursor, slots, planes, summary)  # fmt: skip
    return swept_part(worker, workers, 1, 1, solution, i, j, k, matrix, targets, inputs, negative_weight,
                      histogram_weight, histogram, cursor, slots, planes, summary)  # fmt: skip


@function
def arrange(
    rows: i32, inputs: i32, targets: Array[i32], negative_weight: i32, histogram_weight: i32, products: Array[i32],
    histogram: Array[i32], cursor: Array[i32], slots: Array[i32], info: Array[i32], summary: Array[i32],
):  # fmt: skip
    """Give every row its place among those of its value; the order within a group does not matter."""
    barrier()
    if lane() == 0:
        summary[LOW] = inputs
        summary[HIGH] = 0
        for reach in range(1, 4):
            summary[COST_BEFORE + reach] = 0
    barrier()
    for group in range(lane(), inputs + 1, team_size()):
        if histogram[group] > 0:
            atomic_min(summary, LOW, group)
            atomic_max(summary, HIGH, group)
    barrier()
    low, high = summary[LOW], summary[HIGH]
    for group in range(low - MARGIN + lane(), high + MARGIN + 1, team_size()):
        count = 0
        if group >= low and group <= high:
            count = histogram[group]
            first = 0
            for before in range(low, group):
                first += words_of(histogram[before])
            cursor[group] = 32 * first
            words = words_of(count)
            for w in range(words):
                inside = min(32, count - 32 * w)
                info[first + w] = inside + LAST if w == words - 1 else inside
            if group == high:
                summary[WORDS] = first + words
            for slot in range(32 * first + count, 32 * (first + words)):
                slots[slot] = -1
        cost = group_cost(count, group, inputs, targets, negative_weight, histogram_weight)
        for reach in range(1, 4):
            if group >= low - reach and group <= high + reach:
                atomic_add(summary, COST_BEFORE + reach, -cost)
    barrier()
    for row in range(lane(), rows, team_size()):
        slot = atomic_add(cursor, (products[row] + inputs) // 2, 1)
        slots[slot] = row
    barrier()


@function
def begin_products(
    solution: Array[i32], matrix: Array[i8], targets: Array[i32], rows: i32, inputs: i32, negative_weight: i32,
    histogram_weight: i32, products: Array[i32], histogram: Array[i32], cursor: Array[i32], slots: Array[i32],
    info: Array[i32], summary: Array[i32],
):  # fmt: skip
    """Y = A V from scratch."""
    for group in range(lane(), inputs + 1, team_size()):
        histogram[group] = 0
    barrier()
    for row in range(lane(), rows, team_size()):
        product = 0
        for column in range(inputs):
            product += 2 * falls(row, column, solution, matrix, inputs) - 1
        products[row] = product
        atomic_add(histogram, (product + inputs) // 2, 1)
    arrange(rows, inputs, targets, negative_weight, histogram_weight, products, histogram, cursor, slots, info, summary)


@function
def follow_flips(
    solution: Array[i32], i: i32, j: i32, k: i32, matrix: Array[i8], targets: Array[i32], rows: i32, inputs: i32,
    negative_weight: i32, histogram_weight: i32, products: Array[i32], histogram: Array[i32], cursor: Array[i32],
    slots: Array[i32], info: Array[i32], summary: Array[i32],
):  # fmt: skip
    """Products and groups as they are after the flips."""
    for row in range(lane(), rows, team_size()):
        before = products[row]
        after = before + 2 - 4 * falls(row, i, solution, matrix, inputs)
        if j >= 0:
            after += 2 - 4 * falls(row, j, solution, matrix, inputs)
        if k >= 0:
            after += 2 - 4 * falls(row, k, solution, matrix, inputs)
        if after != before:
            products[row] = after
            atomic_add(histogram, (before + inputs) // 2, -1)
            atomic_add(histogram, (after + inputs) // 2, 1)
    arrange(rows, inputs, targets, negative_weight, histogram_weight, products, histogram, cursor, slots, info, summary)


@function
def fill_planes(
    worker: i32, workers: i32, begin: u32, end: u32, changed: i32, i: i32, j: i32, k: i32, solution: Array[i32],
    matrix: Array[i8], inputs: i32, slots: Array[i32], planes: Array[u32], summary: Array[i32],
):  # fmt: skip
    """For every word of rows and every column: which rows fall.

    Lanes fill cells side by side; workers that are no lanes fill whole cache lines, which no other writes.
    """
    cells = summary[WORDS] * inputs
    run = 64 if team_size() == 1 else 1
    for begin_run in range(worker * run, cells, workers * run):
        for cell in range(begin_run, min(begin_run + run, cells)):
            first = cell // inputs * 32
            column = cell % inputs
            bits = u32(0)
            for bit in range(32):
                row = slots[first + bit]
                if row >= 0:
                    bits |= u32(falls(row, column, solution, matrix, inputs)) << bit
            planes[cell] = bits


class Ppp(Problem):
    """Find a vector of +-1 whose products with the rows of a +-1 matrix have a given histogram.

    Parameters
    ----------
    instance : core.problems.perceptron.PerceptronInstance

    """

    tested = True

    def __init__(self, instance: perceptron.PerceptronInstance) -> None:
        m, n = instance.m, instance.n
        targets = np.zeros(n + 1 + 2 * MARGIN, np.int32)
        targets[MARGIN : n + 1 + MARGIN] = instance.target_histogram[::2]
        words = n + 1 + m // 32
        data = {
            "matrix": instance.matrix.astype(np.int8),
            "targets": targets,
            "rows": m,
            "inputs": n,
            "negative_weight": instance.negative_weight,
            "histogram_weight": instance.histogram_weight,
            "groups": n + 1,
            "most_words": words,
            "most_slots": 32 * words,
            "most_cells": words * n,
        }
        super().__init__(instance.name, Bits(n), data)
        self.instance = instance
        self.optimum = instance.optimum
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, seed: int = 0) -> Ppp:
        """The problem of that name, path or specification: see `core.problems.perceptron.load`."""
        return cls(perceptron.load(spec, data, seed))

    def cost(self, solution: np.ndarray) -> int:
        """The weighted sum of negative products and of differences of histograms."""
        return perceptron.cost(self.instance, solution)

    def cost_range(self) -> tuple[int, int]:
        """All products -n, and no product among the targets, would cost most."""
        return 0, perceptron.largest_cost(
            self.instance.m, self.instance.n, self.instance.negative_weight, self.instance.histogram_weight
        )

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """``words`` (32 rows at a time) or ``linear`` (row by row, as in the paper)."""
        kept = {
            "products": Kept("int32", "rows"),
            "histogram": Kept("int32", "groups"),
            "cursor": Kept("int32", "groups"),
            "slots": Kept("int32", "most_slots"),
            "info": Kept("int32", "most_words"),
            "planes": Kept("uint32", "most_cells"),
            "summary": Kept("int32", SUMMARY),
        }
        hooks = {"begin": begin_products, "update": follow_flips, "kept": kept}
        words = Evaluation(
            added,
            quick=added_by_words,
            refresh=fill_planes,
            partial=added_in_parts_by_words,
            work=self.encoding.n // 4 + 8,
            quick_for=("flip1", "flip2", "flip3"),
            **hooks,
        )
        return {"words": words, "linear": Evaluation(added, partial=added_in_parts, work=self.instance.m, **hooks)}
