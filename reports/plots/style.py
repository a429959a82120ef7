"""Sizes, colours, axes and files of every picture, readable on a page and at 400 pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from core.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.4
"""Width of every picture in inches. `TEXT` has eight pixels if a picture is 400 pixels wide."""
TEXT, LABEL, TITLE = 8, 8.5, 9
"""Sizes in points: of ticks, legends and values; of axes and panels; of the picture."""
DOTS_PER_INCH = 200
SVG = {"hashsalt": "onekernel", "fonttype": "none"}
"""Settings without random ids, and with text as text, so that equal figures make equal files; see `save`."""
GRID = "#dddddd"
MOST_TICKS = {"x": 5, "y": 7}
WIDE = 20.0
"""Spread of an axis above which it is logarithmic."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
"""Colours of Okabe and Ito, safe for colour-blind readers, without yellow, which is weak on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Markers distinguish curves in grey too."""


def is_installed() -> bool:
    """Return True if matplotlib is installed."""
    return find_spec("matplotlib") is not None


@contextmanager
def report_settings() -> Iterator[None]:
    """Set matplotlib for files that are equal for equal reports; afterwards it is as before, for the user's figures."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rc("svg", **SVG)
        matplotlib.rc("font", size=TEXT)
        matplotlib.rc("legend", fontsize=TEXT, frameon=False)
        matplotlib.rc("xtick", labelsize=TEXT)
        matplotlib.rc("ytick", labelsize=TEXT)
        matplotlib.rc("axes", labelsize=LABEL, titlesize=LABEL)
        matplotlib.rc("figure", titlesize=TITLE)
        yield


def user_pyplot() -> ModuleType:
    """Load matplotlib with the user's settings, for figures in a notebook or a window.

    Raises `UserError` if matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot as loaded
    except ImportError:
        raise UserError("a plot needs matplotlib: pip install 'onekernel[report]'") from None
    return loaded


def draw(
    paint: Callable[[Figure, np.ndarray], None],
    path: Path,
    height: float,
    panels: tuple[int, int] = (1, 1),
    *,
    transparent: bool = False,
) -> list[Path]:
    """Draw a picture and save it as SVG; return the file, none without matplotlib.

    Parameters
    ----------
    paint
        Fills a figure and an array of axes.
    path
        Path of the file, without the ending.
    height
        In inches; the width is `WIDTH`.
    panels
        Rows and columns.
    """
    if not is_installed():
        return []
    from matplotlib.figure import Figure

    picture = path.with_name(f"{path.name}.svg")
    with report_settings():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        paint(figure, figure.subplots(*panels, squeeze=False))
        save(figure, picture, transparent=transparent)
    return [picture]


def save(figure: Figure, path: Path, *, transparent: bool = False) -> None:
    """Save a figure in the format of its file's suffix, on white unless transparent."""
    ground: dict[str, Any] = {"transparent": True} if transparent else {"facecolor": "white"}
    form = path.suffix[1:].lower()
    undating = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {"Software": None})
    figure.savefig(path, format=form, dpi=DOTS_PER_INCH, metadata=undating, **ground)


def dress(axes: Axes, grid: Literal["x", "y", "both"] = "both") -> None:
    axes.grid(axis=grid, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def is_wide(values: Sequence[float]) -> bool:
    """True if a linear axis would hide the small ones of these positive values."""
    return len(values) > 1 and min(values) > 0 and max(values) / min(values) > WIDE


def logarithmic(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, with at least two labelled ticks and at most as many as fit.

    A short axis has round numbers as a linear one has, a longer one multiples of the powers, a long one powers alone.
    The axes must have their curves, since the ticks follow from the drawn values.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axis = getattr(axes, f"{which}axis")
    getattr(axes, f"set_{which}scale")("log")
    low, high = sorted(axis.get_view_interval())
    if high / low < 5:
        axis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    else:
        multiples = (1.0,) if high / low > 100 else (1.0, 3.0) if high / low > WIDE else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=multiples, numticks=MOST_TICKS[which]))
    axis.set_major_formatter(lambda value, _: tick_text(value))
    axis.set_minor_locator(LogLocator(subs="all", numticks=99))
    axis.set_minor_formatter(NullFormatter())


def tick_text(value: float) -> str:
    """Return a tick without an exponent: thousands grouped, and whole ones with k, M, G or T from ten thousand on."""
    if value < 10_000 or (value < 1e6 and value % 1000):
        return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
    power = min(int(math.log10(value) + 1e-9) // 3, 4)
    return f"{value / 1000**power:g}{' kMGT'[power]}"
