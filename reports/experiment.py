"""The report of a comparison of one workload: a section for each instance, with all its seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from core.errors import UserError
from reports import compare_tables, latex, markdown, plots
from reports.comparison import Comparison, NotRun, compare
from reports.records import Record, families
from reports.table import print_table


@dataclass(frozen=True)
class Section:
    """What ran on one instance.

    Attributes
    ----------
    records : sequence of Record
        Of all configurations that ran, and all seeds.
    not_run : sequence of NotRun
        The others, and why.
    why : str
        Why this instance was chosen, in words.

    """

    records: Sequence[Record]
    not_run: Sequence[NotRun]
    why: str


class Compared(NamedTuple):
    """A section whose records were put side by side."""

    comparison: Comparison
    why: str


def name_of(workload: str) -> str:
    """The name of a workload's report and records, without an ending."""
    return f"compare-{workload}"


def compared(section: Section) -> Compared:
    """Put the records of a section side by side; those of several seeds as one, those of grown work not at all.

    Raises
    ------
    RecordError, UnequalWorkError
        As `reports.comparison.compare`.

    """
    records = [one_for_all(family) for family in families(one for one in section.records if not is_grown(one))]
    return Compared(compare(records, section.not_run), section.why)


def is_grown(record: Record) -> bool:
    """Tell whether a run did more work than one rank would have, in proportion to its ranks."""
    return record.ranks > 1 and record.details.get("scaled") == record.ranks


def one_for_all(family: Sequence[Record]) -> Record:
    """A record that stands for runs which differ in the seed alone.

    It has the repetitions of all, the best cost of any, the mean of what they evaluated, and a hash of their hashes:
    equal for those whose runs are equal, seed by seed. ``details["costs"]`` has the cost of every seed.
    """
    if len(family) == 1:
        return family[0]
    best = min(family, key=lambda run: run.best_cost)
    hashes = hashlib.sha256(" ".join(f"{run.seed} {run.trajectory_hash}" for run in family).encode())
    return replace(
        best,
        seed=family[0].seed,
        parameters={**best.parameters, "seeds": ", ".join(str(run.seed) for run in family)},
        samples=tuple(sample for run in family for sample in run.samples),
        evaluations=round(sum(run.evaluations for run in family) / len(family)),
        trajectory_hash=hashes.hexdigest()[:16],
        scored=all(run.scored for run in family),
        details={**best.details, "costs": {str(run.seed): run.best_cost for run in family}},
    )


def show(sections: Sequence[Compared]) -> None:
    """Print the tables of all sections."""
    for section in sections:
        if len(sections) > 1:
            print(f"\n{section.comparison.work.instance}")
        print_table(section.comparison)


def remove(folder: Path, workload: str) -> None:
    """Remove an earlier report of a workload, and what belongs to it.

    Raises
    ------
    OSError
        The system refuses.

    """
    name = name_of(workload)
    for form in ("md", "tex", *plots.FORMATS):
        for stale in (*folder.glob(f"{name}.{form}"), *folder.glob(f"{name}-[0-9]*.{form}")):
            stale.unlink()


def write(sections: Sequence[Compared], folder: Path, workload: str) -> list[Path]:
    """Write the report, its tables for LaTeX, and a plot of each section with speed-ups where matplotlib is.

    Returns
    -------
    list of Path
        The files written, the report first.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 is not installed.

    """
    name = name_of(workload)
    texts: list[str] = []
    tables: list[compare_tables.Table] = []
    written: list[Path] = []
    try:
        for number, (comparison, why) in enumerate(sections, 1):
            drawn = plots.speedups(comparison, folder, f"{name}-{number}") if comparison.baseline else []
            texts.append(markdown.render(comparison, drawn[0].name if drawn else None, why))
            tables += compare_tables.tables(comparison).values()
            written += drawn
        report, latex_tables = folder / f"{name}.md", folder / f"{name}.tex"
        report.write_text("\n".join(texts), encoding="utf-8")
        latex_tables.write_text(latex.document(tables), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return [report, latex_tables, *written]
