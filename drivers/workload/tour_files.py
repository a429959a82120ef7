"""Files of the best tour: TSPLIB's format and a drawing."""

from __future__ import annotations

from typing import Any

from core.errors import UserError
from drivers.options.output_files import reporting_write_errors


def refuse_blank_drawing(options: Any, instance: Any) -> None:
    """Refuse `--svg` for an instance that cannot be drawn.

    Raises
    ------
    UserError
        It has distances and no coordinates.

    """
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")


def save_tour(options: Any, instance: Any, tour: Any, finder: str) -> None:
    """Write the best tour, if there is one, where the user asked for it; its file names the program that found it.

    Raises
    ------
    UserError
        The disk refuses.

    """
    if tour is None:
        return
    if options.tour:
        from core.problems.tsp import tour_files

        with reporting_write_errors(options.tour):
            tour_files.write(options.tour, tour, name=instance.name, comment=f"found by onekernel, {finder}")
    if options.svg:
        from reports.plots.tour import draw_tour

        with reporting_write_errors(options.svg), open(options.svg, "w", encoding="utf-8") as file:
            file.write(draw_tour(instance.display, tour, instance.name))
