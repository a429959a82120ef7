"""Commands for the repository's pages from records: the gallery, and the tables of the page of results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.pages import gallery as pages_gallery
from reports.pages import results
from reports.papers.figure_choices import page_path

PAGES = ("gallery", "results")


def add_commands(commands: Any) -> None:
    gallery = commands.add_parser(
        "gallery",
        help="the gallery's reports and index, from its records",
        description="Make the reports and the index of the gallery from its records.",
    )
    _add_options(gallery)
    command = commands.add_parser(
        "results",
        help="the tables of docs/results.md, from the gallery's records",
        description="Make the tables of docs/results.md from the records of the gallery.",
    )
    _add_options(command)
    command.add_argument("--page", type=Path, help="file to fill (default: as named in results.toml)")


def _add_options(command: argparse.ArgumentParser) -> None:
    folder = Path("reports/gallery")
    command.add_argument("--folder", type=Path, default=folder, help="folder of the records (%(default)s)")
    command.add_argument(
        "--check",
        action="store_true",
        help="write nothing; print differences from the records, and exit with 1 if there are any",
    )


def make_pages(options: argparse.Namespace) -> tuple[Sequence[Path], Sequence[str]]:
    """Make or check the pages of one command.

    Returns the files written, and the differences or failures, a line each.

    Raises
    ------
    UserError
        A page cannot be read or written, or a configuration file is wrong.
    UnequalWorkError, RecordError
        Records cannot be compared, or one of them is damaged.
    """
    if options.command == "results":
        page = options.page or page_path(options.folder)
        return _results(page, options.folder, check=options.check)
    if options.check:
        for line in pages_gallery.stale_reports(options.folder):
            print(f"note: {line}", file=sys.stderr)
        return (), pages_gallery.differences(options.folder)
    return pages_gallery.write(options.folder, options.folder)


def _results(path: Path, folder: Path, *, check: bool) -> tuple[Sequence[Path], Sequence[str]]:
    filled = results.fill(path, folder)
    for note in filled.notes:
        print(f"note: {note}", file=sys.stderr)
    if check:
        return (), [*filled.troubles, *results.differences(path, filled)]
    if filled.after != filled.before:
        try:
            path.write_text(filled.after, encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path}: cannot write it: {error.strerror}") from None
    return (path,), filled.troubles
