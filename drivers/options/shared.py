"""Options that several workloads share: the history of a search, and matrices and drawings of tours.

`--history` records the history, `--curve` writes it as CSV, `--plot` draws it. Dynamic programming does not offer
them: nothing improves there before the end.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from core.arguments import path, refuse
from core.errors import UserError
from drivers.options.declaration import RESULTS, OptionGroup, Options, option
from drivers.options.output_files import OutputFile
from drivers.options.values import PATH, ValueType

PLOTS = (".svg", ".png", ".pdf")
PLOT_NAMES = f"FILE{', FILE'.join(PLOTS)}"


def check_plot(name: str, value: Any) -> OutputFile:
    """Return the name of a picture."""
    if not path(name, value).lower().endswith(PLOTS):
        refuse(name, value, PLOT_NAMES)
    return OutputFile(value)


def missing_plot_package() -> str:
    """Return words for a missing matplotlib; empty if it is installed."""
    return "" if importlib.util.find_spec("matplotlib") else "needs matplotlib: pip install -e '.[report]'"


plot_file = ValueType(PLOT_NAMES, check_plot, missing=missing_plot_package)


def history_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--history`."""
    text = "record each improvement of the best cost, with its iteration, evaluations and time"
    return group.option(False, text, bool)


def curve_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--curve`, which asks for the history too."""
    return group.option(None, "save the whole history as CSV", OutputFile, "FILE")


def plot_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--plot`, which asks for the history too."""
    text = "plot the history, best cost against evaluations and seconds, as FILE.svg, .png or .pdf"
    return group.option(None, text, plot_file, "FILE")


def matrix_option(directed: bool) -> Any:
    """Declare `--matrix`; where distances may be directed, the way back may have another length."""
    form = "a NumPy .npy file or a text with one row per line"
    ways = f"a matrix of distances, symmetric or not: {form}"
    both = f"a symmetric matrix of distances: {form}"
    return option(None, f"instead of --instance: {ways if directed else both}", PATH, "FILE")


def tour_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--tour`."""
    return group.option(None, "save the best tour as a TSPLIB .tour file", OutputFile, "FILE")


def svg_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--svg`."""
    return group.option(None, "draw the best tour as SVG", OutputFile, "FILE")


def refuse_seed(options: Options) -> None:
    """Refuse a seed of a run in which nothing is random.

    Raises
    ------
    UserError
        One is given.

    """
    if options.seed or options.seeds:
        raise UserError("--seed changes nothing here: nothing is random (an instance has its own: uniform:20:seed=1)")
