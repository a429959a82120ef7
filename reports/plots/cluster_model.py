"""Modelled speed-up and efficiency against ranks, a curve for each network, as SVG and PNG."""

from __future__ import annotations

from pathlib import Path

from reports.comparison.modelled_runs import ModelledInstance
from reports.plots import style as plots_style
from reports.plots.scaling import STYLES
from reports.plots.style import PAGE_WIDTH


def curves(subject: ModelledInstance, folder: Path, name: str = "cluster-model") -> list[Path]:
    """Draw both beside each other.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where matplotlib is not installed.
    """
    library = plots_style.pyplot()
    if library is None:
        return []
    figure, (left, right) = library.subplots(1, 2, figsize=(PAGE_WIDTH, 4.2), layout="constrained")
    most = max(curve.points[-1].ranks for curve in subject.curves)
    left.plot([1, most], [1, most], color="#555555", linewidth=1, linestyle="--", label="ideal")
    for place, curve in enumerate(subject.curves):
        colour, marker = STYLES[place % len(STYLES)]
        style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2, "label": curve.network}
        ranks = [point.ranks for point in curve.points]
        left.plot(ranks, [point.speedup for point in curve.points], **style)
        right.plot(ranks, [point.speedup / point.ranks for point in curve.points], **style)
    if subject.gpu_s is not None:
        left.axhline(subject.core_s / subject.gpu_s, color="black", linewidth=0.8, linestyle=":", label="the GPU")
    plots_style.logarithmic(left, "y", base=2)
    for axes, label in ((left, "speed-up over one core, modelled"), (right, "efficiency, modelled")):
        plots_style.logarithmic(axes, "x", base=2)
        axes.set_xlabel("ranks")
        axes.set_ylabel(label)
        plots_style.dress(axes, framed=True)
    right.set_ylim(0, 1.05)
    left.legend(frameon=False)
    figure.suptitle(subject.instance)
    written = plots_style.save(figure, folder, name)
    library.close(figure)
    return written
