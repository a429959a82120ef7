"""Options that the workloads of the travelling salesman share."""

from __future__ import annotations

from typing import Any

from core.errors import UserError
from drivers.options.declaration import RESULTS, OptionGroup, Options, option
from drivers.options.output_files import OutputFile
from drivers.options.values import PATH


def matrix_option(directed: bool) -> Any:
    """Declare `--matrix`; where distances may be directed, the way back may have another length."""
    form = "a NumPy .npy file or a text with one row per line"
    ways = f"a matrix of distances, symmetric or not: {form}"
    both = f"a symmetric matrix of distances: {form}"
    return option(None, f"instead of --instance: {ways if directed else both}", PATH, "FILE")


def tour_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--tour`."""
    return option(None, "save the best tour as a TSPLIB .tour file", OutputFile, "FILE", group)


def svg_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--svg`."""
    return option(None, "draw the best tour as SVG", OutputFile, "FILE", group)


def refuse_seed(options: Options) -> None:
    """Refuse a seed of a run in which nothing is random.

    Raises
    ------
    UserError
        One is given.

    """
    if options.seed or options.seeds:
        raise UserError("--seed changes nothing here: nothing is random (an instance has its own: uniform:20:seed=1)")
