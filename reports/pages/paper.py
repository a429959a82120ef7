"""The report of a paper: its tables and figures with our runs, as Markdown and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.comparison.cautions import DOUBTFUL
from reports.comparison.execution_settings import setting_sentences
from reports.comparison.speedups import ComparedRun
from reports.pages.markdown import fill, remove_files, statistics_of, written_into
from reports.papers import plots
from reports.papers.exhibits import FilledExhibit, MissingRuns, fill_exhibit, gather_evidence, runs_without_exhibit
from reports.papers.files import papers_of_workload
from reports.papers.measures import LEAST_HOST_SHARE, WIDE_RATIO
from reports.papers.modelled import with_modelled
from reports.papers.paper import Disagreement, Exhibit, Paper
from reports.papers.tables import caption, make_ratio_tables, make_table
from reports.records.files import Record, RecordError
from reports.records.parameters import parameters_text, run_parameters, shared_parameters
from reports.statistics.startup import MOST_STARTUP
from reports.text.formatting import cost, listed, per_cent, ratio, seconds, seconds_interval
from reports.text.tables import TextTable

NOT_IN_NAMES = r"[^\w.]+"
"""Letters of an exhibit's name that a file's name does not have."""
WHICH = "The instances are those of the paper's tables and figures"
UNCONFIRMED: dict[str, Callable[[Record], object]] = {
    "instance": lambda run: run.instance,
    "backend": lambda run: run.backend,
    "device": lambda run: run.device,
    ">ranks": lambda run: run.ranks,
    "why": lambda run: f"the NumPy scorer did not confirm its best cost {run.best_cost}",
}
DISAGREEMENTS: dict[str, Callable[[Disagreement], object]] = {
    "where": lambda one: one.where,
    "says": lambda one: one.says,
    "finding": lambda one: one.finding,
}
RATIOS_OVER_FIRST = "95 % intervals of the ratios over the first column, which resample both sides"


def write(
    paper: Paper,
    exhibits: Sequence[Exhibit],
    records: Sequence[Record],
    folder: Path,
    not_made: Mapping[Exhibit, MissingRuns] | None = None,
    made_by: str = "",
    earlier: Sequence[Exhibit] = (),
    partial: str = "",
) -> list[Path]:
    """Write the report of some exhibits of a paper, named after the paper, and their plots; return the files.

    Parameters
    ----------
    exhibits
        Exhibits to report, in this order.
    records
        Records of runs; those of other papers' workloads are left out.
    not_made
        Parts without a run, by exhibit.
    made_by
        The command line that made the records, which the report prints.
    earlier
        Exhibits with runs of another command line.
    partial
        Reason for rows without a run, a sentence without its full stop, which the report prints.

    Raises
    ------
    UnequalWorkError
        Two runs of the same instance, seed and parameters have different hashes.
    UserError
        The folder cannot be written, or jinja2 is not installed.
    """
    evidence = gather_evidence(paper, records)
    parts, drawn = [], []
    with written_into(folder):
        remove(folder, paper)
        for exhibit in exhibits:
            source = paper.drawn(exhibit)
            filled = fill_exhibit(source, evidence, paper.machines, (not_made or {}).get(exhibit, MissingRuns()))
            filled = with_modelled(filled, paper, evidence)
            halves = [one for one in exhibits if one.name == exhibit.name]
            half = f"-{halves.index(exhibit) + 1}" if len(halves) > 1 else ""
            name = f"{paper.name}-{re.sub(NOT_IN_NAMES, '-', exhibit.name)}{half}"
            pictures = plots.draw(exhibit, filled, folder, name)
            drawn += pictures
            parts.append(_part(exhibit, filled, pictures))
        rows = [row for part in parts for row in part["rows"]]
        elsewhere = runs_without_exhibit(paper, evidence.rows) if len(exhibits) == len(paper.exhibits) else []
        over_first = any("over_first" in datum.values for part in parts for datum in part["data"])
        text = fill(
            "paper.md.j2",
            paper=paper,
            made_by=made_by,
            earlier=listed([exhibit.name for exhibit in earlier]) if earlier else "",
            most_startup=per_cent(MOST_STARTUP),
            kernel_apart=per_cent(LEAST_HOST_SHARE),
            which=WHICH,
            doubtful=DOUBTFUL,
            wide_ratio=per_cent(WIDE_RATIO),
            partial=partial,
            over_first=RATIOS_OVER_FIRST if over_first else "",
            parts=parts,
            machines=evidence.machines,
            unconfirmed=evidence.unconfirmed and TextTable.of("Not shown", evidence.unconfirmed, UNCONFIRMED),
            disagreements=_disagreements(paper, exhibits),
            elsewhere=_elsewhere(elsewhere),
            settings=_settings(rows),
            plain=parameters_text(paper.plain),
            **statistics_of(rows),
        )
        path = folder / f"{paper.name}.md"
        path.write_text(text, encoding="utf-8")
    return [path, *drawn]


def write_all(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write a report for every paper that measured a workload of the records, with all its exhibits.

    Raises `UserError` if there is no such paper, or as `write`; `RecordError` if no record counts.
    """
    if not records:
        raise RecordError("no records to fill tables with")
    papers: dict[str, Paper] = {}
    for workload in dict.fromkeys(record.workload for record in records):
        chosen = papers_of_workload(workload)
        if not chosen:
            raise UserError(f"no paper has tables for the workload {workload!r}: use `python -m reports compare`")
        papers |= {paper.name: paper for paper in chosen}
    return [path for paper in papers.values() for path in write(paper, paper.exhibits, records, folder)]


def exhibits_in(folder: Path, paper: Paper) -> list[Exhibit]:
    """Return the exhibits of a paper that its report in a folder shows; none without a report.

    Raises `UserError` if the report cannot be read.
    """
    path = folder / f"{paper.name}.md"
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot read the earlier report: {error}") from None
    return [exhibit for exhibit in paper.exhibits if f"## {caption(exhibit)}" in lines]


def remove(folder: Path, paper: Paper) -> None:
    remove_files(folder, f"{paper.name}.md", f"{paper.name}-*.svg")


# --- what the template prints ---


def _part(exhibit: Exhibit, filled: FilledExhibit, pictures: Sequence[Path]) -> dict[str, Any]:
    drawing = bool(exhibit.of)
    marked = None if drawing else make_table(filled)
    return {
        "title": caption(exhibit),
        "exhibit": exhibit,
        "drawn_from": filled.exhibit.name if drawing else "",
        "ratios": [] if drawing else make_ratio_tables(filled),
        "table": marked,
        "notes": marked.notes if marked else (),
        "picture": pictures[0].name if pictures else "",
        "common": "" if drawing or not filled.ours else parameters_text(filled.common),
        "missing": () if drawing else filled.missing,
        "rows": [] if drawing else filled.rows,
        "data": filled.ours,
        "ran": bool(filled.ours),
    }


def _disagreements(paper: Paper, exhibits: Sequence[Exhibit]) -> TextTable | None:
    """Return a paper's disagreements on the shown exhibits, or on none in particular."""
    there = {exhibit.number for exhibit in exhibits} | {exhibit.of for exhibit in exhibits}
    disagreements = [known for known in paper.disagreements if not known.exhibits or there.intersection(known.exhibits)]
    return TextTable.of("Inconsistencies in the paper", disagreements, DISAGREEMENTS) if disagreements else None


def _settings(rows: Iterable[ComparedRun]) -> list[str]:
    """Explain the execution settings of all runs, each setting and value once."""
    sentences = {sentence for row in rows for sentence in setting_sentences(row.record.execution)}
    return sorted(sentence for sentence in sentences if ": " in sentence)


def _elsewhere(rows: Sequence[ComparedRun]) -> TextTable | None:
    """Return a table of the runs outside all exhibits; None without such runs."""
    if not rows:
        return None
    common = shared_parameters([row.record for row in rows]) if len(rows) > 1 else {}

    def asked(row: ComparedRun) -> str:
        parameters = run_parameters(row.record).items()
        return parameters_text({name: value for name, value in parameters if value is not None and name not in common})

    columns: dict[str, Callable[[ComparedRun], str]] = {
        "workload": lambda row: row.record.workload,
        "instance": lambda row: row.record.instance,
        "ours": lambda row: row.name,
        "asked for": asked,
        ">median [95 % CI]": lambda row: seconds_interval(row.running.median),
        ">speed-up over one core": lambda row: (
            "" if row.baseline_s is None else f"{ratio(row.speedup)} over {seconds(row.baseline_s)}"
        ),
        ">best": lambda row: cost(row.record.best_cost),
    }
    return TextTable.of("Our runs outside the paper's tables", rows, columns)
