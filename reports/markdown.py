"""Reports as Markdown: loads the templates, and fills and writes those of published tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.comparison import Row, is_baseline
from reports.line_tables import TablesReport
from reports.parameters import worded
from reports.peer_table import Peer, PeerReport, Printed
from reports.statistics import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL, RESAMPLES
from reports.strategy_table import Cell, Measured, StrategyReport
from reports.wavefront_table import STATISTICS, STORED_BYTES, Spread, WavefrontReport
from reports.wording import (
    cell,
    gap,
    grouped,
    machine,
    number,
    ratio,
    ratio_interval,
    seconds,
    seconds_interval,
    share,
    size,
)

Tables = TablesReport | StrategyReport | PeerReport | WavefrontReport

NO_VERIFIERS = ("the scorer", "the published optimum")
"""Who confirms a tour's length, and not that no tour is shorter by a search of its own."""
TEMPLATES = Path(__file__).parent / "templates"


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
    return template("tables.md.j2").render(
        published=report.published,
        tables=report.tables,
        without_ours=report.without_ours,
        never_ours=report.never_ours,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        disagreements=[row for row in report.published["disagreements"]["rows"] if shown.intersection(row["tables"])],
        **statistics_of([line.ours for table in report.tables for line in table.lines if line.ours]),
    )


def _strategies_text(report: StrategyReport) -> str:
    return template("strategies.md.j2").render(
        report=report,
        published=report.published,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        first=report.columns[0][0],
        **statistics_of([run.row for run in report.runs]),
    )


def _peers_text(report: PeerReport) -> str:
    return template("peers.md.j2").render(
        report=report,
        published=report.published,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        **statistics_of(report.runs),
    )


def _wavefronts_text(report: WavefrontReport) -> str:
    return template("wavefronts.md.j2").render(
        report=report,
        published=report.published,
        machines=report.machines,
        unconfirmed=report.unconfirmed,
        statistics=STATISTICS,
        stored_bytes=STORED_BYTES,
        **statistics_of(report.runs),
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


def _printed_cell(printed: Cell) -> str:
    """Word a cell as the paper has it: seconds, and in brackets the ratio that follows from them."""
    return f"{printed.seconds}" + ("" if printed.ratio is None else f" ({printed.ratio:.2f}x)")


def _strategy_cell(measured: Cell, first: str, paper: str, repetitions: int | None) -> str:
    """Word a cell of a device's table: the ratios of ours and the paper, then what was measured, line by line."""
    ours, lines = measured.ours, []
    if ours is None:
        lines.append("not run")
    elif measured.ratio is not None:
        lines.append(ratio_interval(ours.ratio) if ours.ratio else f"no {first} run")
    if measured.ratio is not None:
        lines[0] += f", {paper} {measured.ratio:.2f}x"
    if ours is not None:
        time = seconds_interval(ours.iteration)
        lines += [f"**{time}**" if measured.fastest else time, *_measured_lines(ours)]
        lines += [f"n = {ours.row.running.repetitions}"] if repetitions is None else []
    return "<br>".join(map(cell, lines))


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
    details, median_s = run.record.details, run.running.median.value
    lines = [seconds_interval(run.running.median)]
    nodes = run.record.evaluations or details.get("nodes")  # older records have them among their details
    if nodes and median_s:
        lines.append(f"{grouped(nodes)} nodes, {number(nodes / median_s)}/s")
    if run.record.ways.get("bound") == "host":
        lines.append("all tours, on the host")
    if details.get("root_bound") is not None:
        lines.append(f"bound at the root {details['root_bound']}")
    if details.get("optimal_tours") is not None:
        lines.append(f"shortest tours: {grouped(details['optimal_tours'])}")
    verified = verifiers(details)
    if verified:
        lines.append(f"verified by {' and by '.join(verified)}")
    if run.speedup is not None and run.baseline_s is not None and not is_baseline(run):
        lines.append(f"{ratio_interval(run.speedup)} over {seconds(run.baseline_s)} on one core")
    return "<br>".join(map(cell, [*lines, *run.labels, f"n = {run.running.repetitions}"]))


def verifiers(details: Mapping[str, Any]) -> list[str]:
    """Who found a proved result again, beside the scorer and the publications; older records name one at most."""
    if details.get("verified_by"):
        return [str(details["verified_by"])]
    confirmed = details.get("confirmed_by")
    return [str(one) for one in confirmed if one not in NO_VERIFIERS] if isinstance(confirmed, list) else []


def _peer_cell(peer: Peer | None, length: int) -> str:
    """Word another solver's time, its start-up, how many times ours it is, and its length where that is another."""
    if peer is None:
        return ""
    if peer.solve_s is None or peer.start_s is None:
        return cell(peer.trouble)
    lines = [f"{seconds(peer.solve_s)} (start-up {seconds(peer.start_s)})"]
    if peer.ratio is not None:
        lines.append(ratio(peer.ratio))
    if peer.length != length:
        lines.append(f"length {peer.length}")
    return "<br>".join(map(cell, lines))


def _spread(spread: Spread | None, metric: str) -> str:
    """Word what a profiler counted, least, average and most: parts of one in per cent, instructions per clock as is."""
    if spread is None:
        return "no launch has it"
    if metric == "ipc":
        return " / ".join(f"{value:.2f}" for value in spread)
    return " / ".join(f"{100 * value:.1f}" for value in spread) + " %"


def statistics_of(rows: Sequence[Row]) -> dict[str, Any]:
    """What a template needs in order to say how the intervals were made."""
    return {
        "resamples": RESAMPLES,
        "few_repetitions": any(row.running.repetitions < LEAST_FOR_COVERAGE for row in rows),
        "least_for_coverage": LEAST_FOR_COVERAGE,
        "least_for_interval": LEAST_FOR_INTERVAL,
    }


def template(name: str) -> Any:
    """Load a template, with the filters that all reports share.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
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
        "ratio": ratio,
        "ratio_interval": ratio_interval,
        "grouped": grouped,
        "cell": cell,
        "machine": machine,
        "share": share,
        "worded": worded,
        "gap": gap,
        "printed_cell": _printed_cell,
        "strategy_cell": _strategy_cell,
        "cities_of": _cities_of,
        "proof_cell": _proof_cell,
        "peer_cell": _peer_cell,
        "spread": _spread,
        "bytes": size,
        "over_one_core": lambda ours: "".join(_over_one_core(ours)),
    }
    return environment.get_template(name)
