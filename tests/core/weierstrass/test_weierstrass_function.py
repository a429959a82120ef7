"""The Weierstrass function: float64 against 150 digits, the 31 bits of its costs, and points on the axes."""

import decimal
import itertools
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import Solo
from core.errors import UserError
from core.instances.limits import LARGEST_COST
from core.local_search import HillClimbing, Iterations, LocalSearch, TabuSearch
from core.weierstrass import scorer as weierstrass
from core.weierstrass.problem import Weierstrass

VALUE_TOLERANCE = 5e-15
"""For a coordinate. Each of its terms is off by at most 2.5 units of 2^-53, times 5.29."""

DIGITS = decimal.Context(prec=150)


def arctangent_of_inverse(k: int, scale: int) -> int:
    power, total, i = scale // k, 0, 0
    while power:
        total += (-1) ** i * (power // (2 * i + 1))
        power //= k * k
        i += 1
    return total


def machins_pi() -> Decimal:
    """Return pi to 140 digits by Machin's formula of 1706."""
    unit = 10**145
    return Decimal(4 * (4 * arctangent_of_inverse(5, unit) - arctangent_of_inverse(239, unit))).scaleb(-145, DIGITS)


PI = machins_pi()


def exact_sine(angle: Decimal) -> Decimal:
    """The sine to more than 60 digits: reduced by 140 digits of pi, then Taylor's series."""
    with decimal.localcontext(DIGITS):
        reduced = angle - (angle / (2 * PI)).to_integral_value() * 2 * PI
        term, total, k = reduced, reduced, 1
        while abs(term) > Decimal("1e-70"):
            term = -term * reduced * reduced / ((k + 1) * (k + 2))
            total += term
            k += 2
        return total


def exact_value(point: list[float]) -> Decimal:
    with decimal.localcontext(DIGITS):
        root = Decimal(2).sqrt().sqrt()
        terms = (exact_sine(Decimal(x) * 2**i) / root**i for x in point for i in range(1, 101))
        return sum(terms, Decimal(0))


# multiples of 2^-60, so that 150 digits hold them and their multiples exactly
coordinates = st.one_of(
    st.integers(-(2**53), 2**53).map(lambda k: k * 2.0**-53), st.integers(-(2**53), 2**53).map(lambda k: k * 2.0**-60)
)


@settings(max_examples=20)
@given(st.lists(coordinates, min_size=1, max_size=3))
def test_value_is_that_of_150_digits(point):
    exact = exact_value(point)
    value = weierstrass.value(np.array(point))
    assert abs(Decimal(value) - exact) < VALUE_TOLERANCE * len(point)
    # half a unit, and the error of the value in units
    assert abs(weierstrass.cost(np.array(point)) - exact * 2**20) < 0.5 + VALUE_TOLERANCE * len(point) * 2**20


@settings(max_examples=40)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6))
def test_function_is_odd_and_does_not_depend_on_the_order(point):
    x = np.array(point)
    assert weierstrass.value(-x) == -weierstrass.value(x) == -weierstrass.value(x[::-1])
    assert weierstrass.cost(np.zeros(3)) == 0
    single = x.astype(np.float32)  # its coordinates are taken exactly
    assert weierstrass.value(single) == weierstrass.value([float(coordinate) for coordinate in single])


def test_differences_of_the_largest_instance_s_costs_fit_in_31_bits():
    # the bound of ten terms in a row by a fine scan, with what their slopes allow between two angles
    r, steps = 2**-0.25, 400_000
    angles = np.linspace(0, 2 * np.pi, steps)
    slope = sum(r**j * 2**j for j in range(10))
    ten = sum(r**j * np.sin(2**j * angles) for j in range(10)).max() + slope * np.pi / (steps - 1)
    per_coordinate = ten * sum(2 ** (-i / 4) for i in range(1, 100, 10))
    assert per_coordinate < weierstrass.LARGEST_TERM
    assert 2 * weierstrass.MOST_COORDINATES * weierstrass.LARGEST_TERM * 2**20 < LARGEST_COST
    grid = np.random.default_rng(1).uniform(-1, 1, (50, 341))
    assert max(abs(weierstrass.value([x])) for x in grid.ravel()) < weierstrass.LARGEST_TERM


def test_instance_is_named_by_its_size():
    instance = weierstrass.load("weierstrass:10")
    assert instance == weierstrass.load("10") == weierstrass.WeierstrassInstance(10)
    assert (instance.name, instance.n, instance.optimum) == ("weierstrass:10", 10, None)
    assert instance.sha256 != weierstrass.load("11").sha256
    x = np.linspace(-1, 1, 10)
    assert instance.cost(x) == weierstrass.cost(x)
    with pytest.raises(ValueError, match=r"shape \(9,\), expected \(10,\)"):
        instance.cost(x[:9])


def run_search(cpu, iterations, evaluation="kept", dtype="float32", algorithm=None):
    problem = Weierstrass("5", points=40, dtype=dtype)
    search = LocalSearch(cpu, Solo(), problem, algorithm or TabuSearch(), "axes", evaluation=evaluation, seed=3)
    return problem, search.run(Iterations(iterations))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kept_contributions_cost_what_a_full_evaluation_costs(cpu, dtype):
    problem, kept = run_search(cpu, 30, dtype=dtype)
    _, full = run_search(cpu, 30, "full", dtype)
    assert (kept.digest, kept.cost) == (full.digest, full.cost)
    assert abs(problem.cost(kept.solution) - kept.cost) <= problem.tolerance()


def test_a_move_changes_one_coordinate_by_a_step_into_its_crown(cpu):
    descent = [run_search(cpu, k, algorithm=HillClimbing())[1].solution.astype(np.float64) for k in range(1, 6)]
    for before, after in itertools.pairwise(descent):
        move = after - before
        (axis,) = np.flatnonzero(move)
        point = int(abs(move[axis]) * 40 * 5)
        assert point < 40
        assert point % 5 == axis


def test_points_of_both_kinds_are_no_neighbourhoods_of_one_search(cpu):
    with pytest.raises(UserError, match="their moves differ in kind"):
        LocalSearch(cpu, Solo(), Weierstrass("5"), HillClimbing(), ["crowns", "axes"])
