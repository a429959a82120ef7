"""The history of one search: its best cost over evaluations and over seconds, in steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reports.plots import style

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOUND, KNOWN = style.COLOURS[:2]
LEAST_EVALUATIONS = 1
"""Start of a logarithmic axis of evaluations: a start solution needs none."""
MOST_MARKED = 60
"""Largest number of marked improvements; more would hide the line."""
SIZE = style.WIDTH, 3.2


class HistoryCurve(NamedTuple):
    """One search.

    Attributes
    ----------
    name
        Name in the legend.
    history : sequence
        Rows [iteration, evaluations, seconds, best cost] of improvements; at least one.
    evaluations
        Of the whole search, to which the last cost holds; None: to its last improvement.
    """

    name: str
    history: Sequence[Sequence[Any]]
    evaluations: int | None = None


def draw_history(
    history: Sequence[Sequence[Any]],
    unit: str,
    title: str,
    *,
    noun: str = "cost",
    in_words: Callable[[int], str] = str,
    known: Mapping[str, int] | None = None,
    evaluations: int | None = None,
) -> Figure:
    """Draw the history of a search.

    Returns two panels: over evaluations, and over seconds, both linear or both logarithmic. It belongs to no window.

    Parameters
    ----------
    history
        Rows [iteration, evaluations, seconds, best cost] of improvements; at least one.
    unit
        Unit of evaluations, plural.
    noun
        Name of the cost.
    in_words
        Function from a cost to text.
    known
        Costs that are drawn as lines, by name: the optimum.
    evaluations
        Of the whole search, to which the last cost holds; None: to its last improvement.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    course = HistoryCurve(f"best {noun}", history, evaluations)
    draw_histories(figure.subplots(1, 2, sharey=True), [course], unit, noun=noun, in_words=in_words, known=known)
    figure.suptitle(title, fontsize=style.TITLE)
    return figure


def draw_histories(
    panels: Sequence[Axes] | np.ndarray,
    courses: Sequence[HistoryCurve],
    unit: str,
    *,
    noun: str = "cost",
    in_words: Callable[[int], str] = str,
    known: Mapping[str, int] | None = None,
) -> None:
    """Draw the histories of several searches into two panels: see `draw_history`."""
    known = known or {}
    spreads = [[row[column] for course in courses for row in course.history if row[column] > 0] for column in (1, 2)]
    wide = any(map(style.is_wide, spreads))
    for axes, column, words in zip(panels, (1, 2), (unit, "seconds"), strict=True):
        for number, curve in enumerate(courses):
            colour = f"C{number}" if len(courses) > 1 else FOUND
            _step(axes, curve, column, colour, least=LEAST_EVALUATIONS if wide and column == 1 else 0)
        for name, cost in known.items():
            axes.axhline(cost, color=KNOWN, linestyle="--", linewidth=1.0, label=f"{name} {in_words(cost)}")
        axes.set_xlabel(words, fontsize=style.LABEL)
        axes.tick_params(labelsize=style.TEXT)
        if wide:
            style.logarithmic(axes, "x")
        else:
            axes.locator_params(axis="x", nbins=4)
            axes.xaxis.set_major_formatter(lambda value, _: style.tick_text(value))
        style.dress(axes)
    if style.is_wide([*(row[3] for course in courses for row in course.history), *known.values()]):
        style.logarithmic(panels[0], "y")
    panels[0].yaxis.set_major_formatter(lambda cost, _: in_words(round(cost)))
    panels[0].set_ylabel(f"best {noun}", fontsize=style.LABEL)
    panels[1].legend(fontsize=style.TEXT, frameon=False)


def _step(axes: Axes, curve: HistoryCurve, column: int, colour: str, least: float) -> None:
    """Draw a curve over a column of its history; values are at least `least`."""
    at, costs = [row[column] for row in curve.history], [row[3] for row in curve.history]
    marks = list(range(len(costs))) if len(costs) <= MOST_MARKED else []
    if column == 1 and curve.evaluations is not None:
        at, costs = [*at, curve.evaluations], [*costs, costs[-1]]
    at = [max(place, least) for place in at]
    axes.step(at, costs, where="post", color=colour, marker=".", markevery=marks, label=curve.name)


def save_figure(figure: Figure, path: str) -> None:
    """Save a figure in the format of its file's suffix; equal figures make equal files."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rc("svg", **style.SVG)
        style.save(figure, Path(path))
