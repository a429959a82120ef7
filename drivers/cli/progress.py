"""A progress bar on rank 0, on a terminal or in a notebook; else a stand-in that imports nothing."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from core.errors import UserError

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from core.run.protocol import Callback, Progress


class ProgressDisplay:
    """A context manager that shows the progress of work; this base class shows nothing."""

    is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop showing."""

    def show(self, done: int, total: int | None, note: str = "") -> None:
        """Show ``done`` of ``total`` steps, if known; a note replaces the last one."""


class ProgressBar(ProgressDisplay):
    """A bar of the `rich` package on standard error."""

    is_shown = True

    def __init__(self, description: str, rich_progress: RichProgress) -> None:
        self._progress = rich_progress
        self._task = rich_progress.add_task(description, total=None, note="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def show(self, done: int, total: int | None, note: str = "") -> None:
        self._progress.update(self._task, completed=done, total=total, note=note)


def in_notebook() -> bool:
    """True if this process is a notebook's kernel; imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


class NotebookProgressBar(ProgressDisplay):
    """A bar in the output of the running cell, removed at the end."""

    is_shown = True

    def __init__(self, description: str) -> None:
        self._description = description

    def __enter__(self) -> Self:
        from IPython.display import display

        self._place = display(self._shown(""), display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        from IPython.display import HTML

        self._place.update(HTML(""))

    def show(self, done: int, total: int | None, note: str = "") -> None:
        part = f' value="{done}" max="{total}"' if total else ""
        of = f" of {total:,}" if total else ""
        self._place.update(self._shown(f"<progress{part}></progress> {done:,}{of} {html.escape(note)}"))

    def _shown(self, bar: str) -> object:
        from IPython.display import HTML

        return HTML(f"<code>{html.escape(self._description)} {bar}</code>")


def make_progress_display(description: str, wanted: bool | None = None, rank: int = 0) -> ProgressDisplay:
    """Make a progress bar if wanted. Raises `UserError` if it is wanted but rich is missing.

    Parameters
    ----------
    description
        Text before the bar.
    wanted
        `--progress` or `--no-progress`. None: only in a notebook, or if standard error is a terminal and rich is
        installed.
    rank
        Only rank 0 shows a bar.
    """
    if rank or wanted is False:
        return ProgressDisplay()
    if in_notebook():
        return NotebookProgressBar(description)
    if wanted is None and not sys.stderr.isatty():
        return ProgressDisplay()
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        if wanted:
            raise UserError("--progress needs rich: pip install -e '.[report]'") from None
        return ProgressDisplay()
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (*shown, TextColumn("{task.fields[note]}", markup=False))
    console = Console(stderr=True, force_terminal=True if wanted else None)
    return ProgressBar(description, RichProgress(*columns, console=console))


def progress_callback(bar: ProgressDisplay, unit: str, noun: str, in_words: Callable[[int], str] = str) -> Callback:
    """Return a callback that shows a search's progress, with speed, best cost and bound if known."""

    def show(progress: Progress) -> None:
        notes = []
        if progress.evaluations is not None:
            notes.append(f"{rate(progress.evaluations, progress.seconds):,.0f} {unit}/s")
        if progress.cost is not None:
            notes.append(f"best {noun} {in_words(progress.cost)}")
        if progress.bound is not None:
            notes.append(f"bound {in_words(progress.bound)}")
        bar.show(progress.done, progress.total, ", ".join(notes))

    return show


def rate(units: float, seconds: float) -> float:
    """Units per second; 0 if no time passed."""
    return units / seconds if seconds > 0 else 0.0
