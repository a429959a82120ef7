"""The report of a comparison of one workload: a section for each instance, with all its seeds, shown and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError
from reports.comparison.scaling import is_grown
from reports.comparison.sections import ComparedSection, InstanceSection, compare_section, split_by_instance
from reports.pages import comparison
from reports.pages.terminal import print_table
from reports.plots import scaling, speedup_bars, style
from reports.plots import targets as plots_targets
from reports.records.files import Record
from reports.text import latex

__all__ = [
    "ComparedSection",
    "InstanceSection",
    "compare_section",
    "is_grown",
    "report_name",
    "compare_records",
    "remove",
    "show",
    "compare_sections",
    "write",
]


def report_name(workload: str) -> str:
    """The name of a workload's report and records, without an ending; what is no part of a file's name is a dash."""
    return "compare-" + re.sub(r"[^\w.-]+", "-", workload)


def compare_sections(sections: Sequence[InstanceSection]) -> list[ComparedSection]:
    """Put the records of all sections side by side, section by section; those without records are left out.

    Raises
    ------
    RecordError, UnequalWorkError
        As `reports.comparison.speedups.compare`.

    """
    everything = [record for section in sections for record in section.records]
    return [compare_section(section, everything) for section in sections if section.records]


def compare_records(records: Sequence[Record]) -> list[ComparedSection]:
    """Put records of one workload side by side, a section for each instance.

    Raises
    ------
    RecordError, UnequalWorkError
        No records, several workloads, or as `reports.comparison.speedups.compare`.

    """
    return compare_sections(split_by_instance(records))


def show(sections: Sequence[ComparedSection]) -> None:
    """Print the tables of all sections, for a terminal of 80 columns."""
    for number, section in enumerate(sections):
        print_table(section, titled=len(sections) > 1, explained=number == 0)


def remove(folder: Path, workload: str) -> None:
    """Remove an earlier report of a workload, and what belongs to it.

    Raises
    ------
    OSError
        The system refuses.

    """
    name = report_name(workload)
    for form in ("md", "tex", *style.FORMATS):
        numbered = (folder.glob(f"{name}-[0-9]*{of}.{form}") for of in ("", "-scaling", "-targets"))
        for stale in {*folder.glob(f"{name}.{form}"), *(path for found in numbered for path in found)}:
            stale.unlink()


def write(sections: Sequence[ComparedSection], folder: Path, workload: str) -> list[Path]:
    """Write the report, its tables for LaTeX, and the plots of each section where matplotlib is.

    Returns
    -------
    list of Path
        The files written, the report first.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 is not installed.

    """
    name = report_name(workload)
    shown: list[comparison.RenderedSection] = []
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, section in enumerate(sections, 1):
            drawn = speedup_bars.speedups(section, folder, f"{name}-{number}")
            curves = scaling.scaling(section, folder, f"{name}-{number}-scaling")
            reached = _to_targets(section, folder, f"{name}-{number}-targets")
            named = [("Speed-up over one core", drawn), ("Scaling over ranks", curves), ("Time to target", reached)]
            shown.append(comparison.make_tables(section, [(what, files[0].name) for what, files in named if files]))
            written += [*drawn, *curves, *reached]
        report, tables = folder / f"{name}.md", folder / f"{name}.tex"
        report.write_text(comparison.render(shown), encoding="utf-8")
        tables.write_text(latex.document(table.latex() for table in comparison.latex_tables(shown)), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return [report, tables, *written]


def _to_targets(section: ComparedSection, folder: Path, name: str) -> list[Path]:
    """Draw the distribution of the time to each target, row by row, where several seeds have histories."""
    if section.to_targets is None:
        return []
    targets, families = section.to_targets
    work = section.comparison.work
    return plots_targets.draw_distributions(families, targets, folder, name, f"{work.workload} on {work.instance}", "")
