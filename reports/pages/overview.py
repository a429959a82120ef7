"""Many workloads on every device: a table with notes, the same for a terminal, and a heat map."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.errors import UserError
from reports.comparison.cautions import BASELINE_PREFIX, FEW_REPETITIONS, Caution, cautions, is_short
from reports.comparison.speedups import ComparedRun, ComparedRuns, NotRun
from reports.plots import heat_map
from reports.plots.heat_map import DOUBTFUL, MISSING, cell_words, select_part, shortened, split_device
from reports.plots.style import FORMATS
from reports.records.schema import HASH_SCOPES
from reports.text.formatting import cell, listed, machine, ratio_interval, seconds, seconds_interval
from reports.text.tables import TextTable
from reports.twelve_rules import verdicts

NAME = "overview"
WIDTH = 80
"""Columns of a terminal."""
NAME_WIDTH = 18
"""Most columns of its first column."""
SHORT_BASELINE = "less than a second on one core, so that launches and copies weigh as much as the work"
PICTURE = "Speed-up over one core, workload by device"
EVERY_RUN = "every run"

UNITS = ((1e12, "T "), (1e9, "G "), (1e6, "M "), (1e3, "k "), (0.0, ""))


@dataclass(frozen=True)
class OverviewRow:
    """A workload and its runs on each device.

    Attributes
    ----------
    workload, title : str
        Its name and its title, which records alone do not say.
    comparison : Comparison, optional
        Its runs side by side; None where there is nothing to compare.
    not_run : tuple of NotRun
        What ran nowhere or was refused, and why.
    refused : str
        Why there is nothing to compare: nothing ran, the runs did different work, or nobody confirmed them.
    why : str
        Reason for this work, a sentence without its full stop; empty where the overview has one for all.

    """

    workload: str
    title: str
    comparison: ComparedRuns | None
    not_run: tuple[NotRun, ...] = ()
    refused: str = ""
    why: str = ""

    @property
    def rows(self) -> tuple[ComparedRun, ...]:
        """All runs."""
        return self.comparison.rows if self.comparison else ()

    def on(self, device: str) -> ComparedRun | None:
        """The run on a device, by `ComparedRun.name`."""
        return next((row for row in self.rows if row.name == device), None)

    @property
    def baseline(self) -> ComparedRun | None:
        """The run on one core."""
        return self.comparison.baseline if self.comparison else None

    @property
    def instance(self) -> str:
        """What was solved; empty where nothing was."""
        return self.comparison.work.instance if self.comparison else ""

    @property
    def work(self) -> str:
        """How much work it is, in the workload's unit: on one core, or on the first device."""
        if self.comparison is None:
            return ""
        record = (self.baseline or self.comparison.rows[0]).record
        scale, prefix = next(one for one in UNITS if record.evaluations >= one[0])
        return f"{record.evaluations / (scale or 1):.3g} {prefix}{record.evaluation_unit}"

    def failures(self) -> Iterator[str]:
        """What did not run, or does not count, and why, a line each."""
        if self.refused:
            yield f"{self.workload}: {self.refused}"
        for one in (*(self.comparison.not_run if self.comparison else ()), *self.not_run):
            yield f"{self.workload} on {one}"


@dataclass(frozen=True)
class Overview:
    """All workloads.

    Attributes
    ----------
    lines : tuple of Line
    not_here : tuple of NotRun
        Devices that no workload ran on, and why.
    why : str
        Reason for these works, a sentence without its full stop.

    """

    lines: tuple[OverviewRow, ...]
    not_here: tuple[NotRun, ...] = ()
    why: str = ""

    @property
    def rows(self) -> list[ComparedRun]:
        """All runs."""
        return [row for line in self.lines for row in line.rows]

    @property
    def devices(self) -> dict[str, str]:
        """The names of the columns, in the order in which they ran but one rank before several, and what each is."""
        ordered = sorted(self.rows, key=lambda row: row.record.ranks)
        return {row.name: row.device_name for row in ordered}

    @property
    def repetitions(self) -> str:
        """How many repetitions a time is the median of, in words."""
        counts = sorted({row.running.repetitions for row in self.rows})
        number = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        return "one repetition" if number == "1" else f"{number} repetitions"

    @property
    def machines(self) -> list[str]:
        """Where the runs were, in words."""
        return list(dict.fromkeys(machine(row.record.environment) for row in self.rows))

    @cached_property
    def cautions(self) -> dict[str, list[Caution]]:
        """What makes figures doubtful, by workload, as a comparison says it."""
        nearby = [row.record for row in self.rows]
        return {line.workload: cautions(line.comparison, nearby) for line in self.lines if line.comparison}

    def doubts(self, line: OverviewRow, row: ComparedRun) -> dict[str, str]:
        """Return what makes a run doubtful, with its figure each."""
        assert line.comparison is not None
        label = line.comparison.label(row)
        found = {one.text: one.figures[label] for one in self.cautions[line.workload] if label in one.figures}
        if row.base is not None and is_short(row):
            found[SHORT_BASELINE] = seconds(row.baseline_s or 0.0)
        return found

    def words(self, line: OverviewRow, row: ComparedRun | None) -> tuple[str, str]:
        """Word a run's time and ratio, each with a mark where a note warns of it."""
        if row is None:
            return cell_words(None, time_doubtful=False, ratio_doubtful=False)
        found = self.doubts(line, row).keys() - {FEW_REPETITIONS}
        of_ratio = [text for text in found if text == SHORT_BASELINE or text.startswith(BASELINE_PREFIX)]
        return cell_words(row, time_doubtful=len(found) > len(of_ratio), ratio_doubtful=bool(found))

    @property
    def notes(self) -> list[str]:
        """What makes figures doubtful, each with the runs that it touches, or with the workloads whose ratios."""
        said: dict[str, list[str]] = {}
        figures: dict[str, list[str]] = {}
        for line in self.lines:
            for row in line.rows:
                for text, figure in self.doubts(line, row).items():
                    of_ratio = text == SHORT_BASELINE or text.startswith(BASELINE_PREFIX)
                    who = line.workload if of_ratio else f"{row.name} on {line.workload}"
                    said.setdefault(text, []).append(f"{who} {figure}".rstrip())
                    figures.setdefault(text, []).append(figure)
        for text, found in figures.items():
            if len(found) == len(self.rows) > 1 and len(set(found)) == 1:
                said[text] = [f"{EVERY_RUN} {found[0]}".rstrip()]
        return [f"{text}: {'; '.join(dict.fromkeys(whose))}" for text, whose in said.items()]


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
    headings = ["workload", "instance", "work", *devices]
    table = [headings, ["---", "---", "---:", *["---:"] * len(devices)]]
    for line in overview.lines:
        cells = [_in_markdown(overview, line, line.on(device)) for device in devices]
        table.append([line.workload, line.instance or MISSING, line.work or MISSING, *cells])
    text = ["# Workloads on everything here", ""]
    text += [f"Made by `{made_by}`.", ""] if made_by else []
    if picture:
        left_out = select_part(overview).left_out
        text += [f"![{PICTURE}]({picture})", ""]
        text += [f"In the table and not in the picture: {'; '.join(left_out)}.", ""] if left_out else []
    text += ["| " + " | ".join(map(cell, row)) + " |" for row in table]
    text += [
        "",
        f"Each cell has the median time of {overview.repetitions} from end to end, without compilation, and how many "
        f"times faster that is than one core; {MISSING}: no run; {DOUBTFUL}: doubtful, the notes say why. "
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
    said = verdicts.ReportProperties(
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


def _in_markdown(overview: Overview, line: OverviewRow, row: ComparedRun | None) -> str:
    return ", ".join(filter(None, overview.words(line, row)))


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
