"""An exhibit as a picture: published and our figures in the same plot, as SVG and PNG.

Readable on light and dark pages (drawn on white) and for readers who see colours differently: Okabe and Ito's colours,
and markers or hatches that differ too. Published figures are hollow and dashed, ours filled.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.exhibit_tables import caption
from reports.exhibits import Shown
from reports.measures import MEASURES
from reports.paper import Exhibit, Plot
from reports.plots import FORMATS, pyplot, save
from reports.scaling_plot import STYLES

HATCHES = ("", "/", "\\", "-", "|", "+")
MOST_CURVES = 8
PANELS_ACROSS = 3
RATIOS = ("speedup", "over_peer", "over_first")
LEGEND_WIDTH = 44


@dataclass(frozen=True)
class Curve:
    """A name and its values, by the places of the horizontal axis that have one."""

    name: str
    values: Mapping[str, float]
    published: bool


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis."""

    title: str
    places: tuple[str, ...]
    curves: tuple[Curve, ...]
    axis: str


def panels(figure: Exhibit, shown: Shown) -> list[Panel]:
    """What a figure draws of an exhibit; empty where fewer than two values are there."""
    plot = figure.plot
    if plot is None:
        return []
    found = _over_options(plot, shown) if plot.over else _over_rows(plot, shown)
    return [one for one in found if sum(len(curve.values) for curve in one.curves) > 1]


def draw(figure: Exhibit, shown: Shown, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw a figure into a folder as files of a name.

    Returns
    -------
    list of Path
        The files written, in the order of the formats; empty where there is nothing to draw or matplotlib is not
        installed.
    """
    drawn = panels(figure, shown)
    library = pyplot() if drawn and figure.plot else None
    if library is None or figure.plot is None:
        return []
    across = min(PANELS_ACROSS, len(drawn))
    down = -(-len(drawn) // across)
    size = (7.5, 4.6) if len(drawn) == 1 else (4.2 * across, 3.9 * down)
    picture, every = library.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for axes, panel in zip(every.flat, drawn, strict=False):
        (_bars if figure.plot.kind == "bars" else _curves)(axes, panel, figure.plot)
        _dress(axes, panel, figure.plot)
    for axes in every.flat[len(drawn) :]:
        axes.set_axis_off()
    picture.suptitle("\n".join(textwrap.wrap(caption(figure), 30 * across + 50)), fontsize=10)
    written = save(picture, folder, name, formats)
    library.close(picture)
    return written


# --- curves ---


def _over_rows(plot: Plot, shown: Shown) -> list[Panel]:
    """The rows are the places, the columns the curves: those of the paper's chosen machines, then ours."""
    wanted = _machines_in_words(plot, shown)
    labels = {line.key: line.label for line in shown.lines}
    curves: dict[tuple[str, bool], dict[str, float]] = {}
    for datum in [*shown.published, *shown.ours]:
        published = datum.row is None
        if datum.values.get(plot.measure, 0) <= 0 or (published and datum.whose not in wanted):
            continue  # a ratio that was printed as 0.00 has no place on a logarithmic axis
        name = f"{datum.whose}: {datum.column}" if published and datum.whose else datum.column
        curves.setdefault((name, published), {})[labels[datum.line]] = datum.values[plot.measure]
    made = [
        Curve(f"{'paper' if published else 'ours'}, {name}", values, published)
        for (name, published), values in curves.items()
    ]
    made = [curve for curve in made if plot.measure != "speedup" or set(curve.values.values()) != {1.0}]
    filled = {place for curve in made for place in curve.values}
    places = tuple(line.label for line in shown.lines if line.label in filled)
    return [Panel("", places, tuple(made[:MOST_CURVES]), plot.axis or MEASURES[plot.measure].axis)]


def _machines_in_words(plot: Plot, shown: Shown) -> set[str]:
    """The machines of a plot as data name them: a row has a figure for each column."""
    by_column = zip(shown.exhibit.columns, shown.published, strict=False)
    return {datum.whose for column, datum in by_column if not plot.machines or column.machine in plot.machines}


def _over_options(plot: Plot, shown: Shown) -> list[Panel]:
    """The values of an option are the places, those of another the curves; a panel for whoever measured."""
    columns = {column.heading: column.parameters for column in shown.exhibit.columns}
    by_whose: dict[tuple[str, bool], dict[str, dict[str, float]]] = {}
    for datum in [*shown.published, *shown.ours]:
        said = columns.get(datum.column, {})
        curve = str(said.get(plot.curves))
        if datum.line != plot.row or plot.measure not in datum.values or (plot.only and curve not in plot.only):
            continue
        curves = by_whose.setdefault((datum.whose, datum.row is None), {})
        curves.setdefault(curve, {})[_place(said.get(plot.over))] = datum.values[plot.measure]
    every = tuple(dict.fromkeys(_place(said.get(plot.over)) for said in columns.values()))
    made = []
    for (whose, published), curves in by_whose.items():
        filled = tuple(place for place in every if any(place in values for values in curves.values()))
        title = f"{whose}, published" if published else f"ours, {whose}"
        drawn = tuple(Curve(name, values, published) for name, values in curves.items())
        made.append(Panel(title, filled, drawn, _axis(plot, published)))
    return made


def _axis(plot: Plot, published: bool) -> str:
    return (plot.axis if published else "") or MEASURES[plot.measure].axis


def _place(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


# --- drawing ---


def _curves(axes: Any, panel: Panel, plot: Plot) -> None:
    at = {place: number for number, place in enumerate(panel.places)}
    for number, curve in enumerate(panel.curves):
        colour, marker = STYLES[number % len(STYLES)]
        points = sorted((at[place], value) for place, value in curve.values.items())
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=colour,
            marker=marker,
            linestyle=("--" if curve.published else "-") if plot.kind == "lines" else "none",
            fillstyle="none" if curve.published else "full",
            linewidth=1.3,
            markersize=6,
            label="\n".join(textwrap.wrap(curve.name, LEGEND_WIDTH)),
        )


def _bars(axes: Any, panel: Panel, plot: Plot) -> None:
    """Bars from 1 on where ratios are drawn: on a logarithmic axis a bar's length is how far it is from no gain."""
    foot = 1.0 if plot.measure in RATIOS else 0.0
    at = {place: number for number, place in enumerate(panel.places)}
    width = 0.8 / max(1, len(panel.curves))
    for number, curve in enumerate(panel.curves):
        colour = STYLES[number % len(STYLES)][0]
        shift = (number - (len(panel.curves) - 1) / 2) * width
        axes.bar(
            [at[place] + shift for place in curve.values],
            [value - foot for value in curve.values.values()],
            bottom=foot,
            width=0.92 * width,
            color="white" if curve.published else colour,
            edgecolor=colour if curve.published else "white",
            hatch=HATCHES[number % len(HATCHES)],
            label="\n".join(textwrap.wrap(curve.name, LEGEND_WIDTH)),
        )


def _dress(axes: Any, panel: Panel, plot: Plot) -> None:
    crowded = len(panel.places) > 6 or max(map(len, panel.places), default=0) > 9
    turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(range(len(panel.places)), panel.places, fontsize=8, **turned)
    if plot.logarithmic:
        axes.set_yscale("log")
        values = [value for curve in panel.curves for value in curve.values.values() if value > 0]
        values += [1.0] if plot.measure in RATIOS else []
        axes.yaxis.set_major_formatter("{x:g}")
        # Within a decade there may be no power of ten to read the axis by.
        axes.yaxis.set_minor_formatter("{x:g}" if max(values) < 8 * min(values) else "")
        axes.tick_params(axis="y", which="both", labelsize=8)
    elif plot.kind == "bars":
        axes.set_ylim(bottom=0)
    if plot.measure in RATIOS:
        axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_ylabel(panel.axis, fontsize=9)
    axes.set_xlabel(plot.over, fontsize=9)
    if panel.title:
        axes.set_title("\n".join(textwrap.wrap(panel.title, 46)), fontsize=9)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=7, frameon=False)
