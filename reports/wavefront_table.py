"""Dynamic programming beside a publication that prints bounds, and no times (oconnell2014): our runs by problem.

Tilings, room for decisions and where these go are ways to do the same work. Whether a solution is traced is asked: runs
with and without it are different works, and the ratio of their times says what tracing costs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reports.comparison import Likeness, Row, compare_works
from reports.parameters import parameters, shared, worded
from reports.records import Record, RecordError
from reports.statistics import Estimate, ratio_of_medians

LAYOUT = "wavefronts"
LIKENESS = Likeness(first=("tiling", "device_memory", "spill"))
LINEAR_SPACE = "linear space"
"""The method of a longest common subsequence that may find another one of the same length: a work of its own."""
KEPT = ("trace", "device_memory", "spill", LINEAR_SPACE)
"""What a run with a trace has over one without."""

STATISTICS = ("least", "average", "most")

STORED_BYTES = 2
"""Of a value in the table of bytes: 16-bit costs, the least that the suite's own Held-Karp stores."""

Spread = tuple[float, float, float]


@dataclass(frozen=True)
class Line:
    """A run of ours: `cells` of its table, `streamed_bytes` that went to the host, None where it did not say.

    `traced` is the time with a solution traced over the time without, of two runs otherwise alike; `parameters` are
    those that set the run apart from others of its problem.
    """

    run: Row
    cells: int
    method: str
    streamed_bytes: int | None
    traced: Estimate | None
    parameters: str

    @property
    def rate(self) -> float | None:
        """Cells per second of the median time, in 10^9; None where nothing was computed in cells."""
        seconds = self.run.running.median.value
        return self.cells / seconds / 1e9 if seconds > 0 and self.cells else None


@dataclass(frozen=True)
class ProblemTable:
    """Our runs of a problem; `published` says what the paper tested, `common` what all of ours share."""

    published: Mapping[str, Any]
    lines: tuple[Line, ...]
    common: Mapping[str, Any]


@dataclass(frozen=True)
class Profiled:
    """What a profiler counted of a kernel in one of our runs: least, average and most of its launches, by metric.

    A metric that no launch has, as the load efficiency of a kernel without global loads, is None.
    """

    problem: str
    run: Row
    kernel: str
    launches: int
    spreads: tuple[Spread | None, ...]


@dataclass(frozen=True)
class TooLarge:
    """An instance that the paper says it solved exactly, and the power of ten of bytes that its equation 6 stores."""

    instance: str
    cities: int
    power_of_ten: int


@dataclass(frozen=True)
class WavefrontReport:
    """Everything that the report prints.

    `bounds` has a text per published table and metric: what the paper says of it. `unconfirmed` are runs whose solution
    the scorer did not confirm.
    """

    published: Mapping[str, Any]
    problems: tuple[ProblemTable, ...]
    bounds: tuple[tuple[Mapping[str, Any], tuple[str, ...]], ...]
    profiles: tuple[Profiled, ...]
    too_large: tuple[TooLarge, ...]
    machines: Mapping[str, Mapping[str, Any]]
    unconfirmed: tuple[Record, ...]

    @property
    def runs(self) -> list[Row]:
        """All of ours that the report shows."""
        return [line.run for problem in self.problems for line in problem.lines]


def laid_out(published: Mapping[str, Any], runs: Sequence[Record], unconfirmed: tuple[Record, ...]) -> WavefrontReport:
    """Lay confirmed runs out by problem; see `reports.paper_tables.tables_report`."""
    for record in runs:
        if not isinstance(record.parameters.get("trace"), bool):
            raise RecordError(
                f"{record.label}: expected the parameter trace, true or false, found {record.parameters.get('trace')!r}"
            )
    comparisons = compare_works([_by_what_it_finds(record) for record in runs], LIKENESS)
    rows = [row for comparison in comparisons for row in comparison.rows]
    metrics = tuple(published["profile"]["metrics"])
    return WavefrontReport(
        published,
        tuple(_problem(table, _of(table, rows)) for table in published["tables"]),
        tuple(
            (table, tuple(_said(published, table["workload"], name) for name in metrics))
            for table in published["tables"]
        ),
        tuple(
            _profiled(table["workload"], row, kernel, metrics)
            for table in published["tables"]
            for row in _of(table, rows)
            for kernel in _recorded_profile(row)
        ),
        tuple(_too_large(**row) for row in published["instances"]["rows"]),
        comparisons[0].machines,
        unconfirmed,
    )


def _by_what_it_finds(record: Record) -> Record:
    """A run as comparisons take it: a method that may find another solution than others' is among the parameters."""
    found = {LINEAR_SPACE: True} if record.details.get("method") == LINEAR_SPACE else {}
    details = {"cells": record.evaluations, **record.details}
    return replace(record, parameters={**record.parameters, **found}, details=details)


def _of(table: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.record.workload == table["workload"]]


# --- our runs ---


def _problem(published: Mapping[str, Any], rows: Sequence[Row]) -> ProblemTable:
    common = shared([row.record for row in rows]) if rows else {}
    lines = [_line(row, rows, common) for row in rows]
    return ProblemTable(
        published,
        tuple(sorted(lines, key=lambda line: (line.cells, line.run.record.instance))),
        {name: value for name, value in common.items() if value is not None},
    )


def _line(row: Row, rows: Sequence[Row], common: Mapping[str, Any]) -> Line:
    details = row.record.details
    apart = {name: value for name, value in parameters(row.record).items() if name not in common and value is not None}
    return Line(
        row,
        details["cells"],
        _method(row.record),
        details.get("streamed_bytes"),
        _traced_over_not(row, rows),
        worded(apart),
    )


def _method(record: Record) -> str:
    """How a run found its result: what it calls its method, or whether it proved its tour."""
    method = record.details.get("method") or record.parameters.get("method")
    if method is None and isinstance(record.details.get("proved"), bool):
        return "exact" if record.details["proved"] else "restricted, optimal over its neighbourhood"
    return str(method or "")


def _traced_over_not(row: Row, rows: Sequence[Row]) -> Estimate | None:
    """The time of a traced run over that of the run which is like it in all but the trace; None without one."""
    if not row.record.parameters["trace"]:
        return None
    without = next((other for other in rows if _but_for_trace(other) == (False, _but_for_trace(row)[1])), None)
    if without is None or without.running.median.value == 0:
        return None
    return ratio_of_medians(*([sample.running_s for sample in one.record.samples] for one in (row, without)))


def _but_for_trace(row: Row) -> tuple[bool, str]:
    """Whether a run traced, and all that was asked of it besides where decisions are kept, and where it ran."""
    record = row.record
    asked = {name: value for name, value in parameters(record).items() if name not in KEPT}
    place = [record.instance_sha256, record.backend, record.device, record.ranks, row.machine]
    return record.parameters["trace"], json.dumps([*place, asked], sort_keys=True)


# --- the profiler ---


def _said(published: Mapping[str, Any], workload: str, metric: str) -> str:
    """What the paper says of a metric for a problem: its statistics with their bounds."""
    return ", ".join(
        f"{bound['statistic']} {bound['says']}"
        for bound in published["profile"]["bounds"]
        if bound["metric"] == metric and bound.get("workload", workload) == workload
    )


def _recorded_profile(row: Row) -> Sequence[Mapping[str, Any]]:
    """What `drivers.profile` recorded of a run, a kernel each; nothing without `--profile`."""
    found = (row.record.details.get("profile") or {}).get("kernels", ())
    if not isinstance(found, list | tuple) or not all(isinstance(one, dict) and "kernel" in one for one in found):
        raise RecordError(f"{row.record.label}: expected a list of kernels in details.profile, found {found!r}")
    return found


def _profiled(problem: str, row: Row, kernel: Mapping[str, Any], metrics: Sequence[str]) -> Profiled:
    spreads = tuple(kernel.get(metric) for metric in metrics)
    return Profiled(
        problem,
        row,
        str(kernel["kernel"]),
        int(kernel["launches"]),
        tuple(None if spread is None else (spread[0], spread[1], spread[2]) for spread in spreads),
    )


# --- what cannot be ---


def _too_large(instance: str, cities: int) -> TooLarge:
    """Equation 6 has (n - 1) 2^(n - 2) values for n cities."""
    power = math.log10((cities - 1) * STORED_BYTES) + (cities - 2) * math.log10(2)
    return TooLarge(instance, cities, math.floor(power))
