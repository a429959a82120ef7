"""Page of search statistics: results, success rates, times to targets, and tests, in a section for each instance.

Works may be any algorithms with any parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.comparison.algorithms import InstanceRuns, group_by_instance
from reports.pages.markdown import fill_with_rules, remove_files, written_into
from reports.plots import style, targets
from reports.records.files import Record
from reports.records.parameters import parameters_text
from reports.statistics import target_tables
from reports.statistics.medians import LEAST_FOR_INTERVAL, RESAMPLES, Summary
from reports.statistics.rank_tests import LEVEL
from reports.statistics.seeds import merge_seeds
from reports.statistics.targets import EffortMeasure
from reports.text import latex
from reports.text.formatting import cost, counted, gap, grouped, interval, number, probability
from reports.text.tables import TextTable
from reports.twelve_rules.inputs import ARITHMETIC

if TYPE_CHECKING:
    import pandas

NAME = "statistics"
PICTURES = {
    "Distribution of the time to a target": ("targets", targets.draw_distributions),
    "The best cost over evaluations and seconds": ("course", targets.draw_courses),
}
Pictures = Mapping[str, Sequence[Path]]


# --- tables ---


def tables(field: InstanceRuns) -> dict[str, TextTable]:
    """Return the tables of an instance by name: `results`, `targets` if there are several, `tests 1` and on."""
    named = {"results": _results(field)}
    if len(field.targets.all) > 1:
        named["targets"] = _easier_targets(field)
    return named | {f"tests {place}": _tests(of, field) for place, of in enumerate(field.tests, 1)}


def _results(field: InstanceRuns) -> TextTable:
    """Return a row for each work on each device: costs over its seeds, and success for the first target."""
    target = field.targets.first
    columns: dict[str, Callable[[Any], Any]] = {
        "algorithm": lambda row: row.work,
        "on": lambda row: row.place,
        ">seeds": lambda row: row.costs.repetitions,
        ">mean ± sd": lambda row: _mean(row.costs),
        ">median [95 % CI]": lambda row: interval(row.costs.median, cost),
        ">best": _best,
        f">reached {cost(target.cost)} [95 % CI]": lambda row: target_tables.success(row.family, target),
        **_effort(field, lambda row, measure: target_tables.expected(row.family, target, measure)),
    }
    caption = f"{field.record.instance}: costs over seeds, and running time to {target.words}"
    return TextTable.of(caption, field.rows.itertuples(), columns)


def _easier_targets(field: InstanceRuns) -> TextTable:
    """Return the times of each row to the targets that are easier than the first."""
    columns: dict[str, Callable[[Any], Any]] = {
        "algorithm": lambda of: of[1].work,
        "on": lambda of: of[1].place,
        "target": lambda of: of[0].words,
        ">reached [95 % CI]": lambda of: target_tables.success(of[1].family, of[0]),
        **_effort(field, lambda of, measure: target_tables.expected(of[1].family, of[0], measure)),
    }
    caption = f"{field.record.instance}: running time to easier targets"
    return TextTable.of(caption, product(field.targets.all[1:], field.rows.itertuples()), columns)


def _effort(field: InstanceRuns, expected: Callable[[Any, EffortMeasure], str]) -> dict[str, Callable[[Any], str]]:
    unit = field.units[0] if len(field.units) == 1 else "evaluations"
    return {
        ">expected time [95 % CI]": lambda one: expected(one, "seconds"),
        f">expected {unit} [95 % CI]": lambda one: expected(one, "evaluations"),
    }


def _tests(of: str, field: InstanceRuns) -> TextTable:
    columns: dict[str, Callable[[Any], Any]] = {
        "one": lambda pair: pair.one,
        "other": lambda pair: pair.other,
        ">p": lambda pair: probability(pair.p),
        ">p, Holm": lambda pair: probability(pair.corrected),
        ">A12": lambda pair: f"{pair.a12:.2f}",
        "effect": lambda pair: pair.effect,
        "at 5 %": lambda pair: pair.verdict,
    }
    return TextTable.of(f"{field.record.instance}: {of}", field.tests[of].itertuples(), columns)


def too_few(pairs: pandas.DataFrame) -> str:
    """Say, without a full stop, that no difference could be significant with so few seeds; empty otherwise."""
    least = pairs["least"].min() * len(pairs)
    if least < LEVEL:
        return ""
    return (
        f"With so few seeds the smallest p after the correction for {counted(len(pairs), 'test')} is "
        f"{number(min(1.0, least))}: no difference can be significant"
    )


def _mean(costs: Summary) -> str:
    return cost(costs.mean) + ("" if costs.deviation is None else f" ± {number(costs.deviation)}")


def _best(row: Any) -> str:
    apart = gap(row.costs.minimum, row.record.details.get("optimum"))
    return cost(row.costs.minimum) + (f" ({apart})" if apart else "")


# --- files ---


def _render(fields: Sequence[InstanceRuns], pictures: Sequence[Pictures]) -> str:
    """Return the report's text; the twelve rules count the seeds of a row."""
    entries = [(family.label, _with_a_value_per_seed(family.runs)) for field in fields for family in field.families]
    properties = {
        "figures": [what for picture in pictures for what in picture],
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


def _with_a_value_per_seed(runs: Sequence[Record]) -> Record:
    return merge_seeds(runs).with_repetitions(tuple(run.repetitions[0] for run in runs), verified=True)


def _section(field: InstanceRuns, pictures: Pictures) -> dict[str, object]:
    return {
        "field": field,
        "source": str(field.record.details.get("instance_source") or "source not recorded").rstrip(". "),
        "works": {
            row.work: f"{parameters_text(row.record.parameters)}; {_budget(row)}" for row in field.rows.itertuples()
        },
        "pictures": {what: files[0].name for what, files in pictures.items()},
        "left_out": targets.shown_families(field.families, field.targets)[1],
        "tables": tables(field),
        "too_few": [too_few(pairs) for pairs in field.tests.values()],
        "notes": [*field.cautions(), *field.notes],
    }


def _budget(row: Any) -> str:
    many = grouped(row.least) if row.least == row.most else f"{grouped(row.least)} to {grouped(row.most)}"
    return f"{many} {row.record.evaluation_unit} a run"


def write(fields: Sequence[InstanceRuns], folder: Path) -> list[Path]:
    """Write the report, its tables for LaTeX, and the pictures of each instance if matplotlib is installed.

    Returns the files written, the report first. Raises `UserError` without jinja2, or if the folder cannot be written.
    """
    report, in_latex = folder / f"{NAME}.md", folder / f"{NAME}.tex"
    with written_into(folder):
        numbered = (f"{NAME}-[0-9]*-{kind}.{form}" for kind, _ in PICTURES.values() for form in style.FORMATS)
        remove_files(folder, report.name, in_latex.name, *numbered)
        pictures = [_draw(field, folder, f"{NAME}-{place}") for place, field in enumerate(fields, 1)]
        report.write_text(_render(fields, pictures), encoding="utf-8")
        texts = (table.latex() for field in fields for table in tables(field).values())
        in_latex.write_text(latex.document(texts), encoding="utf-8")
    return [report, in_latex, *(path for drawn in pictures for files in drawn.values() for path in files)]


def _draw(field: InstanceRuns, folder: Path, name: str) -> Pictures:
    unit = field.units[0] if len(field.units) == 1 else ""
    files_of = {
        what: draw(field.families, field.targets, folder, f"{name}-{kind}", field.record.instance, unit)
        for what, (kind, draw) in PICTURES.items()
    }
    return {what: files for what, files in files_of.items() if files}


def report_statistics(records: Sequence[Record], asked: float | None, folder: Path) -> list[Path]:
    """Make the report of records; raises as `group_by_instance` and `write`."""
    return write(group_by_instance(records, asked), folder)
