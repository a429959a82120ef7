"""Heat map of an overview: the speed-up of each workload on each device over one core, as SVG.

The picture is that of A. N. Ziogas et al.: NPBench, a benchmarking suite for high-performance NumPy. ICS 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.plots import style
from reports.plots.style import LABEL, TEXT
from reports.rates import ONE_CORE, RateSection, short_name
from reports.text.formatting import number

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

COLOURS = "PuOr"
"""ColorBrewer's map from orange (slower) over white to purple (faster), safe for colour-blind readers."""
GREY = "#808080"
"""Colour of text outside the cells, readable on white and on black, since the ground is transparent."""
LEAST_DECADES = 1.0
"""Least decades of the scale on either side of 1, so that small differences look small."""
MOST_TICKS = 7
LONGEST_NAME = 28


def heat_table(sections: Sequence[RateSection]) -> pandas.DataFrame:
    """Return ratios over one core, a row for each section with one, a column for each device but one core.

    A device that lacks most of the workloads has no column. Missing runs are NaN.
    """
    import pandas

    rows = {
        short_name(section.proof): section.rates.loc[
            section.rates["comparable"] & (section.rates["kind"] != ONE_CORE), "over_one_core"
        ]
        for section in sections
    }
    table = pandas.DataFrame.from_dict(rows, orient="index").dropna(how="all")
    return table.dropna(axis="columns", thresh=max(1, math.ceil(len(table) / 2)))


def draw(sections: Sequence[RateSection], folder: Path, name: str) -> list[Path]:
    """Draw the ratios of one host's sections into a folder; return the file.

    The colour is the logarithm of the ratio, symmetric about 1. No file without ratios, or without matplotlib.
    """
    table = heat_table(sections)
    if table.empty:
        return []
    reach = max(LEAST_DECADES, *(abs(math.log10(one)) for one in table.to_numpy(float).ravel() if one > 0))

    def paint(figure: Figure, grid: np.ndarray) -> None:
        from matplotlib import cm, colors

        scale = cm.ScalarMappable(colors.Normalize(-reach, reach), COLOURS)
        _fill(grid[0, 0], table, scale)
        _draw_scale(figure, grid[0, 0], scale, reach)

    return style.draw(paint, folder / name, 1.5 + 0.34 * len(table), transparent=True)


def _fill(axes: Axes, table: pandas.DataFrame, scale: ScalarMappable) -> None:
    """Draw the cells and the names at the sides."""
    for down, row in enumerate(table.to_numpy(float)):
        for right, ratio in enumerate(row):
            _draw_cell(axes, scale, float(ratio), (right, down))
    axes.set_xlim(-0.5, table.shape[1] - 0.5)
    axes.set_ylim(table.shape[0] - 0.5, -0.5)
    axes.set_xticks(range(table.shape[1]), [str(one).replace(" of ", "\nof ") for one in table.columns])
    axes.set_yticks(range(table.shape[0]), [shortened(str(name), LONGEST_NAME) for name in table.index])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=TEXT, labelcolor=GREY)
    axes.spines[:].set_visible(False)


def _draw_scale(figure: Figure, axes: Axes, scale: ScalarMappable, reach: float) -> None:
    bar = figure.colorbar(scale, ax=axes, orientation="horizontal", aspect=40, pad=0.03)
    whole = range(-math.floor(reach), math.floor(reach) + 1)
    step = -(-len(whole) // MOST_TICKS)
    shown = [power for power in whole if power % step == 0]
    bar.set_ticks(shown, labels=[f"{10.0**power:,.{max(0, -power)}f}" for power in shown])
    bar.ax.tick_params(labelsize=TEXT, labelcolor=GREY, color=GREY)
    bar.outline.set_visible(False)
    bar.set_label("times as fast as one core: orange is slower, purple faster", fontsize=TEXT, color=GREY)


def _draw_cell(axes: Axes, scale: Any, ratio: float, place: tuple[int, int]) -> None:
    from matplotlib.patches import Rectangle

    right, down = place
    at = right - 0.48, down - 0.46
    if not ratio > 0:
        axes.add_patch(Rectangle(at, 0.96, 0.92, facecolor="none", edgecolor=GREY, linewidth=0.6, linestyle=":"))
        return
    ground = scale.to_rgba(math.log10(ratio))
    axes.add_patch(Rectangle(at, 0.96, 0.92, facecolor=ground, edgecolor="none"))
    ink = contrasting_ink(ground)
    axes.text(right, down, number(ratio), ha="center", va="center", fontsize=LABEL, weight="bold", color=ink)


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def contrasting_ink(ground: tuple[float, float, float, float]) -> str:
    """Return black or white, for contrast with a colour (relative luminance of the sRGB standard, IEC 61966-2-1)."""
    from matplotlib import colors

    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colors.to_rgb(ground)]
    luminance = sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    # The contrasts (L + 0.05) / 0.05 and 1.05 / (L + 0.05) are equal at this luminance.
    return "black" if luminance > 0.179 else "white"
