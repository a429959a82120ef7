"""The tables of a comparison, none wider than a page: essential figures first, all others in an appendix."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from reports.comparison.cautions import condition, marks
from reports.comparison.sections import ComparedSection
from reports.comparison.speedups import ComparedRun, ComparedRuns, is_baseline
from reports.records.files import Record
from reports.records.meters import ENERGY_SOURCES
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


def tables(section: ComparedSection) -> dict[str, TextTable]:
    """Return the tables of a section by name, in the order of the report.

    `results`, `times` and `conditions` always exist; `mixed`, `strong` and `weak` (each with a number), `peers` and
    `seeds` if they have rows.
    """
    comparison = section.comparison
    named = {"results": results(section)}
    named |= {f"mixed {number}": mixed.table(section.cautions) for number, mixed in enumerate(section.mixed, 1)}
    for kind, curves in (("strong", section.strong), ("weak", section.weak)):
        named |= {f"{kind} {number}": curve.table() for number, curve in enumerate(curves, 1)}
    if section.solvers:
        named["peers"] = section.solvers.table()
    named |= {"times": times(comparison), "conditions": conditions(comparison)}
    if section.quality:
        named["seeds"] = seeds(section)
    return named


def overview(sections: Sequence[ComparedSection]) -> TextTable:
    """Return a row for each instance: the fastest run, and its result."""

    def over_one_core(fastest: ComparedRun | None) -> str:
        if fastest is None or fastest.speedup is None:
            return "not known"
        return "none beats one core" if is_baseline(fastest) else ratio_interval(fastest.speedup)

    columns: dict[str, Callable[[ComparedRuns], str]] = {
        "instance": lambda one: one.work.instance,
        "fastest": lambda one: one.label(one.fastest) if one.fastest else "all simulated",
        ">time": lambda one: seconds(one.fastest.median_s if one.fastest else None),
        ">speed-up over one core": lambda one: over_one_core(one.fastest),
        ">best cost": lambda one: cost(one.work.best_cost),
        "gap": lambda one: gap(one.work.best_cost, one.work.details.get("optimum")),
    }
    caption = f"{sections[0].comparison.work.workload}: all instances"
    return TextTable.of(caption, [section.comparison for section in sections], columns)


def results(section: ComparedSection) -> TextTable:
    """Return a row per configuration: time, speed-up, rate, and further measurements; marks of cautions last."""
    comparison = section.comparison
    columns: dict[str, Callable[[ComparedRun], str]] = {
        "run": comparison.label,
        "device": lambda row: row.device_name,
        ">time, median [95 % CI]": lambda row: seconds_interval(row.running.median),
        ">speed-up over one core [95 % CI]": _speedup,
        f">{comparison.work.evaluation_unit}/s": lambda row: rate(row.rate),
        ">in communication": lambda row: per_cent(row.record.communication_share),
        ">energy, median": lambda row: _energy(row.record),
        "notes": lambda row: marks(section.cautions, comparison.label(row)),
    }
    optional = (">in communication", ">energy, median")
    return TextTable.of(comparison.work.work_name, comparison.rows, columns, optional)


def _speedup(row: ComparedRun) -> str:
    if row.speedup is None or row.baseline_s is None:
        return "none"
    return f"{ratio_interval(row.speedup)} over {seconds(row.baseline_s)}"


def _energy(record: Record) -> str:
    """Return the joules of a repetition by source as text, from the repetitions that have them."""
    drawn: dict[str, list[float]] = {}
    for repetition in record.repetitions:
        for source, joules in (repetition.energy_j or {}).items():
            drawn.setdefault(source, []).append(joules)
    return "; ".join(
        f"{number(statistics.median(joules))} J, {ENERGY_SOURCES.get(source, source)}"
        for source, joules in sorted(drawn.items())
    )


# --- the appendix ---


def times(comparison: ComparedRuns) -> TextTable:
    columns: dict[str, Callable[[ComparedRun], object]] = {
        "run": comparison.label,
        ">repetitions": lambda row: row.running.repetitions,
        ">compile": lambda row: seconds(row.compile_s),
        ">transfer": lambda row: seconds(row.transfer.median.value),
        ">kernel": lambda row: seconds(row.kernel.median.value),
        ">mean ± standard deviation": lambda row: time_deviation(row.running),
        ">shortest": lambda row: seconds(row.running.minimum),
        ">longest": lambda row: seconds(row.running.maximum),
    }
    return TextTable.of(f"{comparison.work.work_name}: all times", comparison.rows, columns)


def conditions(comparison: ComparedRuns) -> TextTable:
    """Return the number of evaluations, the rate of kernels alone, and the machine's conditions."""
    unit = comparison.work.evaluation_unit
    columns: dict[str, Callable[[ComparedRun], str]] = {
        "run": comparison.label,
        "device": lambda row: row.record.device,
        f">{unit}": lambda row: grouped(row.record.evaluations or None),
        f">{unit}/s in the kernel": lambda row: rate(row.kernel_rate),
        ">load before": lambda row: number(condition(row.record, "load_1min")),
        ">MHz": lambda row: number(condition(row.record, "gpu_mhz") or condition(row.record, "cpu_mhz_mean")),
        ">bytes moved": lambda row: _moved(row.record),
        "started": lambda row: _started(row.record),
    }
    unread = (">load before", ">MHz", ">bytes moved", "started")
    return TextTable.of(f"{comparison.work.work_name}: work and conditions", comparison.rows, columns, unread)


def _moved(record: Record) -> str:
    counts = [sum(repetition.bytes_moved.values()) for repetition in record.repetitions if repetition.bytes_moved]
    return size(round(statistics.median(counts))) if counts else ""


def _started(record: Record) -> str:
    dates = [repetition.started_at for repetition in record.repetitions if repetition.started_at]
    return min(dates).replace("T", " ").replace("Z", " UTC") if dates else ""


def seeds(section: ComparedSection) -> TextTable:
    """Return a row per seed, with the median times of the fastest run and of one core."""
    comparison, quality = section.comparison, section.quality
    assert quality is not None

    def median_of(row: ComparedRun) -> Callable[[Record], str]:
        runs = {run.seed: run for run in section.families.get(row.record.identity, ())}
        return lambda run: seconds(statistics.median(runs[run.seed].running_seconds) if run.seed in runs else None)

    columns: dict[str, Callable[[Record], object]] = {
        ">seed": lambda run: run.seed,
        ">best cost": lambda run: cost(run.best_cost),
        "gap": lambda run: gap(run.best_cost, quality.optimum),
        ">by index": lambda run: run.best_index,
        "hash": lambda run: run.hash,
    }
    for row in comparison.rows:
        if row in (comparison.fastest, comparison.baseline):
            columns[f">time on {comparison.label(row)}"] = median_of(row)
    return TextTable.of(f"{comparison.work.work_name}: a row per seed", quality.runs, columns, ("gap",))
