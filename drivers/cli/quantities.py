"""Durations, amounts and rates as text."""

from __future__ import annotations

LONG_UNITS = ((365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
"""Seconds and name of each unit of a long duration."""
SHORT_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
"""Seconds and name of each unit of a short duration."""
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (0.0, ""))
"""Factor and name of each metric prefix."""


def round_to_digits(number: float, digits: int = 2) -> str:
    """Return a rough number in `digits` significant digits: 2.5, 36, 4,100 or 3.1e15."""
    if number < 1e6:
        return f"{number:.{digits}g}" if number < 10 ** (digits - 1) - 0.05 else f"{number:,.0f}"
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def format_long_time(seconds: float) -> str:
    """Return a duration in the largest unit of which it has two: 45 s, 2.5 min, 3 days."""
    size, name = next((one for one in LONG_UNITS if seconds >= 2 * one[0]), LONG_UNITS[-1])
    return f"{round_to_digits(seconds / size)} {name}"


def short_time_unit(seconds: float) -> tuple[float, str]:
    """Return seconds and name of the largest unit of which a short duration has one."""
    return next((one for one in SHORT_UNITS if seconds >= one[0]), SHORT_UNITS[-1])


def format_short_time(seconds: float) -> str:
    """Return a short duration in the largest unit of which it has one: 1.9 us, 12 ms."""
    size, name = short_time_unit(seconds)
    return f"{round_to_digits(seconds / size)} {name}"


def metric_prefix(number: float) -> tuple[float, str]:
    """Return factor and name of the metric prefix of a number; the name ends with a space, or is empty."""
    factor, name = next(one for one in PREFIXES if number >= one[0])
    return factor or 1.0, f"{name} " if name else ""


def format_with_prefix(number: float, digits: int = 2) -> str:
    """Return a number in `digits` significant digits, ready for a unit: "1.5 G ", or "12 " without a prefix."""
    factor, prefix = metric_prefix(number)
    return f"{round_to_digits(number / factor, digits)} {prefix}"
