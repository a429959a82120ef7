"""Reports as Markdown: fills the templates with a comparison, or with published tables, and writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports import literature
from reports.comparison import Comparison, Row, is_baseline
from reports.line_tables import TablesReport
from reports.parameters import worded
from reports.peer_table import Peer, PeerReport, Printed
from reports.records import Record
from reports.schema import HASH_COVERS
from reports.statistics import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL, RESAMPLES, Estimate, Summary
from reports.strategy_table import Cell, Measured, StrategyReport
from reports.wavefront_table import STATISTICS, STORED_BYTES, Spread, WavefrontReport

Tables = TablesReport | StrategyReport | PeerReport | WavefrontReport

TEMPLATES = Path(__file__).parent / "templates"
REPORT = "compare.md"


def render(comparison: Comparison, plot: str | None = None, why_instance: str = "") -> str:
    """Return the report's text.

    Parameters
    ----------
    comparison : Comparison
    plot : str, optional
        Address of the speed-up plot, relative to the report.
    why_instance : str, optional
        Why this instance was chosen.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    published = literature.publication(comparison.work.workload)
    text = _template("compare.md.j2").render(
        work=comparison.work,
        rows=comparison.rows,
        hashed=HASH_COVERS[comparison.work.hash_covers],
        evaluations=_counted(comparison.rows),
        common_ways=comparison.common_ways,
        ways_apart=comparison.ways_apart,
        machines=comparison.machines,
        not_run=comparison.not_run,
        baseline=comparison.baseline,
        fastest=_fastest(comparison),
        plot=plot,
        why_instance=why_instance,
        **_statistics(comparison.rows),
        published=published,
        same_work=published is not None and literature.same_work(published, comparison.work),
        timing=literature.timing_rows(published, comparison) if published else [],
        quality=literature.quality_rows(published, comparison.work) if published else [],
    )
    return text.rstrip() + "\n"


def render_tables(report: Tables) -> str:
    """Return the text of a report of published tables.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    if isinstance(report, TablesReport):
        text = _lines_text(report)
    elif isinstance(report, PeerReport):
        text = _peers_text(report)
    elif isinstance(report, WavefrontReport):
        text = _wavefronts_text(report)
    else:
        text = _strategies_text(report)
    return text.rstrip() + "\n"


def _lines_text(report: TablesReport) -> str:
    shown = {table.number for table in report.tables}
    return _template("tables.md.j2").render(
        published=report.published,
        tables=report.tables,
        without_ours=report.without_ours,
        never_ours=report.never_ours,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        disagreements=[row for row in report.published["disagreements"]["rows"] if shown.intersection(row["tables"])],
        **_statistics([line.ours for table in report.tables for line in table.lines if line.ours]),
    )


def _strategies_text(report: StrategyReport) -> str:
    return _template("strategies.md.j2").render(
        report=report,
        published=report.published,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        first=report.columns[0][0],
        **_statistics([run.row for run in report.runs]),
    )


def _peers_text(report: PeerReport) -> str:
    return _template("peers.md.j2").render(
        report=report,
        published=report.published,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        **_statistics(report.runs),
    )


def _wavefronts_text(report: WavefrontReport) -> str:
    return _template("wavefronts.md.j2").render(
        report=report,
        published=report.published,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        statistics=STATISTICS,
        stored_bytes=STORED_BYTES,
        **_statistics(report.runs),
    )


def write_tables(report: Tables, folder: Path) -> Path:
    """Write the report of published tables, named after the publication; returns its path.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 is not installed.
    """
    path = folder / f"{report.published['name']}.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(render_tables(report), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return path


def write(comparison: Comparison, folder: Path, why_instance: str = "") -> list[Path]:
    """Write the report, and its plot as SVG and PNG where there are speed-ups and matplotlib is installed.

    Returns
    -------
    list of Path
        The files written, the report first.

    Raises
    ------
    UserError
        The folder cannot be written, or jinja2 is not installed.
    """
    from reports import plots

    try:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = plots.speedups(comparison, folder) if comparison.baseline else []
        report = folder / REPORT
        report.write_text(render(comparison, drawn[0].name if drawn else None, why_instance), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the report: {error.strerror}") from None
    return [report, *drawn]


def seconds(value: float) -> str:
    """Word a time in the unit that keeps it readable, three digits long."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 0.9995 or unit == "µs":
            return f"{number(value * scale)} {unit}"
    raise AssertionError("unreachable")


def number(value: float | None) -> str:
    """Word a number: three significant digits, thousands grouped, no exponent; empty for None."""
    if value is None:
        return ""
    if abs(value) >= 999.5:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if abs(value) >= 1e-3 else f"{value:.4f}".rstrip("0").rstrip(".")


def seconds_interval(estimate: Estimate) -> str:
    """Word a time with its interval, if it has one."""
    text = seconds(estimate.value)
    return text if estimate.low is None or estimate.high is None else f"{text} [{_pair(estimate, seconds)}]"


def _pair(estimate: Estimate, form: Any) -> str:
    return f"{form(estimate.low)}, {form(estimate.high)}"


def _ratio(value: Estimate | float | None) -> str:
    if value is None:
        return ""
    return f"{number(value.value if isinstance(value, Estimate) else value)}x"


def ratio_interval(estimate: Estimate) -> str:
    """Word a ratio with its interval, if it has one."""
    return _ratio(estimate) + ("" if estimate.low is None else f" [{_pair(estimate, number)}]")


def _grouped(value: Any) -> str:
    return f"{value:,}" if isinstance(value, (int, float)) else str(value if value is not None else "")


def _cell(text: Any) -> str:
    """Text that stays inside its cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def _share(part: Summary, whole: Summary) -> str:
    """Word a time as a part of the whole, in per cent of the medians."""
    return f"{100 * part.median.value / whole.median.value:.0f} %" if whole.median.value > 0 else ""


def _gap(cost: float, optimum: float | None) -> str:
    """Word how far a cost is from the optimum; empty where none is known."""
    if not optimum:
        return ""
    if cost == optimum:
        return "the optimum"
    return f"{100 * abs(cost / optimum - 1):.2f} % {'above' if cost > optimum else 'below'}"


def _printed_cell(cell: Cell) -> str:
    """Word a cell as the paper has it: seconds, and in brackets the ratio that follows from them."""
    return f"{cell.seconds}" + ("" if cell.ratio is None else f" ({cell.ratio:.2f}x)")


def _strategy_cell(cell: Cell, first: str, paper: str, repetitions: int | None) -> str:
    """Word a cell of a device's table: the ratios of ours and the paper, then what was measured, line by line."""
    ours, lines = cell.ours, []
    if ours is None:
        lines.append("not run")
    elif cell.ratio is not None:
        lines.append(ratio_interval(ours.ratio) if ours.ratio else f"no {first} run")
    if cell.ratio is not None:
        lines[0] += f", {paper} {cell.ratio:.2f}x"
    if ours is not None:
        time = seconds_interval(ours.iteration)
        lines += [f"**{time}**" if cell.fastest else time, *_measured_lines(ours)]
        lines += [f"n = {ours.row.running.repetitions}"] if repetitions is None else []
    return "<br>".join(map(_cell, lines))


def _measured_lines(ours: Measured) -> list[str]:
    pheromone = "" if ours.pheromone_share is None else f", pheromone {number(100 * ours.pheromone_share)} %"
    return [f"{number(ours.row.rate)} G/s{pheromone}", *_over_one_core(ours), *ours.row.labels]


def _over_one_core(ours: Measured) -> list[str]:
    if ours.row.speedup is None or ours.baseline_s is None:
        return []
    return [f"{ratio_interval(ours.row.speedup)} over {seconds(ours.baseline_s)} on one core"]


def _cities_of(runs: Sequence[Row | None], printed: Printed | None) -> str:
    """Word the number of cities of a line: as published, or as one of its runs recorded it."""
    if printed is not None:
        return str(printed.cities)
    return str(next((run.record.details.get("cities") for run in runs if run), None) or "")


def _proof_cell(run: Row | None) -> str:
    """Word a run of an exact search, line by line: time, nodes, what else proves it, speed-up over one core."""
    if run is None:
        return "not run"
    details = run.record.details
    lines = [seconds_interval(run.running.median)]
    if details.get("nodes") is not None:
        lines.append(f"{_grouped(details['nodes'])} nodes, {number(details.get('nodes_per_second'))}/s")
    if run.record.ways.get("bound") == "host":
        lines.append("all tours, on the host")
    if details.get("root_bound") is not None:
        lines.append(f"bound at the root {details['root_bound']}")
    if details.get("optimal_tours") is not None:
        lines.append(f"shortest tours: {_grouped(details['optimal_tours'])}")
    if details.get("verified_by"):
        lines.append(f"verified by {details['verified_by']}")
    if run.speedup is not None and run.baseline_s is not None and not is_baseline(run):
        lines.append(f"{ratio_interval(run.speedup)} over {seconds(run.baseline_s)} on one core")
    return "<br>".join(map(_cell, [*lines, *run.labels, f"n = {run.running.repetitions}"]))


def _peer_cell(peer: Peer | None, length: int) -> str:
    """Word another solver's time, its start-up, how many times ours it is, and its length where that is another."""
    if peer is None:
        return ""
    if peer.solve_s is None or peer.start_s is None:
        return _cell(peer.trouble)
    lines = [f"{seconds(peer.solve_s)} (start-up {seconds(peer.start_s)})"]
    if peer.ratio is not None:
        lines.append(_ratio(peer.ratio))
    if peer.length != length:
        lines.append(f"length {peer.length}")
    return "<br>".join(map(_cell, lines))


def _spread(spread: Spread | None, metric: str) -> str:
    """Word what a profiler counted, least, average and most: parts of one in per cent, instructions per clock as is."""
    if spread is None:
        return "no launch has it"
    if metric == "ipc":
        return " / ".join(f"{value:.2f}" for value in spread)
    return " / ".join(f"{100 * value:.1f}" for value in spread) + " %"


def _bytes(count: int | None) -> str:
    """Word a number of bytes in the unit that keeps it readable; empty for None."""
    if count is None:
        return ""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count} B" if unit == "B" else f"{number(size)} {unit}"


def _machine(environment: Mapping[str, Any]) -> str:
    """Word an environment in a line: host, processor, cores, system, Python, packages, version of the suite."""
    hosts = environment.get("hosts") or 1
    return ", ".join(
        [
            *([str(environment["host"])] if environment.get("host") else []),
            str(environment.get("cpu") or "processor not recorded"),
            f"{environment.get('cores') or '?'} cores" + (f" on each of {hosts} hosts" if hosts > 1 else ""),
            str(environment.get("os") or "system not recorded"),
            f"Python {environment.get('python') or '?'}",
            *(f"{name} {version}" for name, version in sorted((environment.get("packages") or {}).items())),
            f"suite {environment.get('suite') or 'outside a checkout'}",
        ]
    )


def _statistics(rows: Sequence[Row]) -> dict[str, Any]:
    """What a template needs in order to say how the intervals were made."""
    return {
        "resamples": RESAMPLES,
        "few_repetitions": any(row.running.repetitions < LEAST_FOR_COVERAGE for row in rows),
        "least_for_coverage": LEAST_FOR_COVERAGE,
        "least_for_interval": LEAST_FOR_INTERVAL,
    }


def _counted(rows: Sequence[Row]) -> list[Record]:
    """A record for every number of evaluations: other ways may need fewer for the same work."""
    found = {row.record.evaluations: row.record for row in reversed(rows)}
    return [found[count] for count in dict.fromkeys(row.record.evaluations for row in rows)]


def _fastest(comparison: Comparison) -> Row | None:
    raced = [
        row
        for row in comparison.rows
        if row.speedup is not None and not is_baseline(row) and not row.record.details.get("simulated")
    ]
    return max(raced, key=lambda row: row.speedup.value if row.speedup else 0.0, default=None)


def _template(name: str) -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise UserError("jinja2 is missing: pip install -e '.[report]'") from None

    # Markdown for readers and not HTML: nothing is escaped but the cells of tables.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "seconds": seconds,
        "number": number,
        "seconds_interval": seconds_interval,
        "ratio": _ratio,
        "ratio_interval": ratio_interval,
        "grouped": _grouped,
        "cell": _cell,
        "machine": _machine,
        "share": _share,
        "worded": worded,
        "gap": _gap,
        "printed_cell": _printed_cell,
        "strategy_cell": _strategy_cell,
        "cities_of": _cities_of,
        "proof_cell": _proof_cell,
        "peer_cell": _peer_cell,
        "spread": _spread,
        "bytes": _bytes,
        "over_one_core": lambda ours: "".join(_over_one_core(ours)),
    }
    return environment.get_template(name)
