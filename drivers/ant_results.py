"""The convergence of an ant colony: `--curve` writes all of it, a record keeps a short one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivers.history import thinned
from drivers.outputs import OutputFile, writing

CURVE_POINTS = 200
"""Points of the convergence curve that a record keeps; `--curve` writes all."""


def save_curve(path: OutputFile | None, curve: Any) -> None:
    """Write the best length of every iteration, and of all up to it, as CSV where the user asked for it."""
    if not path:
        return
    with writing(path), open(path, "w", encoding="ascii") as file:
        file.write("iteration,best_of_iteration,best_so_far\n")
        best = curve[0]
        for iteration, length in enumerate(curve.tolist()):
            best = min(best, length)
            file.write(f"{iteration},{length},{best}\n")


def improvements(curve: Sequence[int], most: int = CURVE_POINTS) -> list[list[int]]:
    """The points [iteration, best so far] where the best so far improves; of very many, so many evenly chosen.

    The first and the last point are always among them.
    """
    points: list[list[int]] = []
    for iteration, length in enumerate(curve):
        if not points or length < points[-1][1]:
            points.append([iteration, length])
    return thinned(points, most)
