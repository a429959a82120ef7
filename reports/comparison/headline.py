"""The first sentence of a report: the fastest run, and its ratio to one core."""

from __future__ import annotations

from collections.abc import Sequence

from reports.comparison.cautions import ratio_doubts
from reports.comparison.speedups import ComparedRun, ComparedRuns, is_baseline, surely_above_one
from reports.records.files import Record
from reports.statistics.medians import Estimate
from reports.text.formatting import ratio, ratio_interval, seconds


def headline(comparison: ComparedRuns, nearby: Sequence[Record] = ()) -> str:
    """Return a sentence on the fastest run and its ratio to one core, with a warning if that ratio is doubtful."""
    sentence = _fastest(comparison)
    fastest = comparison.fastest
    ours = [*nearby, *(row.record for row in comparison.rows)]
    doubts = {} if fastest is None else ratio_doubts(fastest, ours)
    doubtful = "; ".join(f"{text}: {figure}" if figure else text for text, figure in doubts.items())
    return f"{sentence} Doubtful, {doubtful}." if doubtful else sentence


def _fastest(comparison: ComparedRuns) -> str:
    fastest = comparison.fastest
    if fastest is None:
        return "All runs are simulated, so no time is that of a device."
    time = seconds(fastest.median_s)
    if comparison.baseline is None:
        return f"The fastest is {comparison.label(fastest)} with {time}; there is no run on one core to compare with."
    if is_baseline(fastest):
        return _not_beaten(comparison, fastest)
    speedup = fastest.speedup
    if speedup is None or fastest.base is None or fastest.baseline_s is None:
        short = fastest.median_s == 0
        why = "too short for a ratio" if short else "and its algorithm did not run on one core: no ratio"
        return f"The fastest is {comparison.label(fastest)} with {time}, {why}."
    against = f"{time} against {seconds(fastest.baseline_s)}"
    if not surely_above_one(speedup, fastest, fastest.base):
        return (
            f"The fastest is {comparison.label(fastest)}, but not significantly faster than one core: "
            f"{ratio_interval(speedup)} as fast, {against}."
        )
    beaten = f"{comparison.label(fastest)} is {ratio(speedup)} as fast as one core: {against}."
    return beaten + _over_the_best(comparison, fastest, fastest.baseline_s)


def _not_beaten(comparison: ComparedRuns, fastest: ComparedRun) -> str:
    time = seconds(fastest.median_s)
    others = [row for row in comparison.rows if not is_baseline(row) and not row.record.details.get("simulated")]
    if not others:
        return f"Only one core ran: {comparison.label(fastest)} took {time}."
    second = min(others, key=lambda row: row.median_s)
    slower = fastest.median_s / second.median_s
    return (
        f"None beats one core: {comparison.label(fastest)} is the fastest with {time}. The next is "
        f"{comparison.label(second)} with {seconds(second.median_s)}, {ratio(slower)} as fast."
    )


def _over_the_best(comparison: ComparedRuns, fastest: ComparedRun, baseline_s: float) -> str:
    """Compare the fastest run with the fastest run of one core, if its baseline is another."""
    best = min((row for row in comparison.rows if is_baseline(row)), key=lambda row: row.median_s)
    if best.median_s == baseline_s:
        return ""
    over = Estimate(best.median_s / fastest.median_s)
    return (
        f" The fastest run on one core is {comparison.label(best)} with {seconds(best.median_s)}, and over "
        f"that it is {ratio(over)}."
    )
