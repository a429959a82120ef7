"""A paper's tables with our runs in them: finds the publication of the runs and lays them out as its data say.

The published figures are data, `reports/published/*.toml`; each names its `layout`: lines (`reports.line_tables`, where
none is named), strategies (`reports.strategy_table`) or peers (`reports.peer_table`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.errors import UserError
from reports import line_tables, peer_table, strategy_table, wavefront_table
from reports.line_tables import TablesReport
from reports.literature import publication
from reports.peer_table import PeerReport
from reports.records import Record, RecordError, merge
from reports.strategy_table import StrategyReport
from reports.wavefront_table import WavefrontReport


def tables_report(records: Iterable[Record]) -> TablesReport | StrategyReport | PeerReport | WavefrontReport:
    """Lay our runs out in the tables of the publication that measured their workload.

    Parameters
    ----------
    records : iterable of Record
        Of any instances and parameters; runs of equal work are compared, and repetitions joined.

    Raises
    ------
    UserError
        No published tables for a workload, or workloads of two publications.
    RecordError
        No record that counts, or one without the parameters by which the layout places it.
    UnequalWorkError
        Two runs of the same instance, seed and parameters did not do the same work; says which.
    """
    runs = merge(records)
    confirmed = [run for run in runs if run.scored and run.samples]
    unconfirmed = tuple(run for run in runs if not run.scored)
    if not confirmed:
        reason = ": the NumPy scorer confirmed none of them" if unconfirmed else ""
        raise RecordError(f"no records to lay out in tables{reason}")
    published = _publication(confirmed)
    if published.get("layout") == strategy_table.LAYOUT:
        return strategy_table.laid_out(published, confirmed, unconfirmed)
    if published.get("layout") == peer_table.LAYOUT:
        return peer_table.laid_out(published, confirmed, unconfirmed)
    if published.get("layout") == wavefront_table.LAYOUT:
        return wavefront_table.laid_out(published, confirmed, unconfirmed)
    return line_tables.laid_out(published, confirmed, unconfirmed)


def _publication(runs: Sequence[Record]) -> Mapping[str, Any]:
    found = {}
    for workload in dict.fromkeys(run.workload for run in runs):
        published = publication(workload, "tables")
        if published is None:
            raise UserError(f"no published tables for the workload {workload!r}: use `python -m reports compare`")
        found[published["name"]] = published
    if len(found) > 1:
        raise UserError(f"records of workloads from {' and '.join(found)}: expected one publication's at a time")
    return next(iter(found.values()))
