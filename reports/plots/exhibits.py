"""Picture of a paper's exhibit: columns over rows as bars, points or lines, with 95 % intervals.

Published figures are grey. Ours have the colour of their kind of device, which the legend explains; columns of one kind
differ in markers or hatches.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.plots import style
from reports.plots.rates import COLOURS
from reports.rates import ALL_CORES, ONE_CORE

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reports.papers.paper import Exhibit, Plot

GREYS = ("#777777", "#b5b5b5", "#444444", "#d0d0d0", "#999999")
"""Colours of published figures."""
HATCHES = ("", "///", "...", "xxx", "\\\\\\")
"""Hatches of the bars of one colour."""
MODEL, PEER, SEVERAL = style.COLOURS[5], style.COLOURS[3], style.COLOURS[6]
"""Colours of modelled figures, of other solvers, and of a column with several kinds of devices."""
GAIN = "×"
"""Heading that begins with no name; a legend has the device before it."""
LEGEND_WIDTH, MOST_UPRIGHT = 52, 6
"""Letters of a line of the legend, and largest number of rows with upright labels."""


def draw(exhibit: Exhibit, cells: pandas.DataFrame, heads: Mapping[str, str], path: Path) -> list[Path]:
    """Draw the picture of an exhibit as SVG; return the file, none without two rows, our runs, or matplotlib.

    Parameters
    ----------
    cells
        Cells of `reports.papers.cells.exhibit_frame`.
    heads
        Headings of columns by key.
    path
        Path of the file, without the ending.
    """
    plot = exhibit.plot
    if plot is None:
        return []
    shown = cells[cells["column"].isin(plot.columns) & (cells["value"] > 0)]
    ours = shown[shown["source"] != "paper"]
    rows = {
        panel: [
            row.name
            for row in exhibit.rows
            if row.panel == panel or not panel
            if (plot.kind == "lines" and row.x is not None) or row.name in {*ours["row"]}
        ]
        for panel in plot.panels or ("",)
    }
    rows = {panel: names for panel, names in rows.items() if shown["row"][shown["row"].isin(names)].nunique() > 1}
    if ours.empty or not rows:
        return []
    curves = _curve_styles(plot, shown)
    labels = {key: _label(heads[key], shown[shown["column"] == key]) for key in curves}

    def paint(picture: Figure, all_axes: np.ndarray) -> None:
        # Bars of similar lengths begin at 0: a logarithmic axis would begin anywhere. All panels have axes of one kind.
        values = [shown["value"][shown["row"].isin(names)].tolist() for names in rows.values()]
        logarithmic = plot.logarithmic and (plot.kind != "bars" or any(map(style.is_wide, values)))
        keys: dict[str, Artist] = {}
        for axes, (panel, names) in zip(all_axes.flat, rows.items(), strict=True):
            _fill_axes(axes, exhibit, plot, shown[shown["row"].isin(names)], logarithmic, names, curves, labels)
            axes.set_title(panel)
            handles, texts = axes.get_legend_handles_labels()
            keys |= dict(zip(map(str, texts), handles, strict=True))
        picture.legend([*keys.values()], [*keys], loc="outside lower left")

    return style.draw(paint, path, 0.8 + 2.3 * len(rows) + 0.17 * len(curves), (len(rows), 1))


def _curve_styles(plot: Plot, shown: pandas.DataFrame) -> dict[str, dict[str, Any]]:
    """Return colour, marker and hatch of each column with values, by key."""
    used: dict[str, int] = {}
    styles = {}
    for key in plot.columns:
        cells = shown[shown["column"] == key]
        if cells.empty:
            continue
        colours = {_colour(cell) for _, cell in cells.iterrows()}
        colour = colours.pop() if len(colours) == 1 else SEVERAL
        number = used[colour] = used.get(colour, -1) + 1
        look = (GREYS[number], "") if colour == GREYS[0] else (colour, HATCHES[number])
        styles[key] = {"color": look[0], "marker": style.MARKERS[number], "hatch": look[1]}
    return styles


def _label(head: str, cells: pandas.DataFrame) -> str:
    """Return a column's text in the legend: its heading, with the source of the figures, or the device of ours."""
    source, devices = cells["source"].iloc[0], cells["device"].unique()
    if source == "ours":
        source = devices[0] if len(devices) == 1 else ""
    if head.startswith(GAIN):
        return f"{source} {head}".strip()
    prefix = f"{source}: " if source and source not in head else ""
    return "\n".join(textwrap.wrap(f"{prefix}{head}", LEGEND_WIDTH))


def _colour(cell: pandas.Series[Any]) -> str:
    if cell["source"] != "ours":
        return {"model": MODEL, "peer": PEER}.get(cell["source"], GREYS[0])
    if cell["ranks"] > 1:
        return COLOURS["ranks"]
    return COLOURS[{"core": ONE_CORE, "cores": ALL_CORES}.get(cell["device_kind"], "GPU")]


def _fill_axes(
    axes: Axes,
    exhibit: Exhibit,
    plot: Plot,
    cells: pandas.DataFrame,
    logarithmic: bool,
    names: Sequence[str],
    curves: Mapping[str, dict[str, Any]],
    labels: Mapping[str, str],
) -> None:
    """Draw the columns of one panel over its rows."""
    is_line = plot.kind == "lines"
    places = {name: exhibit.row(name).x if is_line else float(place) for place, name in enumerate(names)}
    foot = cells["value"].min() / 2 if logarithmic else 0.0
    width = 0.8 / len(curves)
    for number, (key, look) in enumerate(curves.items()):
        own = cells[cells["column"] == key]
        values = own["value"].to_numpy()
        errors = [own["value"] - own["low"], own["high"] - own["value"]]
        at = own["row"].map(places).astype(float).to_numpy()
        if plot.kind == "bars":
            axes.bar(
                at + (number - (len(curves) - 1) / 2) * width,
                values - foot,
                bottom=foot,
                width=0.92 * width,
                yerr=errors,
                color=look["color"],
                hatch=look["hatch"],
                edgecolor="white",
                ecolor="#333333",
                capsize=2,
                label=labels[key],
            )
        else:
            axes.errorbar(
                at,
                values,
                errors,
                linestyle="-" if is_line else "none",
                capsize=3,
                linewidth=1.3,
                label=labels[key],
                **{name: look[name] for name in ("color", "marker")},
            )
    axes.set_xlabel(plot.x_axis)
    if is_line:
        if style.is_wide([row.x for row in exhibit.rows if row.x]):
            style.logarithmic(axes, "x")
    else:
        crowded = len(names) > MOST_UPRIGHT or max(map(len, names)) > 9
        turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
        axes.set_xticks(range(len(names)), names, **turned)
        axes.set_xlim(-0.5, len(names) - 0.5)
    if logarithmic:
        style.logarithmic(axes, "y")
    axes.set_ylabel(plot.axis)
    style.dress(axes, "y")
