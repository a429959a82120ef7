"""The page of a comparison: verdict, one table, one picture and the command; and the same for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reports.pages.markdown import fill, remove_files, written_into
from reports.pages.reference_solvers import solver_table
from reports.plots import rates as rate_plot
from reports.rates import ALL_CORES, BEST_CORE, ONE_CORE, NotRun, RateSection, proof_amount, seconds_of_proof
from reports.records.files import Record
from reports.statistics.medians import Estimate
from reports.text import formatting
from reports.text.tables import LINE_BREAK, TERMINAL, TextTable

if TYPE_CHECKING:
    import pandas

NARROW = 0.02
"""Half width of a rate's interval, relative to it, that a page does not print."""
MOST_OF_A_REASON = 76


# --- sentences ---


def verdict(section: RateSection) -> str:
    """Return the fastest run and its ratios as a sentence."""
    rates = section.rates[section.rates["comparable"]]
    if rates.empty:
        return "All runs are simulated, so no rate is that of a device."
    unit = section.proof.work_unit
    fastest = rates.loc[rates["rate"].idxmax()]
    count, text = section.proof.environment.get("cores"), rate_text(fastest["rate"])
    name = f"{fastest.name} ({count} cores)" if fastest["kind"] == ALL_CORES and count else str(fastest.name)
    be = "are" if fastest["kind"] == "ranks" else "is"
    if fastest["kind"] == ONE_CORE:
        return f"Nothing is faster than one core: {text} {unit}/s."
    if not fastest["over_one_core"] > 0:
        return f"{name} {be} the fastest: {text} {unit}/s. There is no run on one core to compare with."
    cores = rates[(rates["kind"] == ONE_CORE) & (rates["setting"] == fastest["setting"])]
    core = cores.loc[cores["rate"].idxmax()]
    # Fewer than six repetitions have no interval, but extremes.
    is_known = fastest["low"] > 0 and core["high"] > 0
    if fastest["low"] <= core["high"] if is_known else fastest["least"] <= core["most"]:
        return f"{name} {be} not surely faster than one core."
    sentence = f"{name} {be} {ratio_text(fastest['over_one_core'])} times as fast as one core"
    if fastest["kind"] == "GPU" and fastest["over_all_cores"] > 0:
        sentence += f", and {ratio_text(fastest['over_all_cores'])} times as fast as all cores"
    return f"{sentence}."


def amount_text(section: RateSection) -> str:
    """Return the amount of the proof with its unit: 2,000 climbs; empty if whole runs are counted."""
    proof = section.proof
    return "" if proof.work_unit == "runs" else f"{proof_amount(proof):,} {proof.work_unit}"


def proof_sentence(section: RateSection) -> str:
    """Return the common work with its hash and cost, without a full stop."""
    proof = section.proof
    title = str(proof.details.get("title") or proof.workload).partition(":")[0]
    work = ", ".join(filter(None, (title, proof.parameters.get("algorithm"), proof.instance, amount_text(section))))
    noun = proof.details.get("noun") or "best cost"
    seeds = {record.seed for record in section.records}
    if len(seeds) > 1:
        costs = [record.best_cost for record in section.records]
        span = formatting.span(formatting.cost(min(costs)), formatting.cost(max(costs)))
        return f"{work}; {len(seeds)} seeds proved equal: {noun} {span}"
    gap = formatting.gap(proof.best_cost, proof.details.get("optimum"))
    apart = f" ({gap}{'' if gap == 'the optimum' else ' the optimum'})" if gap else ""
    proven = "result proved equal" if proof.hash_scope == "result" else "proved equal"
    return f"{work} {proven}: hash {proof.hash}, {noun} {formatting.cost(proof.best_cost)}{apart}"


def best_core_sentence(section: RateSection) -> str:
    """Return the result of the best one-core algorithm, and the time to it; empty without its run."""
    best = section.best_core
    if best is None:
        return ""
    name, cost = best.details[BEST_CORE][1], formatting.cost(best.best_cost)
    return f"Best one-core algorithm: {name} reaches {cost} in {formatting.seconds(seconds_of_proof(best), 2)}."


def best_core_cell(section: RateSection) -> str:
    """Return the best one-core algorithm and its time to a result as good as the proof's; empty without its run."""
    best = section.best_core
    if best is None:
        return ""
    sign = -1 if section.proof.details.get("maximises") else 1
    only = f" to {formatting.cost(best.best_cost)}" if sign * best.best_cost > sign * section.proof.best_cost else ""
    return f"{best.details[BEST_CORE][1]}, {formatting.seconds(seconds_of_proof(best), 2)}{only}"


def busy_sentence(sections: Sequence[RateSection]) -> str:
    """Return the load of a busy host as a sentence; empty for an idle one."""
    section = max(sections, key=lambda one: one.busy_cores)
    return busy_text(section.busy_cores, section.proof) if section.busy_cores else ""


def busy_text(busy: float, run: Record) -> str:
    cores = run.environment.get("cores")
    return f"Busy host: other programs kept {busy:.1f}{f' of {cores}' if cores else ''} cores busy."


def days_of(records: Iterable[Record]) -> str:
    """Return the days of runs as a range; empty if none is recorded."""
    days = sorted(one.started_at[:10] for record in records for one in record.repetitions if one.started_at)
    return formatting.span(days[0], days[-1]) if days else ""


def not_run_text(not_run: Sequence[NotRun]) -> str:
    """Return configurations without a row, in short: cuda (no GPU here), python (too slow)."""
    reasons: dict[str, str] = {}
    for one in not_run:
        name = one.backend + (f", {one.ranks} ranks" if one.ranks > 1 else "")
        # The cause in brackets is in `onekernel devices`.
        reason = " ".join(one.reason.split()).partition(" (")[0]
        reasons.setdefault(name, textwrap.shorten(reason, MOST_OF_A_REASON, placeholder=" ...").rstrip("."))
    return ", ".join(f"{name} ({reason})" for name, reason in reasons.items())


# --- the table ---


def rate_table(section: RateSection) -> TextTable:
    """Return a row for each configuration: rate, ratios, first call, and joules if some were read.

    They are named the GPU's where the host shows no counter of its processors.
    """
    rates, unit, amount = section.rates, section.proof.work_unit, amount_text(section)
    widths = [deviation_text(rate) for _, rate in rates.iterrows()]
    wide = max(map(len, widths), default=0)
    joules = "GPU joules" if {*rates["energy_of"]} <= {"", "gpu"} else "joules"
    cells = {
        "run": [*map(str, rates.index)],
        f">{unit}/s": [
            f"{rate_text(rate)} {width.ljust(wide)}".replace(" ", "\xa0") if wide else rate_text(rate)
            for rate, width in zip(rates["rate"], widths, strict=True)
        ],
        ">over one core": _texts(rates["over_one_core"], ratio_text),
        ">over all cores": _texts(rates["over_all_cores"], ratio_text),
        ">first call": _texts(rates["first_call_s"], lambda value: f"{value:.1f} s"),
        f">{joules} for {amount.split()[0] if amount else 'a run'}": _texts(
            rates["joules"] * proof_amount(section.proof), formatting.number
        ),
    }
    shown = {heading: column for heading, column in cells.items() if any(column)}
    caption = f"{section.proof.work_name}: rates, and ratios of rates"
    return TextTable(caption, tuple(shown), [*map(list, zip(*shown.values(), strict=True))])


def deviation_text(rate: pandas.Series[float]) -> str:
    """Return the half width of the 95 % interval of a row's rate, `±7 %`; empty if it is narrow or unknown."""
    low, high = rate["low"], rate["high"]
    return formatting.deviation(Estimate(rate["rate"], low, high), NARROW) if low > 0 else ""


def with_deviation(text: str, rate: pandas.Series[float]) -> str:
    """Return the text of a row's rate with its deviation, without a place for a line break."""
    return f"{text} {deviation_text(rate)}".rstrip().replace(" ", "\xa0")


def _texts(values: pandas.Series[float], form: object) -> list[str]:
    assert callable(form)
    return ["" if value != value else str(form(value)) for value in values.astype(float)]


def rate_text(rate: float) -> str:
    """Return a rate with at least four digits: 7,660 and 53.12 M."""
    if rate >= 1e6:
        return formatting.rate(rate, 4)
    return f"{rate:,.0f}" if rate >= 1000 else formatting.number(rate, 4)


def ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


# --- the terminal ---


def lines(sections: Sequence[RateSection], made_by: str = "") -> Iterator[str]:
    """Yield the comparison in at most 80 columns: for each problem proof, verdict and table."""
    yield from wrapped(busy_sentence(sections))
    for section in sections:
        yield from wrapped(proof_sentence(section))
        yield ""
        yield from wrapped(verdict(section))
        yield ""
        yield from narrow(rate_table(section)).terminal(ruled=False).splitlines()
        yield ""
        if section.best_core:
            yield from wrapped(best_core_sentence(section))
            yield ""
    not_run = not_run_text([one for section in sections for one in section.not_run])
    yield from wrapped(f"not run: {not_run}" if not_run else "")
    if made_by:
        yield f"made by: {made_by}"


def narrow(table: TextTable) -> TextTable:
    """Return a table with headings of two lines if it is too wide for a terminal."""
    if max(map(len, table.terminal(10 * TERMINAL).splitlines())) <= TERMINAL:
        return table
    return replace(table, headings=tuple(heading.replace(" ", LINE_BREAK, 1) for heading in table.headings))


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, TERMINAL, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


# --- files ---


def render(sections: Sequence[RateSection], pictures: Sequence[str] = (), made_by: str = "") -> str:
    """Return the page in Markdown; ``pictures`` are the addresses of the sections' pictures, or none."""
    shown = [
        {
            "instance": section.proof.instance,
            "proof": proof_sentence(section),
            "verdict": verdict(section),
            "table": rate_table(section),
            "picture": picture,
            "best_core": best_core_sentence(section),
            "solvers": solver_table([("", section.records)]),
            "source": str(section.proof.details.get("instance_source") or "").rstrip(". "),
            "why": section.why.rstrip(". "),
            "machine": formatting.machine(section.proof.environment),
        }
        for section, picture in zip(sections, pictures or [""] * len(sections), strict=True)
    ]
    not_run = not_run_text([one for section in sections for one in section.not_run])
    work = sections[0].proof
    busy = busy_sentence(sections)
    fixed = not any(record.turns() for section in sections for record in section.records)
    return fill("compare.md.j2", work=work, sections=shown, not_run=not_run, busy=busy, fixed=fixed, made_by=made_by)


def report_name(workload: str) -> str:
    """Name of a workload's report and records, without an ending, with dashes for invalid letters."""
    return "compare-" + re.sub(r"[^\w.-]+", "-", workload)


def remove(folder: Path, workload: str) -> None:
    """Remove an earlier report of a workload with its files. Raises `OSError` if the system refuses."""
    name = report_name(workload)
    remove_files(folder, *(f"{name}{number}.{form}" for number in ("", "-[0-9]*") for form in ("md", "tex", "svg")))


def write(
    sections: Sequence[RateSection], folder: Path, workload: str, made_by: str = "", *, with_latex: bool = False
) -> list[Path]:
    """Write the page, a picture of each section if matplotlib is installed, and with LaTeX its tables again.

    Returns the files written, the page first. Raises `UserError` without jinja2, or if the folder cannot be written.
    """
    name = report_name(workload)
    report, in_latex = folder / f"{name}.md", folder / f"{name}.tex"
    with written_into(folder):
        drawn = [rate_plot.draw_rates(section, folder, f"{name}-{n}") for n, section in enumerate(sections, 1)]
        pictures = [paths[0].name if paths else "" for paths in drawn]
        report.write_text(render(sections, pictures, made_by), encoding="utf-8")
        if with_latex:
            in_latex.write_text("\n".join(rate_table(one).latex() for one in sections), encoding="utf-8")
    return [report, *[in_latex] * with_latex, *(path for paths in drawn for path in paths)]
