"""The history of a search, for the workloads that know one: `--history` records it, `--curve` writes it as CSV.

Local search notes it on the device, ants have the best tour of every iteration anyway, exact search tells the host its
incumbents. Hill climbing (`drivers.ihc`) has none, since nobody keeps the order in which climbers are done, and dynamic
programming has nothing that improves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from drivers.options import RESULTS, Group, option
from drivers.outputs import OutputFile, writing

MOST_ROWS = 10_000
"""Rows of a history that a record keeps; `--curve` writes all."""

T = TypeVar("T")


def history_option(group: Group = RESULTS) -> Any:
    """Declare `--history`."""
    text = "record after which iteration, how many evaluations and which time the best cost improved"
    return option(False, text, bool, group=group)


def curve_option(group: Group = RESULTS) -> Any:
    """Declare `--curve`, which asks for the history too."""
    return option(None, "save the history, all of it, as CSV", OutputFile, "FILE", group=group)


def asks_for_history(options: Any) -> bool:
    """Whether the search shall keep its history, for the record or for a file of its own."""
    return options.history or options.curve is not None


def save_history(path: OutputFile | None, history: Sequence[Sequence[Any]] | None) -> None:
    """Write a history as CSV where the user asked for it."""
    if not path or history is None:
        return
    with writing(path), open(path, "w", encoding="ascii") as file:
        file.write("iteration,evaluations,seconds,best_cost\n")
        file.writelines(f"{iteration},{count},{seconds:.9f},{cost}\n" for iteration, count, seconds, cost in history)


def thinned(rows: list[T], most: int) -> list[T]:
    """All rows or, of very many, so many evenly chosen; the first and the last are always among them."""
    if len(rows) <= most:
        return rows
    return [rows[i * (len(rows) - 1) // (most - 1)] for i in range(most)]
