"""Formats of numbers, times, costs and lists in reports."""

import pytest

from reports.text.formatting import cost, duration, listed, number, per_cent, rate, seconds

TEXTS = {
    rate: {None: "", 0.5: "0.500", 999.4: "999", 999.6: "1.00 k", 61.3e6: "61.3 M", 1.99e12: "1.99 T"},
    per_cent: {0.0: "0 %", 0.0123: "1.2 %", 0.099: "9.9 %", 0.25: "25 %", 62.21: "6,221 %", -0.5: "-50 %"},
    cost: {21282: "21,282", -8023560: "-8,023,560", 0.123456789: "0.123457"},
    listed: {"a": "a", "ab": "a and b", "abc": "a, b and c"},
    number: {
        (0.0, 3): "0", (0.00004, 3): "0.0000400", (1.0, 3): "1.00", (99.96, 3): "100", (1830.2, 3): "1,830",
        (None, 3): "", (2.54, 2): "2.5", (9.99, 2): "10", (4100, 2): "4,100", (3.14e15, 2): "3.1e15",
        (99.996, 4): "100.0",
    },
    seconds: {
        (None, 3): "", (0.0, 3): "0 µs", (2.5e-6, 3): "2.50 µs", (0.0273, 3): "27.3 ms", (0.9999, 3): "1.00 s",
        (154.684, 3): "155 s", (12.3456e-6, 4): "12.35 µs", (0.0009996, 4): "0.9996 ms", (12345.6, 4): "12,346 s",
    },
    duration: {0.4: "400 ms", 45: "45 s", 150: "2.5 min", 601: "10 min", 7300: "2.0 h", 3 * 86400: "3.0 days"},
}  # fmt: skip


@pytest.mark.parametrize(("formatted", "texts"), TEXTS.items())
def test_values_are_readable(formatted, texts):
    for value, text in texts.items():
        assert formatted(*value if isinstance(value, tuple) else (value,)) == text, value
