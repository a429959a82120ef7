"""Many workloads on every device: a table with notes, the same for a terminal, and a heat map."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from reports.comparison.cautions import DOUBTFUL
from reports.comparison.overview import MISSING, Overview, OverviewRow
from reports.comparison.speedups import ComparedRun
from reports.pages.markdown import fill, remove_files, written_into
from reports.plots import heat_map
from reports.plots.heat_map import select_part, shortened, split_device
from reports.records.files import group_by
from reports.records.schema import HASH_SCOPES
from reports.text.formatting import listed, ratio_interval, seconds, seconds_interval
from reports.text.tables import TERMINAL, TextTable

NAME = "overview"
NAME_WIDTH = 18
"""Largest width of the first column on a terminal."""
PICTURE = "Speed-up over one core, workload by device"


def render(overview: Overview, picture: str | None = None, made_by: str = "") -> str:
    """Return the report's text of an overview with at least one run.

    ``picture`` is the address of the heat map, relative to the report; ``made_by`` the command line of the records.
    """
    compared = [line for line in overview.lines if line.comparison]
    return fill(
        "overview.md.j2",
        overview=overview,
        made_by=made_by,
        picture=picture,
        caption=PICTURE,
        left_out=select_part(overview).left_out if picture else (),
        table=_table(overview),
        missing=MISSING,
        doubtful=DOUBTFUL,
        proven=_proven(compared),
        times=_times(compared),
    )


def _table(overview: Overview) -> TextTable:
    def on(device: str) -> Callable[[OverviewRow], str]:
        return lambda line: ", ".join(filter(None, overview.words(line, line.on(device))))

    columns: dict[str, Callable[[OverviewRow], str]] = {
        "workload": lambda line: line.workload,
        "instance": lambda line: line.instance or MISSING,
        ">work": lambda line: line.work or MISSING,
        **{f">{device}": on(device) for device in overview.devices},
    }
    return TextTable.of(PICTURE, overview.lines, columns)


def _proven(compared: Sequence[OverviewRow]) -> list[str]:
    """Return the meaning of the runs' hashes; runs with equal results may have done unequal work."""
    sentences = []
    for lines in group_by(compared, lambda line: line.comparison.work.hash_scope if line.comparison else ""):
        assert lines[0].comparison is not None
        work = lines[0].comparison.work
        unequal = [line.workload for line in lines if len({row.record.evaluations for row in line.rows}) > 1]
        unlike = f" (unequal numbers of evaluations: {listed(unequal)})" if unequal else ""
        names = listed([line.workload for line in lines])
        sentences.append(f"{names}: {work.proven}, by the hash of {HASH_SCOPES[work.hash_scope]}{unlike}")
    return sentences


def _times(compared: Sequence[OverviewRow]) -> TextTable:
    columns: dict[str, Callable[[tuple[OverviewRow, ComparedRun]], str]] = {
        "workload": lambda of: of[0].workload,
        "run": lambda of: of[0].comparison.label(of[1]) if of[0].comparison else "",
        ">median [95 % CI]": lambda of: seconds_interval(of[1].running.median),
        ">shortest": lambda of: seconds(of[1].running.minimum),
        ">longest": lambda of: seconds(of[1].running.maximum),
        ">speed-up over one core [95 % CI]": lambda of: ratio_interval(of[1].speedup),
    }
    return TextTable.of("All times", [(line, row) for line in compared for row in line.rows], columns)


def plain_text(overview: Overview, width: int = TERMINAL) -> str:
    """Return the table for a terminal: two lines a workload, times above speed-ups; further columns follow below."""
    devices = list(overview.devices)
    cells = {(line.workload, name): overview.words(line, line.on(name)) for line in overview.lines for name in devices}
    lefts = [text for line in overview.lines for text in (line.workload, f"  {line.instance}")]
    first = min(max(map(len, lefts)), NAME_WIDTH) + 1
    headings = {name: split_device(name) for name in devices}
    wide = 2 + max(len(text) for pair in (*cells.values(), *headings.values()) for text in pair)
    fitting = max(1, (width - first) // wide)
    blocks = []
    for begin in range(0, max(1, len(devices)), fitting):
        shown = devices[begin : begin + fitting]
        lines = [("", [headings[name][part] for name in shown]) for part in (0, 1)]
        for line in overview.lines:
            for left, part in ((line.workload, 0), (f"  {line.instance}", 1))[: 2 if line.comparison else 1]:
                lines.append((left, [cells[line.workload, name][part] for name in shown]))
        block = [
            f"{shortened(left, first - 1):{first}}" + "".join(f"{cell:>{wide}}" for cell in of) for left, of in lines
        ]
        blocks.append("\n".join(filter(None, map(str.rstrip, block))))
    remarks = [overview.disturbed] if overview.disturbed else []
    remarks += [f"note: {note}" for note in overview.notes] + [f"not run: {failure}" for failure in overview.failures()]
    remarks = [textwrap.fill(sentence, width, subsequent_indent="  ") for sentence in remarks]
    return "\n".join(["\n\n".join(blocks), *([""] if remarks else []), *remarks])


def remove(folder: Path) -> None:
    """Remove an earlier overview, but not its records. Raises `OSError` if the system refuses."""
    remove_files(folder, f"{NAME}.md", f"{NAME}.svg")


def write(overview: Overview, folder: Path, made_by: str = "") -> list[Path]:
    """Write the report, and with matplotlib the heat map if some ratio is over enough work of one core.

    Returns the files, the report first. Raises `UserError` without jinja2, or if the folder cannot be written.
    """
    report = folder / f"{NAME}.md"
    with written_into(folder):
        drawn = heat_map.draw(overview, folder, NAME)
        report.write_text(render(overview, drawn[0].name if drawn else None, made_by), encoding="utf-8")
    return [report, *drawn]
