"""Estimates as text: times and ratios with their intervals."""

from __future__ import annotations

from typing import Any

from reports.statistics.medians import Estimate
from reports.text.formatting import number, seconds


def seconds_interval(estimate: Estimate) -> str:
    """Word a time with its interval, if it has one."""
    text = seconds(estimate.value)
    return text if estimate.low is None or estimate.high is None else f"{text} [{_pair(estimate, seconds)}]"


def _pair(estimate: Estimate, form: Any) -> str:
    return f"{form(estimate.low)}, {form(estimate.high)}"


def ratio(value: Estimate | float | None) -> str:
    """Word how many times faster something is; empty for None."""
    if value is None:
        return ""
    return f"{number(value.value if isinstance(value, Estimate) else value)}x"


def ratio_interval(estimate: Estimate) -> str:
    """Word a ratio with its interval, if it has one."""
    return ratio(estimate) + ("" if estimate.low is None else f" [{_pair(estimate, number)}]")
