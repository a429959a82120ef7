"""`python -m reports`: makes reports from records, without running anything."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError
from reports import markdown
from reports.comparison import Comparison, compare
from reports.literature import publication
from reports.paper_tables import tables_report
from reports.parameters import worded
from reports.records import Record, UnequalWorkError, load


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 2 user mistake)."""
    parser = argparse.ArgumentParser(prog="python -m reports", description="Make reports from files of run records.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("compare", help="speed-up report over records of equal work")
    _add_files(command)
    command = commands.add_parser("tables", help="a paper's tables with records of any instances on their lines")
    _add_files(command)
    options = parser.parse_args(argv)
    try:
        records = [record for path in options.records for record in load(path)]
        if options.command == "tables":
            written = [markdown.write_tables(tables_report(records), options.out)]
        else:
            written = markdown.write(_compared(records), options.out)
        tell(written)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def tell(written: Sequence[Path]) -> None:
    """Print where the report is; whoever reads may have gone.

    Raises
    ------
    UserError
        Standard output cannot be written.
    """
    try:
        for path in written:
            print(path)
        sys.stdout.flush()
    except OSError as error:
        # What Python holds back it would try to write once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UserError(f"standard output: {error.strerror}; the report is in {written[0]}") from None


def _compared(records: Sequence[Record]) -> Comparison:
    """Compare records of one work; advise where those of several works have a report of their own."""
    try:
        return compare(records)
    except UnequalWorkError as error:
        asked = {(record.instance_sha256, record.seed, worded(record.parameters)) for record in records}
        if len(asked) > 1 and all(publication(record.workload, "tables") for record in records):
            raise UnequalWorkError(f"{error}; for records of several works: `python -m reports tables`") from None
        raise


def _add_files(command: argparse.ArgumentParser) -> None:
    command.add_argument("records", nargs="+", type=Path, help="files of run records (JSON Lines)")
    command.add_argument("--out", type=Path, default=Path("reports/out"), help="folder to write to (%(default)s)")


if __name__ == "__main__":
    sys.exit(main())
