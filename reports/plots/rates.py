"""Picture of a comparison: a bar for each configuration's rate, with its 95 % interval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reports.plots import style
from reports.rates import ALL_CORES, ONE_CORE, RateSection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    ONE_CORE: style.COLOURS[4],
    ALL_CORES: style.COLOURS[0],
    "some cores": style.COLOURS[3],
    "ranks": style.COLOURS[2],
    "GPU": style.COLOURS[1],
}
"""Colour of each kind of configuration, which the picture explains; grey is that of published figures."""


def draw_rates(section: RateSection, folder: Path, name: str) -> list[Path]:
    """Draw the rates of a section as SVG; return the file, none for a single rate or without matplotlib."""
    if len(section.rates) < 2:
        return []
    return style.draw(lambda _, every: fill_axes(every[0, 0], section), folder / name, _height(section))


def show_rates(section: RateSection, axes: Axes | None = None) -> Axes:
    """Draw the same into axes, or into a figure of the user's own matplotlib for notebooks.

    Raises `UserError` if matplotlib is not installed.
    """
    if axes is None:
        _, axes = style.user_pyplot().subplots(figsize=(style.WIDTH, _height(section)), layout="constrained")
    fill_axes(axes, section)
    return axes


def fill_axes(axes: Axes, section: RateSection) -> None:
    from matplotlib.patches import Patch

    rates = section.rates
    values = rates["rate"].tolist()
    ends = rates[["low", "high"]].astype(float)
    below = (rates["rate"] - ends["low"]).fillna(0.0).tolist()
    above = (ends["high"] - rates["rate"]).fillna(0.0).tolist()
    logarithmic = style.is_wide(values)
    places = range(len(rates))
    start = min(values) / 2 if logarithmic else 0.0
    axes.barh(
        places,
        [value - start for value in values],
        left=start,
        height=0.7,
        xerr=[below, above],
        color=[COLOURS[kind] for kind in rates["kind"]],
        capsize=3,
        ecolor="#333333",
    )
    axes.set_yticks(places, [*map(str, rates.index)], fontsize=style.LABEL)
    axes.invert_yaxis()
    axes.tick_params(axis="x", labelsize=style.TEXT)
    if logarithmic:
        style.logarithmic(axes, "x")
    style.dress(axes, "x")
    work = section.proof
    axes.set_title(work.work_name, fontsize=style.TITLE)
    axes.set_xlabel(f"{work.work_unit} per second, median and 95 % interval", fontsize=style.LABEL)
    kinds = [kind for kind in COLOURS if (rates["kind"] == kind).any()]
    keys = [Patch(color=COLOURS[kind], label=kind) for kind in kinds]
    axes.legend(handles=keys, fontsize=style.TEXT, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _height(section: RateSection) -> float:
    return 1.2 + 0.32 * len(section.rates)
