"""Iterated greedy search in plain Python: every insertion is scored from scratch."""

import math

import numpy as np

from core.problems.more.flow_shop.problem import FlowShop
from core.problems.more.linear_ordering.problem import LinearOrdering
from tests.core.search.local_search.reference import philox


def scorer(problem):
    if isinstance(problem, FlowShop):
        return lambda order: int(problem.instance.makespans(np.array([order], int).reshape(1, -1))[0]) if order else 0
    assert isinstance(problem, LinearOrdering)
    worth = problem.instance.weights.tolist()
    return lambda order: -sum(worth[a][b] for k, a in enumerate(order) for b in order[k + 1 :])


class GreedyModel:
    def __init__(self, problem, walk, seed, removed, temperature, start=None):
        self.score, self.n = scorer(problem), problem.encoding.n
        self.walk, self.seed, self.removed = walk, seed, removed
        self.slack = round(64 * temperature * math.log(2))
        if start is None:
            order = self.inserted(*self.without(list(range(self.n)), -1, self.n))
        else:
            order = list(map(int, start))
        self.order = self.improved(order, -1, 1 << 31)
        self.best, self.best_at = self.order, 0

    def words(self, step, stream):
        return philox((step % 2**32, stream, self.walk, 0), (self.seed, 0))

    def without(self, order, step, count):
        """Remove random elements; return the rest, and what was removed."""
        order, removed = list(order), []
        for k in range(count):
            word = self.words(step, 1 + k // 4)[k % 4]
            removed.append(order.pop(word * len(order) >> 32))
        return order, removed

    def best_insertion(self, order, element):
        tried = [[*order[:p], element, *order[p:]] for p in range(len(order) + 1)]
        costs = [self.score(one) for one in tried]
        return tried[costs.index(min(costs))], min(costs)

    def inserted(self, order, elements):
        for element in elements:
            order, _ = self.best_insertion(order, element)
        return order

    def improved(self, order, step, stream):
        """Reinsert elements in random order until none of them becomes cheaper."""
        queue = list(order)
        for k in range(len(queue) - 1):
            other = k + (self.words(step, stream + k // 4)[k % 4] * (len(queue) - k) >> 32)
            queue[k], queue[other] = queue[other], queue[k]
        in_vain = k = 0
        while in_vain < len(queue):
            element = queue[k % len(queue)]
            tried, cost = self.best_insertion([one for one in order if one != element], element)
            in_vain += 1
            if cost < self.score(order):
                order, in_vain = tried, 0
            k += 1
        return order

    def round(self, step):
        rest, removed = self.without(self.order, step, self.removed)
        if len(rest) > 1:
            rest = self.improved(rest, step, 1 << 30)
        order = self.improved(self.inserted(rest, removed), step, 1 << 31)
        added = self.score(order) - self.score(self.order)
        word = self.words(step, 0)[0]
        if added <= self.tolerance(word):
            self.order = order
            if self.score(order) < self.score(self.best):
                self.best, self.best_at = order, step + 1

    def tolerance(self, word):
        """Scale minus log2(word / 2^32), interpolated linearly between powers of two."""
        leading = 32 - word.bit_length()
        part = (word << (leading + 1)) % 2**32 if leading < 31 else 0
        return self.slack * (((leading + 1) << 26) - (part >> 6)) >> 32
