"""The local search algorithms, one neighbour after the other, from only a scorer.

Every neighbour is made and scored anew; random words come from a Philox in Python integers.
"""

import itertools
import math

import numpy as np

from tests.core.local_search.neighbours import neighbours as every_neighbour

MASK = 2**32 - 1
SHAKING, PROPOSING, ACCEPTING, LASTING, RESTARTING = (k << 32 for k in range(1, 6))
CHANCES = 4096


def philox(counter, key):
    """Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): four words from a counter of four and a key of two."""
    a, b, c, d = counter
    low, high = key
    for _ in range(10):
        x, y = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = y >> 32 ^ b ^ low, y & MASK, x >> 32 ^ d ^ high, x & MASK
        low, high = low + 0x9E3779B9 & MASK, high + 0xBB67AE85 & MASK
    return a, b, c, d


def word(seed, stream, step, attempt=0):
    """First word of the block of a stream's step."""
    return philox((step & MASK, attempt, stream & MASK, stream >> 32), (seed & MASK, seed >> 32))[0]


def below(bound, seed, stream, step):
    """Uniform integer below ``bound`` (Lemire 2019): products with too small a low half are drawn again."""
    for attempt in itertools.count():
        product = word(seed, stream, step, attempt) * bound
        if product % 2**32 >= 2**32 % bound:
            return product >> 32


def random_start(encoding, n, seed, walk):
    """Start of a walk: the top bits of a word each, or Fisher and Yates' shuffle from the end."""
    if encoding == "bits":
        return tuple(word(seed, walk, p) >> 31 for p in range(n))
    order = list(range(n))
    for p in range(n - 1, 0, -1):
        q = below(p + 1, seed, walk, p)
        order[p], order[q] = order[q], order[p]
    return tuple(order)


def neighbours(name, solution):
    return [tuple(other) for other in every_neighbour(name, solution, 2)]


class Walk:
    """One walk; subclasses define an iteration. ``best`` is the best of the start and of each iteration's end."""

    def __init__(self, score, names, start, number=0, seed=0, restart=math.inf):
        self.score, self.names, self.number, self.seed = score, names, number, seed
        self.restart, self.restarts, self.began = restart, 0, 0
        self.current, self.cost = start, score(start)
        self.best, self.best_cost, self.best_at = start, self.cost, 0
        self.iteration = self.evaluations = 0
        self.at_optimum = False

    def run(self, iterations):
        while not self.at_optimum and self.iteration < iterations:
            self.iterate()
            if self.iteration + 1 - max(self.best_at, self.began) >= self.restart:
                self.begin_again()
            self.cool()
            self.iteration += 1
        return self

    def iterate(self):
        raise NotImplementedError

    def cool(self):
        """End an iteration."""

    def begin_again(self):
        """Make four random moves for each element; reset all but the best."""
        moves = 4 * len(self.current)
        for shake in range(moves):
            solutions = neighbours(self.names[0], self.current)
            step = self.restarts * moves + shake
            self.current = solutions[below(len(solutions), self.seed, self.number + RESTARTING, step)]
        self.go(self.current, self.score(self.current))
        self.restarts, self.began = self.restarts + 1, self.iteration + 1
        self.forget()

    def forget(self):
        """Forget what an algorithm remembers."""

    def listed(self, name):
        solutions = neighbours(name, self.current)
        return solutions, [self.score(one) for one in solutions]

    def go(self, solution, cost):
        self.current, self.cost = solution, cost
        if cost < self.best_cost:
            self.best, self.best_cost, self.best_at = solution, cost, self.iteration + 1

    @property
    def seen(self):
        return self.best_cost, self.best, self.best_at, self.iteration, self.evaluations, self.current


class Descent(Walk):
    """Hill climbing, iterated local search (``shakes``), or variable neighbourhood search if shakes grow."""

    def __init__(self, *where, first=False, shakes=0, growing=False, again=False, **numbers):
        super().__init__(*where, **numbers)
        self.first, self.shakes, self.growing, self.again = first, shakes, growing, again
        self.forget()

    def forget(self):
        self.level = self.strength = 0
        self.home, self.home_cost = None, math.inf

    def iterate(self):
        solutions, costs = self.listed(self.names[self.level])
        chosen = costs.index(min(costs))
        if self.first:
            better = [k for k, cost in enumerate(costs) if cost < self.cost]
            chosen = better[0] if better else len(costs) - 1
        self.evaluations += chosen + 1 if self.first else len(costs)
        if costs[chosen] < self.cost:
            self.go(solutions[chosen], costs[chosen])
            self.level = 0
        elif self.level + 1 < len(self.names):
            self.level += 1
        elif self.shakes:
            self.leave()
        elif self.again:
            self.begin_again()
        else:
            self.at_optimum = True

    def leave(self):
        """Keep the better one of this optimum and the last one kept, and shake it."""
        self.strength = 1 if self.cost < self.home_cost else self.strength % self.shakes + 1
        if self.cost <= self.home_cost:
            self.home, self.home_cost = self.current, self.cost
        self.current = self.home
        for shake in range(self.strength if self.growing else self.shakes):
            solutions = neighbours(self.names[0], self.current)
            step = 256 * self.iteration + shake
            self.current = solutions[below(len(solutions), self.seed, self.number + SHAKING, step)]
        self.go(self.current, self.score(self.current))
        self.level = 0


class Tabu(Walk):
    """Tabu search that forbids a move, or any move that restores all places of values together."""

    def __init__(self, *where, tenure, span, moves=False, **numbers):
        super().__init__(*where, **numbers)
        self.tenure, self.span, self.moves = tenure, span, moves
        self.forget()

    def forget(self):
        self.last_forbidden = {}

    def iterate(self):
        solutions, costs = self.listed(self.names[0])
        self.evaluations += len(costs)
        allowed = [
            (cost, k)
            for k, (other, cost) in enumerate(zip(solutions, costs, strict=True))
            if cost < self.best_cost or not self.is_forbidden(k, other)
        ]
        if not allowed:
            return
        cost, k = min(allowed)
        lasting = self.tenure + word(self.seed, self.number + LASTING, self.iteration) % (self.span + 1)
        for one in [k] if self.moves else self.differing(self.current, solutions[k]):
            self.last_forbidden[one] = self.iteration + lasting
        self.go(solutions[k], cost)

    def is_forbidden(self, k, other):
        brought = [k] if self.moves else self.differing(other, self.current)
        return all(self.last_forbidden.get(one, -1) >= self.iteration for one in brought)

    def differing(self, solution, other):
        """Places and values of a solution that differ in another; after an insertion, those that moved farthest."""
        apart = [(p, a) for p, (a, b) in enumerate(zip(solution, other, strict=True)) if a != b]
        if self.names != ["insert"]:
            return apart
        farthest = max(abs(other.index(a) - p) for p, a in apart)
        return [(p, a) for p, a in apart if abs(other.index(a) - p) == farthest]


class Annealing(Walk):
    """Simulated annealing in single precision, one draw after the other."""

    def __init__(self, *where, temperature, cooling, plateau, **numbers):
        super().__init__(*where, **numbers)
        self.cooling, self.plateau = np.float32(cooling), plateau
        _, costs = self.listed(self.names[0])
        usual = sum(abs(cost - self.cost) for cost in costs[:1000]) / len(costs[:1000])
        self.start = np.float32(temperature or max(1.0, usual))
        self.forget()

    def forget(self):
        self.temperature = self.start

    def iterate(self):
        solutions = neighbours(self.names[0], self.current)
        other = solutions[below(len(solutions), self.seed, self.number + PROPOSING, self.iteration)]
        cost = self.score(other)
        self.evaluations += 1
        chance = word(self.seed, self.number + ACCEPTING, self.iteration) * CHANCES >> 32
        most = self.temperature * np.float32(-math.log((chance + 0.5) / CHANCES))
        if cost <= self.cost or np.float32(cost - self.cost) <= most:
            self.go(other, cost)

    def cool(self):
        if (self.iteration + 1) % self.plateau == 0:
            self.temperature *= self.cooling


class Ruled(Walk):
    """One draw after the other, by ``accepts(cost, new, best, before, iteration, random)``."""

    def __init__(self, *where, accepts, lag=0, **numbers):
        super().__init__(*where, **numbers)
        self.accepts, self.lag = accepts, lag
        self.forget()

    def forget(self):
        self.costs = [self.cost] * self.lag

    def iterate(self):
        solutions = neighbours(self.names[0], self.current)
        other = solutions[below(len(solutions), self.seed, self.number + PROPOSING, self.iteration)]
        cost, random = self.score(other), word(self.seed, self.number + ACCEPTING, self.iteration)
        self.evaluations += 1
        before = self.costs[-self.lag] if self.lag else self.cost
        if self.accepts(self.cost, cost, self.best_cost, before, self.iteration, random):
            self.go(other, cost)
        self.costs.append(self.cost)
