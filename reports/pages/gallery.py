"""The gallery: a report of each paper, an overview, the gain by ranks, and an index.

`gallery.toml` in the folder of the records, `NAME.jsonl`, lists the reports.
"""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.errors import UserError
from reports.comparison.cautions import BASELINE_PREFIX, OTHER_MEDIANS, ratio_doubts
from reports.comparison.overview import Overview, OverviewRow
from reports.comparison.speedups import ComparedRun, compare
from reports.pages import overview, provenance, ranks
from reports.pages import paper as pages_paper
from reports.pages.markdown import fill, written_into
from reports.papers.exhibits import fill_exhibit, gather_evidence
from reports.papers.files import load, names
from reports.papers.measures import MEASURES
from reports.papers.paper import Paper
from reports.papers.placement import find_series
from reports.plots.style import pyplot
from reports.records.files import Record, RecordError, UnequalWorkError, group_by, load_existing
from reports.text.formatting import counted, ratio, span
from reports.toml_file import DataFile

DATA, INDEX = "gallery.toml", "index.md"
"""Format of pictures on the repository's pages, smaller than PNG."""


class Elsewhere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A median of the same work in another place: see `with_other_medians`."""

    workload: str
    instance: str
    parameters: dict[str, Any]
    execution: dict[str, Any]
    device_kind: str
    seconds: float
    where: str


class GalleryReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A report of the gallery.

    Attributes
    ----------
    name
        Name of a paper, `overview` or `ranks`; its records are `NAME.jsonl`.
    title, note
        Subject, and further information for readers; the latter may be empty.
    commands
        Command lines that made the records; none of a paper, whose plan makes them.
    exhibit, measure
        A table or figure of the paper, and its ratio for the index; empty for none.
    picture
        Name of the report's picture for the index, without suffix; empty for the first.
    why
        Reason for the choice of an overview's runs, a sentence without its full stop.
    partial
        Reason for missing runs of a paper's exhibits, a sentence without its full stop; empty if all were made.
    elsewhere
        Medians of other runs of the same work.
    """

    name: str
    title: str
    commands: tuple[str, ...] = ()
    note: str = ""
    exhibit: str = ""
    measure: str = "speedup"
    picture: str = ""
    why: str = ""
    partial: str = ""
    elsewhere: tuple[Elsewhere, ...] = ()

    @property
    def made_by(self) -> str:
        """Command line for such records."""
        return " && ".join(self.commands) or f"make paper PAPER={self.name}"

    def records(self, folder: Path) -> list[Record]:
        """Its records, with other medians of the same work; none without a file."""
        records = load_existing(folder / f"{self.name}.jsonl")
        return [with_other_medians(record, self.elsewhere) for record in records]

    def absent(self, folder: Path) -> str:
        """Message that it has no records, with the command that makes them."""
        return f"{folder / self.name}.jsonl: no records; they are made by `{self.made_by}`"


def read(folder: Path) -> list[GalleryReport]:
    """Read the list of reports. Raises `UserError` if the file is wrong."""
    file = DataFile(folder / DATA)
    content = file.part(dict[str, list[dict[str, Any]]], file.content, "the file")
    file.among("the file", "key", list(content), ("reports", "elsewhere"))
    elsewhere = file.part(list[Elsewhere], content.get("elsewhere", []), "elsewhere")
    entries = []
    for table in content.get("reports", []):
        place = f"report {table.get('name', '?')}"
        entry = file.part(GalleryReport, {**table, "elsewhere": elsewhere}, place)
        file.among(place, "name", [entry.name], [*names(), *OTHERS])
        file.among(place, "measure", [entry.measure], list(MEASURES))
        exhibits = () if entry.name in OTHERS else load(entry.name).exhibits
        known = [exhibit.name for exhibit in exhibits if not exhibit.of]
        file.among(place, "exhibit", [entry.exhibit] if entry.exhibit else [], known)
        entries.append(entry)
    return entries


def with_other_medians(record: Record, elsewhere: Sequence[Elsewhere]) -> Record:
    """Add medians of the same work elsewhere to a record's details, for the cautions.

    ``elsewhere`` has `workload`, `instance` and `device_kind` of one rank, some of the record's `parameters` and
    `execution` settings, the median of the `seconds`, and the place, `where`, as text.
    """
    known = [
        {"seconds": median.seconds, "where": median.where}
        for median in elsewhere
        if (median.workload, median.instance, median.device_kind, 1)
        == (record.workload, record.instance, record.device_kind, record.ranks)
        and median.parameters.items() <= record.parameters.items()
        and median.execution.items() <= record.execution.items()
    ]
    return replace(record, details={**record.details, OTHER_MEDIANS: known}) if known else record


# --- making it, and comparing it with what is there ---


def write(folder: Path, out: Path) -> tuple[list[Path], list[str]]:
    """Write the reports of a folder's records, and the index.

    Returns the files written, the index first, and reports without records.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 or matplotlib is not installed.
    UnequalWorkError, RecordError
        Records cannot be compared, or one of them is damaged.
    """
    if pyplot() is None:
        raise UserError("matplotlib is missing: pip install -e '.[report]'")
    written, absent, parts = [], [], []
    for entry in read(folder):
        records = entry.records(folder)
        if not records:
            absent.append(entry.absent(folder))
            continue
        files, headline = OTHERS.get(entry.name, _paper)(entry, records, out)
        written += files
        _insert_lines(files[0], _origin(entry, records), provenance.stale_line(records, entry.made_by))
        parts.append(_index_entry(entry, records, headline, files))
    index = out / INDEX
    with written_into(out):
        index.write_text(fill("index.md.j2", parts=parts), encoding="utf-8")
    return [index, *written], absent


def differences(folder: Path) -> list[str]:
    """Return the lines of a folder's pages that differ from its records, and reports without records."""
    with tempfile.TemporaryDirectory() as temporary:
        written, differing = write(folder, Path(temporary))
        for path in written:
            there = folder / path.name
            if not there.exists():
                differing.append(f"{there}: missing; `python -m reports gallery` makes it")
            elif path.suffix == ".md":
                differing += difference(there, there.read_text(encoding="utf-8"), path.read_text(encoding="utf-8"))
    return differing


def stale_reports(folder: Path) -> list[str]:
    stale_lines = [(entry, provenance.stale_line(entry.records(folder), entry.made_by)) for entry in read(folder)]
    return [f"{folder / one.name}.md: {line}" for one, line in stale_lines if line]


def _origin(entry: GalleryReport, records: Sequence[Record]) -> str:
    """Return when a paper's records were made, and the command that makes such records today."""
    if entry.commands:
        return ""
    when = f"Recorded {provenance.dates(records)}; the versions of onekernel are in the lines of the machines."
    return f"{when} `{entry.made_by}` makes such records."


def _insert_lines(page: Path, *lines: str) -> None:
    """Insert lines below the title, each a paragraph; empty ones are left out."""
    title, *rest = page.read_text(encoding="utf-8").split("\n\n", 1)
    page.write_text("\n\n".join(filter(None, [title, *lines, *rest])), encoding="utf-8")


def difference(path: Path, there: str, expected: str) -> list[str]:
    """Return the lines in which a file differs from the expected text, without lines about stale runs.

    Each change of a kernel makes runs stale, and makes no page wrong.
    """
    before, after = (re.sub(rf"^{provenance.STALE}.*\n\n?", "", text, flags=re.M) for text in (there, expected))
    return list(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), str(path), f"{path}, from the records", lineterm="", n=0
        )
    )


# --- reports ---


def _paper(entry: GalleryReport, records: Sequence[Record], out: Path) -> tuple[list[Path], str]:
    paper = load(entry.name)
    files = pages_paper.write(paper, paper.exhibits, records, out, partial=entry.partial)
    return files, _headline_of(paper, entry, records) if entry.exhibit else ""


def _headline_of(paper: Paper, entry: GalleryReport, records: Sequence[Record]) -> str:
    exhibit = next(exhibit for exhibit in paper.exhibits if exhibit.name == entry.exhibit and not exhibit.of)
    figures = []
    for datum in fill_exhibit(exhibit, gather_evidence(paper, records), paper.machines).ours:
        series = datum.row and find_series(exhibit, datum.row.record)
        if datum.row and series and entry.measure in datum.values:
            figures.append((f"{series.heading}: {datum.row.name}", datum.row, datum.values[entry.measure]))
    return _ranges(f"{exhibit.kind.capitalize()} {exhibit.number}, {MEASURES[entry.measure].axis}", figures, records)


def _overview(entry: GalleryReport, records: Sequence[Record], out: Path) -> tuple[list[Path], str]:
    summary = overview_of(records, entry.why)
    if not summary.rows:
        raise UserError(f"{entry.name}.jsonl: no workload has runs that can be compared: {summary.lines[0].refused}")
    figures = [(row.name, row, row.speedup.value) for row in summary.rows if row.speedup]
    files = overview.write(summary, out, entry.made_by)
    return files, _ranges("Workloads of the report, speed-up over one core", figures, records)


def _ranks(entry: GalleryReport, records: Sequence[Record], out: Path) -> tuple[list[Path], str]:
    gains = ranks.rank_gains(records)
    files = ranks.write(gains, out, entry.made_by)
    ratios = [(f"{gain.together.ranks} ranks", gain.speedup.value) for gain in gains]
    return files, f"Speed-up over one rank: {'; '.join(map(_range, _by_whose(ratios).items()))}"


OTHERS = {overview.NAME: _overview, ranks.NAME: _ranks}
"""Functions that make the reports other than those of papers."""


def overview_of(records: Iterable[Record], why: str = "") -> Overview:
    """Make an overview of records: workloads in running order, without configurations that did not run."""
    return Overview(tuple(map(_overview_row, group_by(records, lambda record: record.workload))), why=why)


def _overview_row(records: Sequence[Record]) -> OverviewRow:
    workload = records[0].workload
    try:
        return OverviewRow(workload, "", compare(records))
    except (UnequalWorkError, RecordError) as error:
        return OverviewRow(workload, "", None, (), str(error))


# --- the index ---


def _ranges(what: str, ratios: Sequence[tuple[str, ComparedRun, float]], records: Sequence[Record]) -> str:
    """Return ratios by device as text, from the least to the largest; only those of GPUs if there are any.

    The baseline, with ratio 1, is left out.
    """
    ratios = [ratio for ratio in ratios if ratio[2] != 1]
    of_gpus = [ratio for ratio in ratios if ratio[1].record.device_kind == "gpu"]
    of_others = [ratio for ratio in ratios if ratio[1].record.device_kind != "core" or ratio[1].record.ranks > 1]
    shown = of_gpus or of_others
    if not shown:
        return ""
    by_whose = _by_whose([(whose, value) for whose, _, value in shown])
    sentence = f"{what}: {'; '.join(map(_range, by_whose.items()))}"
    doubtful = [doubts for _, row, _ in shown if (doubts := ratio_doubts(row, records))]
    if not doubtful:
        return sentence
    reasons = dict.fromkeys(text.removeprefix(BASELINE_PREFIX) for doubts in doubtful for text in doubts)
    which = f"{len(doubtful)} of {counted(len(shown), 'ratio')}"
    return f"{sentence}. The baselines of {which} are doubtful: {'; '.join(reasons)}"


def _by_whose(figures: Sequence[tuple[str, float]]) -> dict[str, list[float]]:
    by_whose: dict[str, list[float]] = {}
    for whose, value in figures:
        by_whose.setdefault(whose, []).append(value)
    return by_whose


def _range(ratios: tuple[str, Sequence[float]]) -> str:
    whose, values = ratios
    return f"{whose} {span(ratio(min(values)), ratio(max(values)))}"


def _index_entry(
    entry: GalleryReport, records: Sequence[Record], headline: str, files: Sequence[Path]
) -> Mapping[str, object]:
    report = files[0].name
    pictures = [path.name for path in files if path.suffix == ".svg"]
    wanted = f"{entry.picture}.svg"
    return {
        "entry": entry,
        "report": report,
        "picture": wanted if wanted in pictures else next(iter(pictures), ""),
        "headline": headline,
        "stale": provenance.stale_line(records, entry.made_by),
        "runs": provenance.runs(records),
        "devices": provenance.devices(records),
        "dates": provenance.dates(records),
        "records": f"{entry.name}.jsonl",
    }
