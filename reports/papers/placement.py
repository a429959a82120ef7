"""Places of our runs in an exhibit, and the baseline of a ratio over a column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.comparison.speedups import ComparedRun, ratio_obstacles
from reports.papers.paper import PROCESSORS, WORKLOAD, Exhibit, ExhibitColumn, ExhibitRow, Series
from reports.records.environment import EMULATED_HOSTS, EMULATED_NETWORK
from reports.records.files import Record

ON_HOST = "host"
"""Bound of a run on an instance small enough for the host: it belongs to every bound."""
NOT_RECORDED = ("peers", "history", "verify", "profile")
"""Options that are neither parameters nor execution settings of a record."""


@dataclass(frozen=True)
class PlacedRun:
    """One of our runs with its series and row. `column` is the published column, if options select columns."""

    row: ComparedRun
    series: Series
    line: ExhibitRow
    column: ExhibitColumn | None = None


def place_runs(exhibit: Exhibit, rows: Sequence[ComparedRun]) -> Iterator[PlacedRun]:
    for row in rows:
        series = find_series(exhibit, row.record)
        column = _column_of(exhibit, row.record)
        if series is not None and (column is not None or not exhibit.by_options):
            yield PlacedRun(row, series, _line_of(exhibit, row), column)


def find_series(exhibit: Exhibit, record: Record) -> Series | None:
    """Return the series of a run: the one with most options, then hosts; None without any."""
    if exhibit.never_ours or record.workload not in exhibit.workloads() or not has_options(record, exhibit.options):
        return None
    suitable = [one for one in exhibit.series if _fits(one, record)]
    return max(suitable, key=lambda one: (len(one.options), one.hosts), default=None)


def _fits(series: Series, record: Record) -> bool:
    over_ranks = max(series.ranks) > 1
    return (
        record.device_kind in series.kinds
        and (not series.backends or record.backend in series.backends)
        and (record.ranks > 1) == over_ranks
        and _fits_cores(series, record)
        and _fits_hosts(series, record)
        and has_options(record, series.options)
    )


def _fits_cores(series: Series, record: Record) -> bool:
    """True if a rank has all cores of its host, or a number of cores that the series names."""
    own, present = record.details.get("cores_per_rank"), record.environment.get("cores")
    return record.device_kind != "cores" or own in (None, present, *series.cores)


def _fits_hosts(series: Series, record: Record) -> bool:
    """True if a run's hosts are those of a series, emulated ones by one machine or real ones."""
    where = record.environment
    if series.network or where.get(EMULATED_NETWORK):
        return (where.get(EMULATED_NETWORK), where.get(EMULATED_HOSTS)) == (series.network, series.hosts)
    return record.host_count >= series.hosts


def has_options(record: Record, options: Mapping[str, Any]) -> bool:
    asked = {**record.parameters, **record.execution, "instance": record.instance}
    if asked.get("bound") == ON_HOST:
        asked["bound"] = options.get("bound", ON_HOST)
    return all(asked.get(name) == value for name, value in options.items() if name not in NOT_RECORDED)


def _column_of(exhibit: Exhibit, record: Record) -> ExhibitColumn | None:
    return next((one for one in exhibit.columns if one.parameters and has_options(record, one.parameters)), None)


def _line_of(exhibit: Exhibit, row: ComparedRun) -> ExhibitRow:
    """Return the row of a run: one of the exhibit, or a new one."""
    record = row.record
    if exhibit.row_by == PROCESSORS:
        key = processors(record)
        words = {"gpu": "GPU", "core": "core", "cores": "cores"}
        kind, count = key.split(":")
        label = f"{count} {words[kind]}" + ("s" if kind == "gpu" and count != "1" else "")
        return next((line for line in exhibit.lines if line.key == key), ExhibitRow(processors=key, label=label))
    if exhibit.row_by == WORKLOAD:
        return exhibit.line(record.workload)
    names = instance_names(record)
    lines = (line for line in exhibit.lines if names & {line.key, line.spec} and line.workload in ("", record.workload))
    return next(lines, ExhibitRow(record.instance))


def processors(record: Record) -> str:
    """Kind and number of a run's processors: `gpu:1`, `cores:16`, `core:1`."""
    if record.device_kind == "gpu":
        return f"gpu:{record.ranks}"
    if record.device_kind == "core":
        return "core:1" if record.ranks == 1 else f"cores:{record.ranks}"
    # Every rank has the same cores of its host, for any number of ranks.
    hosts = min(record.ranks, record.host_count)
    return f"cores:{(record.host_cores or 1) * hosts}"


def instance_names(record: Record) -> set[str]:
    """Return a paper's possible names of a run's instance: `73-73:seed=1` is its 73-73, `weierstrass:50` is 50."""
    name = record.instance
    return {name, name.partition(":")[0], name.removeprefix(f"{record.workload}:")}


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort key by which 81-81 comes before 101-117."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]


# --- which of them are shown ---


def choose_runs(exhibit: Exhibit, placed: Sequence[PlacedRun]) -> list[PlacedRun]:
    """Return the runs that an exhibit shows, in the order in which they are placed.

    Of each cell that is the one with the best cost, or those that have a ratio if one of them has. Of runs that
    differ only in their amount of work the longest is kept, of equal ones that of the most seeds, then the newest.
    """
    if exhibit.keep == "best":
        candidates = _highest_of_each(placed, _place_of, lambda one: -one.row.record.best_cost)
    else:
        with_ratios = {id(one) for one in placed if find_reference(exhibit, one, placed) is not None}
        cells = {(_place_of(one), one.column) for one in placed if id(one) in with_ratios}
        candidates = [one for one in placed if id(one) in with_ratios or (_place_of(one), one.column) not in cells]

    def without_amount(run: PlacedRun) -> str:
        record = run.row.record
        asked = {name: value for name, value in record.parameters.items() if name not in {*exhibit.amounts, "seeds"}}
        column = run.column.heading if run.column else ""
        work = record.instance_sha256, record.seed, asked, record.execution
        return json.dumps([*work, record.backend, record.device, record.ranks, _place_of(run), column], sort_keys=True)

    def amount(run: PlacedRun) -> tuple[list[int], int, str]:
        asked = run.row.record.parameters
        lengths = [int(asked.get(name) or 0) for name in sorted(exhibit.amounts)]
        newest = max(repetition.started_at or "" for repetition in run.row.record.repetitions)
        return lengths, len(run.row.record.details.get("costs", ())), newest

    return _highest_of_each(candidates, without_amount, amount)


def _place_of(placed: PlacedRun) -> tuple[str, ...]:
    return placed.line.key, placed.series.name, placed.row.name, placed.row.machine


def _highest_of_each(
    placed: Sequence[PlacedRun], group: Callable[[PlacedRun], Any], rank: Callable[[PlacedRun], Any]
) -> list[PlacedRun]:
    """Return the run of each group that ranks highest, the first of equals."""
    chosen: dict[Any, PlacedRun] = {}
    for one in placed:
        other = chosen.setdefault(group(one), one)
        if rank(one) > rank(other):
            chosen[group(one)] = one
    return list(chosen.values())


def find_reference(exhibit: Exhibit, run: PlacedRun, placed: Sequence[PlacedRun]) -> ComparedRun | None:
    """Return the run that a ratio over the first column is over: equal in all but the reference."""
    first = {name: value for name, value in exhibit.reference.items() if name != "peer"}
    if not first or run.column is None:
        return None
    wanted = {**run.column.parameters, **first}
    for other in placed:
        if other.column is not None and other.column.parameters == wanted and _are_alike(other, run):
            return other.row
    return None


def same_problem(run: PlacedRun, other: PlacedRun) -> bool:
    return (run.row.record.instance_sha256, run.row.machine) == (other.row.record.instance_sha256, other.row.machine)


def _are_alike(run: PlacedRun, other: PlacedRun) -> bool:
    ours, theirs = run.row.record, other.row.record
    return (
        run.series == other.series
        and (ours.backend, ours.device, ours.ranks) == (theirs.backend, theirs.device, theirs.ranks)
        and not ratio_obstacles(ours, theirs)
        and run.row.machine == other.row.machine
    )
