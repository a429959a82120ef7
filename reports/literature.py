"""Published figures, kept as data in `reports/published/*.toml`, beside ours in the papers' own layout."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.comparison import Comparison, Row
from reports.records import Record

FOLDER = Path(__file__).parent / "published"


@dataclass(frozen=True)
class TimingRow:
    """A line of the side-by-side table: a published figure, ours of the same kind of machine, or both.

    `published_ms` is printed in the paper; `published_speedup` and `published_rate` (10^9 moves/s) follow
    from it.
    """

    label: str
    published_ms: float | None
    published_speedup: float | None
    published_rate: float | None
    ours: Row | None


@dataclass(frozen=True)
class QualityRow:
    """A published best tour, and ours when it comes from the same instance, start tours and number of climbers.

    `best_index` is None where no climber's number is known.
    """

    instance: str
    climbers: int
    best_cost: int
    best_index: int | None
    ours: Record | None


def publication(workload: str, part: str = "timing") -> Mapping[str, Any] | None:
    """Read the published figures for a workload, as its TOML file has them; None without one.

    Parameters
    ----------
    workload : str
    part : str
        What the file must hold: `timing` (a figure of run times over one work), or `tables` (see
        `reports.paper_tables`).
    """
    for path in sorted(FOLDER.glob("*.toml")):
        with path.open("rb") as file:
            content = tomllib.load(file)
        if part in content and workload in _workloads(content):
            return content
    return None


def _workloads(content: Mapping[str, Any]) -> Sequence[str]:
    """Name the workloads that a publication measured: its file has one name or a list."""
    named = content["workload"]
    return [named] if isinstance(named, str) else named


def timing_rows(published: Mapping[str, Any], comparison: Comparison) -> list[TimingRow]:
    """Lay out the paper's figure line by line, ours beside it; ours without a counterpart come last."""
    work = published["work"]
    moves = work["climbers"] * work["steps_per_climber"] * work["moves_per_step"]
    sequential = next(row["median_ms"] for row in published["timing"]["rows"] if row["kind"] == "sequential")
    lines: list[TimingRow] = []
    placed: list[Row] = []
    for row in published["timing"]["rows"]:
        figures = (row["median_ms"], sequential / row["median_ms"], moves / (row["median_ms"] * 1e-3) / 1e9)
        ours = [mine for mine in comparison.rows if _kind(mine) == (row["kind"], row["count"])]
        placed += ours
        lines.append(TimingRow(row["label"], *figures, ours[0] if ours else None))
        lines += [TimingRow("", None, None, None, mine) for mine in ours[1:]]
    return lines + [TimingRow("", None, None, None, mine) for mine in comparison.rows if mine not in placed]


def quality_rows(published: Mapping[str, Any], work: Record) -> Sequence[QualityRow]:
    """List the published best tours, with ours where instance, start tours and number of climbers are the same."""
    return [
        QualityRow(
            **({"best_index": None} | row),
            ours=work if _same_work(published, row["instance"], row["climbers"], work) else None,
        )
        for row in published["quality"]["rows"]
    ]


def same_work(published: Mapping[str, Any], work: Record) -> bool:
    """Tell whether ours made the published climbs, so that times compare directly."""
    return _same_work(published, published["work"]["instance"], published["work"]["climbers"], work)


def _same_work(published: Mapping[str, Any], instance: str, climbers: int, work: Record) -> bool:
    asked, start = work.parameters, published["work"]["start"]
    return work.instance == instance and asked.get("climbers") == climbers and asked.get("start", start) == start


def _kind(row: Row) -> tuple[str, int]:
    """Which kind of machine a row stands for: one core, so many cores, or so many GPUs."""
    record = row.record
    if record.device_kind == "gpu":
        return "gpu", record.ranks
    if record.device_kind == "core":
        return ("sequential", 1) if record.ranks == 1 else ("cores", record.ranks)
    # Every rank has all cores of its host, however many ranks share them.
    hosts = min(record.ranks, record.environment.get("hosts") or 1)
    return "cores", (record.environment.get("cores") or 1) * hosts
