"""The interval of a median against the enumeration of all ways in which values fall below and above it."""

import itertools

import pytest

from reports.statistics.medians import Estimate, median_interval


def coverage(count, place):
    """Part of the 2^n equally likely cases in which the median is between the place-th smallest and largest value."""
    below = [sum(one) for one in itertools.product((0, 1), repeat=count)]
    return sum(place <= number <= count - place for number in below) / 2**count


@pytest.mark.parametrize("count", [6, 7, 9, 12, 16])
def test_the_interval_is_the_narrowest_one_that_covers_the_median(count):
    values = [float(one * one) for one in range(count)]
    estimate = median_interval(values[::-1])
    place = values.index(estimate.low) + 1
    assert estimate.high == values[-place]
    assert coverage(count, place) >= 0.95 > coverage(count, place + 1)


@pytest.mark.parametrize("values", [[2.0], [2.0, 3.0, 4.0, 9.0, 1.0]])
def test_fewer_than_six_values_have_no_interval(values):
    estimate = median_interval(values)
    assert (estimate.low, estimate.high, estimate.half_width) == (None, None, None)


def test_an_estimate_has_a_half_width_and_can_be_scaled():
    estimate = Estimate(10.0, 9.0, 13.0)
    assert (estimate.half_width, estimate.scaled(2.0)) == (0.3, Estimate(20.0, 18.0, 26.0))


def test_no_values_are_an_error():
    with pytest.raises(ValueError, match="no repetitions"):
        median_interval([])
