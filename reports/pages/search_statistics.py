"""Page of search statistics: results, success rates and times to targets, and tests.

A section for each instance; works may be any algorithms with any parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import UserError
from reports.comparison.algorithms import AlgorithmRow, InstanceRuns, RankTestFamily, group_by_instance
from reports.pages.markdown import template
from reports.plots import style, targets
from reports.records.files import Record
from reports.records.parameters import parameters_text
from reports.statistics import target_tables
from reports.statistics.medians import LEAST_FOR_INTERVAL, RESAMPLES
from reports.statistics.rank_tests import LEVEL, PairTest, least_p
from reports.statistics.seeds import merge_seeds
from reports.text import latex
from reports.text.formatting import cost, gap, grouped, number
from reports.text.tables import TextTable
from reports.twelve_rules import inputs, verdicts

NAME = "statistics"
PICTURES = {"targets": "Distribution of the time to a target", "course": "The best cost over evaluations and seconds"}


@dataclass(frozen=True)
class StatisticsSection:
    """A field with the pictures that were made of it.

    Attributes
    ----------
    field : Field
    pictures : sequence of (str, str)
        What each shows, and its address relative to the report.
    """

    field: InstanceRuns
    pictures: Sequence[tuple[str, str]] = ()


# --- tables ---


def tables(field: InstanceRuns) -> dict[str, TextTable]:
    """The tables of an instance by name: `results`, `targets` where there are several, `tests 1` and on."""
    found = {"results": results(field)}
    if len(field.targets.all) > 1:
        found["targets"] = other_targets(field)
    for place, tests in enumerate(field.tests, 1):
        found[f"tests {place}"] = tests_table(tests, field)
    return found


def results(field: InstanceRuns) -> TextTable:
    """A row for each work on each device: costs over its seeds, and how it reached the first target."""
    target = field.targets.first
    headings = (
        *("algorithm", "on", ">seeds", ">mean ± sd", ">median [95 % CI]", ">best"),
        *(
            f">reached {cost(target.cost)} [95 % CI]",
            ">expected time [95 % CI]",
            f">expected {_unit(field)} [95 % CI]",
        ),
    )
    rows = [
        [
            entry.work,
            entry.place,
            str(len(entry.family.runs)),
            _mean(entry),
            _median(entry),
            _best(entry),
            target_tables.success(entry.family, target),
            target_tables.expected(entry.family, target, "seconds"),
            target_tables.expected(entry.family, target, "evaluations"),
        ]
        for entry in field.entries
    ]
    return TextTable(f"{field.record.instance}: costs over seeds, and running time to {target.words}", headings, rows)


def other_targets(field: InstanceRuns) -> TextTable:
    """How each row reached the targets that are easier than the first."""
    headings = (
        "algorithm",
        "on",
        "target",
        ">reached [95 % CI]",
        ">expected time [95 % CI]",
        f">expected {_unit(field)} [95 % CI]",
    )
    rows = [
        [
            entry.work,
            entry.place,
            target.words,
            target_tables.success(entry.family, target),
            target_tables.expected(entry.family, target, "seconds"),
            target_tables.expected(entry.family, target, "evaluations"),
        ]
        for target in field.targets.all[1:]
        for entry in field.entries
    ]
    return TextTable(f"{field.record.instance}: running time to easier targets", headings, rows)


def tests_table(tests: RankTestFamily, field: InstanceRuns) -> TextTable:
    """A row for each pair."""
    headings = ("one", "other", ">p", ">p, Holm", ">A12", "effect", "at 5 %")
    rows = [
        [
            pair.one.label,
            pair.other.label,
            p_text(pair.p),
            p_text(pair.corrected),
            f"{pair.a12:.2f}",
            pair.effect,
            pair.verdict,
        ]
        for pair in tests.pairs
    ]
    return TextTable(f"{field.record.instance}: {tests.of}", headings, rows)


def p_text(p: float) -> str:
    """Word a probability with two digits, and one that is very small by a bound."""
    if p < 1e-4:
        return "< 0.0001"
    return f"{p:.2g}" if p < 0.995 else "1"


def too_few(pairs: Sequence[PairTest]) -> str:
    """Say, without a full stop, that no difference could be significant with so few seeds; empty otherwise."""
    least = min(least_p(len(pair.one.values), len(pair.other.values)) for pair in pairs) * len(pairs)
    if least < LEVEL:
        return ""
    return (
        f"With so few seeds the smallest p after the correction for {len(pairs)} "
        f"test{'s' if len(pairs) > 1 else ''} is {number(min(1.0, least))}: no difference can be "
        "significant"
    )


def _unit(field: InstanceRuns) -> str:
    return field.units[0] if len(field.units) == 1 else "evaluations"


def _mean(entry: AlgorithmRow) -> str:
    costs = entry.costs
    return cost(costs.mean) + ("" if costs.deviation is None else f" ± {number(costs.deviation)}")


def _median(entry: AlgorithmRow) -> str:
    median = entry.costs.median
    interval = "" if median.low is None or median.high is None else f" [{cost(median.low)}, {cost(median.high)}]"
    return f"{cost(median.value)}{interval}"


def _best(entry: AlgorithmRow) -> str:
    apart = gap(entry.costs.minimum, entry.record.details.get("optimum"))
    return cost(entry.costs.minimum) + (f" ({apart})" if apart else "")


# --- files ---


def render(sections: Sequence[StatisticsSection]) -> str:
    """Return the report's text.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    text = template("statistics.md.j2").render(
        sections=[_section(one) for one in sections],
        rules=verdicts.RULES_MARK,
        resamples=RESAMPLES,
        least_for_interval=LEAST_FOR_INTERVAL,
    )
    page = verdicts.insert_rules(text)
    return verdicts.insert_rules(page, _rules(sections, page))


def _rules(sections: Sequence[StatisticsSection], page: str) -> str:
    """Decide the twelve rules of Hoefler and Belli from the records and the page."""
    fields = [one.field for one in sections]
    about = inputs.ReportProperties(
        page=page,
        figures=[what for one in sections for what, _ in one.pictures],
        extremes=["best"],
        tests="Mann and Whitney's test" if any(field.tests for field in fields) else "",
        means={"costs": inputs.ARITHMETIC},
        mean_ratios="",
        assumed_normal="",
        joined="",
    )
    entries = [(entry.family.label, _a_value_per_seed(entry)) for field in fields for entry in field.entries]
    return verdicts.rules_markdown(verdicts.decide_rules(entries, about))


def _a_value_per_seed(entry: AlgorithmRow) -> Record:
    """The runs of an entry as one whose repetitions are its seeds, since those are what this report counts."""
    runs = entry.family.runs
    return merge_seeds(runs).with_repetitions(tuple(run.repetitions[0] for run in runs), verified=True)


def _section(one: StatisticsSection) -> dict[str, object]:
    field = one.field
    return {
        "instance": field.record.instance,
        "sha256": field.record.instance_sha256,
        "source": str(field.record.details.get("instance_source") or "source not recorded").rstrip(". "),
        "works": {name: parameters_text(parameters) for name, parameters in field.works.items()},
        "budgets": {entry.work: _budget(entry) for entry in field.entries},
        "machines": field.machines,
        "targets": field.targets.why,
        "pictures": one.pictures,
        "left_out": targets.shown_families([entry.family for entry in field.entries], field.targets)[1],
        "tables": tables(field),
        "tests": [(tests_table(one, field), too_few(one.pairs)) for one in field.tests],
        "notes": [*field.cautions(), *field.notes],
    }


def _budget(entry: AlgorithmRow) -> str:
    least, most = entry.budget
    many = grouped(least) if least == most else f"{grouped(least)} to {grouped(most)}"
    return f"{many} {entry.record.evaluation_unit} a run"


def write(fields: Sequence[InstanceRuns], folder: Path) -> list[Path]:
    """Write the report, its tables for LaTeX, and the pictures of each instance where matplotlib is.

    Returns
    -------
    list of Path
        The files written, the report first.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 is not installed.
    """
    report, in_latex = folder / f"{NAME}.md", folder / f"{NAME}.tex"
    written: list[Path] = []
    sections = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove(folder)
        for place, field in enumerate(fields, 1):
            drawn = _draw(field, folder, f"{NAME}-{place}")
            sections.append(StatisticsSection(field, [(what, files[0].name) for what, files in drawn.items()]))
            written += [path for files in drawn.values() for path in files]
        report.write_text(render(sections), encoding="utf-8")
        every = [table.latex() for field in fields for table in tables(field).values()]
        in_latex.write_text(latex.document(every), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return [report, in_latex, *written]


def _draw(field: InstanceRuns, folder: Path, name: str) -> dict[str, list[Path]]:
    families = [entry.family for entry in field.entries]
    unit = field.units[0] if len(field.units) == 1 else ""
    kinds = {"targets": targets.draw_distributions, "course": targets.draw_courses}
    title = field.record.instance
    found = {
        PICTURES[kind]: draw(families, field.targets, folder, f"{name}-{kind}", title, unit)
        for kind, draw in kinds.items()
    }
    return {what: files for what, files in found.items() if files}


def remove(folder: Path) -> None:
    """Remove an earlier report, and what belongs to it.

    Raises
    ------
    OSError
        The system refuses.
    """
    for path in [folder / f"{NAME}.md", folder / f"{NAME}.tex"]:
        path.unlink(missing_ok=True)
    for form in style.FORMATS:
        for kind in PICTURES:
            for stale in folder.glob(f"{NAME}-[0-9]*-{kind}.{form}"):
                stale.unlink()


def report_statistics(records: Sequence[Record], asked: float | None, folder: Path) -> list[Path]:
    """Make the report of records.

    Raises
    ------
    RecordError, UnequalWorkError, UserError
        As `reports.comparison.algorithms.group_by_instance` and `write`.
    """
    return write(group_by_instance(records, asked), folder)
