"""Speed-up over ranks with the ideal line and the fitted law, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.comparison.scaling import ScalingCurve
from reports.comparison.sections import ComparedSection
from reports.plots import style as plots_style
from reports.plots.style import MOST_TICKS, PAGE_WIDTH
from reports.text.formatting import per_cent

# Of Okabe and Ito's colours, told apart by their markers too.
STYLES = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#56b4e9", "v"), ("#e69f00", "P"))
SMOOTH = 100


def scaling(section: ComparedSection, folder: Path, name: str) -> list[Path]:
    """Draw the curves of strong and of weak scaling, beside each other where there are both.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where there is no curve or matplotlib is not installed.
    """
    kinds = [curves for curves in (section.strong, section.weak) if curves]
    library = plots_style.pyplot() if kinds else None
    if library is None:
        return []
    figure, every = library.subplots(
        1, len(kinds), figsize=(PAGE_WIDTH if len(kinds) > 1 else 5.6, 4.2), layout="constrained", squeeze=False
    )
    for axes, curves in zip(every[0], kinds, strict=True):
        _draw(axes, curves)
    work = section.comparison.work
    figure.suptitle(f"{work.workload} on {work.instance}")
    written = plots_style.save(figure, folder, name)
    library.close(figure)
    return written


def _draw(axes: Any, curves: Sequence[ScalingCurve]) -> None:
    weak = curves[0].weak
    most = max(curve.points[-1].ranks for curve in curves)
    axes.plot([1, most], [1, most], color="#555555", linewidth=1, linestyle="--", label="ideal")
    for number, curve in enumerate(curves):
        colour, marker = STYLES[number % len(STYLES)]
        _draw_curve(axes, curve, colour, marker)
    ticks = sorted({point.ranks for curve in curves for point in curve.points})
    plots_style.logarithmic(axes, "x", base=2)
    plots_style.logarithmic(axes, "y", base=2)
    if len(ticks) <= MOST_TICKS:
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
    plots_style.dress(axes, framed=True)
    axes.set_xlabel("ranks")
    axes.set_ylabel("scaled speed-up" if weak else "speed-up over one rank, 95 % CI")
    axes.set_title("weak scaling: work grows with ranks" if weak else "strong scaling: the same work")
    axes.legend(frameon=False)


def _draw_curve(axes: Any, curve: ScalingCurve, colour: str, marker: str) -> None:
    points = curve.points
    ranks, values = [point.ranks for point in points], [point.speedup.value for point in points]
    reach = [
        [point.speedup.value - (point.speedup.low or point.speedup.value) for point in points],
        [(point.speedup.high or point.speedup.value) - point.speedup.value for point in points],
    ]
    reach = [[max(0.0, one) for one in side] for side in reach]
    style = {"color": colour, "marker": marker, "markersize": 6, "capsize": 3}
    axes.errorbar(ranks, values, yerr=reach, linestyle="none", label=curve.name, **style)
    crowded = [point for point in points if point.oversubscribed]
    if crowded:
        places = [point.ranks for point in crowded], [point.speedup.value for point in crowded]
        ring = {"marker": "o", "markersize": 12, "fillstyle": "none", "linestyle": "none"}
        axes.plot(*places, color=colour, label=f"{curve.name}: ranks share cores", **ring)
    serial = curve.serial
    if serial is not None and 0 <= serial <= 1:
        across = [points[-1].ranks ** (step / SMOOTH) for step in range(SMOOTH + 1)]
        law = "Gustafson" if curve.weak else "Amdahl"
        label = f"{law}: serial part {per_cent(serial)}"
        axes.plot(across, [curve.predicted(one) for one in across], color=colour, linewidth=1.2, label=label)
