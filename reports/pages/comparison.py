"""The report of a comparison as Markdown: an overview of all instances, a section for each, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reports.comparison import execution_settings, scaling
from reports.comparison.headline import headline
from reports.comparison.sections import ComparedSection
from reports.comparison.speedups import ComparedRuns
from reports.pages import comparison_tables
from reports.pages.markdown import statistics_of, template
from reports.papers import exhibits, files
from reports.plots import targets as plots_targets
from reports.records import parameters
from reports.records.schema import HASH_SCOPES
from reports.text.formatting import cost, gap, grouped, listed
from reports.text.tables import TextTable
from reports.twelve_rules import inputs, verdicts


@dataclass(frozen=True)
class RenderedSection:
    """A section with what was made of it.

    Attributes
    ----------
    section : Compared
    plots : sequence of (str, str)
        What each picture shows, and its address relative to the report.
    tables : dict
        As `reports.pages.comparison_tables.tables` names them.
    """

    section: ComparedSection
    plots: Sequence[tuple[str, str]]
    tables: dict[str, TextTable]


def make_tables(section: ComparedSection, plots: Sequence[tuple[str, str]] = ()) -> RenderedSection:
    """Make the tables of a section."""
    return RenderedSection(section, plots, comparison_tables.tables(section))


def latex_tables(sections: Sequence[RenderedSection]) -> list[TextTable]:
    """All tables of a report, in its order."""
    several = [comparison_tables.overview([one.section for one in sections])] if len(sections) > 1 else []
    return [*several, *(table for one in sections for table in one.tables.values())]


def render(sections: Sequence[RenderedSection]) -> str:
    """Return the report's text.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    comparisons = [one.section.comparison for one in sections]
    text = template("compare.md.j2").render(
        work=comparisons[0].work,
        hashed=HASH_SCOPES[comparisons[0].work.hash_scope],
        hash_meaning=execution_settings.HASH_MEANINGS[comparisons[0].work.hash_scope],
        sections=[_section(one) for one in sections],
        overview=comparison_tables.overview([one.section for one in sections]) if len(sections) > 1 else None,
        processes=process_sentence(comparisons),
        strong_law=scaling.STRONG_LAW if any(one.section.strong for one in sections) else "",
        weak_law=scaling.WEAK_LAW if any(one.section.weak for one in sections) else "",
        fitted=scaling.FITTED,
        machines=any(len(one.machines) > 1 for one in comparisons),
        to_targets=any(one.section.to_targets for one in sections),
        rules=verdicts.RULES_MARK,
        **statistics_of([row for one in comparisons for row in one.rows]),
    )
    page = verdicts.insert_rules(text)
    return verdicts.insert_rules(page, rules_section(sections, page))


def _section(one: RenderedSection) -> dict[str, Any]:
    """What the template needs of a section."""
    section, comparison = one.section, one.section.comparison
    work = comparison.work
    return {
        "work": work,
        "headline": headline(comparison, section.nearby),
        "plots": one.plots,
        "tables": one.tables,
        "source": instance_text(str(work.details.get("instance_source") or "source not recorded"), section.why),
        "parameters": comparison_parameters_text(comparison),
        "usual_settings": execution_settings.setting_sentences(comparison.usual_settings),
        "settings_apart": unusual_settings(comparison),
        "found": cost_sentence(section),
        "rows": len(comparison.rows),
        "evaluations": evaluation_sentences(comparison),
        "machines": comparison.machines,
        "cautions": section.cautions,
        "mixed": [sentence for mixed in section.mixed for sentence in mixed.verdicts()],
        "curves": [*section.strong, *section.weak],
        "targets": _targets(section),
        "verdicts": section.beside.verdicts() if section.beside else [],
        "baseline": comparison.baseline,
        "not_run": [" ".join(str(missing).split()).rstrip(".") for missing in comparison.not_run],
        "published": list(comparison_tables.published(comparison)),
        "stands_in": paper_places(comparison),
    }


def paper_places(comparison: ComparedRuns) -> list[str]:
    """Name the papers' tables that have a place for these runs, with the command that fills them."""
    found = []
    for one in files.papers_of_workload(comparison.work.workload):
        rows = comparison.rows
        names = [
            exhibit.name
            for exhibit in one.exhibits
            if not exhibit.of and any(exhibits.find_series(exhibit, row.record) for row in rows)
        ]
        if names:
            found.append(
                f"Such runs belong to {listed(list(dict.fromkeys(names)))} of `{one.name}`: "
                f"`python -m drivers.reproduce {one.name}` fills the paper's tables and draws its figures"
            )
    return found


def _targets(section: ComparedSection) -> list[str]:
    """What is to be said of targets and of the histories, in sentences without their full stops; empty without any."""
    if section.to_targets is None:
        return []
    targets, families = section.to_targets
    left_out = plots_targets.shown_families(families, targets)[1]
    notes = [note for family in families for note in family.notes]
    return [targets.why, *([left_out] if left_out else []), *notes]


def rules_section(sections: Sequence[RenderedSection], page: str) -> str:
    """Decide the twelve rules of Hoefler and Belli from the records and the page."""
    every = [one.section for one in sections]
    said = inputs.ReportProperties(
        page=page,
        reasons={one.comparison.work.instance: one.why for one in every},
        # The straight line of a scaling plot is what no number of ranks should exceed.
        bounds={label for one in every for curve in one.strong for label in curve.rows},
        bound="efficiency",
        figures=[what for one in sections for what, _ in one.plots],
        extremes=["shortest", "longest"],
        means={"seconds": inputs.ARITHMETIC},
        mean_ratios="",
        assumed_normal="",
        joined="",
    )
    return verdicts.rules_markdown(verdicts.decide_rules([one.comparison for one in every], said))


def instance_text(source: str, why: str) -> str:
    """Say where an instance came from, and why it was chosen where that is another thing."""
    source, why = source.rstrip(". "), why.rstrip(". ")
    return f"{source}." + (f" Why this one: {why}." if why and why != source else "")


def comparison_parameters_text(comparison: ComparedRuns) -> str:
    """Word what decided the work, the seed or seeds last."""
    work = comparison.work
    asked = {name: value for name, value in work.parameters.items() if name != "seeds"}
    words = [f"{name} = {execution_settings.value_text(value)}" for name, value in sorted(asked.items())]
    several = work.parameters.get("seeds")
    return ", ".join([*words, f"seeds {several}" if several else f"seed = {work.seed}"])


def unusual_settings(comparison: ComparedRuns) -> list[str]:
    """Explain the execution settings that are not the usual ones, each once."""
    sentences = (
        sentence
        for row in comparison.rows
        for sentence in execution_settings.setting_sentences(comparison.settings_apart(row.record))
    )
    return list(dict.fromkeys(sentences))


def cost_sentence(section: ComparedSection) -> str:
    """Word the best cost of one seed, or the costs of several, as a sentence without its full stop."""
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


def evaluation_sentences(comparison: ComparedRuns) -> list[str]:
    """Say how many evaluations a repetition made and what counts as one: once, or for each of the differing settings.

    If runs of the same settings evaluated unequally often, as an exact search does, each row has its own number.
    """
    unit = comparison.work.evaluation_unit
    numbers: dict[str, dict[str, list[int]]] = {}
    for row in comparison.rows:
        meaning = str(row.record.details.get("evaluation_definition") or "as the driver defines them")
        told = parameters.parameters_text(comparison.settings_apart(row.record))
        numbers.setdefault(meaning, {}).setdefault(told, []).append(row.record.evaluations)
    same = len(numbers) == 1 == len({row.record.evaluations for row in comparison.rows})
    said = []
    for meaning, by_settings in numbers.items():
        for told, counts in list(by_settings.items())[: 1 if same else None]:
            where = f" ({told})" if told and not same else ""
            many = grouped(counts[0])
            if len(set(counts)) > 1:
                many = f"{grouped(min(counts))} to {grouped(max(counts))}, different in each row,"
            said.append(f"{unit[0].upper()}{unit[1:]}{where}: {many} per repetition. Counted: {meaning.rstrip('.')}.")
    return said


def process_sentence(comparisons: Sequence[ComparedRuns]) -> str:
    """Say which rows ran in processes of their own, as far as their records tell.

    A driver records its options in ``details["options"]``, and it is a process that runs one row.
    """
    told = [("options" in row.record.details) for one in comparisons for row in one.rows]
    if all(told):
        return "Every row ran in a separate process, with several ranks in one process for each rank."
    if any(told):
        return "Some rows ran in separate processes; the records of the others do not say."
    return "The records do not say whether each row ran in a separate process."
