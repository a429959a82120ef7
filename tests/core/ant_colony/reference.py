"""Ant colony optimisation in plain NumPy, from its written rules: integer steps that backends must repeat exactly."""

import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from tests.core.hill_climbing.test_ihc import plain_climb

LARGEST = 2**32 - 1
COLUMNS = 32
PRECISION = 32
"""Fractional bits of the fixed rates."""

SHORTEST_DISTANCE = 0.5
"""Replacement of a zero distance in divisions."""

LEAST_HEURISTIC = np.float32(2.0**-64)
"""Smallest heuristic value, so that a row's best weight cannot vanish for any exponents."""

DEFAULTS = {
    "ants": 1024, "alpha": 1.0, "beta": 2.0, "rho": 0.1, "variant": "as", "candidates": 0, "local_search": "none",
    "best_every": 1, "stagnation": 0, "smoothing": 0.5, "colonies": 1, "exchange": 0,
}  # fmt: skip


def philox(counter, key):
    """Philox4x32-10 of Salmon, Moraes, Dror and Shaw 2011, over arrays of four counter words, with two key words."""
    a, b, c, d = np.broadcast_arrays(*(np.asarray(word, np.uint64) for word in counter))
    low, high = key
    half, mask = np.uint64(32), np.uint64(LARGEST)
    for _ in range(10):
        x, y = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b, c, d = y >> half ^ b ^ np.uint64(low), y & mask, x >> half ^ d ^ np.uint64(high), x & mask
        low, high = (low + 0x9E3779B9) & LARGEST, (high + 0xBB67AE85) & LARGEST
    return a, b, c, d


def draws(seed, colony, iteration, ants, count):
    """Draws 0 to ``count`` - 1 of every ant in one iteration: (ants, count) uint64, each below 2**32."""
    blocks = np.arange((count + 3) // 4)
    words = philox((blocks, iteration, np.arange(ants)[:, None], colony), (seed & LARGEST, seed >> 32))
    return np.stack(words, axis=-1).reshape(ants, -1)[:, :count]


def nearest_neighbour_tour(distances):
    """Start at city 0 and always visit the nearest city left, ties to the smallest number."""
    tour, left = [0], np.ones(len(distances), bool)
    for _ in range(len(distances) - 1):
        left[tour[-1]] = False
        others = np.flatnonzero(left)
        tour.append(int(others[np.argmin(distances[tour[-1], others])]))
    return np.array(tour)


def lengths_of(distances, tours):
    return distances[tours, np.roll(tours, -1, axis=-1)].sum(axis=-1)


def nearest_distances(distances):
    return off_diagonal(distances).min(axis=1)


def off_diagonal(matrix):
    """A square matrix without its diagonal: (n, n - 1)."""
    n = len(matrix)
    return matrix[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def power(x, alpha_fixed):
    """``x`` to the power of ``alpha_fixed`` / 256, every operation in single precision."""
    result, base = np.ones_like(x), x.copy()
    whole = alpha_fixed >> 8
    while whole:
        if whole & 1:
            result = result * base
        base = base * base
        whole >>= 1
    root = x
    for bit in (128, 64, 32, 16, 8, 4, 2, 1):
        root = np.sqrt(root)
        if alpha_fixed & bit:
            result = result * root
    assert result.dtype == np.float32
    return result


def heuristic(distances, beta):
    """Eta of equation 1, scaled so that each row's largest is 1: (n, n) float32 with an undefined diagonal."""
    edges = np.maximum(distances.astype(np.float64), SHORTEST_DISTANCE)
    np.fill_diagonal(edges, np.inf)
    nearest = edges.min(axis=1)
    return np.maximum(((nearest[:, None] / edges) ** beta).astype(np.float32), LEAST_HEURISTIC)


def weights_of(pheromone, eta, alpha_fixed):
    """Equation 1's numerators in integers, every row's sum below 2**32: (n, n) int64, zeros on the diagonal."""
    n = len(pheromone)
    strongest = off_diagonal(pheromone).max(axis=1)
    x = pheromone.astype(np.float32) / strongest.astype(np.float32)[:, None]
    y = power(x, alpha_fixed) * eta
    heaviest = off_diagonal(y).max(axis=1)
    assert (heaviest > 0).all()  # else a row had no best city
    share = y / heaviest[:, None] * np.float32(4294967040.0)
    assert share.dtype == np.float32
    np.fill_diagonal(share, 0)
    weights = np.zeros((n, n), np.int64)
    for i, row in enumerate(share.astype(np.int64).tolist()):
        factor = min(LARGEST, ((LARGEST - n) << 32) // sum(row))
        weights[i] = [max(1, g * factor >> 32) for g in row]
    np.fill_diagonal(weights, 0)
    return weights


def first_beyond(running, drawn):
    """For each row of running sums, the first place with a sum above the drawn fraction of the total."""
    target = drawn * running[:, -1] >> np.uint64(32)
    return np.argmax(running > target[:, None], axis=1)


def construct(weights, drawn, near=None):
    """Every ant's tour: (ants, n) cities.

    ``weights`` is (n, n), ``drawn`` is (ants, n) uint64. ``near`` is (n, candidates): cities that an ant tries first,
    in the order in which they are summed.
    """
    ants, n = drawn.shape
    all_ants = np.arange(ants)
    order = np.lexsort((np.arange(n) // COLUMNS, np.arange(n) % COLUMNS))
    by_slot = weights[:, order].astype(np.uint64)
    left = np.ones((ants, n), bool)
    tours = np.zeros((ants, n), np.int64)
    tours[:, 0] = drawn[:, 0] * np.uint64(n) >> np.uint64(32)
    left[all_ants, tours[:, 0]] = False
    for step in range(1, n):
        cities = tours[:, step - 1]
        if near is None:
            leaving = all_ants
        else:
            lists = near[cities]
            open_ones = weights[cities[:, None], lists] * left[all_ants[:, None], lists]
            running = np.cumsum(open_ones.astype(np.uint64), axis=1)
            tours[:, step] = lists[all_ants, first_beyond(running, drawn[:, step])]
            leaving = np.flatnonzero(running[:, -1] == 0)
        if len(leaving):
            running = np.cumsum(by_slot[cities[leaving]] * left[leaving][:, order], axis=1)
            tours[leaving, step] = order[first_beyond(running, drawn[leaving, step])]
        left[all_ants, tours[:, step]] = False
    return tours


def scrambled(x):
    """The finalizer of SplitMix64, in Python integers."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


class Found(NamedTuple):
    """A tour and its colony; ordered by length and then by colony."""

    length: float
    colony: int
    ant: int = -1
    iteration: int = -1
    tour: np.ndarray | None = None


class Colonies:
    """One or several colonies on one instance; ``changes`` are settings that differ from `DEFAULTS`."""

    def __init__(self, distances, seed=0, **changes):
        self.settings = own = SimpleNamespace(**DEFAULTS | changes)
        self.seed, self.n = seed, len(distances)
        self.original = nearest_neighbour_tour(distances)
        self.distances = distances[np.ix_(self.original, self.original)].astype(np.int64)
        self.nearest_neighbour_length = int(lengths_of(self.distances, np.arange(self.n)))
        self.is_mmas = own.variant == "mmas"

        n = self.n
        logarithm = (n - 1).bit_length()  # of n to the base of 2, rounded up
        self.lower_bound = max(
            1, int(nearest_distances(self.distances).sum()), 2 * self.nearest_neighbour_length // (logarithm + 1)
        )
        self.rho_fixed = max(1, min(LARGEST, round(own.rho * 2**PRECISION)))
        depositing = 1 if self.is_mmas else own.ants
        self.quantity = self.lower_bound * max(self.rho_fixed, 2**22) // (2 * depositing)
        self.alpha_fixed = round(256 * own.alpha)
        self.smoothing_fixed = min(LARGEST, round(own.smoothing * 2**PRECISION))
        self.eta = heuristic(self.distances, own.beta)
        self.near = None
        if own.candidates:
            ranked = np.array([[j for j in np.argsort(row, kind="stable") if j != i]
                               for i, row in enumerate(self.distances)])  # fmt: skip
            self.near = ranked[:, : own.candidates]
        root = 0.05 ** (1 / n)
        choices = own.candidates or n
        ratio = (1 - root) / (max(choices / 2 - 1, 1) * root)
        self.ratio_fixed = min(LARGEST, round(ratio * 2**PRECISION))

        level = self.start_of_trails()
        self.pheromone = [np.full((n, n), level, np.int64) for _ in range(own.colonies)]
        self.best = [Found(math.inf, colony) for colony in range(own.colonies)]
        self.found_at = [0] * own.colonies
        self.iteration = self.digest = 0
        self.curve = []
        self.tours = []

    def deposit(self, length):
        """Equation 3's 1 / L in units of pheromone."""
        return self.quantity // max(int(length), self.lower_bound)

    def trail_limits(self, length):
        """Lowest and highest trail of MMAS for this length of the best tour."""
        highest = min(LARGEST, (self.deposit(length) << 32) // self.rho_fixed)
        return max(1, highest * self.ratio_fixed >> 32), highest

    def start_of_trails(self):
        """The level of all trails before the first iteration."""
        if self.is_mmas:
            return self.trail_limits(self.nearest_neighbour_length)[1]
        return max(1, min(LARGEST, self.settings.ants * self.deposit(self.nearest_neighbour_length)))

    def run(self, iterations):
        """Iterate; returns the colonies themselves."""
        for _ in range(iterations):
            self.iterate()
        return self

    def iterate(self):
        self.tours = [self.build(colony) for colony in range(self.settings.colonies)]
        shortest = [self.judge(colony, tours) for colony, tours in enumerate(self.tours)]
        self.curve.append(min(found.length for found in shortest))
        for colony, tours in enumerate(self.tours):
            self.renew(colony, tours, shortest[colony])
        if self.settings.exchange and (self.iteration + 1) % self.settings.exchange == 0:
            leader = min(range(len(self.best)), key=lambda colony: (self.best[colony].length, colony))
            for colony, found in enumerate(self.best):
                if self.best[leader].length < found.length:
                    self.best[colony] = self.best[leader]
                    self.found_at[colony] = self.iteration
        self.iteration += 1

    def build(self, colony):
        weights = weights_of(self.pheromone[colony], self.eta, self.alpha_fixed)
        drawn = draws(self.seed, colony, self.iteration, self.settings.ants, self.n)
        tours = construct(weights, drawn, self.near)
        if self.settings.local_search == "2opt":
            tours = np.array([plain_climb(self.distances, tour)[0] for tour in tours])
        return tours

    def judge(self, colony, tours):
        """Add the lengths to the digest and the best; return the iteration's shortest tour."""
        lengths = lengths_of(self.distances, tours).tolist()
        for ant, length in enumerate(lengths):
            who = scrambled((ant + (self.iteration << 32) + 0x9E3779B97F4A7C15) % 2**64)
            self.digest = (self.digest + scrambled(who ^ (colony << 32 | length))) % 2**64
        ant = lengths.index(min(lengths))
        shortest = Found(lengths[ant], colony, ant, self.iteration, tours[ant])
        if shortest.length < self.best[colony].length:
            self.best[colony], self.found_at[colony] = shortest, self.iteration
        return shortest

    def renew(self, colony, tours, shortest):
        """Equations 2 and 3: evaporation and deposit; smoothing and limits of MMAS."""
        own, trails = self.settings, self.pheromone[colony].astype(np.uint64)
        if self.is_mmas:
            uses_best = own.best_every and (self.iteration + 1) % own.best_every == 0
            tours = (self.best[colony] if uses_best else shortest).tour[None]
        added = np.zeros_like(self.pheromone[colony])
        for tour, length in zip(tours, lengths_of(self.distances, tours), strict=True):
            after, amount = np.roll(tour, -1), self.deposit(length)
            added[tour, after] += amount  # the edges of one tour differ, so no index occurs twice
            added[after, tour] += amount
        trails = (trails - (trails * np.uint64(self.rho_fixed) >> np.uint64(32))).astype(np.int64) + added
        trails = np.minimum(trails, LARGEST)
        if self.is_mmas:
            lowest, highest = self.trail_limits(self.best[colony].length)
            waited = self.iteration - self.found_at[colony]
            if own.stagnation and waited > 0 and waited % own.stagnation == 0:
                missing = np.maximum(highest - trails, 0).astype(np.uint64)
                trails += (missing * np.uint64(self.smoothing_fixed) >> np.uint64(32)).astype(np.int64)
            trails = np.clip(trails, lowest, highest)
        self.pheromone[colony] = trails

    @property
    def winner(self):
        """Best of all colonies' best tours: the shortest, then the smallest colony."""
        return min(self.best, key=lambda found: found.length)

    @property
    def best_tour(self):
        return self.original[self.winner.tour]
