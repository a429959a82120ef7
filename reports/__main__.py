"""`python -m reports`: makes reports from records, without running anything."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError
from core.program_parser import ProgramParser, invocation
from core.standard_output import run_program, run_watched
from reports.pages import comparison, gallery, paper, ranks
from reports.pages.record import command, record_lines
from reports.rates import rate_sections
from reports.records import frame, iohprofiler
from reports.records.files import Record, RecordError, distinct, load


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 a page differs from its records, 2 user error."""
    options = _parser().parse_args(argv)
    try:
        if options.command in ("gallery", "show"):
            return _make_gallery(options) if options.command == "gallery" else run_watched(lambda: _show(options))
        records = distinct(record for path in options.records for record in load(path))
        if not records:
            raise RecordError("no records in the files")
        written = options.write(records, options)
        if isinstance(written, int):
            return written
        print_paths(written)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _make_gallery(options: argparse.Namespace) -> int:
    """Make the gallery's pages, and what the README and docs quote of them; or print the differences.

    Return 1 if there are any.
    """
    if options.check:
        for line in gallery.stale_reports(options.folder):
            print(f"note: {line}", file=sys.stderr)
        troubles = gallery.differences(options.folder)
    else:
        written, troubles = gallery.write(options.folder, options.folder)
        quoting = gallery.outdated_pages(options.folder)
        for page, text in quoting.items():
            page.write_text(text, encoding="utf-8")
        print_paths([*written, *quoting])
    for trouble in troubles:
        print(trouble, file=sys.stderr)
    return 1 if troubles else 0


def _show(options: argparse.Namespace) -> int:
    """Print the commands of a file's records, or everything about one record."""
    records = load(options.records)
    if options.row is None:
        return _print("".join(f"{row:3}  {command(record)}\n" for row, record in enumerate(records, 1)))
    if not 1 <= options.row <= len(records):
        raise UserError(f"row {options.row}: {options.records} has {len(records)} records")
    return _print("".join(f"{line}\n" for line in record_lines(records[options.row - 1])))


def _parser() -> argparse.ArgumentParser:
    parser = ProgramParser(prog=invocation("reports"), description="Make reports from files of run records.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (write, out, content) in COMMANDS.items():
        epilog = f"columns:\n{frame.documentation()}" if name == "csv" else None
        command = commands.add_parser(name, help=content, description=f"Write {content}.", epilog=epilog)
        command.set_defaults(write=write)
        command.add_argument("records", nargs="+", type=Path, help="files of run records (JSON Lines)")
        where = "folder to write to (%(default)s)" if out else "file to write to (standard output)"
        command.add_argument("--out", type=Path, default=out, help=where)
        if name == "compare":
            command.add_argument("--latex", action="store_true", help="write the tables for LaTeX too")
    show = commands.add_parser("show", help="a file's records, or one in full", description=_show.__doc__)
    show.add_argument("records", type=Path, metavar="FILE", help="file of run records (JSON Lines)")
    show.add_argument("row", type=int, nargs="?", metavar="ROW", help="number of a record, from 1 (default: a list)")
    text = "Make the pages of the gallery, and what the README and docs quote of them, from its records."
    command = commands.add_parser("gallery", help="the gallery's pages, from its records", description=text)
    folder = Path("reports/gallery")
    command.add_argument("--folder", type=Path, default=folder, help="folder of the records (%(default)s)")
    check = "write nothing; print differences from the records, and exit with 1 if there are any"
    command.add_argument("--check", action="store_true", help=check)
    return parser


def _write_csv(records: Sequence[Record], options: argparse.Namespace) -> Sequence[Path] | int:
    text = frame.csv_text(records)
    if options.out is None:
        return run_watched(lambda: _print(text))
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{options.out}: cannot write the table: {error.strerror}") from None
    return [options.out]


def _print(text: str) -> int:
    print(text, end="")
    return 0


def _write_ioh(records: Sequence[Record], options: argparse.Namespace) -> Sequence[Path]:
    files, notes = iohprofiler.write(records, options.out)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return files


def print_paths(written: Sequence[Path]) -> None:
    """Print the paths of the report. Raises `UserError` if standard output cannot be written."""
    try:
        for path in written:
            print(path)
        sys.stdout.flush()
    except OSError as error:
        # Python would write buffered output again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UserError(f"standard output: {error.strerror}; the report is in {written[0]}") from None


def _compare(records: Sequence[Record], options: argparse.Namespace) -> Sequence[Path]:
    """Compare records, by instance."""
    sections = rate_sections(records)
    return comparison.write(sections, options.out, sections[0].proof.workload, with_latex=options.latex)


OUT = Path("reports/out")
COMMANDS = {
    "compare": (_compare, OUT, "rates of the runs of one workload, a section for each instance"),
    "papers": (
        lambda records, options: paper.write_all(records, options.out),
        OUT,
        "papers' tables and figures, filled with runs of their rows",
    ),
    "ranks": (
        lambda records, options: ranks.write(ranks.rank_rates(records), options.out),
        OUT,
        "rates of one rank and of several ranks on the same problems",
    ),
    "csv": (_write_csv, None, "comma-separated values, a row per repetition; values without a record are empty"),
    "ioh": (_write_ioh, OUT / "ioh", "IOHprofiler's format: best cost over evaluations, a run per seed"),
}
"""Each command: the function that writes, the default folder, and what it writes."""


if __name__ == "__main__":
    sys.exit(run_program(main))
