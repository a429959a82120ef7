"""Pictures of searches: the distribution of the time to a target, and how the best cost improves; as SVG and PNG.

A distribution steps where a run reached the target; a cross marks where a run ended without it. The course of the best
cost is the median over seeds with a band from the lower to the upper quartile, in steps: a best cost holds until the
next is found, so nothing is interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reports.plots import style as plots_style
from reports.plots.style import PAGE_WIDTH
from reports.statistics.targets import EffortMeasure, SeedFamily, Target, Targets
from reports.text.formatting import cost

MOST_CURVES = 8
# Of Okabe and Ito's colours, without their yellow, which fades on white; line styles tell curves apart in grey too.
STYLES: tuple[tuple[str, Any], ...] = (
    ("#0072b2", "-"),
    ("#d55e00", "--"),
    ("#009e73", "-."),
    ("#cc79a7", ":"),
    ("#000000", (0, (6, 1, 1, 1, 1, 1))),
    ("#e69f00", (0, (8, 2))),
    ("#56b4e9", (0, (3, 1, 1, 1))),
    ("#999999", (0, (1, 1))),
)
POINTS = 400
"""Where the course of the best cost is looked at."""
WIDE = 20.0
"""Spread of an axis above which it is logarithmic."""
LEAST_EVALUATIONS = 1.0
"""Where a logarithmic axis of evaluations begins: a start solution costs none."""


def shown_families(families: Sequence[SeedFamily], targets: Targets) -> tuple[list[SeedFamily], str]:
    """Choose the curves of a picture: those with the least expected time to the hardest target that any reached.

    Returns
    -------
    list of Family
        At most `MOST_CURVES`, in the order given.
    str
        What was left out, in words; empty where nothing was.
    """
    known = [family for family in families if family.has_histories]
    if len(known) <= MOST_CURVES:
        return known, ""
    target = next((one for one in targets.all if any(family.reached(one) for family in known)), targets.first)

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
    families: Sequence[SeedFamily], targets: Targets, folder: Path, name: str, title: str, unit: str
) -> list[Path]:
    """Draw which part of the runs had reached each target after which time, and evaluations where they have a unit.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where no run reached a target or matplotlib is not installed.
    """
    chosen, _ = shown_families(families, targets)
    reached = [target for target in targets.all if any(family.reached(target) for family in chosen)]
    library = plots_style.pyplot() if reached else None
    if library is None:
        return []
    across: list[tuple[EffortMeasure, str]] = [("seconds", "seconds")]
    if unit:
        across.append(("evaluations", unit))
    size = PAGE_WIDTH, 2.4 * len(reached) + 0.9 + 0.2 * math.ceil(len(chosen) / 2)
    figure, every = library.subplots(len(reached), len(across), figsize=size, layout="constrained", squeeze=False)
    for target, line in zip(reached, every, strict=True):
        for (measure, words), axes in zip(across, line, strict=True):
            _draw_distributions(axes, chosen, target, measure)
            axes.set_xlabel(f"{words} to {target.words}")
        line[0].set_ylabel("part of the runs")
    return _finished(library, figure, every[0][0], title, folder, name)


def draw_courses(
    families: Sequence[SeedFamily], targets: Targets, folder: Path, name: str, title: str, unit: str
) -> list[Path]:
    """Draw the best cost over evaluations, where they have a unit, and over seconds.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where no family has histories or matplotlib is not installed.
    """
    chosen, _ = shown_families(families, targets)
    library = plots_style.pyplot() if chosen else None
    if library is None:
        return []
    panels: list[tuple[EffortMeasure, str]] = [("evaluations", unit)] if unit else []
    panels.append(("seconds", "seconds"))
    size = PAGE_WIDTH, 3.6 + 0.2 * math.ceil(len(chosen) / 2)
    figure, every = library.subplots(1, len(panels), figsize=size, layout="constrained", squeeze=False)
    for (measure, words), axes in zip(panels, every[0], strict=True):
        _draw_courses(axes, chosen, targets.first, measure)
        axes.set_xlabel(words)
    reference = targets.first.cost
    above = f"best cost, % above {cost(reference)}" if reference > 0 else "best cost"
    every[0][0].set_ylabel(f"{above}:\nmedian and quartiles over seeds")
    return _finished(library, figure, every[0][0], title, folder, name)


def _finished(library: Any, figure: Any, first: Any, title: str, folder: Path, name: str) -> list[Path]:
    """Put title and legend around the panels, save and close."""
    handles, labels = first.get_legend_handles_labels()
    figure.suptitle(title)
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, handlelength=4)
    written = plots_style.save(figure, folder, name)
    library.close(figure)
    return written


# --- distributions ---


def _draw_distributions(axes: Any, families: Sequence[SeedFamily], target: Target, measure: EffortMeasure) -> None:
    tries = [(family, found) for family in families if (found := family.tries(target)) is not None]
    reach = partial(_at_least, measure=measure)
    amounts = [reach(amount) for _, found in tries for amount in found.amounts(measure)]
    begin, end = min(amounts), max(amounts)
    logarithmic = end > WIDE * begin
    if not logarithmic:
        axes.locator_params(axis="x", nbins=5)
    left, right = (begin / 1.3, end * 1.3) if logarithmic else (0.0, 1.05 * end)
    for number, (family, found) in enumerate(tries):
        colour, line = STYLES[number]
        at, high = found.distribution(measure)
        # Where all runs have ended, and not all have reached the target, nothing more is known.
        known = right if found.reached == len(found.spent) else max(map(reach, found.amounts(measure)))
        steps = [left, *map(reach, at), known]
        heights = [0.0, *high, high[-1] if high else 0.0]
        style = {"color": colour, "linestyle": line, "linewidth": 1.6}
        axes.plot(steps, heights, drawstyle="steps-post", label=family.label, **style)
        ends = [reach(amount) for amount in found.amounts(measure, reached=False)]
        # The height that the distribution has where a run ended.
        crosses = [max((h for a, h in zip(at, high, strict=True) if a <= end), default=0.0) for end in ends]
        axes.plot(ends, crosses, linestyle="none", marker="x", markersize=5, color=colour)
    axes.set_xlim(left, right)
    if logarithmic:
        plots_style.logarithmic(axes, "x")
    axes.set_ylim(-0.03, 1.03)
    plots_style.dress(axes)


def _at_least(amount: float, measure: EffortMeasure) -> float:
    """An amount that a logarithmic axis can show."""
    return max(amount, LEAST_EVALUATIONS) if measure == "evaluations" else max(amount, 1e-9)


# --- courses ---


def _draw_courses(axes: Any, families: Sequence[SeedFamily], target: Target, measure: EffortMeasure) -> None:
    reference = target.cost
    lowest, highest, bottom = math.inf, 0.0, 0.0
    for number, family in enumerate(families):
        at, low, middle, high = cost_bands(family, measure)
        if reference > 0:
            low, middle, high = (100 * (one / reference - 1) for one in (low, middle, high))
        colour, line = STYLES[number]
        style = {"color": colour, "linestyle": line, "linewidth": 1.6}
        axes.plot(at, middle, drawstyle="steps-post", label=family.label, **style)
        axes.fill_between(at, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
        bottom = min(bottom, float(low.min()))
        positive = middle[middle > 0]
        if positive.size:
            lowest, highest = min(lowest, float(positive.min())), max(highest, float(positive.max()))
    plots_style.logarithmic(axes, "x")
    if highest > WIDE * lowest:
        # Linear below the smallest that is above zero: the reference itself is on the axis.
        axes.set_yscale("symlog", linthresh=10 ** math.floor(math.log10(lowest)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylim(bottom=bottom)
    plots_style.dress(axes)


def cost_bands(family: SeedFamily, measure: EffortMeasure) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The best cost over seeds, from when three quarters of the runs know one to the end of the longest.

    Returns
    -------
    tuple of four float64[k]
        Amounts of the measure, evenly spread by their logarithms; lower quartile, median and upper quartile. A run
        that has ended keeps its best cost, and one that knows none yet counts as the worst that any knew.
    """
    first = _at_least(float(family.samples[measure].min()), measure)
    last = max(float(family.samples[measure].max()), first)
    at = np.geomspace(first, last, POINTS)
    # Rounding must not put an end before the row that it is made of.
    at[0], at[-1] = first, last
    costs = family.costs_at(at, measure)
    unknown = np.isnan(costs)
    low, middle, high = np.quantile(np.where(unknown, np.nanmax(costs), costs), (0.25, 0.5, 0.75), axis=1)
    known = unknown.mean(axis=1) <= 1 / 4
    return at[known], low[known], middle[known], high[known]
