"""How reports word rates, shares, costs and lists."""

import pytest

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
    ("value", "text"),
    [(0.0, "0"), (0.00004, "0.0000400"), (1.0, "1.00"), (99.96, "100"), (1830.2, "1,830"), (None, "")],
)
def test_numbers_have_three_digits_and_no_exponent_and_zero_alone_reads_zero(value, text):
    assert formatting.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0 µs"), (2.5e-6, "2.50 µs"), (0.0273, "27.3 ms"), (0.9999, "1.00 s"), (154.684, "155 s")]
)
def test_times_are_in_a_readable_unit(value, text):
    assert formatting.seconds(value) == text
