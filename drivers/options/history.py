"""Options for the history of a search: `--history` records it, `--curve` writes it as CSV, `--plot` draws it.

Dynamic programming does not offer them: nothing improves there before the end.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from core.arguments import path, refuse
from drivers.options.declaration import RESULTS, OptionGroup, option
from drivers.options.output_files import OutputFile
from drivers.options.values import ValueType

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
    return option(False, text, bool, group=group)


def curve_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--curve`, which asks for the history too."""
    return option(None, "save the whole history as CSV", OutputFile, "FILE", group)


def plot_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--plot`, which asks for the history too."""
    text = "plot the history, best cost against evaluations and seconds, as FILE.svg, .png or .pdf"
    return option(None, text, plot_file, "FILE", group)
