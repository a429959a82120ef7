"""Notes on a run in a paper's table: reasons to doubt its time, and differences of its work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.comparison.cautions import BASELINE_PREFIX, doubts
from reports.comparison.speedups import ComparedRun, is_baseline
from reports.papers.measures import AMOUNTS, ExhibitCell
from reports.papers.paper import PROCESSORS, PUBLISHED, WORKLOAD, Exhibit
from reports.papers.run_choice import PlacedRun
from reports.records.files import Record
from reports.records.parameters import parameters_text, run_parameters
from reports.statistics.startup import MOST_STARTUP
from reports.text.formatting import grouped, listed, per_cent


def instance_names(record: Record) -> set[str]:
    """What a paper may call a run's instance: `73-73:seed=1` is its 73-73, `weierstrass:50` is 50."""
    name = record.instance
    return {name, name.partition(":")[0], name.removeprefix(f"{record.workload}:")}


def run_footnotes(
    exhibit: Exhibit, one: PlacedRun, common: Mapping[str, Any], cell: ExhibitCell, rows: Sequence[ComparedRun]
) -> Iterator[str]:
    """Yield what has to be said of a run in its cell.

    Parameters
    ----------
    exhibit, one, cell
        Place of the run.
    common : mapping
        Parameters that all runs of its row share.
    rows : sequence of Row
        All runs of the paper, which explain a load that was there before.
    """
    record = one.row.record
    yield from one.row.labels
    found = doubts(one.row, [row.record for row in rows])
    yield from (text for text in found if "speedup" in exhibit.shows or not text.startswith(BASELINE_PREFIX))
    if exhibit.row_by not in (PROCESSORS, WORKLOAD) and not instance_names(record) & {one.line.key, one.line.label}:
        yield f"on {record.instance}"
    yield from _other_work(exhibit, cell)
    told = {*exhibit.options, *one.series.options, *(one.column.parameters if one.column else ()), *exhibit.amount}
    if "with" in exhibit.shows:
        told |= set(AMOUNTS)
    asked = {name: value for name, value in run_parameters(record).items() if name not in told and value is not None}
    apart = {name: value for name, value in asked.items() if name not in common}
    if apart and not is_baseline(one.row):
        yield parameters_text(apart)


def is_short(exhibit: Exhibit, record: Record) -> bool:
    """Return True if a run did less than the paper, or if the paper does not print its amount of work."""
    return exhibit.is_short({name: ours for name, (ours, _) in _amounts(exhibit, record).items()})


def _amounts(exhibit: Exhibit, record: Record) -> dict[str, tuple[int, int]]:
    """Return the amounts of work in which a run is not the paper's, by name: its own and the paper's."""
    asked = record.parameters
    other = {}
    for name, wanted in exhibit.amount.items():
        ours = asked.get(name, 1 if name == "walks" else None)
        if name == "iterations" and asked.get("walks", 1) == 1:
            # A search of one walk records how many it made: a target or patience may have ended it before its limit.
            ours = record.details.get("iterations", ours)
        if ours is not None and ours != wanted:
            other[name] = (ours, wanted)
    return other


def _other_work(exhibit: Exhibit, cell: ExhibitCell) -> Iterator[str]:
    """Word what a run computed less or more than the paper did, so that their times do not compare.

    A published time is of a number of walks one after the other, and of a number of iterations each.
    """
    record = cell.record
    amounts = _amounts(exhibit, record).items()
    other = [f"{grouped(ours)} {name}, not {grouped(paper)}" for name, (ours, paper) in amounts]
    short = cell.too_short(cell.row.base) or cell.too_short(cell.reference)
    has_ratio = cell.row.speedup is not None or cell.reference is not None
    if other and short and has_ratio:
        yield (
            f"{listed(other)}: seconds do not compare with the paper's, nor does a ratio of times of which more than "
            f"{per_cent(MOST_STARTUP)} may be start-up"
        )
    elif short and not other:
        part = per_cent(MOST_STARTUP)
        yield f"more than {part} of its time, or of its baseline's, may be start-up: no ratio of such times"
    elif other:
        yield f"{listed(other)}: seconds do not compare with the paper's" + (", ratios do" if has_ratio else "")
    elif exhibit.amount.get("walks", 1) > 1 and record.execution.get("mapping") != PUBLISHED:
        yield f"its {record.parameters['walks']} climbs ran in parallel, the paper's one after the other"
