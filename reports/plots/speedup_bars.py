"""Bar chart of the speed-ups with their confidence intervals, as SVG and PNG."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from reports.comparison.cautions import marks
from reports.comparison.sections import ComparedSection
from reports.comparison.speedups import ComparedRun, is_baseline
from reports.plots import style
from reports.records.schema import HASH_SCOPES
from reports.statistics.medians import Estimate
from reports.text.formatting import ratio, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINE, FASTER, SLOWER = style.COLOURS[7], style.COLOURS[0], style.COLOURS[5]
NAME_WIDTH = 24


def speedups(section: ComparedSection, folder: Path, name: str = "speedup") -> list[Path]:
    """Draw the speed-up of each row over one core; return the SVG and PNG.

    No files for fewer than two rows with a speed-up, or without matplotlib.
    """
    if len(_with_speedup(section)) < 2:
        return []
    return style.draw(lambda _, every: draw_speedups(every[0, 0], section), folder / name, _height(section))


def show_speedups(section: ComparedSection, axes: Axes | None = None) -> Axes:
    """Draw the same into axes, or into a figure of the user's own matplotlib for notebooks.

    Raises `UserError` if matplotlib is not installed.
    """
    if axes is None:
        size = style.WIDTH, _height(section)
        _, axes = style.user_pyplot().subplots(figsize=size, layout="constrained")
    draw_speedups(axes, section)
    return axes


def draw_speedups(axes: Axes, section: ComparedSection) -> None:
    """Draw a bar for each row with a speed-up, with the common work below."""
    rows = _with_speedup(section)
    values = [found.value for _, found in rows]
    # On a logarithmic axis a bar's length is its distance from 1.
    logarithmic = style.is_wide(values)
    start = 1.0 if logarithmic else 0.0
    names = _bar_names(section)
    places, at = [], 0.0
    for height in map(_relative_height, names):
        places.append(at + height / 2)
        at += height
    axes.barh(
        places,
        [value - start for value in values],
        left=start,
        height=0.7,
        xerr=style.error_bars([found for _, found in rows]),
        color=[
            BASELINE if is_baseline(row) and found.value == 1 else FASTER if found.value >= 1 else SLOWER
            for row, found in rows
        ],
        capsize=3,
        ecolor="#333333",
    )
    axes.set_yticks(places, names, fontsize=style.LABEL)
    axes.invert_yaxis()
    axes.axvline(1.0, color="black", linewidth=0.8)
    for place, (row, speedup) in zip(places, rows, strict=True):
        text = f" {ratio(speedup)} ({seconds(row.median_s)})"
        axes.annotate(text, (max(speedup.high or speedup.value, start), place), va="center", fontsize=style.TEXT)
    axes.margins(x=0.4)
    axes.tick_params(axis="x", labelsize=style.TEXT)
    if logarithmic:
        style.logarithmic(axes, "x")
    axes.spines[["top", "right"]].set_visible(False)
    work = section.comparison.work
    axes.set_title(
        f"{work.work_name}\n{work.proven}: hash {work.hash[:12]} of {HASH_SCOPES[work.hash_scope]}",
        fontsize=style.TITLE,
    )
    noted = "\nletters: see the notes below the table" if section.cautions else ""
    axes.set_xlabel(f"speed-up over one core, ratio of medians, 95 % CI{noted}", fontsize=style.LABEL)


def _with_speedup(section: ComparedSection) -> list[tuple[ComparedRun, Estimate]]:
    return [(row, row.speedup) for row in section.comparison.rows if row.speedup is not None]


def _bar_names(section: ComparedSection) -> list[str]:
    """Name the bars, in short lines, with the marks of their notes."""
    names = []
    for row, _ in _with_speedup(section):
        label = section.comparison.label(row)
        noted = marks(section.cautions, label)
        names.append("\n".join(textwrap.wrap(label, NAME_WIDTH)) + (f"  [{noted}]" if noted else ""))
    return names


def _relative_height(name: str) -> float:
    """Height of a bar with a name of several lines, in bars of one line."""
    return 1 + 0.45 * name.count("\n")


def _height(section: ComparedSection) -> float:
    return 1.4 + 0.36 * sum(map(_relative_height, _bar_names(section)))
