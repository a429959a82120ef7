"""The runs that an exhibit shows, of those that belong to it, and the run that a ratio over a column is over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reports.comparison.cautions import used_single_rank
from reports.comparison.speedups import ComparedRun, ratio_obstacles
from reports.papers.paper import Exhibit, ExhibitColumn, ExhibitRow, Series


@dataclass(frozen=True)
class PlacedRun:
    """One of our runs with its series and row. `column` is the published column, if options select columns."""

    row: ComparedRun
    series: Series
    line: ExhibitRow
    column: ExhibitColumn | None = None


def choose_runs(exhibit: Exhibit, placed: Sequence[PlacedRun]) -> list[PlacedRun]:
    """Return the runs that an exhibit shows, in the order in which they are placed."""
    return list(_longest(exhibit, _runs_with_ratios(exhibit, placed)))


def _longest(exhibit: Exhibit, placed: Iterable[PlacedRun]) -> Iterable[PlacedRun]:
    """Keep the longest of runs that differ in their amount of work alone.

    A run of ranks that shared it out replaces one that the first rank did alone.
    """
    best: dict[str, PlacedRun] = {}
    for one in placed:
        record = one.row.record
        asked = {name: value for name, value in record.parameters.items() if name not in exhibit.amounts}
        execution = {name: value for name, value in record.execution.items() if name != "distribute"}
        place = record.backend, record.device, record.ranks, one.row.machine
        cell = one.line.key, one.series.name, one.column.heading if one.column else ""
        key = json.dumps([record.instance_sha256, record.seed, asked, execution, place, cell], sort_keys=True)
        if key not in best or _amount(exhibit, best[key]) < _amount(exhibit, one):
            best[key] = one
    return best.values()


def _amount(exhibit: Exhibit, one: PlacedRun) -> tuple[bool, list[int]]:
    record = one.row.record
    return not used_single_rank(record), [int(record.parameters.get(name) or 0) for name in sorted(exhibit.amounts)]


def _runs_with_ratios(exhibit: Exhibit, placed: Sequence[PlacedRun]) -> Iterable[PlacedRun]:
    """The runs that stand in an exhibit: the best of each cell, or where ratios are shown those that have one."""
    if exhibit.keep == "best":
        return _best_of(placed)
    with_ratios = {id(one) for one in placed if find_reference(exhibit, one, placed) is not None}
    cells = {_cell_of(one) for one in placed if id(one) in with_ratios}
    return [one for one in placed if id(one) in with_ratios or _cell_of(one) not in cells]


def _cell_of(one: PlacedRun) -> tuple[Any, ...]:
    return one.line.key, one.column, one.series.name, one.row.name, one.row.machine


def _best_of(placed: Sequence[PlacedRun]) -> Iterator[PlacedRun]:
    """Of the runs of a row, series and device those with the best cost, the first of equals."""
    best: dict[Any, PlacedRun] = {}
    for one in placed:
        place = (one.line.key, one.series.name, one.row.name, one.row.machine)
        if place not in best or one.row.record.best_cost < best[place].row.record.best_cost:
            best[place] = one
    yield from best.values()


def find_reference(exhibit: Exhibit, one: PlacedRun, placed: Sequence[PlacedRun]) -> ComparedRun | None:
    """The run that a ratio over the first column is over: alike in all but what the reference says."""
    first = {name: value for name, value in exhibit.reference.items() if name != "peer"}
    if not first or one.column is None:
        return None
    wanted = {**one.column.parameters, **first}
    for other in placed:
        if other.column is not None and other.column.parameters == wanted and _alike(other, one):
            return other.row
    return None


def same_problem(one: PlacedRun, other: PlacedRun) -> bool:
    """Whether two runs solved the same instance on the same machine."""
    return (one.row.record.instance_sha256, one.row.machine) == (other.row.record.instance_sha256, other.row.machine)


def _alike(one: PlacedRun, other: PlacedRun) -> bool:
    ours, theirs = one.row.record, other.row.record
    return (
        one.series == other.series
        and (ours.backend, ours.device, ours.ranks) == (theirs.backend, theirs.device, theirs.ranks)
        and not ratio_obstacles(ours, theirs)
        and one.row.machine == other.row.machine
    )
