"""The page of a paper: for each exhibit claim, one table, one picture and the verdict; and everything as CSV."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from reports.pages.comparison import busy_text, days_of
from reports.pages.markdown import fill, remove_files, written_into
from reports.papers.cells import NARROW, NARROW_RATIO, as_number, exhibit_frame, gpu_name, runs_of
from reports.papers.files import load, names
from reports.papers.measures import PaperRun
from reports.papers.paper import Column, Exhibit, Paper
from reports.papers.placement import has_run, run_choice
from reports.papers.verdicts import NOT_RUN, UNTESTED, Verdict, verdict
from reports.plots.exhibits import draw
from reports.rates import BUSY_CORES
from reports.records.files import Record
from reports.text.formatting import duration, grouped, listed, per_cent
from reports.text.tables import TextTable

if TYPE_CHECKING:
    import pandas

NOT_IN_NAMES = r"[^\w.]+"
"""Letters of an exhibit's name that a file's name does not have."""
MOST_NAMES = 4
"""Largest number of rows that a sentence names one by one."""
TIMES = ("seconds", "milliseconds", "rate")
"""Measures that follow from the rate of a run."""
KINDS = {"core": "one core", "cores": "all cores", "gpu": "GPU"}
"""Devices of a heading without runs."""
Missing = Mapping[tuple[str, str, str], str]
"""Reasons for missing runs, by exhibit, row and column."""


def write(
    paper: Paper,
    exhibits: Sequence[Exhibit],
    records: Sequence[Record],
    folder: Path,
    *,
    missing: Missing | None = None,
    made_by: str = "",
) -> list[Path]:
    """Write the page of some exhibits of a paper, named after the paper, its CSV file and pictures; return the files.

    Parameters
    ----------
    exhibits
        Exhibits to show, in this order.
    records
        Records of runs. The confirmed ones of the host of the paper's newest run count.
    missing
        Reasons for runs that were not made: by exhibit, row and column.
    made_by
        Command line that made the records, which the page prints.

    Raises
    ------
    UnequalWorkError
        Two runs of the same instance, seed and parameters have different hashes.
    UserError
        The folder cannot be written, or jinja2 or pandas is not installed.
    """
    runs = runs_of(paper, records)
    page, table = folder / f"{paper.name}.md", folder / f"{paper.name}.csv"
    with written_into(folder):
        remove(folder, paper)
        parts = [_part(paper, one, runs, folder, missing or {}) for one in exhibits]
        shown = {id(run): run for part in parts for run in part["cells"]["run"].dropna()}
        busy = max((load for run in shown.values() if (load := run.rate["others_cores"]) >= BUSY_CORES), default=0.0)
        text = fill(
            "paper.md.j2",
            paper=paper,
            parts=parts,
            ours=measured_on([*shown.values()]),
            busy=busy_text(busy, next(iter(shown.values())).record) if busy else "",
            narrow=per_cent(NARROW),
            narrow_ratio=per_cent(NARROW_RATIO),
            made_by=made_by,
            data=table.name,
            disagreements=_disagreements(paper, exhibits),
        )
        page.write_text(text, encoding="utf-8")
        table.write_text(_csv(exhibits, [part["cells"] for part in parts], missing or {}), encoding="utf-8")
    return [page, table, *(path for part in parts for path in part["pictures"])]


def write_all(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write the page of every paper with cells of the records, with all its exhibits.

    Raises `UserError` if there is none, or as `write`.
    """
    filled = [one for one in map(load, names()) if any(has_run(one, exhibit, records) for exhibit in one.exhibits)]
    if not filled:
        raise UserError("no paper has a row for these records: use `onekernel report compare`")
    return [path for one in filled for path in write(one, one.exhibits, records, folder)]


def summary(paper: Paper, records: Sequence[Record]) -> list[tuple[str, str, str]]:
    """Return the title, verdict and answer of each exhibit of a paper; without a plot the answer is empty."""
    runs = runs_of(paper, records)
    found = [(exhibit, verdict(exhibit, exhibit_frame(paper, exhibit, runs))) for exhibit in paper.exhibits]
    return [(f"{caption(one)}: {title(one)}", said.verdict, said.answer if one.plot else "") for one, said in found]


def remove(folder: Path, paper: Paper) -> None:
    """Remove an earlier page of a paper with its files."""
    remove_files(folder, f"{paper.name}.md", f"{paper.name}.csv", f"{paper.name}-*.svg")


# --- an exhibit ---


def _part(paper: Paper, exhibit: Exhibit, runs: Sequence[PaperRun], folder: Path, missing: Missing) -> dict[str, Any]:
    """Return what the template prints of an exhibit."""
    cells = exhibit_frame(paper, exhibit, runs)
    heads = {column.key: heading(paper, exhibit, column, cells) for column in exhibit.columns}
    pictures = draw(exhibit, cells, heads, folder / f"{paper.name}-{re.sub(NOT_IN_NAMES, '-', exhibit.name)}")
    one = verdict(exhibit, cells, missing)
    kind, _, number = exhibit.name.partition(" ")
    ran = {id(run): run for run in cells["run"].dropna()}.values()
    took = sum(repetition.total_s for run in ran for record in run.records for repetition in record.repetitions)
    return {
        "caption": caption(exhibit),
        "title": title(exhibit),
        "exhibit": exhibit,
        "cells": cells,
        "marked": one.verdict if one.verdict in (NOT_RUN, UNTESTED) else f"**{one.verdict}**",
        "finding": (one.reason or one.answer).rstrip("."),
        "conclusion": conclusion(one),
        "table": exhibit_table(exhibit, cells, heads) if shown_rows(exhibit, cells) else None,
        "pictures": pictures,
        "command": shlex.join(["onekernel", "reproduce", paper.name, f"--{kind}", number]),
        "took": duration(took) if took else "",
        "cold": [*_cold(exhibit, cells, heads)],
        "not_run": [*_not_run(paper, exhibit, cells, missing)],
    }


def caption(exhibit: Exhibit) -> str:
    """Return the names of an exhibit: Tables 5.1 and 5.2, figure 5.1."""
    numbers: dict[str, list[str]] = {}
    for name in exhibit.names:
        kind, _, number = name.partition(" ")
        numbers.setdefault(kind, []).append(number)
    text = ", ".join(f"{kind}{'s' * (len(own) > 1)} {listed(own)}" for kind, own in numbers.items())
    return text[:1].upper() + text[1:]


def title(exhibit: Exhibit) -> str:
    return exhibit.title.replace("{amount}", amount_text(exhibit))


def conclusion(one: Verdict) -> str:
    """Return the verdict in bold, with its reason, what the cells say, and the sentence after it."""
    bold = "Not run" if one.verdict == NOT_RUN else f"The claim {one.verdict}{f': {one.reason}' if one.reason else ''}"
    return " ".join([f"**{bold}.**", *(f"{text.rstrip('.')}." for text in (one.answer, one.sentence) if text)])


def shown_rows(exhibit: Exhibit, cells: pandas.DataFrame) -> list[str]:
    """Return the rows with at least one cell of ours in a shown column, in their order."""
    keys = [column.key for column in exhibit.shown()]
    return [*dict.fromkeys(cells[(cells["source"] != "paper") & cells["column"].isin(keys)]["row"])]


def exhibit_table(exhibit: Exhibit, cells: pandas.DataFrame, heads: Mapping[str, str]) -> TextTable:
    """Return the table of an exhibit: rows with at least one cell of ours, columns with at least one cell at all.

    A column with the figures of an earlier one is left out: of GPUs, on a host without one.
    """
    rows = shown_rows(exhibit, cells)
    cells = cells[cells["row"].isin(rows)]
    texts = cells.pivot(index="row", columns="column", values="text")
    contents: dict[tuple[object, ...], str] = {}
    for column in exhibit.shown():
        own = cells[cells["column"] == column.key]
        if not own.empty:
            runs = [id(column if run is None else run) for run in own["run"]]
            contents.setdefault((column.measure, column.over, *own["row"], *runs, *own["text"]), column.key)
    keys = [*contents.values()]
    texts = texts.reindex(index=rows, columns=keys).fillna("")
    numeric = cells.groupby("column")["value"].count()
    marked = [f">{heads[key]}" if numeric[key] else heads[key] for key in keys]
    return TextTable(exhibit.title, ("", *marked), [[row, *texts.loc[row]] for row in rows])


def heading(paper: Paper, exhibit: Exhibit, column: Column, cells: pandas.DataFrame) -> str:
    """Return a column's heading with the device of its runs and the paper's amount."""
    devices = cells[(cells["column"] == column.key) & cells["device"].notna()]["device"].unique()
    device = devices[0] if len(devices) == 1 else "several devices" if len(devices) else ""
    if not device and column.series:
        device = KINDS[paper.series[column.series].kinds[0]]
    return column.head.replace("{device}", device).replace("{amount}", amount_text(exhibit))


def amount_text(exhibit: Exhibit) -> str:
    """Return the paper's amount: 1,024 ants, 20 iterations."""
    amounts = exhibit.amount.items()
    return ", ".join(f"{grouped(count)} {name.removesuffix('s') if count == 1 else name}" for name, count in amounts)


def _cold(exhibit: Exhibit, cells: pandas.DataFrame, heads: Mapping[str, str]) -> Iterator[str]:
    """Return the cells with the time of a single, cold run, or a ratio to one: a text for columns of equal rows."""
    once, columns = cells[cells["repetitions"] == 1], dict[tuple[str, ...], list[str]]()
    for column in exhibit.shown():
        cold = cells["row"].isin(once[once["column"].isin([column.key, column.over])]["row"])
        rows = dict.fromkeys(cells[cold & (cells["column"] == column.key)]["row"])
        if column.series and column.measure in TIMES and rows:
            columns.setdefault((*rows,), []).append(f"*{heads[column.key]}*")
    return (f"{listed(those)}: {listed(rows)}" for rows, those in columns.items())


def _not_run(paper: Paper, exhibit: Exhibit, cells: pandas.DataFrame, missing: Missing) -> Iterator[str]:
    """Yield the rows without any cell of ours, a text for each reason."""
    ran, rows = shown_rows(exhibit, cells), dict[str, list[str]]()
    for row in exhibit.rows:
        planned = [one.key for one in exhibit.columns if run_choice(paper, exhibit, row, one) is not None]
        reasons = [missing[exhibit.name, row.name, key] for key in planned if (exhibit.name, row.name, key) in missing]
        if row.name not in ran and (planned or not exhibit.untested):
            reason = reasons[0] if reasons else "no record" if planned else "no instance of it is available"
            rows.setdefault(reason, []).append(row.name)
    for reason, without in rows.items():
        several = f"{len(without)} rows from {without[0]} to {without[-1]}"
        yield f"{several if len(without) > MOST_NAMES else listed(without)} ({reason})"


# --- the page ---


def measured_on(runs: Sequence[PaperRun]) -> str:
    """Return devices, host, date and version of the runs as a line without its full stop; empty without any."""
    if not runs:
        return ""
    records = [record for run in runs for record in run.records]
    where = max(runs, key=lambda run: run.started_at).record.environment
    gpus = [gpu_name(str(one.details.get("device_name"))) for one in records if one.device_kind == "gpu"]
    cores = f"{where.get('cores') or 'the'} cores of {where.get('cpu_model') or 'a processor that is not recorded'}"
    commits = dict.fromkeys(str(one.environment.get("commit") or "outside a checkout") for one in records)
    host = "one virtual machine or several alike" if where.get("virtual") else "one host"
    words = listed([*dict.fromkeys(gpus), cores]), host, days_of(records), f"onekernel {listed([*commits])}"
    return ", ".join(filter(None, words))


def _disagreements(paper: Paper, exhibits: Sequence[Exhibit]) -> TextTable | None:
    """Return the contradicted statements on the shown exhibits, or on none in particular."""
    names = {name for exhibit in exhibits for name in exhibit.names}
    known = [one for one in paper.disagreements if not one.exhibits or names.intersection(one.exhibits)]
    rows = [[one.where, one.says, one.finding] for one in known]
    return TextTable("Where the paper disagrees", ("where", "it says", "found"), rows) if rows else None


def _csv(exhibits: Sequence[Exhibit], frames: Sequence[pandas.DataFrame], missing: Missing) -> str:
    """Return all published figures, all cells with their runs, and the missing runs as comma-separated values."""
    import pandas

    rows: list[dict[str, Any]] = []
    for exhibit, cells in zip(exhibits, frames, strict=True):
        rows += [
            {"row": row.name, "column": f"{column.key}, {part}", "source": "paper", "text": figure}
            | {"exhibit": exhibit.name, "value": as_number(figure)}
            for row in exhibit.rows
            for column, figures in zip(exhibit.published, row.figures, strict=False)
            for part, figure in zip(column.holds, figures, strict=False)
        ]
        ours = cells[cells["source"] != "paper"]
        rows += ours.drop(columns="run").assign(exhibit=exhibit.name).to_dict("records")
        rows += [
            {"exhibit": name, "row": row, "column": column, "source": "ours", "why": reason}
            for (name, row, column), reason in missing.items()
            if name == exhibit.name
        ]
    columns = ["exhibit", *(name for name in frames[0] if name != "run"), "why"] if frames else []
    return str(pandas.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\n", float_format="%.10g"))
