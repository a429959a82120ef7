"""Modelled speed-up and efficiency against ranks, a curve for each network, as SVG and PNG."""

from __future__ import annotations

from pathlib import Path

from reports.cluster_report import NAME, Subject
from reports.plots import pyplot, save
from reports.scaling_plot import STYLES


def curves(subject: Subject, folder: Path, name: str = NAME) -> list[Path]:
    """Draw both beside each other.

    Returns
    -------
    list of Path
        The files written, the SVG first; empty where matplotlib is not installed.
    """
    library = pyplot()
    if library is None:
        return []
    figure, (left, right) = library.subplots(1, 2, figsize=(11.2, 4.2), layout="constrained")
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
    left.set_yscale("log", base=2)
    left.yaxis.set_major_formatter("{x:g}")
    for axes, label in ((left, "speed-up over one core, modelled"), (right, "efficiency, modelled")):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("ranks", fontsize=9)
        axes.set_ylabel(label, fontsize=9)
        axes.grid(color="#dddddd", linewidth=0.6)
    right.set_ylim(0, 1.05)
    left.legend(fontsize=8, frameon=False)
    figure.suptitle(subject.instance, fontsize=10)
    written = save(figure, folder, name)
    library.close(figure)
    return written
