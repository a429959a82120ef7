"""Page of search statistics: results, success rates and times to targets, and tests.

A section for each instance; works may be any algorithms with any parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.comparison.algorithms import AlgorithmRow, InstanceRuns, RankTestFamily, group_by_instance
from reports.pages.markdown import fill_with_rules, remove_files, written_into
from reports.plots import style, targets
from reports.records.files import Record
from reports.records.parameters import parameters_text
from reports.statistics import target_tables
from reports.statistics.medians import LEAST_FOR_INTERVAL, RESAMPLES
from reports.statistics.rank_tests import LEVEL, PairTest, least_p
from reports.statistics.seeds import merge_seeds
from reports.statistics.targets import Target
from reports.text import latex
from reports.text.formatting import cost, counted, gap, grouped, interval, number, probability
from reports.text.tables import TextTable
from reports.twelve_rules.inputs import ARITHMETIC

NAME = "statistics"
PICTURES = {
    "Distribution of the time to a target": ("targets", targets.draw_distributions),
    "The best cost over evaluations and seconds": ("course", targets.draw_courses),
}
Pictures = Mapping[str, Sequence[Path]]
"""Files by what they show."""
Cell = Callable[[AlgorithmRow, Target], Any]
"""From a row and a target to its cell."""


# --- tables ---


def tables(field: InstanceRuns) -> dict[str, TextTable]:
    """The tables of an instance by name: `results`, `targets` where there are several, `tests 1` and on."""
    found = {"results": _results(field)}
    if len(field.targets.all) > 1:
        found["targets"] = _easier_targets(field)
    return found | {f"tests {place}": _tests(tests, field) for place, tests in enumerate(field.tests, 1)}


def _results(field: InstanceRuns) -> TextTable:
    """A row for each work on each device: costs over its seeds, and how it reached the first target."""
    target = field.targets.first
    columns: dict[str, Cell] = {
        "algorithm": lambda row, _: row.work,
        "on": lambda row, _: row.place,
        ">seeds": lambda row, _: len(row.family.runs),
        ">mean ± sd": _mean,
        ">median [95 % CI]": lambda row, _: interval(row.costs.median, cost),
        ">best": _best,
        f">reached {cost(target.cost)} [95 % CI]": _success,
    }
    caption = f"{field.record.instance}: costs over seeds, and running time to {target.words}"
    return _target_table(caption, field, [target], columns)


def _easier_targets(field: InstanceRuns) -> TextTable:
    """How each row reached the targets that are easier than the first."""
    columns: dict[str, Cell] = {
        "algorithm": lambda row, _: row.work,
        "on": lambda row, _: row.place,
        "target": lambda _, target: target.words,
        ">reached [95 % CI]": _success,
    }
    caption = f"{field.record.instance}: running time to easier targets"
    return _target_table(caption, field, field.targets.all[1:], columns)


def _target_table(
    caption: str, field: InstanceRuns, targets: Sequence[Target], columns: Mapping[str, Cell]
) -> TextTable:
    """A row for each target and row of the instance; the expected effort in the last columns."""
    unit = field.units[0] if len(field.units) == 1 else "evaluations"
    every: dict[str, Cell] = {
        **columns,
        ">expected time [95 % CI]": lambda row, target: target_tables.expected(row.family, target, "seconds"),
        f">expected {unit} [95 % CI]": lambda row, target: target_tables.expected(row.family, target, "evaluations"),
    }
    rows = [[str(cell(row, target)) for cell in every.values()] for target in targets for row in field.entries]
    return TextTable(caption, tuple(every), rows)


def _tests(tests: RankTestFamily, field: InstanceRuns) -> TextTable:
    """A row for each pair."""
    columns: dict[str, Callable[[PairTest], Any]] = {
        "one": lambda pair: pair.one.label,
        "other": lambda pair: pair.other.label,
        ">p": lambda pair: probability(pair.p),
        ">p, Holm": lambda pair: probability(pair.corrected),
        ">A12": lambda pair: f"{pair.a12:.2f}",
        "effect": lambda pair: pair.effect,
        "at 5 %": lambda pair: pair.verdict,
    }
    return TextTable.of(f"{field.record.instance}: {tests.of}", tests.pairs, columns)


def too_few(pairs: Sequence[PairTest]) -> str:
    """Say, without a full stop, that no difference could be significant with so few seeds; empty otherwise."""
    least = min(least_p(len(pair.one.values), len(pair.other.values)) for pair in pairs) * len(pairs)
    if least < LEVEL:
        return ""
    return (
        f"With so few seeds the smallest p after the correction for {counted(len(pairs), 'test')} is "
        f"{number(min(1.0, least))}: no difference can be significant"
    )


def _success(row: AlgorithmRow, target: Target) -> str:
    return target_tables.success(row.family, target)


def _mean(row: AlgorithmRow, _: Target) -> str:
    deviation = row.costs.deviation
    return cost(row.costs.mean) + ("" if deviation is None else f" ± {number(deviation)}")


def _best(row: AlgorithmRow, _: Target) -> str:
    apart = gap(row.costs.minimum, row.record.details.get("optimum"))
    return cost(row.costs.minimum) + (f" ({apart})" if apart else "")


# --- files ---


def _render(fields: Sequence[InstanceRuns], pictures: Sequence[Pictures]) -> str:
    """Return the report's text; the twelve rules count the seeds of a row, since those are what it shows."""
    entries = [(row.family.label, _with_a_value_per_seed(row)) for field in fields for row in field.entries]
    properties = {
        "figures": [what for one in pictures for what in one],
        "extremes": ["best"],
        "tests": "Mann and Whitney's test" if any(field.tests for field in fields) else "",
        "means": {"costs": ARITHMETIC},
    }
    return fill_with_rules(
        "statistics.md.j2",
        entries,
        properties,
        sections=[_section(field, drawn) for field, drawn in zip(fields, pictures, strict=True)],
        resamples=RESAMPLES,
        least_for_interval=LEAST_FOR_INTERVAL,
    )


def _with_a_value_per_seed(row: AlgorithmRow) -> Record:
    runs = row.family.runs
    return merge_seeds(runs).with_repetitions(tuple(run.repetitions[0] for run in runs), verified=True)


def _section(field: InstanceRuns, pictures: Pictures) -> dict[str, object]:
    """What the template needs of an instance."""
    return {
        "field": field,
        "source": str(field.record.details.get("instance_source") or "source not recorded").rstrip(". "),
        "works": {name: parameters_text(parameters) for name, parameters in field.works.items()},
        "budgets": {row.work: _budget(row) for row in field.entries},
        "pictures": {what: files[0].name for what, files in pictures.items()},
        "left_out": targets.shown_families([row.family for row in field.entries], field.targets)[1],
        "tables": tables(field),
        "too_few": [too_few(one.pairs) for one in field.tests],
        "notes": [*field.cautions(), *field.notes],
    }


def _budget(row: AlgorithmRow) -> str:
    least, most = row.budget
    many = grouped(least) if least == most else f"{grouped(least)} to {grouped(most)}"
    return f"{many} {row.record.evaluation_unit} a run"


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
    with written_into(folder):
        numbered = (f"{NAME}-[0-9]*-{kind}.{form}" for kind, _ in PICTURES.values() for form in style.FORMATS)
        remove_files(folder, report.name, in_latex.name, *numbered)
        pictures = [_draw(field, folder, f"{NAME}-{place}") for place, field in enumerate(fields, 1)]
        report.write_text(_render(fields, pictures), encoding="utf-8")
        every = (table.latex() for field in fields for table in tables(field).values())
        in_latex.write_text(latex.document(every), encoding="utf-8")
    return [report, in_latex, *(path for drawn in pictures for files in drawn.values() for path in files)]


def _draw(field: InstanceRuns, folder: Path, name: str) -> Pictures:
    families = [row.family for row in field.entries]
    unit = field.units[0] if len(field.units) == 1 else ""
    found = {
        what: draw(families, field.targets, folder, f"{name}-{kind}", field.record.instance, unit)
        for what, (kind, draw) in PICTURES.items()
    }
    return {what: files for what, files in found.items() if files}


def report_statistics(records: Sequence[Record], asked: float | None, folder: Path) -> list[Path]:
    """Make the report of records.

    Raises
    ------
    RecordError, UnequalWorkError, UserError
        As `reports.comparison.algorithms.group_by_instance` and `write`.
    """
    return write(group_by_instance(records, asked), folder)
