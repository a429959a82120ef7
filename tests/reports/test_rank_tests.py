"""Rank tests of pairs, Holm's correction, and effect sizes."""

import math
from itertools import combinations

import pytest
from pandas import Series

from reports.statistics.rank_tests import compare_pairs, effect, holm, least_p, mann_whitney


def test_holms_correction_of_a_worked_example():
    # Four p: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04, which may not be below the one before it.
    assert list(holm(Series([0.01, 0.04, 0.03, 0.005]))) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert list(holm(Series([0.6, 0.7]))) == [1.0, 1.0]
    assert list(holm(Series([0.02]))) == [0.02]


def exact_p(sample, other):
    """Two-sided p by enumeration of all assignments of the values."""
    pooled = sorted([*sample, *other])
    ours = sum(a > b for a in sample for b in other)
    extreme = max(ours, len(sample) * len(other) - ours)
    dealt = list(combinations(range(len(pooled)), len(sample)))
    as_extreme = 0
    for chosen in dealt:
        rest = [pooled[place] for place in range(len(pooled)) if place not in chosen]
        above = sum(pooled[place] > value for place in chosen for value in rest)
        as_extreme += max(above, len(sample) * len(other) - above) >= extreme
    return as_extreme / len(dealt)


@pytest.mark.parametrize(
    ("sample", "other_sample"),
    [([1, 2, 3, 4], [5, 6, 7, 8]), ([1, 4, 6], [2, 3, 5, 7]), ([3, 9, 1, 12], [2, 10, 11, 4, 8])],
)
def test_without_ties_p_is_that_of_all_orders(sample, other_sample):
    assert mann_whitney(sample, other_sample)[0] == pytest.approx(exact_p(sample, other_sample))


def test_with_ties_p_follows_from_the_normal_distribution_with_its_corrections():
    sample, other = [1, 2, 2, 3, 4], [2, 3, 3, 4, 5, 6]
    pooled = [*sample, *other]
    ties = sum(pooled.count(value) ** 3 - pooled.count(value) for value in set(pooled))
    total, pairs = len(pooled), len(sample) * len(other)
    deviation = math.sqrt(pairs / 12 * (total + 1 - ties / (total * (total - 1))))
    u = sum((a > b) + 0.5 * (a == b) for a in sample for b in other)
    z = (abs(u - pairs / 2) - 0.5) / deviation
    assert mann_whitney(sample, other)[0] == pytest.approx(math.erfc(z / math.sqrt(2)))


def test_equal_samples_do_not_differ_significantly():
    assert mann_whitney([5, 5, 5], [5, 5]) == (1.0, 0.5)
    with pytest.raises(ValueError, match="no values"):
        mann_whitney([], [1])
    (test,) = compare_pairs([(Series([5.0, 5.0], name="a"), Series([5.0, 5.0], name="b"))]).itertuples()
    assert (test.a12, test.effect, test.verdict) == (0.5, "negligible", "not significant")


def test_runs_that_never_finished_are_the_slowest_and_equal():
    sample, other = (1.0, 2.0, 3.0, math.inf), (4.0, 5.0, math.inf, math.inf)
    assert mann_whitney(sample, other) == mann_whitney([1, 2, 3, 9], [4, 5, 9, 9])
    # The first is faster in 3 * 4 pairs and equal in the last two.
    assert mann_whitney(sample, other)[1] == (12 + 0.5 * 2) / 16


def test_a12_is_the_part_of_pairs_in_which_the_first_is_smaller():
    # 1 < 2, 1 < 3, 2 = 2 counts half, 2 < 3.
    assert mann_whitney([1, 2], [2, 3])[1] == 3.5 / 4
    assert mann_whitney([2, 3], [1, 2])[1] == 0.5 / 4


@pytest.mark.parametrize(
    ("a", "word"),
    [(0.559, "negligible"), (0.56, "small"), (0.44, "small"), (0.64, "medium"), (0.36, "medium"), (0.29, "large")],
)
def test_effects_have_vargha_and_delaneys_words(a, word):
    assert effect(a) == word


def test_all_pairs_are_corrected_together_and_the_better_is_named():
    low, high, other = (Series(range(start, start + 8), name=name) for name, start in (("a", 0), ("b", 50), ("c", 99)))
    tests = compare_pairs([(low, high), (other, high)])
    assert list(tests["verdict"]) == ["a is better", "b is better"]
    assert tests["corrected"][0] == pytest.approx(2 * tests["p"][0])
    assert tests["p"][0] == pytest.approx(least_p(8, 8)) == pytest.approx(2 / 12870)
