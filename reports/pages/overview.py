"""Many workloads on every device of a host: a table, the same for a terminal, and a heat map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.pages import comparison
from reports.pages.comparison import best_core_cell, ratio_text, wrapped
from reports.pages.markdown import fill, remove_files, written_into
from reports.pages.reference_solvers import solver_table
from reports.plots import heat_map
from reports.rates import ALL_CORES, ONE_CORE, RateSection, compared_workload, is_measured, rate_sections, short_name
from reports.records.environment import host_of
from reports.records.files import Record, RecordError, group_by, merge
from reports.text import formatting
from reports.text.tables import LINE_BREAK, TERMINAL, TextTable

if TYPE_CHECKING:
    import pandas

NAME = "overview"
PICTURE = "Times as fast as one core, workload by device"
JOULES = ">× fewer joules"
DIGITS = 3


def overview_sections(records: Iterable[Record]) -> list[RateSection]:
    """Return the rates of each workload on each host, in running order, of an interrupted overview those measured.

    Raises `UnequalWorkError` for unequal work of a workload, and `RecordError` without records.
    """
    measured = group_by(filter(is_measured, merge(records)), compared_workload)
    sections = [one for of in measured for one in rate_sections(of)]
    if not sections:
        raise RecordError("no records for an overview")
    return sections


def hosts(sections: Sequence[RateSection]) -> list[list[RateSection]]:
    """Return the sections of each host."""
    return group_by(sections, lambda section: host_of(section.proof.environment))


# --- the table ---


def overview_table(sections: Sequence[RateSection], *, is_narrow: bool = False) -> TextTable:
    """Return a row for each workload on one host; ``is_narrow`` leaves out what a terminal has no room for."""
    machine = sections[0].proof.environment
    cores, gpus = f"{machine.get('cores') or 'all'} cores", machine.get("gpus") or ["GPU"]
    gpu = str(gpus[0]).removeprefix("NVIDIA ").split("-")[0].split(" ")[0]  # NVIDIA H200: H200
    has_gpu = any(_fastest(section, "GPU") is not None for section in sections)
    first, space = "GPU" if has_gpu else ALL_CORES, LINE_BREAK if is_narrow else " "

    def rate(kind: str) -> Callable[[RateSection], str]:
        return lambda section: _rate_text(section, kind)

    def ratio(column: str) -> Callable[[RateSection], str]:
        return lambda section: _number(_fastest(section, first), column, ratio_text)

    columns: dict[str, Callable[[RateSection], str]] = {
        "workload": lambda one: one.proof.workload if is_narrow else _work_name(one.proof),
        ">one core": rate(ONE_CORE),
        f">{cores}": rate(ALL_CORES),
        **({f">{gpu}": rate("GPU")} if has_gpu else {}),
        f">× over{space}one core": ratio("over_one_core"),
        **({f">× over{space}{cores}": ratio("over_all_cores")} if has_gpu else {}),
        **({} if is_narrow else {"best one-core algorithm": best_core_cell}),
        **({} if is_narrow else {JOULES: lambda one: _saved_energy(one, first)}),
    }
    optional = ("best one-core algorithm", JOULES)
    return TextTable.of("Units of work a second, and ratios of these rates", sections, columns, optional)


def _work_name(record: Record) -> str:
    """Return a work's short name with its walks or ants, which decide how much of a GPU it fills."""
    sizes = [f"{record.parameters[name]:,} {name}" for name in ("walks", "ants") if record.parameters.get(name, 1) > 1]
    return ", ".join([short_name(record), *sizes])


def _fastest(section: RateSection, kind: str) -> pandas.Series[Any] | None:
    """Return the fastest run of a kind, on all cores the first; None without one."""
    rates = section.rates[section.rates["comparable"] & (section.rates["kind"] == kind)]
    if rates.empty:
        return None
    return rates.iloc[0] if kind == ALL_CORES else rates.loc[rates["rate"].idxmax()]


def _rate_text(section: RateSection, kind: str) -> str:
    run = _fastest(section, kind)
    if run is None:
        return ""
    rate, unit = formatting.rate(run["rate"], DIGITS), section.proof.work_unit
    return comparison.with_deviation(f"{rate} {unit}/s" if kind == ONE_CORE else rate, run)


def _number(run: pandas.Series[Any] | None, column: str, form: Callable[[float], str]) -> str:
    return "" if run is None or not run[column] > 0 else form(float(run[column]))


def _saved_energy(section: RateSection, kind: str) -> str:
    """Return the joules of one core over those of another kind for equal work.

    Empty unless both count the processors, and a GPU's run the GPU too.
    """
    core, other = _fastest(section, ONE_CORE), _fastest(section, kind)
    counted = {"package", "gpu"} if kind == "GPU" else {"package"}
    if core is None or other is None or "package" not in core["energy_of"] or counted - {*other["energy_of"].split()}:
        return ""
    return ratio_text(core["joules"] / other["joules"]) if other["joules"] > 0 else ""


# --- the terminal ---


def lines(sections: Sequence[RateSection], failures: Sequence[str] = (), made_by: str = "") -> Iterator[str]:
    """Yield the overview in at most 80 columns: for each host the machine and the table."""
    yield from wrapped(comparison.busy_sentence(sections))
    for of_host in hosts(sections):
        yield from wrapped(formatting.machine(of_host[0].proof.environment))
        yield ""
        table = overview_table(of_host, is_narrow=True)
        if max(map(len, table.terminal(10 * TERMINAL).splitlines())) > TERMINAL:
            # A table that is too wide for a terminal has no room for its last ratio.
            table = replace(table, headings=table.headings[:-1], rows=[row[:-1] for row in table.rows])
        yield from table.terminal(ruled=False).splitlines()
        yield ""
    for failure in failures:
        yield from wrapped(f"not run: {failure}")
    if made_by:
        yield f"made by: {made_by}"


# --- files ---


def render(
    sections: Sequence[RateSection], pictures: Sequence[str] = (), failures: Sequence[str] = (), made_by: str = ""
) -> str:
    """Return the page in Markdown; ``pictures`` are the addresses of the hosts' heat maps, or none."""
    parts = [
        {
            "machine": formatting.machine(of_host[0].proof.environment),
            "table": overview_table(of_host),
            "picture": picture,
            "solvers": solver_table((short_name(one.proof), one.records) for one in of_host),
            "proofs": [f"{one.proof.workload}: {comparison.proof_sentence(one)}" for one in of_host],
        }
        for of_host, picture in zip(hosts(sections), pictures or [""] * len(sections), strict=False)
    ]
    counters = {one for section in sections for one in section.rates["energy_of"]} - {""}
    words = {"caption": PICTURE, "busy": comparison.busy_sentence(sections), "is_gpu_alone": counters == {"gpu"}}
    return fill("overview.md.j2", parts=parts, failures=failures, made_by=made_by, **words)


def remove(folder: Path) -> None:
    """Remove an earlier overview, but not its records. Raises `OSError` if the system refuses."""
    remove_files(folder, f"{NAME}.md", f"{NAME}.svg", f"{NAME}-[0-9]*.svg")


def write(sections: Sequence[RateSection], folder: Path, failures: Sequence[str] = (), made_by: str = "") -> list[Path]:
    """Write the page, and with matplotlib a heat map of each host; return the files, the page first.

    Raises `UserError` without jinja2, or if the folder cannot be written.
    """
    report = folder / f"{NAME}.md"
    with written_into(folder):
        drawn = [
            heat_map.draw(of_host, folder, NAME if number == 1 else f"{NAME}-{number}")
            for number, of_host in enumerate(hosts(sections), 1)
        ]
        pictures = [paths[0].name if paths else "" for paths in drawn]
        report.write_text(render(sections, pictures, failures, made_by), encoding="utf-8")
    return [report, *(path for paths in drawn for path in paths)]
