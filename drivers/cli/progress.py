"""A progress bar on rank 0, on a terminal or in a notebook; else none, and nothing is imported."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from core.run.protocol import Callback, Progress

ShowProgress = Callable[[int, int | None, str], object]
"""(done, total, note): show the steps done of ``total``, if known; a note replaces the last one."""


@contextmanager
def terminal_bar(description: str, bar: RichProgress) -> Iterator[ShowProgress]:
    """Show a bar of the `rich` package on standard error."""
    task = bar.add_task(description, total=None, note="")
    with bar:
        yield lambda done, total, note: bar.update(task, completed=done, total=total, note=note)


def in_notebook() -> bool:
    """True if this process is a notebook's kernel; imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


@contextmanager
def notebook_bar(description: str) -> Iterator[ShowProgress]:
    """Show a bar in the output of the running cell, and remove it at the end."""
    from IPython.display import HTML, display

    def content(bar: str) -> HTML:
        return HTML(f"<code>{html.escape(description)} {bar}</code>")

    def show(done: int, total: int | None, note: str) -> None:
        part = f' value="{done}" max="{total}"' if total else ""
        of = f" of {total:,}" if total else ""
        place.update(content(f"<progress{part}></progress> {done:,}{of} {html.escape(note)}"))

    place = display(content(""), display_id=True)
    try:
        yield show
    finally:
        place.update(HTML(""))


def progress_bar(
    description: str, wanted: bool | None = None, rank: int = 0
) -> AbstractContextManager[ShowProgress | None]:
    """Return a progress bar if wanted, else a context manager of None.

    Parameters
    ----------
    description
        Text before the bar.
    wanted
        `--progress` or `--no-progress`. None: only in a notebook, or if standard error is a terminal.
    rank
        Only rank 0 shows a bar.
    """
    if rank or wanted is False:
        return nullcontext()
    if in_notebook():
        return notebook_bar(description)
    if wanted is None and not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (*shown, TextColumn("{task.fields[note]}", markup=False))
    console = Console(stderr=True, force_terminal=True if wanted else None)
    return terminal_bar(description, RichProgress(*columns, console=console))


def progress_callback(bar: ShowProgress, unit: str, noun: str, in_words: Callable[[int], str] = str) -> Callback:
    """Return a callback that shows a search's progress, with speed, best cost and bound if known."""

    def show(progress: Progress) -> None:
        notes = []
        if progress.evaluations is not None:
            notes.append(f"{rate(progress.evaluations, progress.seconds):,.0f} {unit}/s")
        if progress.cost is not None:
            notes.append(f"best {noun} {in_words(progress.cost)}")
        if progress.bound is not None:
            notes.append(f"bound {in_words(progress.bound)}")
        bar(progress.done, progress.total, ", ".join(notes))

    return show


def rate(units: float, seconds: float) -> float:
    """Units per second; 0 if no time passed."""
    return units / seconds if seconds > 0 else 0.0
