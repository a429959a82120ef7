"""Many workloads on every device: a table with notes, the same for a terminal, and a heat map."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.errors import UserError
from reports.comparison.overview import DOUBTFUL, MISSING, Overview, OverviewRow
from reports.plots import heat_map
from reports.plots.heat_map import select_part, shortened, split_device
from reports.plots.style import FORMATS
from reports.records.schema import HASH_SCOPES
from reports.text.formatting import listed, ratio_interval, seconds, seconds_interval
from reports.text.tables import TextTable
from reports.twelve_rules import inputs, verdicts

NAME = "overview"
WIDTH = 80
"""Columns of a terminal."""
NAME_WIDTH = 18
"""Most columns of its first column."""
PICTURE = "Speed-up over one core, workload by device"


# --- Markdown ---


def render(overview: Overview, picture: str | None = None, made_by: str = "") -> str:
    """Return the report's text.

    Parameters
    ----------
    overview
        With at least one run.
    picture : str, optional
        Address of the heat map, relative to the report.
    made_by : str, optional
        The command line that made the records.

    """
    devices = overview.devices
    rows = [
        [
            *(line.workload, line.instance or MISSING, line.work or MISSING),
            *(", ".join(filter(None, overview.words(line, line.on(device)))) for device in devices),
        ]
        for line in overview.lines
    ]
    table = TextTable(PICTURE, ("workload", "instance", ">work", *(f">{device}" for device in devices)), rows)
    text = ["# Workloads on every device", ""]
    text += [f"Made by `{made_by}`.", ""] if made_by else []
    if picture:
        left_out = select_part(overview).left_out
        text += [f"![{PICTURE}]({picture})", ""]
        text += [f"In the table and not in the picture: {'; '.join(left_out)}.", ""] if left_out else []
    text += [
        str(table),
        "",
        f"Each cell has the median time of {overview.repetitions} from end to end, without compilation, and its "
        f"speed-up over one core; {MISSING}: no run; {DOUBTFUL}: doubtful, see the notes. "
        f"{_proven(overview)} A plain scorer confirmed the answer of every run.",
        "",
    ]
    if overview.notes:
        text += ["## Notes", "", *(f"- {note}." for note in overview.notes), ""]
    text += ["## Workloads", "", *([f"{overview.why}.", ""] if overview.why else [])]
    text += [*(f"- **{line.workload}**: {_about(line)}." for line in overview.lines), ""]
    text += ["## Devices", "", *(f"- **{name}**: {what}." for name, what in devices.items())]
    text += [f"- Machine: {one}." for one in overview.machines]
    failures = list(_failures(overview))
    if failures:
        text += ["", "## Not run", "", *(f"- {failure}." for failure in failures)]
    text += ["", "## All times", "", str(_times(overview))]
    page = "\n".join(text) + "\n"
    return f"{page}\n{_rules(overview, page, picture).rstrip()}\n"


def _proven(overview: Overview) -> str:
    """Say what the hashes of the runs prove; runs with equal results may have done unequal work."""
    said = []
    for covers in dict.fromkeys(line.comparison.work.hash_scope for line in overview.lines if line.comparison):
        those = [line for line in overview.lines if line.comparison and line.comparison.work.hash_scope == covers]
        proven = those[0].comparison.work.proven if those[0].comparison else ""
        counts = [line.workload for line in those if len({row.record.evaluations for row in line.rows}) > 1]
        unlike = f" (unequal numbers of evaluations: {listed(counts)})" if counts else ""
        names = listed([line.workload for line in those])
        said.append(f"{names}: {proven}, by the hash of {HASH_SCOPES[covers]}{unlike}")
    return f"The runs of a workload have one hash. {'; '.join(said)}."


def _times(overview: Overview) -> TextTable:
    """Make the table of all runs, with their intervals and extremes."""
    headings = ("workload", "run", ">median [95 % CI]", ">shortest", ">longest", ">speed-up over one core [95 % CI]")
    rows = [
        [
            line.workload,
            line.comparison.label(row) if line.comparison else row.name,
            seconds_interval(row.running.median),
            seconds(row.running.minimum),
            seconds(row.running.maximum),
            ratio_interval(row.speedup) if row.speedup else "",
        ]
        for line in overview.lines
        for row in line.rows
    ]
    return TextTable("All times", headings, rows)


def _rules(overview: Overview, page: str, picture: str | None) -> str:
    """Decide the twelve rules of Hoefler and Belli from the records and the page."""
    reasons = {line.instance: line.why or overview.why for line in overview.lines if line.comparison}
    said = inputs.ReportProperties(
        page=page,
        reasons=reasons,
        figures=[PICTURE] if picture else [],
        extremes=["shortest", "longest"],
        means={},
        mean_ratios="",
        assumed_normal="",
        joined="",
    )
    comparisons = [line.comparison for line in overview.lines if line.comparison]
    return verdicts.rules_markdown(verdicts.decide_rules(comparisons, said))


def _about(line: OverviewRow) -> str:
    if line.comparison is None:
        return line.title or line.refused
    work = line.comparison.work
    title = f"{line.title}; " if line.title else ""
    why = f"; {line.why}" if line.why else ""
    return f"{title}{line.work}, best {work.best_cost}, hash `{work.hash}`{why}"


def _failures(overview: Overview) -> Iterator[str]:
    yield from map(str, overview.not_here)
    for line in overview.lines:
        yield from line.failures()


# --- the terminal ---


def plain_text(overview: Overview, width: int = WIDTH) -> str:
    """The table for a terminal: two lines a workload, times above speed-ups; columns that do not fit stand below."""
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
        block = [
            (" " * first + "".join(headings[name][part].rjust(wide) for name in shown)).rstrip() for part in (0, 1)
        ]
        for line in overview.lines:
            for left, part in ((line.workload, 0), (f"  {line.instance}", 1))[: 2 if line.comparison else 1]:
                values = "".join(cells[line.workload, name][part].rjust(wide) for name in shown)
                block.append((shortened(left, first - 1).ljust(first) + values).rstrip())
        blocks.append("\n".join(one for one in block if one))
    said = [f"note: {note}" for note in overview.notes] + [f"not run: {one}" for one in _failures(overview)]
    said = [textwrap.fill(one, width, subsequent_indent="  ") for one in said]
    return "\n".join(["\n\n".join(blocks), *([""] if said else []), *said])


# --- files ---


def remove(folder: Path) -> None:
    """Remove an earlier overview, but not its records.

    Raises
    ------
    OSError
        The system refuses.

    """
    for form in ("md", *FORMATS):
        (folder / f"{NAME}.{form}").unlink(missing_ok=True)


def write(overview: Overview, folder: Path, made_by: str = "", formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the report, and the heat map where there is matplotlib and a ratio over enough work of one core.

    Returns the files, the report first.

    Raises
    ------
    UserError
        The folder cannot be written.

    """
    report = folder / f"{NAME}.md"
    try:
        drawn = heat_map.draw(overview, folder, NAME, formats)
        report.write_text(render(overview, drawn[0].name if drawn else None, made_by), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the overview: {error.strerror}") from None
    return [report, *drawn]
