"""Medians, intervals and ratios against exact enumeration of the bootstrap distribution."""

import itertools

import numpy as np
import pytest

from reports.statistics.medians import ratio_of_medians, summarise


def all_medians(values):
    """Median of each of the n^n resamples, which are equally likely."""
    picks = np.array(list(itertools.product(range(len(values)), repeat=len(values))))
    return np.median(np.asarray(values)[picks], axis=1)


def test_a_summary_has_median_extremes_mean_and_deviation():
    summary = summarise([3.0, 9.0, 1.0, 4.0])
    assert (summary.repetitions, summary.minimum, summary.maximum, summary.median.value) == (4, 1.0, 9.0, 3.5)
    summary = summarise([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert (summary.mean, summary.deviation) == (5.0, pytest.approx((32 / 7) ** 0.5))
    assert (summarise([3.0]).mean, summarise([3.0]).deviation) == (3.0, None)


@pytest.mark.parametrize(
    "values", [[5.0, 1.0, 4.0], [1.0, 2.0, 4.0, 7.0, 11.0], [3.0, 1.0, 15.0, 9.0, 2.0, 6.0], [0.5] * 6]
)
def test_the_interval_is_the_exact_bootstrap_interval(values):
    exact = np.quantile(all_medians(values), [0.025, 0.975])
    median = summarise(values).median
    assert [median.low, median.high] == list(exact)


def test_the_interval_of_a_ratio_is_the_exact_bootstrap_interval():
    slow, fast = [4.0, 4.3, 4.9, 5.2], [2.0, 2.1, 2.6, 2.7]
    exact = np.divide.outer(all_medians(slow), all_medians(fast)).ravel()
    ratio = ratio_of_medians(slow, fast)
    assert ratio.value == pytest.approx(4.6 / 2.35)
    assert np.quantile(exact, 0.02) <= ratio.low <= np.quantile(exact, 0.03)
    assert np.quantile(exact, 0.97) <= ratio.high <= np.quantile(exact, 0.98)


@pytest.mark.parametrize("values", [[2.0], [2.0, 3.0]])
def test_one_or_two_repetitions_have_no_interval(values):
    median = summarise(values).median
    assert (median.low, median.high) == (None, None)
    ratio = ratio_of_medians(values, [1.0, 1.0, 1.0])
    assert (ratio.low, ratio.high) == (None, None)


def test_nothing_to_summarise_and_no_time_at_all_are_errors():
    with pytest.raises(ValueError, match="no repetitions"):
        summarise([])
    with pytest.raises(ValueError, match="zero has no ratio"):
        ratio_of_medians([1.0], [0.0])
