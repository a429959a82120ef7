"""The runs of a cell: what `reproduce` plans for a row and a column, and which records belong there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.papers.paper import Column, Exhibit, ExhibitRow, Paper, Series
from reports.records.environment import EMULATED_HOSTS, EMULATED_NETWORK
from reports.records.files import Record

ON_HOST = "host"
"""Bound of a run on an instance small enough for the host: it belongs to every bound."""
NOT_RECORDED = ("peers", "history", "verify", "profile")
"""Options that are neither parameters nor execution settings of a record."""
GENERATING = ("items", "capacity")
"""Options that make an instance, instead of `--instance`; a record has its name."""


@dataclass(frozen=True)
class RunChoice:
    """Runs of a cell.

    Attributes
    ----------
    workload
        Name of the driver.
    options
        Options of the driver without the amount of work and without `--instance`.
    instance
        Value of `--instance`; empty if the options make the instance.
    names
        Names of the instance in records, or the first parts of them; empty for any.
    series
        Kinds of devices, backends, ranks and hosts.
    processors
        Kind and number of processors, `cores:8`; empty for those of the series.
    """

    workload: str
    options: Mapping[str, Any]
    instance: str
    names: frozenset[str]
    series: Series
    processors: str = ""

    def has(self, record: Record) -> bool:
        """True if a record is a run of the cell, of any amount; the kind of device is one of the series'."""
        return (
            record.workload == self.workload
            and (not self.names or _is_named(record, self.names))
            and self._has_device(record)
            and has_options(record, self.options)
        )

    def _has_device(self, record: Record) -> bool:
        series = self.series
        if series.backends and record.backend not in series.backends:
            return False
        if self.processors:
            kind = self.processors.partition(":")[0]
            # A series of ranks has several cores by as many ranks, others by threads.
            return processors(record) == self.processors and record.device_kind == (
                kind if kind in series.kinds else "core"
            )
        return (
            record.device_kind in series.kinds
            and (record.ranks == series.ranks or (series.ranks == 0 and record.ranks > 1))
            and (record.device_kind != "cores" or _has_cores(series, record))
            and _has_hosts(series, record)
        )


def run_choice(paper: Paper, exhibit: Exhibit, row: ExhibitRow, column: Column) -> RunChoice | None:
    """Return the runs of a cell; None if the column has no runs in the row."""
    runnable = row.instance or row.options or row.processors or exhibit.options.get("instance")
    if not column.series or (column.rows and row.name not in column.rows) or not runnable:
        return None
    series = paper.series[column.series]
    options = {**exhibit.options, **series.options, **row.options, **column.options}
    workload = row.workload or exhibit.workload
    amount = {name for scale in exhibit.scales.values() for name in scale.amount} | set(exhibit.amount)
    own = {name: value for name, value in options.items() if name not in amount or name in column.options}
    instance = row.instance or str(options.get("instance", ""))
    own.pop("instance", None)
    names = {row.name, instance} if instance else set()
    if any(name in own for name in GENERATING):
        names, instance = {instance}, ""
    # A series of one core is the base of rows with any number of processors.
    where = "" if series.kinds == ("core",) and series.ranks == 1 else row.processors
    return RunChoice(workload, own, instance, frozenset(names), series, where)


def has_run(paper: Paper, exhibit: Exhibit, records: Sequence[Record]) -> bool:
    """Return True if a cell of an exhibit has one of the records."""
    choices = [run_choice(paper, exhibit, row, column) for row in exhibit.rows for column in exhibit.columns]
    return any(choice.has(record) for choice in choices if choice for record in records)


def has_options(record: Record, options: Mapping[str, Any]) -> bool:
    """Return True if a record has all of these options, and was started with no other execution setting."""
    if not record.execution.keys() & record.details.get("options", {}).keys() <= options.keys():
        return False
    asked = {**record.parameters, **record.execution}
    if asked.get("bound") == ON_HOST:
        asked["bound"] = options.get("bound", ON_HOST)
    return all(asked.get(name) == value for name, value in options.items() if name not in (*NOT_RECORDED, *GENERATING))


def _has_cores(series: Series, record: Record) -> bool:
    own, present = record.details.get("cores_per_rank"), record.environment.get("cores")
    return own in (None, present) if not series.cores else own == series.cores


def _has_hosts(series: Series, record: Record) -> bool:
    """True if a run's hosts are those of a series, emulated ones by one machine or real ones."""
    where = record.environment
    if series.network or where.get(EMULATED_NETWORK):
        return (where.get(EMULATED_NETWORK), where.get(EMULATED_HOSTS)) == (series.network, series.hosts)
    return record.host_count >= series.hosts


def processors(record: Record) -> str:
    """Kind and number of a run's processors: `gpu:1`, `cores:16`, `core:1`."""
    if record.device_kind == "gpu":
        return f"gpu:{record.ranks}"
    if record.device_kind == "core":
        return "core:1" if record.ranks == 1 else f"cores:{record.ranks}"
    # Every rank has the same cores of its host, for any number of ranks.
    hosts = min(record.ranks, record.host_count)
    return f"cores:{(record.host_cores or 1) * hosts}"


def _is_named(record: Record, names: frozenset[str]) -> bool:
    """Return True if an instance has a name of a row: `73-73:seed=1` is a paper's 73-73, `weierstrass:50` its 50."""
    own = record.instance, record.instance.removeprefix(f"{record.workload}:")
    return any(f"{one}:".startswith(f"{name}:") for one in own for name in names)
