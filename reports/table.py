"""The comparison as a table on the terminal: by `rich` on a terminal, plain text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reports.comparison import Comparison, Row
from reports.markdown import number, ratio_interval, seconds, seconds_interval
from reports.parameters import worded

_HEADINGS = (
    "backend",
    "device",
    "ranks",
    "ways",
    "reps",
    "compile",
    "transfer",
    "kernel",
    "total [95 % CI]",
    "G moves/s",
    "speed-up [95 % CI]",
    "notes",
)
_RIGHT = (2, *range(4, 11))


def print_table(comparison: Comparison) -> None:
    """Print the rows, the work that they share, and what did not run.

    `total` is without compilation; speed-ups are over a run on one core.
    """
    cells = [_cells(row, worded(comparison.ways_apart(row.record))) for row in comparison.rows]
    rich_printed = sys.stdout.isatty() and _print_rich(cells)
    if not rich_printed:
        print(plain_text(cells))
    work = comparison.work
    print(f"{work.proven}: hash {work.hashed}, best {work.best_cost} by index {work.best_index}")
    if comparison.common_ways:
        print(f"ways of all: {worded(comparison.common_ways)}")
    if comparison.baseline is None:
        print("no run on one core, hence no speed-ups")
    for missing in comparison.not_run:
        print(f"not run: {missing}")


def plain_text(cells: Sequence[Sequence[str]]) -> str:
    """Set the table in aligned columns, two spaces apart."""
    lines = [_HEADINGS, *cells]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]

    def aligned(line: Sequence[str]) -> str:
        parts = (
            text.rjust(width) if column in _RIGHT else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join(parts).rstrip()

    return "\n".join([aligned(_HEADINGS), aligned(["-" * width for width in widths]), *map(aligned, cells)])


def _cells(row: Row, ways: str) -> tuple[str, ...]:
    return (
        row.record.backend,
        f"{row.record.device}: {row.device_name}",
        str(row.record.ranks),
        ways,
        str(row.running.repetitions),
        seconds(row.compile_s),
        seconds(row.transfer.median.value),
        seconds(row.kernel.median.value),
        seconds_interval(row.running.median),
        number(row.rate),
        ratio_interval(row.speedup) if row.speedup else "",
        "; ".join(row.labels),
    )


def _print_rich(cells: Sequence[Sequence[str]]) -> bool:
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table()
    for column, heading in enumerate(_HEADINGS):
        table.add_column(Text(heading), justify="right" if column in _RIGHT else "left")
    for line in cells:
        table.add_row(*map(Text, line))
    Console().print(table)
    return True
