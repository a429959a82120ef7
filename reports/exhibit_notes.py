"""What has to be said of a run in a paper's table: what makes its time doubtful, and what sets its work apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reports.cautions import BASELINE, doubts
from reports.comparison import is_baseline
from reports.measures import AMOUNTS
from reports.paper import PROCESSORS, PUBLISHED, WORKLOAD, Exhibit
from reports.parameters import parameters, worded
from reports.records import Record
from reports.wording import grouped, listed

if TYPE_CHECKING:
    from reports.exhibits import Placed


def names_of(record: Record) -> set[str]:
    """What a paper may call a run's instance: `73-73:seed=1` is its 73-73, `weierstrass:50` is 50."""
    name = record.instance
    return {name, name.partition(":")[0], name.removeprefix(f"{record.workload}:")}


def notes(exhibit: Exhibit, one: Placed, common: Mapping[str, Any]) -> Iterator[str]:
    """Yield what has to be said of a run in its cell; `common` is what all runs of its row were asked alike."""
    yield from one.row.labels
    yield from (text for text in doubts(one.row) if "speedup" in exhibit.shows or not text.startswith(BASELINE))
    record = one.row.record
    if exhibit.row_by not in (PROCESSORS, WORKLOAD) and not names_of(record) & {one.line.key, one.line.label}:
        yield f"on {record.instance}"
    yield from _other_work(exhibit, record)
    told = {*exhibit.options, *one.series.options, *(one.column.parameters if one.column else ()), *exhibit.amount}
    if "with" in exhibit.shows:
        told |= set(AMOUNTS)
    asked = {name: value for name, value in parameters(record).items() if name not in told and value is not None}
    apart = {name: value for name, value in asked.items() if name not in common}
    if apart and not is_baseline(one.row):
        yield worded(apart)


def _other_work(exhibit: Exhibit, record: Record) -> Iterator[str]:
    """Word what a run computed less or more than the paper did, so that their times do not compare.

    A published time is of so many walks one after the other, of so many iterations each.
    """
    asked = record.parameters
    other = []
    for name, wanted in exhibit.amount.items():
        ours = asked.get(name, 1 if name == "walks" else None)
        if name == "iterations" and asked.get("walks", 1) == 1:
            # A search of one walk records how many it made: a target or patience may have ended it before its limit.
            ours = record.details.get("iterations", ours)
        if ours is not None and ours != wanted:
            other.append(f"{grouped(ours)} {name}, not {grouped(wanted)}")
    if other:
        yield f"{listed(other)}: seconds do not compare with the paper's, ratios do"
    elif exhibit.amount.get("walks", 1) > 1 and record.ways.get("mapping") != PUBLISHED:
        yield f"its {asked['walks']} climbs ran side by side, the paper's one after the other"
