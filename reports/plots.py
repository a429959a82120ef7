"""Bar chart of the speed-ups with their confidence intervals, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.comparison import Comparison, Row, is_baseline
from reports.parameters import worded
from reports.schema import HASH_COVERS
from reports.statistics import Estimate

FORMATS = ("svg", "png")
# Above this spread a linear axis would hide the small bars.
LOGARITHMIC_ABOVE = 20.0
BASELINE, PLAIN, NOTED = "#9a9a9a", "#2a6f97", "#c9a227"


def speedups(comparison: Comparison, folder: Path, name: str = "speedup") -> list[Path]:
    """Draw the speed-up of each row over one core into a folder as SVG and PNG of that name.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where no row has a speed-up or matplotlib is not installed.
    """
    rows = [(row, row.speedup) for row in comparison.rows if row.speedup is not None]
    if not rows:
        return []
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    # Equal reports must give equal files: no date, no random ids, text as text.
    matplotlib.rcParams.update({"svg.hashsalt": "onekernel", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.45 * len(rows)), layout="constrained")
    _draw(axes, rows, _names(comparison, [row for row, _ in rows]))
    work = comparison.work
    work_done = f"{work.proven}: hash {work.trajectory_hash[:12]} of {HASH_COVERS[work.hash_covers]}"
    axes.set_title(f"{work.workload} on {work.instance}, {work_done}", fontsize=10)
    written = []
    for form in FORMATS:
        path = folder / f"{name}.{form}"
        figure.savefig(path, dpi=150, metadata={"Date": None} if form == "svg" else {"Software": None})
        written.append(path)
    pyplot.close(figure)
    return written


def _draw(axes: Any, rows: Sequence[tuple[Row, Estimate]], names: Sequence[str]) -> None:
    values = [ratio.value for _, ratio in rows]
    ends = [(ratio.low or ratio.value, ratio.high or ratio.value) for _, ratio in rows]
    reach = [
        [max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)],
        [max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)],
    ]
    logarithmic = max(values) / min(values) > LOGARITHMIC_ABOVE
    # A bar's length must mean something: on a logarithmic axis that is its distance from 1.
    start = 1.0 if logarithmic else 0.0
    colours = [NOTED if row.labels else BASELINE if is_baseline(row) else PLAIN for row, _ in rows]
    widths = [value - start for value in values]
    axes.barh(range(len(rows)), widths, left=start, xerr=reach, color=colours, capsize=3)
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1.0, color="black", linewidth=0.8)
    for position, ((row, ratio), (_, high)) in enumerate(zip(rows, ends, strict=True)):
        text = f" {ratio.value:.3g}x ({row.running.median.value:.3g} s)"
        axes.annotate(text, (high, position), va="center", fontsize=8)
    axes.margins(x=0.25)
    note = ";  * see the notes in the table" if any(row.labels for row, _ in rows) else ""
    axes.set_xlabel(f"speed-up over one core, ratio of medians, 95 % CI{note}", fontsize=8)


def _names(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    """Names of bars: with its ways where another row has the same name, and a star where the table has notes."""
    plain = [row.name for row in rows]
    return [
        name
        + (f"\n{worded(comparison.ways_apart(row.record))}" if plain.count(name) > 1 else "")
        + "*" * bool(row.labels)
        for name, row in zip(plain, rows, strict=True)
    ]
