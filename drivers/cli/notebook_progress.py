"""A progress bar in a notebook: a little HTML that IPython shows and replaces, since a notebook is no terminal."""

from __future__ import annotations

import html
import sys
from typing import Any


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


class NotebookProgressBar:
    """A bar in the output of the cell that runs, taken away at the end; see `drivers.cli.progress.ProgressDisplay`."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._place: Any = None

    def __enter__(self) -> NotebookProgressBar:
        """Begin to show."""
        from IPython.display import display

        self._place = display(self._shown(""), display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        """Take the bar away: what was found says the rest."""
        from IPython.display import HTML

        self._place.update(HTML(""))

    def show(self, done: int, total: int | None, note: str = "") -> None:
        """So many steps are done of all, if somebody knows how many; a note replaces the last one."""
        part = f' value="{done}" max="{total}"' if total else ""
        of = f" of {total:,}" if total else ""
        self._place.update(self._shown(f"<progress{part}></progress> {done:,}{of} {html.escape(note)}"))

    def _shown(self, bar: str) -> Any:
        from IPython.display import HTML

        return HTML(f"<code>{html.escape(self._description)} {bar}</code>")
