"""Options for the history of a search: `--history` records it, `--curve` writes it as CSV, `--plot` draws it.

Dynamic programming does not offer them: nothing improves there before the end.
"""

from __future__ import annotations

import argparse
import importlib.util
from typing import Any

from drivers.options.declaration import RESULTS, OptionGroup, option
from drivers.options.output_files import OutputFile

PLOTS = (".svg", ".png", ".pdf")


def history_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--history`."""
    text = "record each improvement of the best cost, with its iteration, evaluations and time"
    return option(False, text, bool, group=group)


def curve_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--curve`, which asks for the history too."""
    return option(None, "save the whole history as CSV", OutputFile, "FILE", group=group)


def plot_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--plot`, which asks for the history too."""
    text = "plot the history, best cost against evaluations and seconds, as FILE.svg, .png or .pdf"
    return option(None, text, plot_file, "FILE", group=group)


def plot_file(text: str) -> OutputFile:
    """Read the name of a picture, as an `argparse` type, where there is somebody to draw it."""
    if not text.lower().endswith(PLOTS):
        raise argparse.ArgumentTypeError(f"expected FILE{', FILE'.join(PLOTS)}, found {text!r}")
    if importlib.util.find_spec("matplotlib") is None:
        raise argparse.ArgumentTypeError("needs matplotlib: pip install -e '.[report]'")
    return OutputFile(text)
