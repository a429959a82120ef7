"""Pictures of searches: the distribution of the time to a target, and improvements of the best cost; as SVG and PNG.

A distribution steps at times at which runs reached the target; a cross marks the end of a run without it. The course of
the best cost is the median over seeds with a band from the lower to the upper quartile, in steps: a best cost holds
until the next is found, so nothing is interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reports.plots import style
from reports.statistics.targets import EffortMeasure, SeedFamily, Target, Targets
from reports.text.formatting import cost

MOST_CURVES = len(style.LINES)
POINTS = 400
LEAST_EVALUATIONS = 1.0
"""Start of a logarithmic axis of evaluations: a start solution needs none."""


def shown_families(families: Sequence[SeedFamily], targets: Targets) -> tuple[list[SeedFamily], str]:
    """Choose the curves of a picture: those with the least expected time to the hardest target that any reached.

    Returns at most `MOST_CURVES` families, in the given order, and a description of omitted curves; empty if none.
    """
    known = [family for family in families if family.has_histories]
    if len(known) <= MOST_CURVES:
        return known, ""
    target = next((target for target in targets.all if any(family.reached(target) for family in known)), targets.first)

    def expected(family: SeedFamily) -> float:
        tries = family.tries(target)
        time = tries.expected("seconds") if tries else None
        return time.value if time else math.inf

    chosen = sorted(known, key=expected)[:MOST_CURVES]
    left = len(known) - MOST_CURVES
    return [family for family in known if family in chosen], (
        f"Of {len(known)} rows the pictures show the {MOST_CURVES} with the least expected time to {target.words}; "
        f"{left} {'is' if left == 1 else 'are'} left out"
    )


def draw_distributions(
    families: Sequence[SeedFamily],
    targets: Targets,
    folder: Path,
    name: str,
    title: str,
    unit: str,
    formats: Sequence[str] = style.FORMATS,
) -> list[Path]:
    """Draw the fraction of runs that had reached each target over time, and over evaluations if they have a unit.

    Returns the files, SVG first; none if no run reached a target, or without matplotlib.
    """
    chosen, _ = shown_families(families, targets)
    reached = [target for target in targets.all if any(family.reached(target) for family in chosen)]
    across = _measures(unit)

    def paint(figure: Any, grid: Any) -> None:
        spreads = [_amounts(chosen, target, measure) for target in reached for measure, _ in across]
        logarithmic = any(map(style.is_wide, spreads))
        for target, line in zip(reached, grid, strict=True):
            for (measure, words), axes in zip(across, line, strict=True):
                _draw_distributions(axes, chosen, target, measure, logarithmic=logarithmic)
                axes.set_xlabel(f"{words}\nto {target.words}")
            line[0].set_ylabel("part of the runs")
        _finish(figure, grid, title)

    height = 2.4 * len(reached) + 0.9 + 0.2 * len(chosen)
    return style.draw(paint, folder / name, height, (len(reached), len(across)), formats) if reached else []


def draw_courses(
    families: Sequence[SeedFamily], targets: Targets, folder: Path, name: str, title: str, unit: str
) -> list[Path]:
    """Draw the best cost over seconds, and over evaluations if they have a unit.

    Returns the files, SVG first; none without histories or matplotlib.
    """
    chosen, _ = shown_families(families, targets)
    across = _measures(unit)

    def paint(figure: Any, grid: Any) -> None:
        for (measure, words), axes in zip(across, grid[0], strict=True):
            if axes is not grid[0, 0]:
                axes.sharey(grid[0, 0])
                axes.tick_params(labelleft=False)
            _draw_courses(axes, chosen, targets.first, measure)
            axes.set_xlabel(words)
        reference = targets.first.cost
        above = f"best cost, % above {cost(reference)}" if reference > 0 else "best cost"
        grid[0, 0].set_ylabel(f"{above}:\nmedian and quartiles over seeds")
        _finish(figure, grid, title)

    return style.draw(paint, folder / name, 3.6 + 0.2 * len(chosen), (1, len(across))) if chosen else []


def _measures(unit: str) -> list[tuple[EffortMeasure, str]]:
    measures: list[tuple[EffortMeasure, str]] = [("seconds", "seconds"), ("evaluations", unit)]
    return measures if unit else measures[:1]


def _finish(figure: Any, grid: Any, title: str) -> None:
    figure.suptitle(title)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", frameon=False, handlelength=4)


# --- distributions ---


def _amounts(families: Sequence[SeedFamily], target: Target, measure: EffortMeasure) -> list[float]:
    """Amounts of all runs that a logarithmic axis can show."""
    tries = [tries_of_family for family in families if (tries_of_family := family.tries(target)) is not None]
    return [_at_least(amount, measure) for attempt in tries for amount in attempt.amounts(measure)]


def _draw_distributions(
    axes: Any, families: Sequence[SeedFamily], target: Target, measure: EffortMeasure, *, logarithmic: bool
) -> None:
    tries = [(family, tries_of_family) for family in families if (tries_of_family := family.tries(target)) is not None]
    reach = partial(_at_least, measure=measure)
    amounts = _amounts(families, target, measure)
    begin, end = min(amounts), max(amounts)
    left, right = (begin / 1.3, end * 1.3) if logarithmic else (0.0, 1.05 * end)
    for number, (family, tries_of_family) in enumerate(tries):
        shown = _curve_style(number)
        at, high = tries_of_family.distribution(measure)
        # The curve is unknown after the end of all runs, if not all have reached the target.
        known = (
            right
            if tries_of_family.reached == len(tries_of_family.spent)
            else max(map(reach, tries_of_family.amounts(measure)))
        )
        steps = [left, *map(reach, at), known]
        heights = [0.0, *high, high[-1] if high else 0.0]
        axes.plot(steps, heights, drawstyle="steps-post", label=family.label, **shown)
        ends = [reach(amount) for amount in tries_of_family.amounts(measure, reached=False)]
        # Height of the distribution at the end of a run.
        crosses = [max((h for a, h in zip(at, high, strict=True) if a <= end), default=0.0) for end in ends]
        axes.plot(ends, crosses, linestyle="none", marker="x", markersize=5, color=shown["color"])
    axes.set_xlim(left, right)
    if logarithmic:
        style.logarithmic(axes, "x")
    else:
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(lambda value, _: style.tick_text(value))
    axes.set_ylim(-0.03, 1.03)
    style.dress(axes)


def _curve_style(number: int) -> dict[str, Any]:
    return {"color": style.COLOURS[number], "linestyle": style.LINES[number], "linewidth": 1.6}


def _at_least(amount: float, measure: EffortMeasure) -> float:
    """Return an amount that a logarithmic axis can show."""
    return max(amount, LEAST_EVALUATIONS) if measure == "evaluations" else max(amount, 1e-9)


# --- courses ---


def _draw_courses(axes: Any, families: Sequence[SeedFamily], target: Target, measure: EffortMeasure) -> None:
    reference = target.cost
    lowest, highest, bottom = math.inf, 0.0, 0.0
    for number, family in enumerate(families):
        at, low, middle, high = cost_bands(family, measure)
        if reference > 0:
            low, middle, high = (100 * (cost / reference - 1) for cost in (low, middle, high))
        shown = _curve_style(number)
        axes.plot(at, middle, drawstyle="steps-post", label=family.label, **shown)
        axes.fill_between(at, low, high, step="post", color=shown["color"], alpha=0.15, linewidth=0)
        bottom = min(bottom, float(low.min()))
        positive = middle[middle > 0]
        if positive.size:
            lowest, highest = min(lowest, float(positive.min())), max(highest, float(positive.max()))
    style.logarithmic(axes, "x")
    if highest > style.WIDE * lowest:
        # Linear below the smallest positive value: the reference itself is on the axis.
        axes.set_yscale("symlog", linthresh=10 ** math.floor(math.log10(lowest)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylim(bottom=bottom)
    style.dress(axes)


def cost_bands(family: SeedFamily, measure: EffortMeasure) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the best cost over seeds, from the time when most runs have one to the end of the longest.

    Returns
    -------
    tuple of four float64[k]
        Amounts of the measure, evenly spread by their logarithms; lower quartile, median and upper quartile. A run
    that has ended keeps its best cost, and one without a cost counts as the worst one known. The first amount is that
    at which three quarters of the runs have a cost.
    """
    first = _at_least(float(family.samples[measure].min()), measure)
    last = max(float(family.samples[measure].max()), first)
    at = np.geomspace(first, last, POINTS)
    # Rounding must not put an end before its row.
    at[0], at[-1] = first, last
    costs = family.costs_at(at, measure)
    unknown = np.isnan(costs)
    low, middle, high = np.quantile(np.where(unknown, np.nanmax(costs), costs), (0.25, 0.5, 0.75), axis=1)
    known = unknown.mean(axis=1) <= 1 / 4
    return at[known], low[known], middle[known], high[known]
