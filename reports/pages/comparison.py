"""The report of a comparison: an overview, a section for each instance, explanations, and its files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.comparison import execution_settings, scaling
from reports.comparison.headline import headline
from reports.comparison.sections import ComparedSection, InstanceSection, compare_section, split_by_instance
from reports.comparison.speedups import ComparedRuns
from reports.pages.comparison_tables import overview, tables
from reports.pages.markdown import fill, remove_files, statistics_of, written_into
from reports.papers import files
from reports.papers.placement import find_series
from reports.plots import scaling as scaling_plot
from reports.plots import speedup_bars
from reports.records import parameters
from reports.records.files import Record
from reports.records.schema import HASH_SCOPES
from reports.text.formatting import cost, gap, grouped, listed

Pictures = Sequence[tuple[str, str]]
"""Content of each picture of a section, and its address relative to the report."""


def compare_sections(sections: Sequence[InstanceSection]) -> list[ComparedSection]:
    """Compare the records of each section that has some; raises as `reports.comparison.speedups.compare`."""
    everything = [record for section in sections for record in section.records]
    return [compare_section(section, everything) for section in sections if section.records]


def compare_records(records: Sequence[Record]) -> list[ComparedSection]:
    """Compare records of one workload, a section for each instance.

    Raises `RecordError` or `UnequalWorkError` without records, for several workloads, or as `compare` does.
    """
    return compare_sections(split_by_instance(records))


def render(sections: Sequence[ComparedSection], pictures: Sequence[Pictures] = ()) -> str:
    comparisons = [section.comparison for section in sections]
    work = comparisons[0].work
    drawn = pictures or [()] * len(sections)
    return fill(
        "compare.md.j2",
        work=work,
        hashed=HASH_SCOPES[work.hash_scope],
        hash_meaning=execution_settings.HASH_MEANINGS[work.hash_scope],
        sections=[_template_values(one, plots) for one, plots in zip(sections, drawn, strict=True)],
        overview=overview(sections) if len(sections) > 1 else None,
        processes=_process_sentence(comparisons),
        strong_law=scaling.STRONG_LAW if any(section.strong for section in sections) else "",
        weak_law=scaling.WEAK_LAW if any(section.weak for section in sections) else "",
        fitted=scaling.FITTED,
        **statistics_of([row for comparison in comparisons for row in comparison.rows]),
    )


def _template_values(section: ComparedSection, plots: Pictures) -> dict[str, Any]:
    comparison = section.comparison
    return {
        "work": comparison.work,
        "headline": headline(comparison, section.nearby),
        "plots": plots,
        "tables": tables(section),
        "source": _source_text(section),
        "parameters": _parameters_text(comparison),
        "usual_settings": execution_settings.setting_sentences(comparison.usual_settings),
        "settings_apart": _unusual_settings(comparison),
        "found": cost_sentence(section),
        "rows": len(comparison.rows),
        "evaluations": _evaluation_sentences(comparison),
        "machines": comparison.machines,
        "cautions": section.cautions,
        "mixed": [sentence for mixed in section.mixed for sentence in mixed.verdicts()],
        "curves": [*section.strong, *section.weak],
        "verdicts": section.solvers.verdicts() if section.solvers else [],
        "baseline": comparison.baseline,
        "not_run": [" ".join(str(missing).split()).rstrip(".") for missing in comparison.not_run],
        "stands_in": _paper_hints(comparison),
    }


def _paper_hints(comparison: ComparedRuns) -> list[str]:
    """Name the papers' tables for these runs, with the command that fills them."""
    places = []
    for paper in files.papers_of_workload(comparison.work.workload):
        rows = comparison.rows
        names = [
            exhibit.name
            for exhibit in paper.exhibits
            if not exhibit.of and any(find_series(exhibit, row.record) for row in rows)
        ]
        if names:
            places.append(
                f"Such runs belong to {listed(list(dict.fromkeys(names)))} of `{paper.name}`: "
                f"`python -m drivers.reproduce {paper.name}` fills the paper's tables and draws its figures"
            )
    return places


def _source_text(section: ComparedSection) -> str:
    """Return the source of an instance, and the reason of its choice if that differs."""
    details = section.comparison.work.details
    source = str(details.get("instance_source") or "source not recorded").rstrip(". ")
    why = section.why.rstrip(". ")
    return f"{source}." + (f" Why this one: {why}." if why and why != source else "")


def _parameters_text(comparison: ComparedRuns) -> str:
    work = comparison.work
    asked = {name: value for name, value in work.parameters.items() if name != "seeds"}
    words = [f"{name} = {execution_settings.value_text(value)}" for name, value in sorted(asked.items())]
    several = work.parameters.get("seeds")
    return ", ".join([*words, f"seeds {several}" if several else f"seed = {work.seed}"])


def _unusual_settings(comparison: ComparedRuns) -> list[str]:
    """Explain the execution settings that are not the usual ones, each once."""
    sentences = (
        sentence
        for row in comparison.rows
        for sentence in execution_settings.setting_sentences(comparison.unusual_settings(row.record))
    )
    return list(dict.fromkeys(sentences))


def cost_sentence(section: ComparedSection) -> str:
    """Return the best cost of one seed, or the costs of several, as a sentence without its full stop."""
    work = section.comparison.work
    if section.quality:
        text = str(section.quality)
        return text[0].upper() + text[1:]
    text = f"Best cost {cost(work.best_cost)} by index {work.best_index}"
    optimum = work.details.get("optimum")
    if not optimum:
        return text
    which = "" if work.best_cost == optimum else f" the optimum {cost(optimum)}"
    return f"{text} ({gap(work.best_cost, optimum)}{which})"


def _evaluation_sentences(comparison: ComparedRuns) -> list[str]:
    """Return the evaluations of a repetition and their unit as text: once, or for each of the differing settings.

    If runs of the same settings differ, as in an exact search, each row has its own number.
    """
    unit = comparison.work.evaluation_unit
    numbers: dict[str, dict[str, list[int]]] = {}
    for row in comparison.rows:
        meaning = str(row.record.details.get("evaluation_definition") or "as the driver defines them")
        settings = parameters.parameters_text(comparison.unusual_settings(row.record))
        numbers.setdefault(meaning, {}).setdefault(settings, []).append(row.record.evaluations)
    same = len(numbers) == 1 == len({row.record.evaluations for row in comparison.rows})
    texts = []
    for meaning, by_settings in numbers.items():
        for settings, counts in list(by_settings.items())[: 1 if same else None]:
            where = f" ({settings})" if settings and not same else ""
            many = grouped(counts[0])
            if len(set(counts)) > 1:
                many = f"{grouped(min(counts))} to {grouped(max(counts))}, different in each row,"
            texts.append(f"{unit[0].upper()}{unit[1:]}{where}: {many} per repetition. Counted: {meaning.rstrip('.')}.")
    return texts


def _process_sentence(comparisons: Sequence[ComparedRuns]) -> str:
    """Return text on rows in separate processes: a process with ``details["options"]`` of a driver runs one row."""
    has_options = [("options" in row.record.details) for comparison in comparisons for row in comparison.rows]
    if all(has_options):
        return "Every row ran in a separate process, with several ranks in one process for each rank."
    if any(has_options):
        return "Some rows ran in separate processes; the records of the others do not say."
    return "The records do not say whether each row ran in a separate process."


# --- files ---


def report_name(workload: str) -> str:
    """Name of a workload's report and records, without an ending, with dashes for invalid letters."""
    return "compare-" + re.sub(r"[^\w.-]+", "-", workload)


def remove(folder: Path, workload: str) -> None:
    """Remove an earlier report of a workload with its files. Raises `OSError` if the system refuses."""
    name = report_name(workload)
    kinds = ("", *(f"-[0-9]*{kind}" for kind in ("", "-scaling")))
    remove_files(folder, *(f"{name}{kind}.{form}" for kind in kinds for form in ("md", "tex", "svg")))


def write(sections: Sequence[ComparedSection], folder: Path, workload: str, *, with_latex: bool = False) -> list[Path]:
    """Write the report, the plots of each section if matplotlib is installed, and with LaTeX its tables again.

    Returns the files written, the report first. Raises `UserError` without jinja2, without pandas for LaTeX, or if the
    folder cannot be written.
    """
    name = report_name(workload)
    report, in_latex = folder / f"{name}.md", folder / f"{name}.tex"
    with written_into(folder):
        drawn = [_draw(section, folder, f"{name}-{number}") for number, section in enumerate(sections, 1)]
        pictures = [[(what, files[0].name) for what, files in by_kind.items() if files] for by_kind in drawn]
        report.write_text(render(sections, pictures), encoding="utf-8")
        if with_latex:
            several = [overview(sections)] if len(sections) > 1 else []
            shown = [*several, *(table for section in sections for table in tables(section).values())]
            in_latex.write_text("\n".join(table.latex() for table in shown), encoding="utf-8")
    pictures_written = [path for by_kind in drawn for files in by_kind.values() for path in files]
    return [report, *[in_latex] * with_latex, *pictures_written]


def _draw(section: ComparedSection, folder: Path, name: str) -> dict[str, list[Path]]:
    return {
        "Speed-up over one core": speedup_bars.speedups(section, folder, name),
        "Scaling over ranks": scaling_plot.scaling(section, folder, f"{name}-scaling"),
    }
