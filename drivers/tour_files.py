"""The best tour of a run as files: `--tour` in TSPLIB's format, `--svg` as a drawing."""

from __future__ import annotations

import argparse
from typing import Any

from core.errors import UserError
from drivers.outputs import OutputFile, writing


def add_tour_options(group: argparse._ActionsContainer) -> None:
    """Add `--tour` and `--svg`."""
    group.add_argument("--tour", type=OutputFile, metavar="FILE", help="save the best tour as a TSPLIB .tour file")
    group.add_argument("--svg", type=OutputFile, metavar="FILE", help="draw the best tour")


def refuse_blank_drawing(options: argparse.Namespace, instance: Any) -> None:
    """Refuse `--svg` for an instance that cannot be drawn.

    Raises
    ------
    UserError
        It has distances and no coordinates.

    """
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")


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
        The disk refuses.

    """
    if options.tour:
        from core.problems import tours

        with writing(options.tour):
            tours.write(options.tour, tour, name=instance.name, comment=f"found by onekernel, {finder}")
    if options.svg:
        from reports.tour_svg import draw_tour

        with writing(options.svg), open(options.svg, "w", encoding="utf-8") as file:
            file.write(draw_tour(instance.display, tour, instance.name))
