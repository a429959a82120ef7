"""Bar chart of the speed-ups with their confidence intervals, as SVG and PNG."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.comparison.cautions import marks
from reports.comparison.sections import ComparedSection
from reports.comparison.speedups import ComparedRun, ComparedRuns, is_baseline
from reports.plots import style
from reports.plots.style import LABEL, PAGE_WIDTH, TEXT, TITLE
from reports.records.schema import HASH_SCOPES
from reports.statistics.medians import Estimate
from reports.text.formatting import ratio, seconds

# Above this spread a linear axis would hide the small bars.
LOGARITHMIC_ABOVE = 20.0
# Of Okabe and Ito's colours, which readers who see colours differently tell apart, on white in dark pages too.
BASELINE, FASTER, SLOWER = "#999999", "#0072b2", "#e69f00"
NAME_WIDTH = 34


def speedups(section: ComparedSection, folder: Path, name: str = "speedup") -> list[Path]:
    """Draw the speed-up of each row over one core into a folder as SVG and PNG of that name.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where fewer than two rows have a speed-up, which are nothing
        to compare, or matplotlib is not installed.
    """
    rows = _with_speedup(section)
    library = style.pyplot() if len(rows) > 1 else None
    if library is None:
        return []
    figure, axes = library.subplots(figsize=_size(section), layout="constrained")
    draw_speedups(axes, section)
    written = style.save(figure, folder, name)
    library.close(figure)
    return written


def show_speedups(section: ComparedSection, axes: Any = None) -> Any:
    """Draw the same into axes, or into a figure of the user's own matplotlib, as notebooks show it.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    UserError
        matplotlib is not installed.

    """
    if axes is None:
        _, axes = style.user_pyplot().subplots(figsize=_size(section), layout="constrained")
    draw_speedups(axes, section)
    return axes


def draw_speedups(axes: Any, section: ComparedSection) -> None:
    """Draw a bar for each row that has a speed-up, and say below what all ran."""
    rows, names = _with_speedup(section), _names(section)
    _draw(axes, rows, names, [1 + text.count("\n") for text in names])
    work = section.comparison.work
    axes.set_title(
        f"{work.workload} on {work.instance}\n{work.proven}: hash {work.hash[:12]} of {HASH_SCOPES[work.hash_scope]}",
        fontsize=TITLE,
    )
    noted = "\nletters: see the notes below the table" if section.cautions else ""
    axes.set_xlabel(f"speed-up over one core, ratio of medians, 95 % CI{noted}", fontsize=LABEL)


def _with_speedup(section: ComparedSection) -> list[tuple[ComparedRun, Estimate]]:
    return [(row, row.speedup) for row in section.comparison.rows if row.speedup is not None]


def _names(section: ComparedSection) -> list[str]:
    return [_name(section.comparison, section, row) for row, _ in _with_speedup(section)]


def _size(section: ComparedSection) -> tuple[float, float]:
    """Width and height of a figure that has room for all names."""
    names = _names(section)
    return PAGE_WIDTH, 1.4 + 0.2 * sum(1 + text.count("\n") for text in names) + 0.15 * len(names)


def _draw(
    axes: Any, rows: Sequence[tuple[ComparedRun, Estimate]], names: Sequence[str], heights: Sequence[int]
) -> None:
    values = [ratio.value for _, ratio in rows]
    ends = [(ratio.low or ratio.value, ratio.high or ratio.value) for _, ratio in rows]
    reach = [
        [max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)],
        [max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)],
    ]
    logarithmic = max(values) / min(values) > LOGARITHMIC_ABOVE
    # A bar's length must mean something: on a logarithmic axis that is its distance from 1.
    start = 1.0 if logarithmic else 0.0
    colours = [
        BASELINE if is_baseline(row) and value == 1 else FASTER if value >= 1 else SLOWER
        for (row, _), value in zip(rows, values, strict=True)
    ]
    places = _places(heights)
    widths = [value - start for value in values]
    axes.barh(places, widths, left=start, height=0.7, xerr=reach, color=colours, capsize=3, ecolor="#333333")
    axes.set_yticks(places, names, fontsize=LABEL)
    axes.invert_yaxis()
    axes.axvline(1.0, color="black", linewidth=0.8)
    for place, (row, speedup), (_, high) in zip(places, rows, ends, strict=True):
        text = f" {ratio(speedup)} ({seconds(row.running.median.value)})"
        axes.annotate(text, (max(high, start), place), va="center", fontsize=TEXT)
    axes.margins(x=0.25)
    axes.tick_params(axis="x", labelsize=TEXT)
    if logarithmic:
        style.logarithmic(axes, "x")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _places(heights: Sequence[int]) -> list[float]:
    """Where bars stand whose names have so many lines each."""
    places, at = [], 0.0
    for lines in heights:
        room = 1 + 0.45 * (lines - 1)
        places.append(at + room / 2)
        at += room
    return places


def _name(comparison: ComparedRuns, section: ComparedSection, row: ComparedRun) -> str:
    """Name a bar, in lines that are short enough, with the marks of its notes."""
    label = comparison.label(row)
    noted = marks(section.cautions, label)
    return "\n".join(textwrap.wrap(label, NAME_WIDTH)) + (f"  [{noted}]" if noted else "")
