"""An exhibit as a picture: published and our figures in the same plot, as SVG and PNG.

Readable on light and dark pages (drawn on white) and for colour-blind readers: Okabe and Ito's colours, and different
markers or hatches. Published figures are hollow and dashed, ours filled, modelled ones and emulated hosts half-filled,
dotted or hatched.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.comparison.cautions import DOUBTFUL, ratio_doubts
from reports.papers.exhibits import MODELLED, NO_RECORD, Datum, FilledExhibit
from reports.papers.measures import MEASURES, RATIOS
from reports.papers.paper import Exhibit, Plot
from reports.papers.tables import EMULATED, GROUPS, NO_RUNS, PUBLISHED, caption, group_of
from reports.plots import style
from reports.text.formatting import listed

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = ("", "/", "\\", "-", "|", "+")
FILLED = {PUBLISHED: "none", MODELLED: "bottom", EMULATED: "left"}
LINES = {PUBLISHED: "--", MODELLED: ":", EMULATED: "-."}
GROUP_HATCHES = {MODELLED: "...", EMULATED: "xxx"}
"""Filling of markers, lines, and hatches of bars, by the group of a curve; all others are full."""
MOST_CURVES = 8
SPEEDUP = "speedup"
COST = "cost"
PER_RUN = ("seconds", COST)
"""Measures that depend on the number of iterations of a run."""
LEGEND_WIDTH, TITLE_WIDTH = 72, 62
"""Letters in a line of a legend, and of the text above the picture."""
ONE_SIDED = {True: "published figures alone: no run of ours", False: "ours alone: no published figure"}
"""Text above a picture with only published curves, or only ours."""


ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "alignment": "left"}
"""Place of a legend above its panel."""


@dataclass(frozen=True)
class ExhibitCurve:
    """A name and its values, by the places of the horizontal axis that have one; `group` is that of its column."""

    name: str
    values: Mapping[str, float]
    group: str

    @property
    def published(self) -> bool:
        return self.group == PUBLISHED


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis; `optimum` is a line if the axis has costs.

    A `grouped` panel has a part of the curves of a picture: all its panels have the same axes.
    """

    title: str
    places: tuple[str, ...]
    curves: tuple[ExhibitCurve, ...]
    axis: str
    optimum: float | None = None
    grouped: bool = False


def panels(figure: Exhibit, shown: FilledExhibit) -> list[Panel]:
    """Return the panels of a figure of an exhibit; empty with fewer than two values."""
    plot = figure.plot
    if plot is None:
        return []
    drawn = _over_options(plot, shown) if plot.over else _over_rows(plot, shown)
    return [one for one in drawn if sum(len(curve.values) for curve in one.curves) > 1]


def draw(figure: Exhibit, shown: FilledExhibit, folder: Path, name: str) -> list[Path]:
    """Draw a figure into a folder; return the file, none without anything to draw or without matplotlib."""
    drawn, plot = panels(figure, shown), figure.plot
    if not drawn or plot is None:
        return []

    def paint(picture: Figure, all_axes: np.ndarray) -> None:
        for axes, panel in zip(all_axes.flat, drawn, strict=True):
            if panel.grouped and panel is not drawn[0]:
                axes.sharey(all_axes.flat[0])
            (_bars if plot.kind == "bars" else _curves)(axes, panel, plot)
        for axes, panel in zip(all_axes.flat, drawn, strict=True):
            _label_axes(axes, panel, plot)
            if panel.grouped:
                axes.set_xlim(-0.5, len(panel.places) - 0.5)
                axes.tick_params(labelbottom=panel is drawn[-1])
            if len(drawn) > 1:
                axes.legend(**(ABOVE | {"title": panel.title} if panel.grouped else {}))
        if len(drawn) == 1:
            picture.legend(loc="outside lower left")
        picture.suptitle("\n".join([*textwrap.wrap(caption(figure), TITLE_WIDTH), *remarks(drawn)]))

    return style.draw(paint, folder / name, _height(drawn), (len(drawn), 1))


def _height(drawn: Sequence[Panel]) -> float:
    """Return the height of a picture in inches."""
    if len(drawn) > 1 and not drawn[0].grouped:
        return 2.5 * len(drawn) + 0.4
    lines = sum(len(textwrap.wrap(curve.name, LEGEND_WIDTH)) for panel in drawn for curve in panel.curves)
    return 1.2 + (2.6 if len(drawn) == 1 else 2.1 * len(drawn)) + 0.16 * lines


def remarks(drawn: Sequence[Panel]) -> list[str]:
    """Return the lines above a picture: missing runs of ours or published figures, markers, and doubtful ratios."""
    curves = [curve for panel in drawn for curve in panel.curves]
    published = {curve.published for curve in curves if curve.group != MODELLED}
    lines = [f"({ONE_SIDED[whose]})" for whose in published] if len(published) == 1 else []
    if marked := [group for group in (MODELLED, EMULATED) if any(curve.group == group for curve in curves)]:
        lines.append(f"(half-filled or hatched: {', '.join(marked)})")
    if any(curve.name.endswith(DOUBTFUL) for curve in curves):
        lines.append("(* its time of one core is doubtful: see the notes of the table)")
    return lines


def gap_reason(exhibit: Exhibit, shown: FilledExhibit) -> str:
    """Return why a table, or a figure of one, shows no run of ours, and the remedy; empty if it shows one."""
    ours = [curve.group not in NO_RUNS for panel in panels(exhibit, shown) for curve in panel.curves]
    if shown.exhibit.never_ours or any(ours if exhibit.of else (datum.values for datum in shown.ours)):
        return ""
    row = exhibit.plot.row if exhibit.of and exhibit.plot else ""
    if not any(datum.line == row or not row for datum in shown.ours):
        reasons = [f"{what}: {why}" if what else why for what, why in shown.missing]
        drawn = f"it draws {row}, which did not run; --{exhibit.kind} {exhibit.number} runs it" if row else NO_RECORD
        return "; ".join(reasons) or drawn
    notes = dict.fromkeys(note for datum in shown.ours for note in datum.notes if note.startswith("no "))
    words = dict.fromkeys(word for datum in shown.ours for word in datum.words if word.startswith(("no ", "not ")))
    again = "; then --rerun" if any("not found" in note for note in notes) else ""
    without = f"none of our runs has {MEASURES[exhibit.plot.measure].axis}" if exhibit.plot else NO_RECORD
    return ("; ".join(notes or words) or without) + again


# --- curves ---


def _over_rows(plot: Plot, shown: FilledExhibit) -> list[Panel]:
    """Rows are the places, columns the curves: those of the paper's chosen machines, of their models, then ours."""
    labels = {line.key: line.label for line in shown.lines}
    curves: dict[tuple[str, str], dict[str, float]] = {}
    doubtful: set[str] = set()
    ours = [row.record for row in shown.rows]
    for name, group, datum in _figures(plot, shown):
        if datum.values.get(plot.measure, 0) <= 0:
            continue  # a ratio that was printed as 0.00 has no place on a logarithmic axis
        if datum.row is not None and plot.measure == SPEEDUP and ratio_doubts(datum.row, ours):
            doubtful.add(name)
        curves.setdefault((name, group), {})[labels[datum.line]] = datum.values[plot.measure]
    drawn = [
        ExhibitCurve(f"{name}{DOUBTFUL * (name in doubtful)}", values, group)
        for (name, group), values in curves.items()
    ]
    drawn = [curve for curve in drawn if plot.measure != SPEEDUP or set(curve.values.values()) != {1.0}]
    filled = {place for curve in drawn for place in curve.values}
    places = tuple(line.label for line in shown.lines if line.label in filled)
    return _grouped(Panel("", places, tuple(drawn), plot.axis or MEASURES[plot.measure].axis))


def _figures(plot: Plot, shown: FilledExhibit) -> Iterator[tuple[str, str, Datum]]:
    """Yield the figures of a plot over rows, each with the name and the group of its curve."""
    exhibit = shown.exhibit
    chosen = [column for column in exhibit.columns if not plot.machines or column.machine in plot.machines]
    # A row has a figure for each column.
    wanted = {datum.whose for column, datum in zip(exhibit.columns, shown.published, strict=False) if column in chosen}
    for datum in shown.published:
        if datum.whose in wanted:
            yield f"paper, {datum.whose}: {datum.column}" if datum.whose else f"paper, {datum.column}", PUBLISHED, datum
    for datum in shown.modelled:
        if datum.column in [f"{MODELLED}: {column.heading}" for column in chosen]:
            yield f"{datum.column}, from {datum.whose}", MODELLED, datum
    for datum in shown.ours:
        yield f"ours, {datum.column}", group_of(exhibit, datum.whose or datum.column), datum


def _grouped(panel: Panel) -> list[Panel]:
    """Return a panel, or with too many curves for one legend several, by the groups of the curves."""
    if len(panel.curves) <= MOST_CURVES:
        return [panel]
    parts: list[list[ExhibitCurve]] = [[]]
    for group in GROUPS:
        added = [curve for curve in panel.curves if curve.group == group]
        if parts[-1] and len(parts[-1]) + len(added) > MOST_CURVES:
            parts.append([])
        parts[-1] += added[:MOST_CURVES]
        parts += [added[place : place + MOST_CURVES] for place in range(MOST_CURVES, len(added), MOST_CURVES)]
    titled = [(", ".join(dict.fromkeys(curve.group for curve in part)), part) for part in parts if part]
    return [replace(panel, title=title, curves=tuple(part), grouped=True) for title, part in titled]


def _over_options(plot: Plot, shown: FilledExhibit) -> list[Panel]:
    """Return panels with one option's values as places and another's as curves, one a machine or series.

    A machine or series with one place has none: its values are in the table.
    """
    columns = {column.heading: column.parameters for column in shown.exhibit.columns}
    by_whose: dict[tuple[str, bool], dict[str, dict[str, float]]] = {}
    runs: dict[str, list[Datum]] = {}
    for datum in [*shown.published, *shown.ours]:
        parameters = columns.get(datum.column, {})
        curve = str(parameters.get(plot.curves))
        if datum.line != plot.row or plot.measure not in datum.values or (plot.only and curve not in plot.only):
            continue
        curves = by_whose.setdefault((datum.whose, datum.row is None), {})
        curves.setdefault(curve, {})[_place(parameters.get(plot.over))] = datum.values[plot.measure]
        if datum.row is not None:
            runs.setdefault(datum.whose, []).append(datum)
    all_places = tuple(dict.fromkeys(_place(parameters.get(plot.over)) for parameters in columns.values()))
    panels = []
    for (whose, published), curves in by_whose.items():
        filled = tuple(place for place in all_places if any(place in values for values in curves.values()))
        if len(filled) < 2:
            continue  # one value is no curve
        title = f"{whose}, published" if published else f"ours, {whose}"
        group = PUBLISHED if published else ""
        drawn = tuple(ExhibitCurve(name, values, group) for name, values in _joined(curves).items())
        ours = [] if published else runs[whose]
        optimum = _optimum(ours) if plot.measure == COST else None
        panels.append(Panel(title, filled, drawn, _axis(plot, ours), optimum))
    return panels


def _joined(curves: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    """Join equal curves, of which only the last would be visible."""
    names: dict[tuple[tuple[str, float], ...], list[str]] = {}
    for name, values in curves.items():
        names.setdefault(tuple(values.items()), []).append(name)
    return {listed(same): dict(values) for values, same in names.items()}


def _axis(plot: Plot, ours: Sequence[Datum]) -> str:
    """Return the label of the vertical axis, for ours with the number of iterations, which decides times and costs."""
    if not ours:
        return plot.axis or MEASURES[plot.measure].axis
    asked = {datum.row.record.parameters.get("iterations") for datum in ours if datum.row}
    count = asked.pop() if len(asked) == 1 else None
    known = plot.measure in PER_RUN and count is not None
    return MEASURES[plot.measure].axis + (f", {count:,} iteration{'s' * (count != 1)}" if known else "")


def _optimum(ours: Sequence[Datum]) -> float | None:
    """Return the optimum if it is known and all runs are of one instance."""
    known = {datum.row.record.details.get("optimum") for datum in ours if datum.row}
    return known.pop() if len(known) == 1 else None


def _place(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


# --- drawing ---


def _curves(axes: Axes, panel: Panel, plot: Plot) -> None:
    for number, curve in enumerate(panel.curves):
        points = sorted((panel.places.index(place), value) for place, value in curve.values.items())
        axes.plot(
            *zip(*points, strict=True),
            **style.curve_style(number),
            linestyle=LINES.get(curve.group, "-") if plot.kind == "lines" else "none",
            fillstyle=FILLED.get(curve.group, "full"),
            linewidth=1.3,
            markersize=6,
            label="\n".join(textwrap.wrap(curve.name, LEGEND_WIDTH)),
        )
    if panel.optimum is not None:
        axes.axhline(panel.optimum, color="black", linewidth=0.8, linestyle=":", label=f"optimum {panel.optimum:,}")


def _bars(axes: Axes, panel: Panel, plot: Plot) -> None:
    """Draw bars from 1 on for ratios: on a logarithmic axis a bar's length is its distance from no gain."""
    foot = 1.0 if plot.measure in RATIOS else 0.0
    width = 0.8 / max(1, len(panel.curves))
    for number, curve in enumerate(panel.curves):
        colour = style.curve_style(number)["color"]
        shift = (number - (len(panel.curves) - 1) / 2) * width
        axes.bar(
            [panel.places.index(place) + shift for place in curve.values],
            [value - foot for value in curve.values.values()],
            bottom=foot,
            width=0.92 * width,
            color="white" if curve.group in NO_RUNS else colour,
            edgecolor=colour if curve.group in NO_RUNS else "white",
            hatch=GROUP_HATCHES.get(curve.group, HATCHES[number % len(HATCHES)]),
            label="\n".join(textwrap.wrap(curve.name, LEGEND_WIDTH)),
        )


def _label_axes(axes: Axes, panel: Panel, plot: Plot) -> None:
    crowded = len(panel.places) > 6 or max(map(len, panel.places), default=0) > 9
    turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(range(len(panel.places)), panel.places, **turned)
    if plot.measure in RATIOS:
        axes.axhline(1.0, color="black", linewidth=0.8)
    if plot.logarithmic:
        style.logarithmic(axes, "y")
    else:
        axes.yaxis.set_major_formatter(lambda value, _: style.tick_text(value))
    if plot.kind == "bars" and not plot.logarithmic:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(panel.axis)
    axes.set_xlabel(plot.over)
    if panel.title and not panel.grouped:
        axes.set_title("\n".join(textwrap.wrap(panel.title, TITLE_WIDTH)))
    style.dress(axes, "y")
