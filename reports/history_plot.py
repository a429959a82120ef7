"""The course of one search: its best cost over evaluations and over seconds, in steps: each holds until the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

FOUND, KNOWN = "#0072b2", "#d55e00"
"""Of Okabe and Ito's colours, which readers who see colours differently tell apart."""
WIDE = 20.0
"""Spread of an axis above which it is logarithmic."""
LEAST_EVALUATIONS = 1
"""Where a logarithmic axis of evaluations begins: a start solution costs none."""
MOST_MARKED = 60
"""Improvements that are marked; more would hide the line."""


def best_so_far(
    history: Sequence[Sequence[Any]],
    unit: str,
    title: str,
    *,
    noun: str = "cost",
    in_words: Callable[[int], str] = str,
    known: Mapping[str, int] | None = None,
    evaluations: int | None = None,
) -> Any:
    """Draw the history of a search.

    Parameters
    ----------
    history
        Rows [iteration, evaluations, seconds, best cost] where the best cost improved; at least one.
    unit
        What evaluations count, plural.
    title
        Stands above both panels.
    noun
        What the cost is.
    in_words
        From a cost to text.
    known
        Costs that are drawn as lines, by name: the optimum.
    evaluations
        Of the whole search, to which the last cost holds; None: to its last improvement.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels: over evaluations, and over seconds. It belongs to no window.

    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    known = known or {}
    costs = [row[3] for row in history]
    courses = [row[1] for row in history], [row[2] for row in history]
    if evaluations is not None:
        courses[0].append(evaluations)
    for axes, course, words in zip(panels, courses, (unit, "seconds"), strict=True):
        shown = costs + costs[-1:] * (len(course) - len(costs))
        least = LEAST_EVALUATIONS if words == unit else 0
        if is_wide([at for at in course if at > 0]):
            axes.set_xscale("log")
            course = [max(at, least) for at in course]
        marks = list(range(len(costs))) if len(costs) <= MOST_MARKED else []
        axes.step(course, shown, where="post", color=FOUND, marker=".", markevery=marks, label=f"best {noun}")
        for name, cost in known.items():
            axes.axhline(cost, color=KNOWN, linestyle="--", linewidth=1.0, label=f"{name} {in_words(cost)}")
        axes.set_xlabel(words, fontsize=10)
        axes.tick_params(labelsize=9)
        axes.grid(color="#dddddd", linewidth=0.6)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    if is_wide([*costs, *known.values()]):
        panels[0].set_yscale("log")
    panels[0].yaxis.set_major_formatter(FuncFormatter(lambda cost, _: in_words(round(cost))))
    panels[0].set_ylabel(f"best {noun}", fontsize=10)
    panels[1].legend(fontsize=9, frameon=False)
    figure.suptitle(title, fontsize=11)
    return figure


def is_wide(values: Sequence[float]) -> bool:
    """Whether positive values differ so much that a linear axis would hide the small ones."""
    return len(values) > 1 and min(values) > 0 and max(values) / min(values) > WIDE


def save_figure(figure: Any, path: str) -> None:
    """Save a figure in the format that its file's name ends in; equal figures make equal files."""
    import matplotlib

    form = Path(path).suffix[1:].lower()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "onekernel", "svg.fonttype": "none"}):
        figure.savefig(path, format=form, dpi=150, facecolor="white", metadata=undated.get(form, {"Software": None}))
