"""Picture of ranks: gains on the same work, and efficiency of work that grows, a bar for each number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reports.plots import style

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Scaling = tuple[str, pandas.DataFrame, pandas.DataFrame]
    """Name of a work, its rates of the same work, and of work that grows."""


def draw(works: Sequence[Scaling], folder: Path, name: str) -> list[Path]:
    """Draw the scaling of works into a folder; return the file, none without matplotlib.

    A data frame has a row for each number of ranks, with `gain`, `gain_low` and `gain_high`.
    """
    counts = sorted({int(count) for _, *both in works for rates in both for count in rates.index if count > 1})
    names = [name for name, _, _ in works]

    def paint(_: Figure, grid: np.ndarray) -> None:
        strong, weak = grid[0]
        for place, count in enumerate(counts):
            _bars(strong, [rates for _, rates, _ in works], count, (place, len(counts)), 1)
            _bars(weak, [rates for _, _, rates in works], count, (place, len(counts)), 100 / count)
            strong.axvline(count, color=style.COLOURS[place], linestyle=":", linewidth=1)
        weak.axvline(100, color="#333333", linestyle=":", linewidth=1)
        strong.set_yticks(range(len(works)), names, fontsize=style.TEXT)
        weak.set_yticks(range(len(works)), [""] * len(works))
        strong.set_xlabel("times one rank, same work")
        weak.set_xlabel("weak efficiency, %")
        for axes in (strong, weak):
            axes.set_ylim(len(works) - 0.4, -0.6)
            axes.set_xlim(left=0)
            style.dress(axes, "x")
        weak.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(counts), handlelength=1)

    return style.draw(paint, folder / name, 1.2 + 0.16 * len(works) * (len(counts) + 0.5), (1, 2))


def _bars(axes: Axes, works: Sequence[pandas.DataFrame], count: int, place: tuple[int, int], scale: float) -> None:
    """Draw the gains of a number of ranks, times a scale, with their intervals.

    ``place`` has the position of the bar in a row, and the number of bars.
    """
    height = 0.8 / place[1]
    rows = {
        down: rates.loc[count, ["gain", "gain_low", "gain_high"]].astype(float)
        for down, rates in enumerate(works)
        if count in rates.index
    }
    axes.barh(
        [down + (place[0] + 0.5) * height - 0.4 for down in rows],
        [scale * row["gain"] for row in rows.values()],
        height=height,
        xerr=[
            [scale * (row["gain"] - row["gain_low"]) for row in rows.values()],
            [scale * (row["gain_high"] - row["gain"]) for row in rows.values()],
        ],
        color=style.COLOURS[place[0]],
        ecolor="#333333",
        capsize=2,
        label=f"{count} ranks",
    )
