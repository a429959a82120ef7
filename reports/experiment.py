"""The report of a comparison of one workload: a section for each instance, with all its seeds, shown and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError
from reports import compare_report, latex, plot_style, plots, scaling_plot, target_plots
from reports.records import Record
from reports.scaling import is_grown
from reports.sections import Compared, Section, compared, sections_of
from reports.table import print_table

__all__ = [
    "Compared",
    "Section",
    "compared",
    "is_grown",
    "name_of",
    "of_records",
    "remove",
    "show",
    "side_by_side",
    "write",
]


def name_of(workload: str) -> str:
    """The name of a workload's report and records, without an ending; what is no part of a file's name is a dash."""
    return "compare-" + re.sub(r"[^\w.-]+", "-", workload)


def side_by_side(sections: Sequence[Section]) -> list[Compared]:
    """Put the records of all sections side by side, section by section; those without records are left out.

    Raises
    ------
    RecordError, UnequalWorkError
        As `reports.comparison.compare`.

    """
    everything = [record for section in sections for record in section.records]
    return [compared(section, everything) for section in sections if section.records]


def of_records(records: Sequence[Record]) -> list[Compared]:
    """Put records of one workload side by side, a section for each instance.

    Raises
    ------
    RecordError, UnequalWorkError
        No records, several workloads, or as `reports.comparison.compare`.

    """
    return side_by_side(sections_of(records))


def show(sections: Sequence[Compared]) -> None:
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
    name = name_of(workload)
    for form in ("md", "tex", *plot_style.FORMATS):
        numbered = (folder.glob(f"{name}-[0-9]*{of}.{form}") for of in ("", "-scaling", "-targets"))
        for stale in {*folder.glob(f"{name}.{form}"), *(path for found in numbered for path in found)}:
            stale.unlink()


def write(sections: Sequence[Compared], folder: Path, workload: str) -> list[Path]:
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
    name = name_of(workload)
    shown: list[compare_report.Shown] = []
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, section in enumerate(sections, 1):
            drawn = plots.speedups(section, folder, f"{name}-{number}")
            curves = scaling_plot.scaling(section, folder, f"{name}-{number}-scaling")
            reached = _to_targets(section, folder, f"{name}-{number}-targets")
            named = [("Speed-up over one core", drawn), ("Scaling over ranks", curves), ("Time to target", reached)]
            shown.append(compare_report.shown(section, [(what, files[0].name) for what, files in named if files]))
            written += [*drawn, *curves, *reached]
        report, tables = folder / f"{name}.md", folder / f"{name}.tex"
        report.write_text(compare_report.render(shown), encoding="utf-8")
        tables.write_text(latex.document(compare_report.latex_tables(shown)), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return [report, tables, *written]


def _to_targets(section: Compared, folder: Path, name: str) -> list[Path]:
    """Draw the distribution of the time to each target, row by row, where several seeds have histories."""
    if section.to_targets is None:
        return []
    targets, families = section.to_targets
    work = section.comparison.work
    return target_plots.distributions(families, targets, folder, name, f"{work.workload} on {work.instance}", "")
