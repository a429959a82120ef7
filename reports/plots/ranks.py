"""Picture of ranks: the gain of several ranks over one, a bar for each work and number of ranks."""

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


def draw(works: Sequence[tuple[str, pandas.DataFrame]], folder: Path, name: str) -> list[Path]:
    """Draw the gains of works with their names into a folder; return the file, none without matplotlib.

    A data frame has a row for each number of ranks, with `gain`, `gain_low` and `gain_high`.
    """
    counts = sorted({int(count) for _, rates in works for count in rates.index if count > 1})

    def paint(_: Figure, grid: np.ndarray) -> None:
        _fill(grid[0, 0], works, counts)

    return style.draw(paint, folder / name, 1.0 + 0.2 * len(works) * (len(counts) + 0.5))


def _fill(axes: Axes, works: Sequence[tuple[str, pandas.DataFrame]], counts: list[int]) -> None:
    height = 0.8 / len(counts)
    for place, count in enumerate(counts):
        rows = [(down, rates.loc[count]) for down, (_, rates) in enumerate(works) if count in rates.index]
        gains = [float(row["gain"]) for _, row in rows]
        below = [max(0.0, float(row["gain"] - row["gain_low"])) if row["gain_low"] > 0 else 0.0 for _, row in rows]
        above = [max(0.0, float(row["gain_high"] - row["gain"])) if row["gain_high"] > 0 else 0.0 for _, row in rows]
        colour = style.COLOURS[place % len(style.COLOURS)]
        axes.barh(
            [down + place * height - 0.4 + height / 2 for down, _ in rows],
            gains,
            height=height,
            xerr=[below, above],
            color=colour,
            ecolor="#333333",
            capsize=2,
            label=f"{count} ranks",
        )
        axes.axvline(count, color=colour, linestyle=":", linewidth=1)
    axes.set_yticks(range(len(works)), [name for name, _ in works], fontsize=style.TEXT)
    axes.invert_yaxis()
    axes.set_xlabel("times the rate of one rank, with 95 % intervals")
    style.dress(axes, "x")
    axes.legend(loc="lower right", title="dotted: as many as ranks")
