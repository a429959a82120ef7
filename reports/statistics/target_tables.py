"""Tables of success rates and expected running times, and their text in reports."""

from __future__ import annotations

from collections.abc import Sequence

from reports.statistics.targets import EffortMeasure, SeedFamily, Target, Targets, success_rate
from reports.text.formatting import interval, number, seconds
from reports.text.tables import TextTable

UNKNOWN = "not known"
NEVER = "not reached"


def success(family: SeedFamily, target: Target) -> str:
    """Return the share of runs that reached a target as text, with Wilson's interval in per cent."""
    reached, runs = family.reached(target), len(family.runs)
    rate = success_rate(reached, runs)
    return f"{reached} of {runs} [{100 * (rate.low or 0):.0f}, {100 * (rate.high or 0):.0f}] %"


def expected(family: SeedFamily, target: Target, measure: EffortMeasure) -> str:
    tries = family.tries(target)
    if tries is None:
        return UNKNOWN
    time = tries.expected(measure)
    return NEVER if time is None else interval(time, seconds if measure == "seconds" else number)


def make_target_table(caption: str, families: Sequence[SeedFamily], targets: Targets, unit: str) -> TextTable:
    """Return expected times of runs that differ only in their devices: a row for each, evaluations in the last.

    Runs of one work need the same number of evaluations on every device, unless the number is listed by device.
    """
    headings = ("run", *(f">expected time to {target.words} [95 % CI]" for target in targets.all))
    rows = [[family.label, *(expected(family, target, "seconds") for target in targets.all)] for family in families]
    counted = [[expected(family, target, "evaluations") for target in targets.all] for family in families]
    if unit and all(counts == counted[0] for counts in counted):
        rows.append([f"{unit}, on every device", *counted[0]])
    elif unit:
        rows += [[f"{unit}, {family.label}", *counts] for family, counts in zip(families, counted, strict=True)]
    rows.append(["runs that reached it", *(success(families[0], target) for target in targets.all)])
    return TextTable(caption, headings, rows)
