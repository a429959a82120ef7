"""The report of searches' statistics: what each work found, how often and how fast it reached targets, and tests.

A section for each instance; works may be any algorithms with any parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import UserError
from reports import latex, plot_style, target_plots, target_tables, twelve_rules
from reports.markdown import template
from reports.parameters import worded
from reports.rank_tests import LEVEL, PairTest, least_p
from reports.records import Record
from reports.seeds import exact, one_for_all
from reports.statistics import LEAST_FOR_INTERVAL, RESAMPLES
from reports.text_table import Table
from reports.wording import gap, grouped, number
from reports.works import Entry, Field, Tests, fields_of

NAME = "statistics"
PICTURES = {"targets": "Distribution of the time to a target", "course": "The best cost over evaluations and seconds"}


@dataclass(frozen=True)
class Drawn:
    """A field with the pictures that were made of it.

    Attributes
    ----------
    field : Field
    pictures : sequence of (str, str)
        What each shows, and its address relative to the report.
    """

    field: Field
    pictures: Sequence[tuple[str, str]] = ()


# --- tables ---


def tables(field: Field) -> dict[str, Table]:
    """The tables of an instance by name: `results`, `targets` where there are several, `tests 1` and on."""
    found = {"results": results(field)}
    if len(field.targets.all) > 1:
        found["targets"] = other_targets(field)
    for place, tests in enumerate(field.tests, 1):
        found[f"tests {place}"] = of_tests(tests, field)
    return found


def results(field: Field) -> Table:
    """A row for each work on each device: costs over its seeds, and how it reached the first target."""
    target = field.targets.first
    headings = (
        *("work", "on", ">seeds", ">mean ± sd", ">median [95 % CI]", ">best"),
        *(
            f">reached {exact(target.cost)} [95 % CI]",
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
    return Table(f"{field.record.instance}: costs over seeds, and running time to {target.words}", headings, rows)


def other_targets(field: Field) -> Table:
    """How each row reached the targets that are easier than the first."""
    headings = (
        "work",
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
    return Table(f"{field.record.instance}: running time to easier targets", headings, rows)


def of_tests(tests: Tests, field: Field) -> Table:
    """A row for each pair."""
    headings = ("one", "other", ">p", ">p, Holm", ">A12", "effect", "at 5 %")
    rows = [
        [
            pair.one.label,
            pair.other.label,
            p_in_words(pair.p),
            p_in_words(pair.corrected),
            f"{pair.a12:.2f}",
            pair.effect,
            pair.verdict,
        ]
        for pair in tests.pairs
    ]
    return Table(f"{field.record.instance}: {tests.of}", headings, rows)


def p_in_words(p: float) -> str:
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
        f"test{'s' if len(pairs) > 1 else ''} is {number(min(1.0, least))}: whatever the difference, none could be "
        "told apart"
    )


def _unit(field: Field) -> str:
    return field.units[0] if len(field.units) == 1 else "evaluations"


def _mean(entry: Entry) -> str:
    costs = entry.costs
    return exact(costs.mean) + ("" if costs.deviation is None else f" ± {number(costs.deviation)}")


def _median(entry: Entry) -> str:
    median = entry.costs.median
    interval = "" if median.low is None or median.high is None else f" [{exact(median.low)}, {exact(median.high)}]"
    return f"{exact(median.value)}{interval}"


def _best(entry: Entry) -> str:
    apart = gap(entry.costs.minimum, entry.record.details.get("optimum"))
    return exact(entry.costs.minimum) + (f" ({apart})" if apart else "")


# --- files ---


def render(sections: Sequence[Drawn]) -> str:
    """Return the report's text.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    text = template("statistics.md.j2").render(
        sections=[_section(one) for one in sections],
        rules=twelve_rules.PLACE,
        resamples=RESAMPLES,
        least_for_interval=LEAST_FOR_INTERVAL,
    )
    page = twelve_rules.placed(text)
    return twelve_rules.placed(page, _rules(sections, page))


def _rules(sections: Sequence[Drawn], page: str) -> str:
    """Decide the twelve rules of Hoefler and Belli from the records and the page."""
    fields = [one.field for one in sections]
    about = twelve_rules.Shown(
        page=page,
        figures=[what for one in sections for what, _ in one.pictures],
        extremes=["best"],
        tests="Mann and Whitney's test" if any(field.tests for field in fields) else "",
        means={"costs": twelve_rules.ARITHMETIC},
        mean_ratios="",
        assumed_normal="",
        joined="",
    )
    entries = [(entry.family.label, _a_value_per_seed(entry)) for field in fields for entry in field.entries]
    return twelve_rules.in_markdown(twelve_rules.rules_of(entries, about))


def _a_value_per_seed(entry: Entry) -> Record:
    """The runs of an entry as one whose repetitions are its seeds, since those are what this report counts."""
    runs = entry.family.runs
    return one_for_all(runs).with_samples(tuple(run.samples[0] for run in runs), scored=True)


def _section(one: Drawn) -> dict[str, object]:
    field = one.field
    return {
        "instance": field.record.instance,
        "sha256": field.record.instance_sha256,
        "source": str(field.record.details.get("instance_source") or "source not recorded").rstrip(". "),
        "works": {name: worded(parameters) for name, parameters in field.works.items()},
        "budgets": {entry.work: _budget(entry) for entry in field.entries},
        "machines": field.machines,
        "targets": field.targets.why,
        "pictures": one.pictures,
        "left_out": target_plots.shown_families([entry.family for entry in field.entries], field.targets)[1],
        "tables": tables(field),
        "tests": [(of_tests(one, field), too_few(one.pairs)) for one in field.tests],
        "notes": [*field.cautions(), *field.notes],
    }


def _budget(entry: Entry) -> str:
    least, most = entry.budget
    many = grouped(least) if least == most else f"{grouped(least)} to {grouped(most)}"
    return f"{many} {entry.record.unit} a run"


def write(fields: Sequence[Field], folder: Path) -> list[Path]:
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
            sections.append(Drawn(field, [(what, files[0].name) for what, files in drawn.items()]))
            written += [path for files in drawn.values() for path in files]
        report.write_text(render(sections), encoding="utf-8")
        every = [table for field in fields for table in tables(field).values()]
        in_latex.write_text(latex.document(every), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return [report, in_latex, *written]


def _draw(field: Field, folder: Path, name: str) -> dict[str, list[Path]]:
    families = [entry.family for entry in field.entries]
    unit = field.units[0] if len(field.units) == 1 else ""
    kinds = {"targets": target_plots.distributions, "course": target_plots.courses}
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
    for form in plot_style.FORMATS:
        for kind in PICTURES:
            for stale in folder.glob(f"{NAME}-[0-9]*-{kind}.{form}"):
                stale.unlink()


def of_records(records: Sequence[Record], asked: float | None, folder: Path) -> list[Path]:
    """Make the report of records.

    Raises
    ------
    RecordError, UnequalWorkError, UserError
        As `reports.works.fields_of` and `write`.
    """
    return write(fields_of(records, asked), folder)
