"""The tables of a comparison as data: the same rows become Markdown, by the template, and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reports import literature
from reports.comparison import Comparison, Row
from reports.parameters import worded
from reports.wording import cell, grouped, number, ratio, ratio_interval, seconds, seconds_interval


@dataclass(frozen=True)
class Table:
    """A table in words.

    Attributes
    ----------
    caption : str
        What it shows, a sentence without its full stop.
    headings : tuple of str
        Of the columns. One that begins with ``>`` is of a column of numbers, which stand at the right; the sign is no
        part of the heading.
    rows : list of list of str
        As many cells in each as there are headings.
    """

    caption: str
    headings: tuple[str, ...]
    rows: list[list[str]]

    @property
    def titles(self) -> list[str]:
        """Headings without the sign of their side."""
        return [heading.removeprefix(">") for heading in self.headings]

    @property
    def right(self) -> list[bool]:
        """Which columns stand at the right."""
        return [heading.startswith(">") for heading in self.headings]

    def __str__(self) -> str:
        """The table in Markdown, without a line end behind the last row."""
        sides = ["--:" if right else "---" for right in self.right]
        lines = [f"| {' | '.join(self.titles)} |", f"|{'|'.join(sides)}|"]
        return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in self.rows)])


def tables(comparison: Comparison) -> dict[str, Table]:
    """Return the tables of a report by name: `results`, and `not_run`, `timing`, `quality` where they have rows."""
    found = {"results": results(comparison)}
    if comparison.not_run:
        found["not_run"] = not_run(comparison)
    published = literature.publication(comparison.work.workload)
    if published:
        found["timing"] = timing(published, comparison)
        found["quality"] = quality(published, comparison)
    return found


def results(comparison: Comparison) -> Table:
    """A row per configuration, with all times, rates and the speed-up."""
    headings = (
        "backend",
        "device",
        ">ranks",
        "ways",
        ">repetitions",
        ">compile",
        ">transfer",
        ">kernel",
        ">total without compile, median [95 % CI]",
        ">min to max",
        f">G {comparison.work.unit}/s",
        ">in the kernel",
        ">speed-up [95 % CI] over one core",
        "notes",
    )
    caption = f"{comparison.work.workload} on {comparison.work.instance}"
    return Table(caption, headings, [_result(row, comparison) for row in comparison.rows])


def _result(row: Row, comparison: Comparison) -> list[str]:
    machine = [f"machine {row.machine}"] if len(comparison.machines) > 1 else []
    speedup = "none"
    if row.speedup is not None and row.baseline_s is not None:
        speedup = f"{ratio_interval(row.speedup)} over {seconds(row.baseline_s)}"
    return [
        row.record.backend,
        f"{row.record.device}: {row.device_name}",
        str(row.record.ranks),
        worded(comparison.ways_apart(row.record)),
        str(row.running.repetitions),
        seconds(row.compile_s),
        seconds(row.transfer.median.value),
        seconds(row.kernel.median.value),
        seconds_interval(row.running.median),
        f"{seconds(row.running.minimum)} to {seconds(row.running.maximum)}",
        number(row.rate),
        number(row.kernel_rate),
        speedup,
        "; ".join([*machine, *row.labels]),
    ]


def not_run(comparison: Comparison) -> Table:
    """What has no row, and why."""
    rows = [[one.backend, one.device, str(one.ranks), one.reason] for one in comparison.not_run]
    return Table("Not run", ("backend", "device", ">ranks", "why"), rows)


def timing(published: Mapping[str, Any], comparison: Comparison) -> Table:
    """A paper's figure of run times, ours beside it."""
    headings = ("published", ">median, ms", ">speed-up", f">G {comparison.work.unit}/s")
    rows = []
    for line in literature.timing_rows(published, comparison):
        theirs = [
            line.label,
            grouped(line.published_ms),
            ratio(line.published_speedup),
            number(line.published_rate),
        ]
        rows.append([*theirs, *_our_timing(line.ours, comparison)])
    return Table(published["timing"]["title"], (*headings, "ours", "device", *headings[1:]), rows)


def _our_timing(ours: Row | None, comparison: Comparison) -> list[str]:
    if ours is None:
        return [""] * 5
    apart = worded(comparison.ways_apart(ours.record))
    return [
        f"{ours.name} ({apart})" if apart else ours.name,
        ours.device_name,
        number(ours.running.median.value * 1000),
        ratio(ours.speedup),
        number(ours.rate),
    ]


def quality(published: Mapping[str, Any], comparison: Comparison) -> Table:
    """A paper's best tours, ours beside them where the work was the same."""
    rows = [
        [
            row.instance,
            grouped(row.climbers),
            str(row.best_cost),
            "" if row.best_index is None else str(row.best_index),
            str(row.ours.best_cost) if row.ours else "not run",
            str(row.ours.best_index) if row.ours else "",
        ]
        for row in literature.quality_rows(published, comparison.work)
    ]
    headings = ("instance", ">climbers", ">the paper's best", ">by climber", ">ours", ">by climber")
    return Table(f"{published['quality']['title']}: {published['quality']['source']}", headings, rows)
