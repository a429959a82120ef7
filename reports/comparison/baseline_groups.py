"""Groups of repetitions: a baseline is measured before and after the other runs, and its quietest group counts."""

from __future__ import annotations

import statistics

from msgspec.structs import replace

from reports.records.files import group_by
from reports.records.schema import Record, Repetition
from reports.statistics.medians import LEAST_FOR_INTERVAL
from reports.text.formatting import per_cent

ONE_CORE = "core"
SLOWER = (0.1, 0.3, 1.0)
"""Bounds of the label of a group that took longer than the quietest one: few, so that runs share a label."""


def quietest_group(record: Record) -> Record:
    """Return a run on one core with the repetitions of its quietest group; any other run unchanged."""
    groups = _groups(record)
    if len(groups) < 2:
        return record
    # Those with enough repetitions for an interval, or the largest ones.
    least = min(LEAST_FOR_INTERVAL, max(map(len, groups)))
    return replace(record, repetitions=min((group for group in groups if len(group) >= least), key=_median))


def group_labels(record: Record) -> tuple[str, ...]:
    """Label a run on one core that was measured in several groups with a bound for the spread of their medians."""
    groups = _groups(record)
    if len(groups) < 2:
        return ()
    medians = [_median(group) for group in groups]
    longer = max(medians) / min(medians) - 1
    bound = next((f"up to {per_cent(limit)}" for limit in SLOWER if longer <= limit), f"over {per_cent(SLOWER[-1])}")
    return (
        f"the quietest of several groups of repetitions, before and after the others; the slowest took {bound} longer",
    )


def _groups(record: Record) -> list[tuple[Repetition, ...]]:
    if record.device_kind != ONE_CORE or record.ranks > 1:
        return []
    return list(map(tuple, group_by(record.repetitions, lambda repetition: repetition.group or 0)))


def _median(group: tuple[Repetition, ...]) -> float:
    return statistics.median(repetition.running_s for repetition in group)
