"""Low autocorrelation binary sequences: optima by brute force and as published, and sizes."""

import itertools

import numpy as np
import pytest

from core.problems.more.labs.problem import LONGEST, Labs

# Packebusch and Mertens 2016, from three signs on.
PUBLISHED = [1, 2, 2, 7, 3, 8, 12, 13, 5, 10, 6, 19, 15, 24, 32, 25, 29, 26, 26, 39, 47, 36, 36, 45, 37]


@pytest.mark.parametrize("n", range(1, 13))
def test_the_optimum_is_that_of_brute_force(n):
    problem = Labs(n)
    costs = problem.costs(np.array(list(itertools.product((0, 1), repeat=n))))
    assert problem.optimum == costs.min()
    assert problem.cost_range()[1] == costs.max()


def test_optima_are_the_published_ones():
    assert [Labs(n).optimum for n in range(3, 28)] == PUBLISHED
    assert (Labs(66).optimum, Labs(67).optimum) == (257, None)


@pytest.mark.parametrize("size", [27, "27", "labs:27", np.int64(27)])
def test_a_size_may_be_a_number_or_text(size):
    assert (Labs(size).name, Labs(size).encoding.n) == ("labs:27", 27)


def test_the_longest_sequence_is_the_last_whose_energies_fit():
    assert Labs(LONGEST).cost_range()[1] < 2**31 - 1 <= sum(k * k for k in range(LONGEST + 1))
