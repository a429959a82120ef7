"""Small random problems of every class, each with a scorer of plain loops; all their solutions can be scored."""

import itertools

import numpy as np

from core.problems import tsp
from core.problems.more.flow_shop.problem import FlowShop
from core.problems.more.flow_shop.shops import FlowShopInstance
from core.problems.more.labs.problem import Labs
from core.problems.more.linear_ordering.matrices import OrderingInstance
from core.problems.more.linear_ordering.problem import LinearOrdering
from core.problems.more.max_cut import graphs, quadratic_forms
from core.problems.more.max_cut.k_cut import MaxKCut
from core.problems.more.max_cut.problem import MaxCut
from core.problems.more.max_cut.qubo import Qubo
from core.problems.more.max_sat import formulas
from core.problems.more.max_sat.problem import MaxSat
from core.problems.ppp import perceptron
from core.problems.ppp.problem import Ppp
from core.problems.qap.problem import Qap
from core.problems.qap.qaplib import QapInstance
from core.problems.tsp.problem import TspTour


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
    m, n, weights = dice.integers(1, 41), dice.integers(4, 8), dice.choice([(30, 1), (1, 7), (0, 1)])
    instance = perceptron.generate(int(m), int(n), int(dice.integers(99)), *map(int, weights))

    def by_products(bits):
        products = (instance.matrix.astype(int) @ np.where(bits, 1, -1)).tolist()
        wanted = instance.targets.tolist()
        differences = sum(abs(wanted.count(v) - products.count(v)) for v in range(-n, n + 1))
        return instance.negative_weight * sum(abs(y) - y for y in products) + instance.histogram_weight * differences

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


def parts(dice):
    """A graph to be cut into up to five parts; the largest weights sum up to 31 bits."""
    n, k = dice.integers(1, 8), dice.integers(2, 6)
    largest = dice.choice([2, 50, (2**31 - 1) // max(1, n * (n - 1) // 2)])
    weights = symmetric(dice, n, -largest, largest)

    def inside(values):
        return sum(int(weights[i, j]) for i, j in itertools.combinations(range(n), 2) if values[i] == values[j])

    return MaxKCut(graphs.GraphInstance("drawn", weights, int(k))), inside


def cut(dice):
    weights = symmetric(dice, dice.integers(1, 8), -9, 10)

    def across(bits):
        pairs = itertools.combinations(range(len(bits)), 2)
        return -sum(int(weights[i, j]) for i, j in pairs if bits[i] != bits[j])

    return MaxCut(graphs.GraphInstance("drawn", weights, 2)), across


def form(dice):
    """A quadratic form, symmetric or not; the largest coefficients sum up to 31 bits."""
    n = dice.integers(1, 8)
    largest = dice.choice([2, 50, (2**31 - 1) // n**2])
    matrix = dice.integers(-largest, largest, (n, n))

    def double_sum(bits):
        return sum(int(matrix[i, j]) for i, j in np.ndindex(n, n) if bits[i] and bits[j])

    return Qubo(quadratic_forms.of_matrix("drawn", matrix)), double_sum


def formula(dice):
    """Clauses in which literals repeat or contradict each other; at least one can be violated."""
    n = int(dice.integers(1, 7))
    literals = [*range(1, n + 1), *range(-n, 0)]
    clauses = [dice.choice(literals, dice.integers(1, 6)).tolist() for _ in range(dice.integers(1, 10))] + [[-n]]
    weights = dice.integers(1, 99, len(clauses)).tolist()

    def violated(bits):
        holds = [any((literal > 0) == bool(bits[abs(literal) - 1]) for literal in clause) for clause in clauses]
        return sum(weight for weight, one in zip(weights, holds, strict=True) if not one)

    return MaxSat(formulas.SatInstance("drawn", n, clauses, weights)), violated


def shop(dice):
    times = dice.integers(0, 21, (dice.integers(2, 7), dice.integers(1, 5)))

    def makespan(order):
        done = np.zeros((len(order) + 1, times.shape[1] + 1), int)
        for p, machine in np.ndindex(len(order), times.shape[1]):
            done[p + 1, machine + 1] = max(done[p, machine + 1], done[p + 1, machine]) + times[order[p], machine]
        return done[-1, -1]

    return FlowShop(FlowShopInstance("drawn", times)), makespan


def ordering(dice):
    n = dice.integers(2, 8)
    weights = dice.integers(-50, 51, (n, n))

    def minus_above(order):
        return -sum(int(weights[a, b]) for a, b in itertools.combinations(order, 2))

    return LinearOrdering(OrderingInstance("drawn", weights)), minus_above


def sequence(dice):
    n = int(dice.integers(1, 10))

    def energy(bits):
        signs = [1 if bit else -1 for bit in bits]
        return sum(sum(signs[p] * signs[p + lag] for p in range(n - lag)) ** 2 for lag in range(1, n))

    return Labs(n), energy


MAKES = {
    "qap": assignment,
    "ppp": perceptrons,
    "tsp": tour,
    "tsp by table": tour_by_table,
    "cut": parts,
    "bits cut": cut,
    "qubo": form,
    "sat": formula,
    "shop": shop,
    "ordering": ordering,
    "labs": sequence,
}


def solutions(encoding):
    if encoding.name == "permutation":
        return list(itertools.permutations(range(encoding.n)))
    return list(itertools.product(range(encoding.choices), repeat=encoding.n))
