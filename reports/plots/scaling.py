"""Speed-up over ranks as SVG and PNG: with the fitted law."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.comparison.scaling import ScalingCurve
from reports.comparison.sections import ComparedSection
from reports.plots import style
from reports.text.formatting import per_cent

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMOOTH = 100


def scaling(section: ComparedSection, folder: Path, name: str) -> list[Path]:
    """Draw the curves of strong and of weak scaling, below each other if there are both; return the files, SVG first.

    No files without a curve or without matplotlib.
    """
    kinds = [curves for curves in (section.strong, section.weak) if curves]

    def paint(figure: Figure, grid: np.ndarray) -> None:
        for axes, curves in zip(grid.flat, kinds, strict=True):
            _draw(axes, curves)
        figure.suptitle(section.comparison.work.work_name)

    return style.draw(paint, folder / name, 0.4 + 3.2 * len(kinds), (len(kinds), 1)) if kinds else []


def curve_style(number: int) -> dict[str, Any]:
    kinds = len(style.COLOURS)
    return {"color": style.COLOURS[number % kinds], "marker": style.MARKERS[number % kinds]}


def _draw(axes: Axes, curves: Sequence[ScalingCurve]) -> None:
    weak, most = curves[0].weak, max(curve.points[-1].ranks for curve in curves)
    axes.plot([1, most], [1, most], color="#555555", linewidth=1, linestyle="--", label="ideal")
    for number, curve in enumerate(curves):
        _draw_curve(axes, curve, curve_style(number))
    style.logarithmic(axes, "x", base=2)
    style.logarithmic(axes, "y", base=2)
    axes.set_xlabel("ranks")
    axes.set_ylabel("scaled speed-up" if weak else "speed-up over one rank, 95 % CI")
    style.dress(axes)
    ticks = sorted({point.ranks for curve in curves for point in curve.points})
    if len(ticks) <= style.MOST_TICKS["x"]:
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_title("weak scaling: work grows with ranks" if weak else "strong scaling: the same work")
    axes.legend()


def _draw_curve(axes: Axes, curve: ScalingCurve, shown: dict[str, Any]) -> None:
    points, colour = curve.points, shown["color"]
    ranks, values = [point.ranks for point in points], [point.speedup.value for point in points]
    reach = style.error_bars([point.speedup for point in points])
    axes.errorbar(ranks, values, yerr=reach, linestyle="none", label=curve.name, markersize=6, capsize=3, **shown)
    crowded = [(point.ranks, point.speedup.value) for point in points if point.oversubscribed]
    if crowded:
        ring: dict[str, Any] = {"marker": "o", "markersize": 12, "fillstyle": "none", "linestyle": "none"}
        axes.plot(*zip(*crowded, strict=True), color=colour, label=f"{curve.name}: ranks share cores", **ring)
    serial = curve.serial
    if serial is not None and 0 <= serial <= 1:
        across = [points[-1].ranks ** (step / SMOOTH) for step in range(SMOOTH + 1)]
        law = "Gustafson" if curve.weak else "Amdahl"
        label = f"{law}: serial part {per_cent(serial)}"
        axes.plot(across, [curve.predicted(ranks) for ranks in across], color=colour, linewidth=1.2, label=label)
