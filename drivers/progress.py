"""A progress bar on rank 0 and only on a terminal; anywhere else a stand-in that imports nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol

from core.errors import UserError


class Advance(Protocol):
    """How finished work is told to a bar."""

    def __call__(self, units: int = 1, note: str = "") -> None:
        """Count further units as finished; a note, such as the best result so far, replaces the last one."""


class Progress(Protocol):
    """Something that counts finished units of work; a context manager."""

    def __enter__(self) -> Progress:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop showing."""

    def advance(self, units: int = 1, note: str = "") -> None:
        """See `Advance`."""


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        """Begin, without a sign of it."""
        return self

    def __exit__(self, *error: object) -> None:
        """End, without a sign of it."""

    def advance(self, units: int = 1, note: str = "") -> None:
        """Count nothing."""


class Bar:
    """A bar of the `rich` package on standard error."""

    def __init__(self, total: int | None, description: str, rich_progress: Any) -> None:
        self._progress = rich_progress
        self._task = rich_progress.add_task(description, total=total, note="")

    def __enter__(self) -> Bar:
        """Begin to show."""
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the bar as it is and stop refreshing it."""
        self._progress.stop()

    def advance(self, units: int = 1, note: str = "") -> None:
        """See `Advance`."""
        if note:
            self._progress.update(self._task, note=note)
        self._progress.advance(self._task, units)


def progress(total: int | None, description: str, wanted: bool | None = None, rank: int = 0) -> Progress:
    """Make a bar over `total` units where one is wanted.

    Parameters
    ----------
    total : int or None
        Units of work, repetitions for instance; None: not known.
    description : str
        What stands before the bar.
    wanted : bool, optional
        `--progress` or `--no-progress`; None: only when standard error is a terminal and rich is installed.
    rank : int
        Only rank 0 shows anything.

    Raises
    ------
    UserError
        A bar is wanted but rich is not installed.
    """
    if rank or wanted is False or (wanted is None and not sys.stderr.isatty()):
        return Silent()
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        if wanted:
            raise UserError("--progress needs rich: pip install -e '.[report]'") from None
        return Silent()
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (*shown, TextColumn("{task.fields[note]}", markup=False))
    console = Console(stderr=True, force_terminal=True if wanted else None)
    return Bar(total, description, RichProgress(*columns, console=console))


class Report(Protocol):
    """How steps counted from the beginning are told."""

    def __call__(self, done: int, note: str = "") -> None:
        """So many are done; a note replaces the last one."""


def counted(advance: Advance, unit: str, per_step: float = 1.0) -> Report:
    """What turns steps counted from the beginning into those of a bar, with the speed at which units of work come.

    Parameters
    ----------
    advance
        The bar's.
    unit
        What the work is counted in, plural.
    per_step
        Units in a step.

    Returns
    -------
    Report
        A count that is lower than the last one is a second pass, which begins at 0 again.

    """
    began = time.perf_counter()
    finished = told = 0

    def report(done: int, note: str = "") -> None:
        nonlocal finished, told
        if done < told:
            finished, told = finished + told, 0
        speed = rate((finished + done) * per_step, time.perf_counter() - began)
        advance(done - told, f"{speed:,.0f} {unit}/s" + (f", {note}" if note else ""))
        told = done

    return report


def rate(units: float, seconds: float) -> float:
    """Units per second; 0 where the clock saw no time pass."""
    return units / seconds if seconds > 0 else 0.0
