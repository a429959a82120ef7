"""The gallery: the page of each paper, an overview, the gain by ranks, and an index.

`gallery.toml` in the folder of the records, `NAME.jsonl`, lists the pages.
"""

from __future__ import annotations

import difflib
import re
import runpy
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.errors import UserError
from reports.pages import overview, ranks
from reports.pages import paper as pages_paper
from reports.pages.comparison import days_of, ratio_text
from reports.pages.markdown import fill, written_into
from reports.papers.files import load, names
from reports.plots import style
from reports.rates import ALL_CORES
from reports.records.environment import ROOT
from reports.records.files import Record, load_existing, merge
from reports.records.programs import is_stale
from reports.text.formatting import machine, span
from reports.toml_file import DataFile

if TYPE_CHECKING:
    import pandas

DATA, INDEX = "gallery.toml", "index.md"
STALE = "Records of earlier programs: "
"""Beginning of a line about runs of earlier kernels, in a separate paragraph."""
OTHERS = {overview.NAME: "Workloads on every device", ranks.NAME: "Several ranks, a device each"}
"""Titles of the pages that are no papers'."""
Findings = tuple[list[Path], list[str]]
"""Files of a page, the page first, and its main figures as sentences."""


class GalleryReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page: name of a paper, `overview` or `ranks`, and the command lines that made its records, `NAME.jsonl`.

    The plan of a paper makes its records, so it has no command lines.
    """

    name: str
    commands: tuple[str, ...] = ()

    @property
    def made_by(self) -> str:
        return " && ".join(self.commands) or f"make paper PAPER={self.name}"

    def stale_line(self, records: Sequence[Record]) -> str:
        """Return a line with the number of runs with older or unrecorded kernels; empty if there is none."""
        runs = merge(records)
        count = sum(map(is_stale, runs))
        of_all = f"{len(runs):,} run{'s' * (len(runs) != 1)}"
        return f"{STALE}{count:,} of {of_all}; `{self.made_by}` makes new ones." if count else ""


def read(folder: Path) -> list[GalleryReport]:
    """Read the list of pages. Raises `UserError` if the file is wrong."""
    file = DataFile(folder / DATA)
    file.among("the file", "key", list(file.content), ["reports"])
    pages = file.part(list[GalleryReport], file.content.get("reports", []), "reports")
    file.among("reports", "name", [page.name for page in pages], [*names(), *OTHERS])
    return pages


def write(folder: Path, out: Path) -> tuple[list[Path], list[str]]:
    """Write the pages of a folder's records, and the index.

    Returns the files written, the index first, and messages about pages without records.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 or matplotlib is not installed.
    UnequalWorkError, RecordError
        Records cannot be compared, or one of them is damaged.
    """
    if not style.is_installed():
        raise UserError("matplotlib is missing: pip install 'onekernel[report]'")
    written, absent, parts = [], [], []
    for page in read(folder):
        records = load_existing(folder / f"{page.name}.jsonl")
        if not records:
            absent.append(f"{folder / page.name}.jsonl: no records; they are made by `{page.made_by}`")
            continue
        files, findings = _make(page, records, out)
        title, *rest = files[0].read_text(encoding="utf-8").split("\n\n", 1)
        files[0].write_text("\n\n".join(filter(None, [title, page.stale_line(records), *rest])), encoding="utf-8")
        written += files
        parts.append(
            {
                "title": OTHERS[page.name] if page.name in OTHERS else load(page.name).title,
                "page": files[0].name,
                "picture": next((path.name for path in files if path.suffix == ".svg"), ""),
                "findings": findings,
                "machine": machine(*(one.environment for one in records)),
                "dates": days_of(records),
            }
        )
    index = out / INDEX
    with written_into(out):
        index.write_text(fill("index.md.j2", parts=parts), encoding="utf-8")
    return [index, *written], absent


def outdated_pages(folder: Path) -> dict[Path, str]:
    """Return new texts of the README and of pages of docs that quote this gallery otherwise than its records say."""
    program = ROOT / "docs" / "pages.py"
    return runpy.run_path(str(program))["outdated"](folder) if program.exists() else {}


def differences(folder: Path) -> list[str]:
    """Return the lines of pages that differ from a folder's records, and messages about missing files and versions.

    `+changes` after the commit of a record means a version that only its machine has.
    """
    differing = []
    for path in sorted(folder.glob("*.jsonl")):
        if changed := sum("+changes" in str(one.environment.get("commit")) for one in load_existing(path)):
            differing.append(f"{path}: {changed} records of a commit with changes, expected those of a commit alone")
    with tempfile.TemporaryDirectory() as temporary:
        written, absent = write(folder, Path(temporary))
        for path in written:
            there = folder / path.name
            if not there.exists():
                differing.append(f"{there}: missing; `onekernel report gallery` makes it")
            else:
                differing += difference(there, there.read_text(encoding="utf-8"), path.read_text(encoding="utf-8"))
    for page, text in outdated_pages(folder).items():
        differing += difference(page, page.read_text(encoding="utf-8"), text)
    return differing + absent


def difference(path: Path, there: str, expected: str) -> list[str]:
    """Return the lines in which a file differs from the expected text, without lines about earlier programs.

    Each change of a kernel makes records old, and makes no page wrong. Of a picture the words and numbers count.
    """
    if path.suffix == ".svg":
        there, expected = ("\n".join(re.findall("<text[^>]*>([^<]*)<", text)) for text in (there, expected))
    before, after = (re.sub(rf"^{STALE}.*\n\n?", "", text, flags=re.M).splitlines() for text in (there, expected))
    return list(difflib.unified_diff(before, after, str(path), f"{path}, from the records", lineterm="", n=0))


def stale_reports(folder: Path) -> list[str]:
    """Return a line for each page with records of earlier programs."""
    lines = [(page, page.stale_line(load_existing(folder / f"{page.name}.jsonl"))) for page in read(folder)]
    return [f"{folder / page.name}.md: {line}" for page, line in lines if line]


# --- pages ---


def _make(page: GalleryReport, records: Sequence[Record], out: Path) -> Findings:
    import pandas

    if page.name == overview.NAME:
        sections = overview.overview_sections(records)
        ratios = pandas.concat([one.rates.set_index("kind")["over_one_core"] for one in sections]).dropna()
        shown = ratios[ratios.index.isin([ALL_CORES, "GPU"])]
        return overview.write(sections, out, made_by=page.made_by), _ranges(shown, "over one core")
    if page.name == ranks.NAME:
        works = ranks.rank_rates(records)
        files = ranks.write(works, out, page.made_by)
        gains = pandas.concat([work.strong["gain"] for work in works])
        shown = gains[gains.index > 1].rename(lambda count: f"{count} ranks")
        return files, _ranges(shown, "over one rank")
    paper = load(page.name)
    exhibits = pages_paper.summary(paper, records)
    telling = [f"{title}: **{verdict}**: {answer.rstrip('.')}" for title, verdict, answer in exhibits if answer]
    counts = Counter(verdict for _, verdict, _ in exhibits)
    verdicts = f"Claims of the paper: {', '.join(f'{verdict} ({count})' for verdict, count in counts.items())}"
    return pages_paper.write(paper, paper.exhibits, records, out, made_by=page.made_by), [*telling[:1], verdicts]


def _ranges(ratios: pandas.Series[float], base: str) -> list[str]:
    """Return the least and the largest ratio of each name in the index, as sentences without a full stop."""
    return [
        f"{name}: {span(f'×{ratio_text(of.min())}', f'×{ratio_text(of.max())}')} {base}"
        for name, of in ratios.groupby(level=0, sort=False)
    ]
