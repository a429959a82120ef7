"""Reports as Markdown: fills templates and writes files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import UserError

TEMPLATES = Path(__file__).parent / "templates"


def fill(name: str, **values: object) -> str:
    """Fill a template, with at most one empty line between paragraphs. Raises `UserError` without jinja2."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise UserError("jinja2 is missing: pip install 'onekernel[report]'") from None

    # Markdown, not HTML: only cells of tables are escaped.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    return re.sub(r"\n{3,}", "\n\n", environment.get_template(name).render(**values)).rstrip() + "\n"


@contextmanager
def written_into(folder: Path) -> Iterator[None]:
    """Make a folder for a report, and turn an error of the system inside into a `UserError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None


def remove_files(folder: Path, *patterns: str) -> None:
    for pattern in patterns:
        for path in folder.glob(pattern):
            path.unlink()
