"""Sizes, ticks and files of every picture, so that each can be read where it is printed at the width of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError

FORMATS = ("svg", "png")
PAGE_WIDTH = 7.5
"""Inches of a printed page's text; no picture is wider, so that none is made smaller."""
TEXT, LABEL, TITLE = 8, 9, 10
"""Points of ticks, legends and values; of axes and panels; of the picture."""
DOTS_PER_INCH = 150
GRID = "#dddddd"
MOST_TICKS = 7
MARGIN = 0.08
"""Part of a logarithmic axis by which it reaches beyond its values until two ticks are on it."""
MULTIPLES: tuple[tuple[float, ...], ...] = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 2, 3, 5, 7),
    (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9),
)
"""Ticks of a decade: the first of these that puts three on an axis."""


def pyplot() -> Any:
    """Load matplotlib for files that are equal for equal reports; None where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    # No random ids, and text as text; the date is left out when saving.
    matplotlib.rcParams.update({"svg.hashsalt": "onekernel", "svg.fonttype": "none"})
    from matplotlib import pyplot as loaded

    loaded.rcParams.update(
        {
            "font.size": TEXT,
            "xtick.labelsize": TEXT,
            "ytick.labelsize": TEXT,
            "legend.fontsize": TEXT,
            "axes.labelsize": LABEL,
            "axes.titlesize": LABEL,
            "figure.titlesize": TITLE,
        }
    )
    return loaded


def user_pyplot() -> Any:
    """Load matplotlib with the user's own settings, for figures in a notebook or a window.

    Raises
    ------
    UserError
        matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot as loaded
    except ImportError:
        raise UserError("a plot needs matplotlib: pip install 'onekernel[report]'") from None
    return loaded


def save(
    figure: Any, folder: Path, name: str, formats: Sequence[str] = FORMATS, *, transparent: bool = False
) -> list[Path]:
    """Save a figure in some formats, on white unless it is transparent; the first is what reports show."""
    ground: dict[str, Any] = {"transparent": True} if transparent else {"facecolor": "white"}
    written = []
    for form in formats:
        path = folder / f"{name}.{form}"
        metadata = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata, **ground)
        written.append(path)
    return written


def dress(axes: Any, grid: str = "both", *, framed: bool = False) -> None:
    """Draw the grid behind the curves, and no frame above and at the right unless it is asked for."""
    axes.grid(axis=grid, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    if framed:
        return
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def logarithmic(axes: Any, which: str, base: int = 10) -> None:
    """Make an axis logarithmic, with at least two labelled ticks and no more than fit.

    Parameters
    ----------
    axes : matplotlib Axes
        With its curves: the ticks follow from the values that are drawn.
    which : str
        x or y.
    base : int
        Of the logarithm: 2 or 10.
    """
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    axis = {"x": axes.xaxis, "y": axes.yaxis}[which]
    scaled, limited = {"x": (axes.set_xscale, axes.set_xlim), "y": (axes.set_yscale, axes.set_ylim)}[which]
    scaled("log", base=base)
    low, high = sorted(axis.get_view_interval())
    ticks = log_ticks(low, high, base)
    spread = (high / low) ** MARGIN
    while len(ticks) < 2:
        low, high, spread = low / max(spread, 1.1), high * max(spread, 1.1), spread * spread
        ticks = log_ticks(low, high, base)
    limited(low, high)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(lambda value, _: tick_text(value))
    axis.set_minor_locator(NullLocator() if base == 2 else _minor(low, high))
    axis.set_minor_formatter(NullFormatter())


def log_ticks(low: float, high: float, base: int = 10) -> list[float]:
    """Return the labelled ticks of a logarithmic axis: powers of the base, and within a decade or two multiples."""
    first, last = math.floor(math.log(low, base)), math.ceil(math.log(high, base))
    decades = [float(base) ** power for power in range(first, last + 1)]
    found = _within(decades, low, high)
    if len(found) > MOST_TICKS:
        return found[:: -(-len(found) // MOST_TICKS)]
    for steps in MULTIPLES if base == 10 else ((1.0,), (1.0, 1.5)):
        found = _within([step * decade for decade in decades for step in steps], low, high)
        if len(found) > 2:
            break
    return found


def tick_text(value: float) -> str:
    """Word a tick: thousands grouped, no exponent where it can be avoided."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _within(ticks: Sequence[float], low: float, high: float) -> list[float]:
    return [tick for tick in ticks if low <= tick * (1 + 1e-9) and tick <= high * (1 + 1e-9)]


def _minor(low: float, high: float) -> Any:
    from matplotlib.ticker import FixedLocator

    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first > MOST_TICKS:
        return FixedLocator([10.0**power for power in range(first, last + 1)])
    return FixedLocator([step * 10.0**power for power in range(first, last + 1) for step in range(2, 10)])
