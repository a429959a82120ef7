"""Heat map of an overview: the speed-up of each workload on each device over one core, as SVG and PNG.

The picture is that of A. N. Ziogas et al.: NPBench, a benchmarking suite for high-performance NumPy. ICS 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.comparison.cautions import DOUBTFUL, SHORTEST_BASELINE_S, is_short
from reports.comparison.overview import Overview, OverviewRow
from reports.comparison.speedups import ComparedRun
from reports.plots import style
from reports.plots.style import LABEL, TEXT
from reports.text.formatting import listed

if TYPE_CHECKING:
    import numpy as np
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


@dataclass(frozen=True)
class HeatMapPart:
    """Part of an overview in a heat map.

    Attributes
    ----------
    lines
        Workloads with ratios over at least `SHORTEST_BASELINE_S` of one core.
    devices
        Those on which at least half of these workloads ran.
    left_out
        Workloads and devices of the table that the picture lacks, with the reason.
    """

    lines: tuple[OverviewRow, ...]
    devices: tuple[str, ...]
    left_out: tuple[str, ...]


def select_part(overview: Overview) -> HeatMapPart:
    """Choose the workloads and devices of a heat map; none if no ratio is over enough work."""
    with_ratio = [line for line in overview.lines if any(row.speedup for row in line.rows)]
    short = [line for line in with_ratio if all(is_short(row) for row in line.rows if row.speedup)]
    lines = tuple(line for line in with_ratio if line not in short)
    ran = {name: [line for line in lines if line.on(name)] for name in overview.devices}
    devices = tuple(name for name, those in ran.items() if lines and 2 * len(those) >= len(lines))
    without = [line.workload for line in overview.lines if line not in with_ratio]
    few = [name for name in overview.devices if name not in devices]
    left_out = []
    if short:
        brief = f"less than {SHORTEST_BASELINE_S:g} s on one core"
        left_out.append(f"{listed([line.workload for line in short])} ({brief})")
    if without:
        left_out.append(f"{listed(without)} (no ratio over one core)")
    if lines and few:
        left_out.append(f"{'; '.join(few)} (most of the workloads did not run there)")
    return HeatMapPart(lines, devices, tuple(left_out))


def draw(overview: Overview, folder: Path, name: str) -> list[Path]:
    """Draw the speed-ups, workload by device, into a folder; return the file.

    The colour is the logarithm of the speed-up over one core, symmetric about 1. No file if no ratio is over enough
    work of one core, or without matplotlib.
    """
    part = select_part(overview)

    def paint(figure: Figure, grid: np.ndarray) -> None:
        from matplotlib import cm, colors

        scale = cm.ScalarMappable(colors.Normalize(-reach, reach), COLOURS)
        doubtful = _fill(grid[0, 0], part, overview, scale)
        _draw_scale(figure, grid[0, 0], scale, reach, doubtful=doubtful)

    ran = [row for line in part.lines for name in part.devices if (row := line.on(name))]
    reach = max([LEAST_DECADES, *(abs(math.log10(row.speedup.value)) for row in ran if row.speedup)])

    height = 1.7 + 0.5 * len(part.lines)
    return style.draw(paint, folder / name, height, transparent=True) if part.lines else []


def _fill(axes: Axes, part: HeatMapPart, overview: Overview, scale: ScalarMappable) -> bool:
    """Draw the cells and the names at the sides; return True if a cell is marked as doubtful."""
    doubtful = False
    for down, line in enumerate(part.lines):
        for right, name in enumerate(part.devices):
            words = overview.words(line, line.on(name))
            doubtful |= any(word.endswith(DOUBTFUL) for word in words)
            _draw_cell(axes, scale, line.on(name), words, (right, down))
    axes.set_xlim(-0.5, len(part.devices) - 0.5)
    axes.set_ylim(len(part.lines) - 0.5, -0.5)
    axes.set_xticks(range(len(part.devices)), ["\n".join(filter(None, split_device(name))) for name in part.devices])
    named = [f"{line.workload}\n{shortened(line.instance, 18)}".rstrip() for line in part.lines]
    axes.set_yticks(range(len(part.lines)), named)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=TEXT, labelcolor=GREY)
    axes.spines[:].set_visible(False)
    return doubtful


def _draw_scale(figure: Figure, axes: Axes, scale: ScalarMappable, reach: float, *, doubtful: bool) -> None:
    bar = figure.colorbar(scale, ax=axes, orientation="horizontal", aspect=40, pad=0.03)
    whole = range(-math.floor(reach), math.floor(reach) + 1)
    step = -(-len(whole) // MOST_TICKS)
    shown = [power for power in whole if power % step == 0]
    bar.set_ticks(shown, labels=[ratio_of_ten(power) for power in shown])
    bar.ax.tick_params(labelsize=TEXT, labelcolor=GREY, color=GREY)
    bar.outline.set_visible(False)
    marked = f"\n{DOUBTFUL} doubtful: the notes below the table say why" if doubtful else ""
    bar.set_label(f"speed-up over one core\n(below it: median time){marked}", fontsize=TEXT, color=GREY)


def _draw_cell(axes: Axes, scale: Any, row: ComparedRun | None, words: tuple[str, str], place: tuple[int, int]) -> None:
    from matplotlib.patches import Rectangle

    (time, over), (right, down) = words, place
    at = right - 0.48, down - 0.47
    if row is None or not row.speedup:
        axes.add_patch(Rectangle(at, 0.96, 0.94, facecolor="none", edgecolor=GREY, linewidth=0.6, linestyle=":"))
        axes.text(right, down, time, ha="center", va="center", fontsize=TEXT, color=GREY)
        return
    ground = scale.to_rgba(math.log10(row.speedup.value))
    axes.add_patch(Rectangle(at, 0.96, 0.94, facecolor=ground, edgecolor="none"))
    ink = _contrasting_ink(ground)
    axes.text(right, down - 0.2, over, ha="center", va="center", fontsize=LABEL, weight="bold", color=ink)
    axes.text(right, down + 0.22, time, ha="center", va="center", fontsize=TEXT, color=ink)


def split_device(name: str) -> tuple[str, str]:
    device, _, ranks = name.partition(", ")
    return device, ranks


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def ratio_of_ten(power: int) -> str:
    """Return a power of ten as a speed-up: 0.01x, 1x, 1,000x."""
    return f"{10**power:,}x" if power >= 0 else f"{10.0**power:.{-power}f}x"


def _contrasting_ink(ground: tuple[float, float, float, float]) -> str:
    """Return black or white, for contrast with a colour (relative luminance of the sRGB standard, IEC 61966-2-1)."""
    from matplotlib import colors

    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colors.to_rgb(ground)]
    luminance = sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    # The contrasts (L + 0.05) / 0.05 and 1.05 / (L + 0.05) are equal at this luminance.
    return "black" if luminance > 0.179 else "white"
