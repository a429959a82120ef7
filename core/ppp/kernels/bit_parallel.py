"""Change of a perceptron's cost by flips: rows grouped by their product, flips counted by popcounts.

A flip changes a product by -2 or +2, so a neighbour's cost depends only on the numbers of rows of each product value
that rise and fall. Rows of equal value share 32-bit words (`core.ppp.kernels.row_groups`); for every column a word of
"planes" has the rows with products that fall when the column is flipped. The linear evaluation reads the same rows one
by one.
"""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.walks import Move, Share
from core.ppp.kernels.products import falls, group_cost
from core.ppp.kernels.row_groups import COST_BEFORE, HIGH, LAST_OF_GROUP, LOW, WORDS, ProductGroups, words_of


@function
def rows_falling(least: Const[i32], reach: Const[i32], word: i32, move: Move, ppp: ProductGroups) -> i32:
    """Return the number of rows of a word that at least ``least`` of ``reach`` flips lower."""
    p = ppp.planes[word * ppp.inputs + move.i]
    if reach == 1:
        return popcount(p) if least == 1 else 0
    q = ppp.planes[word * ppp.inputs + move.j]
    if reach == 2:
        return popcount(p | q) if least == 1 else popcount(p & q) if least == 2 else 0
    r = ppp.planes[word * ppp.inputs + move.k]
    if least == 1:
        return popcount(p | q | r)
    return popcount((p & q) | (r & (p | q))) if least == 2 else popcount(p & q & r)


@function
def rows_falling_one_by_one(
    reach: Const[i32], word: i32, count: i32, solution: Array[i32], move: Move, ppp: ProductGroups
) -> i32:
    """Return the numbers of rows of a word that at least 1, 2 or 3 flips lower, in six bits each."""
    by_one, by_two, by_three = 0, 0, 0
    for bit in range(count):
        row = ppp.slots[32 * word + bit]
        lowered = falls(row, move.i, solution, ppp)
        if reach >= 2:
            lowered += falls(row, move.j, solution, ppp)
        if reach == 3:
            lowered += falls(row, move.k, solution, ppp)
        by_one += 1 if lowered >= 1 else 0
        by_two += 1 if lowered >= 2 else 0
        by_three += 1 if lowered >= 3 else 0
    return by_one | (by_two << 6) | (by_three << 12)


@function
def sweep_cost(
    reach: Const[i32], by_words: Const[boolean], solution: Array[i32], move: Move, ppp: ProductGroups
) -> i32:
    """Sweep the groups upwards and sum their costs after ``reach`` flips.

    Rows of group g move to g - reach, g - reach + 2 ... g + reach; a0 ... a6 count arrivals at g - reach, g - reach + 1
    ..., so a0 is complete after group g.
    """
    cost = ppp.summary[COST_BEFORE + reach]
    group = ppp.summary[LOW] - reach
    words = ppp.summary[WORDS]
    a0, a1, a2, a3, a4, a5, a6 = 0, 0, 0, 0, 0, 0, 0
    for w in range(words):
        word = ppp.info[w]
        count = word & (LAST_OF_GROUP - 1)
        by_one, by_two, by_three = 0, 0, 0
        if by_words:
            by_one = rows_falling(1, reach, w, move, ppp)
            by_two = rows_falling(2, reach, w, move, ppp)
            by_three = rows_falling(3, reach, w, move, ppp)
        else:
            lowered = rows_falling_one_by_one(reach, w, count, solution, move, ppp)
            by_one, by_two, by_three = lowered & 63, (lowered >> 6) & 63, lowered >> 12
        if reach == 1:
            a0 += by_one
            a2 += count - by_one
        if reach == 2:
            a0 += by_two
            a2 += by_one - by_two
            a4 += count - by_one
        if reach == 3:
            a0 += by_three
            a2 += by_two - by_three
            a4 += by_one - by_two
            a6 += count - by_one
        if word >= LAST_OF_GROUP:
            cost += group_cost(a0, group, ppp)
            a0, a1, a2, a3, a4, a5, a6 = a1, a2, a3, a4, a5, a6, 0
            group += 1
    for _ in range(2 * reach):
        cost += group_cost(a0, group, ppp)
        a0, a1, a2, a3, a4, a5, a6 = a1, a2, a3, a4, a5, a6, 0
        group += 1
    return cost


@function
def rows_arriving(
    reach: Const[i32], by_words: Const[boolean], group: i32, solution: Array[i32], move: Move, ppp: ProductGroups
) -> i32:
    """Return the rows of a group after the flips: of each group that can reach it, those that move exactly to it."""
    rows = 0
    for lowered_by in range(reach + 1):
        source = group + 2 * lowered_by - reach
        if source >= ppp.summary[LOW] and source <= ppp.summary[HIGH]:
            all_of_them = ppp.histogram[source]
            first = (ppp.cursor[source] - all_of_them) // 32
            for w in range(words_of(all_of_them)):
                count = min(32, all_of_them - 32 * w)
                word = first + w
                by_one, by_two, by_three = 0, 0, 0
                if by_words:
                    by_one = rows_falling(1, reach, word, move, ppp)
                    by_two = rows_falling(2, reach, word, move, ppp)
                    by_three = rows_falling(3, reach, word, move, ppp)
                else:
                    lowered = rows_falling_one_by_one(reach, word, count, solution, move, ppp)
                    by_one, by_two, by_three = lowered & 63, (lowered >> 6) & 63, lowered >> 12
                if lowered_by == 0:
                    rows += count - by_one
                elif lowered_by == 1:
                    rows += by_one - by_two
                else:
                    rows += by_two - by_three if lowered_by == 2 else by_three
    return rows


@function
def sweep_cost_part(
    reach: Const[i32],
    by_words: Const[boolean],
    worker: i32,
    workers: i32,
    solution: Array[i32],
    move: Move,
    ppp: ProductGroups,
) -> i32:
    """Return a worker's part of the sum of `sweep_cost`: that of its groups."""
    cost = ppp.summary[COST_BEFORE + reach] if worker == 0 else 0
    for group in range(ppp.summary[LOW] - reach + worker, ppp.summary[HIGH] + reach + 1, workers):
        rows = rows_arriving(reach, by_words, group, solution, move, ppp)
        cost += group_cost(rows, group, ppp)
    return cost


def make_evaluation_functions(by_words: bool) -> tuple[Function, Function]:
    """Return functions for the change of cost by flips, whole and in parts: by words of rows, or row by row."""

    @function
    def added(solution: Array[i32], move: Move, ppp: ProductGroups) -> i32:
        """Return the change of cost by one, two or three flips."""
        if move.k >= 0:
            return sweep_cost(3, by_words, solution, move, ppp)
        if move.j >= 0:
            return sweep_cost(2, by_words, solution, move, ppp)
        return sweep_cost(1, by_words, solution, move, ppp)

    @function
    def added_in_parts(worker: i32, workers: i32, solution: Array[i32], move: Move, ppp: ProductGroups) -> i32:
        """Return a worker's part of the change of cost."""
        if move.k >= 0:
            return sweep_cost_part(3, by_words, worker, workers, solution, move, ppp)
        if move.j >= 0:
            return sweep_cost_part(2, by_words, worker, workers, solution, move, ppp)
        return sweep_cost_part(1, by_words, worker, workers, solution, move, ppp)

    return added, added_in_parts


added, added_in_parts = make_evaluation_functions(by_words=False)
added_by_planes, added_in_parts_by_planes = make_evaluation_functions(by_words=True)


@function
def added_by_words(solution: Array[i32], index: u32, move: Move, ppp: ProductGroups) -> i32:
    """Return the change of cost by the flips, a word of rows at a time."""
    if move.k >= 0:
        return sweep_cost(3, True, solution, move, ppp)
    if move.j >= 0:
        return sweep_cost(2, True, solution, move, ppp)
    return sweep_cost(1, True, solution, move, ppp)


@function
def fill_planes(share: Share, changed: i32, move: Move, solution: Array[i32], ppp: ProductGroups):
    """Store, for every word of rows and every column, the rows that fall.

    Lanes fill cells side by side; workers that are no lanes fill whole cache lines, which no other writes.
    """
    cells = ppp.summary[WORDS] * ppp.inputs
    run = 64 if team_size() == 1 else 1
    for begin_run in range(share.worker * run, cells, share.workers * run):
        for cell in range(begin_run, min(begin_run + run, cells)):
            word = cell // ppp.inputs
            column = cell % ppp.inputs
            bits = u32(0)
            for bit in range(ppp.info[word] & (LAST_OF_GROUP - 1)):
                row = ppp.slots[32 * word + bit]
                bits |= u32(falls(row, column, solution, ppp)) << bit
            ppp.planes[cell] = bits
