"""The page of the benchmark: one table of rates, a row for each run of each case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reports.pages.comparison import busy_sentence, narrow, rate_table, rate_text, ratio_text, with_deviation
from reports.pages.markdown import fill, remove_files, written_into
from reports.pages.reference_solvers import solver_table
from reports.rates import RateSection
from reports.text.formatting import machine
from reports.text.tables import TextTable

if TYPE_CHECKING:
    import pandas

    RateRow = tuple[RateSection, "pandas.Series[float]"]


def bench_table(sections: Sequence[RateSection]) -> TextTable:
    """Return a row for each run, with the case in the first one of its rows."""
    rows = [(section, rate) for section in sections for _, rate in section.rates.iterrows()]
    columns: dict[str, Callable[[RateRow], str]] = {
        "case": lambda row: row[0].why if row[1].name == row[0].rates.index[0] else "",
        "run": lambda row: str(row[1].name),
        ">rate": lambda row: _rate(*row),
        ">over one core": lambda row: _ratio(row[1]["over_one_core"]),
        ">over all cores": lambda row: _ratio(row[1]["over_all_cores"]),
    }
    return TextTable.of("Rates of the benchmark's cases", rows, columns)


def _rate(section: RateSection, rate: pandas.Series[float]) -> str:
    return with_deviation(f"{rate_text(rate['rate'])} {section.proof.work_unit}/s", rate)


def _ratio(ratio: float) -> str:
    return ratio_text(ratio) if ratio > 0 else ""


def lines(sections: Sequence[RateSection]) -> Iterator[str]:
    """Yield the rates of each case in at most 80 columns."""
    for section in sections:
        yield from ("", section.why, *narrow(rate_table(section)).terminal(ruled=False).splitlines())


def render(sections: Sequence[RateSection], made_by: str = "") -> str:
    return fill(
        "bench.md.j2",
        busy=busy_sentence(sections),
        machines=list(dict.fromkeys(machine(section.proof.environment) for section in sections)),
        table=bench_table(sections),
        solvers=solver_table((one.why, one.records) for one in sections),
        made_by=made_by,
    )


def remove(folder: Path, name: str) -> None:
    remove_files(folder, f"{name}.md")


def write(sections: Sequence[RateSection], folder: Path, name: str, made_by: str = "") -> list[Path]:
    """Write the page into a folder. Raises `UserError` without jinja2, or if the folder cannot be written."""
    path = folder / f"{name}.md"
    with written_into(folder):
        path.write_text(render(sections, made_by), encoding="utf-8")
    return [path]
