"""Small random problems of every class, each with a scorer of plain loops; all their solutions can be scored."""

import itertools

import numpy as np

from core import tours as tsp
from core.ppp import perceptron
from core.ppp.problem import Ppp
from core.qap.problem import Qap
from core.qap.qaplib import QapInstance
from core.tours.problem import TspTour


def symmetric(dice, n, low, high):
    half = np.triu(dice.integers(low, high, (n, n)), 1)
    return half + half.T


def around(table, tour):
    return sum(int(table[a, b]) for a, b in zip(tour, np.roll(tour, -1), strict=True))


def assignment(dice):
    """A QAP with diagonals, symmetric or not, with entries so small that many moves tie."""
    n = dice.integers(3, 7)
    pair = dice.integers(-9, 10, (2, n, n))
    if dice.integers(2):
        pair = np.tril(pair) + np.tril(pair, -1).transpose(0, 2, 1)

    def double_sum(places):
        return sum(int(pair[0, i, j] * pair[1, places[i], places[j]]) for i, j in np.ndindex(n, n))

    return Qap(QapInstance("drawn", *pair)), double_sum


def perceptrons(dice):
    m, n = dice.integers(1, 41), dice.integers(4, 8)
    instance = perceptron.generate(int(m), int(n), int(dice.integers(99)))

    def by_products(bits):
        products = (instance.matrix.astype(int) @ np.where(bits, 1, -1)).tolist()
        wanted = instance.targets.tolist()
        differences = sum(abs(wanted.count(v) - products.count(v)) for v in range(-n, n + 1))
        return 30 * sum(abs(y) - y for y in products) + differences

    return Ppp(instance), by_products


def tour(dice):
    """Return cities at integer coordinates, some of them equal; the largest squared distances just fit 31 bits."""
    n, largest = dice.integers(3, 9), dice.choice([2, 50, 23_170])
    points = np.column_stack([dice.integers(-largest, largest + 1, n), dice.integers(0, 3, n)]).astype(float)
    table = [[int(np.hypot(*(a - b)) + 0.5) for b in points] for a in points]
    return TspTour(tsp.TspInstance("drawn", coordinates=points)), lambda order: around(np.array(table), order)


def tour_by_table(dice):
    table = symmetric(dice, dice.integers(3, 8), 0, dice.choice([4, 40_000, 9_000_000]))
    return TspTour(tsp.TspInstance("drawn", distances=table)), lambda order: around(table, order)


MAKES = {"qap": assignment, "ppp": perceptrons, "tsp": tour, "tsp by table": tour_by_table}


def solutions(encoding):
    if encoding.name == "permutation":
        return list(itertools.permutations(range(encoding.n)))
    return list(itertools.product(range(encoding.choices), repeat=encoding.n))
