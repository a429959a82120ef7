"""The best tour of a run as files: `--tour` in TSPLIB's format, `--svg` as a drawing."""

from __future__ import annotations

import argparse
from typing import Any


def add_tour_options(group: argparse._ActionsContainer) -> None:
    """Add `--tour` and `--svg`."""
    group.add_argument("--tour", metavar="FILE", help="save the best tour as a TSPLIB .tour file")
    group.add_argument("--svg", metavar="FILE", help="draw the best tour")


def save_tour(options: argparse.Namespace, instance: Any, tour: Any, finder: str) -> None:
    """Write the best tour where the user asked for it.

    Parameters
    ----------
    options
        With those of `add_tour_options`.
    instance : core.problems.tsp.TspInstance
    tour : array_like, shape (n,)
    finder
        The program's name, for the file's comment.

    Raises
    ------
    UserError
        A drawing of an instance that has no coordinates.

    """
    if options.tour:
        from core.problems import tours

        tours.write(options.tour, tour, name=instance.name, comment=f"found by onekernel, {finder}")
    if options.svg:
        from core.errors import UserError
        from reports.tour_svg import draw_tour

        if instance.display is None:
            raise UserError(f"{instance.name} has no coordinates to draw")
        with open(options.svg, "w") as file:
            file.write(draw_tour(instance.display, tour, instance.name))
