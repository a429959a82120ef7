"""The tables of a comparison, none wider than a page: what a reader needs, and all other figures in an appendix."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reports.comparison.cautions import condition, marks
from reports.comparison.sections import ComparedSection
from reports.comparison.speedups import ComparedRun, ComparedRuns, is_baseline
from reports.papers.exhibits import PaperEvidence, fill_exhibit
from reports.papers.files import papers_of_workload
from reports.papers.paper import PROCESSORS, Paper
from reports.papers.tables import AnnotatedTable, make_table
from reports.records.files import Record
from reports.records.meters import ENERGY_SOURCES
from reports.statistics import target_tables
from reports.text.formatting import (
    cost,
    gap,
    grouped,
    number,
    per_cent,
    rate,
    ratio_interval,
    seconds,
    seconds_interval,
    size,
    time_deviation,
)
from reports.text.tables import TextTable


def tables(one: ComparedSection) -> dict[str, TextTable]:
    """Return the tables of a section by name, in the order of the report.

    `results`, `times` and `conditions` are always there; `mixed`, `strong` and `weak` (each with a number), `targets`,
    `peers`, `seeds` and `published PAPER` where they have rows.
    """
    comparison = one.comparison
    found = {"results": results(one)}
    found |= {f"mixed {number}": mixed.table(one.cautions) for number, mixed in enumerate(one.mixed, 1)}
    for kind, curves in (("strong", one.strong), ("weak", one.weak)):
        found |= {f"{kind} {number}": curve.table() for number, curve in enumerate(curves, 1)}
    if one.to_targets:
        found["targets"] = targets_table(one)
    if one.beside:
        found["peers"] = one.beside.table()
    for paper, marked in published(comparison):
        found[f"published {paper.name}"] = marked.table
    found |= {"times": times(comparison), "conditions": conditions(comparison)}
    if one.quality:
        found["seeds"] = seeds(one)
    return found


def overview(sections: Sequence[ComparedSection]) -> TextTable:
    """A row for each instance: what was the fastest, and what was found."""
    headings = ("instance", "fastest", ">time", ">speed-up over one core", ">best cost", "gap")
    rows = []
    for one in sections:
        work, fastest = one.comparison.work, one.comparison.fastest
        rows.append(
            [
                work.instance,
                one.comparison.label(fastest) if fastest else "all simulated",
                seconds(fastest.running.median.value) if fastest else "",
                _over_one_core(fastest),
                cost(work.best_cost),
                gap(work.best_cost, work.details.get("optimum")),
            ]
        )
    return TextTable(f"{sections[0].comparison.work.workload}: all instances", headings, rows)


def _over_one_core(fastest: ComparedRun | None) -> str:
    if fastest is None or fastest.speedup is None:
        return "not known"
    return "none beats one core" if is_baseline(fastest) else ratio_interval(fastest.speedup)


def results(one: ComparedSection) -> TextTable:
    """A row per configuration: time, speed-up, rate, and what was measured besides; marks of cautions last."""
    comparison = one.comparison
    unit = comparison.work.evaluation_unit
    columns: dict[str, list[str]] = {
        "run": [comparison.label(row) for row in comparison.rows],
        "device": [row.device_name for row in comparison.rows],
        ">time, median [95 % CI]": [seconds_interval(row.running.median) for row in comparison.rows],
        ">speed-up over one core [95 % CI]": [_speedup(row) for row in comparison.rows],
        f">{unit}/s": [per_second(row) for row in comparison.rows],
        ">in communication": [_communication(row.record) for row in comparison.rows],
        ">energy, median": [_energy(row.record) for row in comparison.rows],
        "notes": [marks(one.cautions, comparison.label(row)) for row in comparison.rows],
    }
    caption = f"{comparison.work.workload} on {comparison.work.instance}"
    shown = _table_of(caption, columns, (">in communication", ">energy, median"))
    return replace(shown, notes=[f"Not run: {missing}" for missing in comparison.not_run])


def per_second(row: ComparedRun) -> str:
    """Word a row's rate with its prefix; empty where the workload counts nothing."""
    return rate(None if row.rate is None else 1e9 * row.rate)


def _table_of(caption: str, columns: Mapping[str, Sequence[str]], if_any: Sequence[str] = ()) -> TextTable:
    """Make a table of columns, without those that stand there only if they have anything to show."""
    shown = {heading: cells for heading, cells in columns.items() if heading not in if_any or any(cells)}
    return TextTable(caption, tuple(shown), [list(row) for row in zip(*shown.values(), strict=True)])


def _speedup(row: ComparedRun) -> str:
    if row.speedup is None or row.baseline_s is None:
        return "none"
    return f"{ratio_interval(row.speedup)} over {seconds(row.baseline_s)}"


def _communication(record: Record) -> str:
    return "" if record.communication_share is None else per_cent(record.communication_share)


def _energy(record: Record) -> str:
    """Word joules of a repetition by source; only of the repetitions that have them."""
    drawn: dict[str, list[float]] = {}
    for repetition in record.repetitions:
        for source, joules in (repetition.energy_j or {}).items():
            drawn.setdefault(source, []).append(joules)
    return "; ".join(
        f"{number(statistics.median(joules))} J, {ENERGY_SOURCES.get(source, source)}"
        for source, joules in sorted(drawn.items())
    )


def targets_table(one: ComparedSection) -> TextTable:
    """How fast each row reached targets, over its seeds."""
    assert one.to_targets is not None
    targets, families = one.to_targets
    caption = f"{_table_title(one.comparison)}: expected running time to targets"
    return target_tables.make_target_table(caption, families, targets, one.comparison.work.evaluation_unit)


# --- the appendix ---


def times(comparison: ComparedRuns) -> TextTable:
    """All times of every configuration."""
    rows = comparison.rows
    columns = {
        "run": [comparison.label(row) for row in rows],
        ">repetitions": [str(row.running.repetitions) for row in rows],
        ">compile": [seconds(row.compile_s) for row in rows],
        ">transfer": [seconds(row.transfer.median.value) for row in rows],
        ">kernel": [seconds(row.kernel.median.value) for row in rows],
        ">mean ± standard deviation": [time_deviation(row.running) for row in rows],
        ">shortest": [seconds(row.running.minimum) for row in rows],
        ">longest": [seconds(row.running.maximum) for row in rows],
    }
    return _table_of(f"{_table_title(comparison)}: all times", columns)


def conditions(comparison: ComparedRuns) -> TextTable:
    """What was evaluated, the rate of kernels alone, and what the machine was like."""
    rows, unit = comparison.rows, comparison.work.evaluation_unit
    columns = {
        "run": [comparison.label(row) for row in rows],
        "device": [row.record.device for row in rows],
        f">{unit}": [grouped(row.record.evaluations) if row.record.evaluations else "" for row in rows],
        f">{unit}/s in the kernel": [rate(None if row.kernel_rate is None else 1e9 * row.kernel_rate) for row in rows],
        ">load before": [number(condition(row.record, "load_1min")) for row in rows],
        ">MHz": [number(condition(row.record, "gpu_mhz") or condition(row.record, "cpu_mhz_mean")) for row in rows],
        ">bytes moved": [_moved(row.record) for row in rows],
        "started": [_started(row.record) for row in rows],
    }
    unread = (">load before", ">MHz", ">bytes moved", "started")
    return _table_of(f"{_table_title(comparison)}: work and conditions", columns, unread)


def _table_title(comparison: ComparedRuns) -> str:
    return f"{comparison.work.workload} on {comparison.work.instance}"


def _moved(record: Record) -> str:
    counts = [sum(repetition.bytes_moved.values()) for repetition in record.repetitions if repetition.bytes_moved]
    return size(round(statistics.median(counts))) if counts else ""


def _started(record: Record) -> str:
    dates = [repetition.started_at for repetition in record.repetitions if repetition.started_at]
    return min(dates).replace("T", " ").replace("Z", " UTC") if dates else ""


def seeds(one: ComparedSection) -> TextTable:
    """A row per seed, with the median times of the fastest run and of one core."""
    comparison, quality = one.comparison, one.quality
    assert quality is not None
    columns: dict[str, list[str]] = {
        ">seed": [str(run.seed) for run in quality.runs],
        ">best cost": [cost(run.best_cost) for run in quality.runs],
        "gap": [gap(run.best_cost, quality.optimum) for run in quality.runs],
        ">by index": [str(run.best_index) for run in quality.runs],
        "hash": [run.hash for run in quality.runs],
    }
    for row in comparison.rows:
        if row not in (comparison.fastest, comparison.baseline):
            continue
        medians = {
            run.seed: seconds(statistics.median(run.running_seconds))
            for run in one.families.get(row.record.identity, ())
        }
        columns[f">time on {comparison.label(row)}"] = [medians.get(run.seed, "") for run in quality.runs]
    return _table_of(f"{_table_title(comparison)}: a row per seed", columns, ("gap",))


# --- papers ---


def published(comparison: ComparedRuns) -> Iterator[tuple[Paper, AnnotatedTable]]:
    """Yield the papers' tables whose rows are numbers of processors, ours beside them; one work fills no other's."""
    for paper in papers_of_workload(comparison.work.workload):
        for exhibit in paper.exhibits:
            if exhibit.row_by == PROCESSORS:
                filled = fill_exhibit(exhibit, PaperEvidence((comparison,), ()), paper.machines)
                marked = make_table(filled) if filled.ours else None
                if marked:
                    yield paper, marked
