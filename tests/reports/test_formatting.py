"""Formats of rates, fractions, costs and lists in reports."""

import pytest

from reports.statistics.medians import Estimate
from reports.text import formatting


@pytest.mark.parametrize(
    ("per_second", "text"),
    [(None, ""), (0.5, "0.500"), (999.4, "999"), (999.6, "1.00 k"), (61.3e6, "61.3 M"), (1.99e12, "1.99 T")],
)
def test_rates_have_the_prefix_that_keeps_them_readable(per_second, text):
    assert formatting.rate(per_second) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.0123, "1.2 %"), (0.099, "9.9 %"), (0.25, "25 %"), (62.21, "6,221 %"), (-0.5, "-50 %")],
)
def test_parts_of_one_are_per_cent(share, text):
    assert formatting.per_cent(share) == text


@pytest.mark.parametrize(("cost", "text"), [(21282, "21,282"), (-8023560, "-8,023,560"), (0.123456789, "0.123457")])
def test_costs_are_grouped(cost, text):
    assert formatting.cost(cost) == text


@pytest.mark.parametrize(("names", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_lists_end_in_and(names, text):
    assert formatting.listed(names) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 3, "0"), (0.00004, 3, "0.0000400"), (1.0, 3, "1.00"), (99.96, 3, "100"), (1830.2, 3, "1,830"),
        (None, 3, ""), (2.54, 2, "2.5"), (9.99, 2, "10"), (4100, 2, "4,100"), (3.14e15, 2, "3.1e15"),
        (99.996, 4, "100.0"),
    ],
)  # fmt: skip
def test_numbers_have_significant_digits_and_zero_alone_reads_zero(value, digits, text):
    assert formatting.number(value, digits) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 3, ""), (0.0, 3, "0 µs"), (2.5e-6, 3, "2.50 µs"), (0.0273, 3, "27.3 ms"), (0.9999, 3, "1.00 s"),
        (154.684, 3, "155 s"), (12.3456e-6, 4, "12.35 µs"), (0.0009996, 4, "0.9996 ms"), (12345.6, 4, "12,346 s"),
    ],
)  # fmt: skip
def test_times_are_in_a_readable_unit(value, digits, text):
    assert formatting.seconds(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4, "400 ms"), (45, "45 s"), (150, "2.5 min"), (601, "10 min"), (7300, "2.0 h"), (3 * 86400, "3.0 days")],
)
def test_durations_are_rough(value, text):
    assert formatting.duration(value) == text


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(2.0), "2.00x"),
        (Estimate(2.0, 1.5, 1000), "2.00x [1.50, 1,000]"),
        (None, ""),
    ],
)
def test_estimates_have_their_interval(estimate, text):
    assert formatting.ratio_interval(estimate) == text
