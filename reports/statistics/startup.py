"""Start-up as a part of a run's time: a ratio of times dominated by start-up does not compare searches.

A run of n iterations takes s + n t seconds. Two runs that differ only in their number of iterations give the start-up s
and the slope t. Without such a partner the time outside a run's kernels is a bound of s.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from reports.records.files import Record
from reports.statistics.medians import Estimate

MOST_STARTUP = 0.05
"""Largest part of start-up in a time that may be divided."""
LENGTH = "iterations"


def startup_share(record: Record, others: Iterable[Record] = ()) -> float:
    """Return the part of a run's median time that start-up takes, 0 to 1, or an upper bound of it."""
    took, slope = _seconds(record), iteration_slope(record, others)
    if not took:
        return 1.0
    kernel = statistics.median(repetition.kernel_s for repetition in record.repetitions)
    seconds = took - (kernel if slope is None else slope.value * _length(record))
    return min(1.0, max(0.0, seconds / took))


def iteration_slope(record: Record, others: Iterable[Record]) -> Estimate | None:
    """Return the seconds of an iteration without start-up; None without a partner, or if times do not surely grow.

    The interval is from the closest to the farthest two times of the two lengths.
    """
    own, search = _length(record), _search(record)
    near = (other for other in others if other.instance_sha256 == record.instance_sha256)
    partners = [other for other in near if _length(other) not in (0, own) and _search(other) == search]
    if not own or not partners:
        return None
    partner = max(partners, key=lambda one: abs(_length(one) - own))
    long, short = (record, partner) if own > _length(partner) else (partner, record)
    more = _length(long) - _length(short)
    slow, fast = (record.running_seconds for record in (long, short))
    low, high = (min(slow) - max(fast)) / more, (max(slow) - min(fast)) / more
    return Estimate((_seconds(long) - _seconds(short)) / more, low, high) if low > 0 else None


def ratio_of_slopes(base: Estimate, own: Estimate) -> Estimate:
    """Return the ratio of two slopes, with an interval from the ends of both."""
    assert base.low is not None and base.high is not None and own.low is not None and own.high is not None
    return Estimate(base.value / own.value, base.low / own.high, base.high / own.low)


def _seconds(record: Record) -> float:
    return statistics.median(record.running_seconds)


def _length(record: Record) -> int:
    return int(record.parameters.get(LENGTH) or 0)


def _search(record: Record) -> tuple[object, ...]:
    """Return all settings that affect a run's speed, except its length."""
    asked = {name: value for name, value in record.parameters.items() if name != LENGTH}
    place = record.backend, record.device, record.ranks, record.environment
    return record.instance_sha256, record.workload, *place, record.execution, asked, record.seed
