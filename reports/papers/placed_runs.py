"""Place of a run in an exhibit: its series, its row and its column."""

from __future__ import annotations

from dataclasses import dataclass

from reports.comparison.speedups import ComparedRun
from reports.papers.paper import ExhibitColumn, ExhibitRow, Series


@dataclass(frozen=True)
class PlacedRun:
    """One of our runs with its series and row. `column` is the published column, if options select columns."""

    row: ComparedRun
    series: Series
    line: ExhibitRow
    column: ExhibitColumn | None = None
