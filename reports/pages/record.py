"""Records on a terminal: the list of a file's records, and everything that is known about one of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

from reports.pages.comparison import wrapped
from reports.papers.cells import device_text
from reports.rates import is_measured, rates_of
from reports.records.files import Record
from reports.records.frame import COLUMNS, frame
from reports.text.formatting import machine, number, rate
from reports.text.tables import TextTable


def record_table(records: Sequence[Record]) -> TextTable:
    """Return a row for each record: its number in the file, its work, device, rate, and hash."""
    columns: dict[str, Callable[[tuple[int, Record]], object]] = {
        ">row": lambda row: row[0],
        "work": lambda row: command(row[1]).partition("onekernel ")[2].partition(" --seed")[0],
        "on": lambda row: device_text(row[1]),
        "rate": lambda row: rate_cell(row[1]),
        "hash": lambda row: row[1].hash,
    }
    return TextTable.of("Records", enumerate(records, 1), columns)


def rate_cell(record: Record) -> str:
    per_s = rates_of([record])["rate"].iloc[0] if is_measured(record) else None
    return f"{rate(per_s)} {record.work_unit}/s" if per_s else "not measured"


def record_lines(record: Record) -> Iterator[str]:
    """Yield the command of a run, its rate with interval, its machine, and each recorded value with its unit.

    Values that differ between repetitions have their ends.
    """
    yield f"command: {command(record)}"
    if is_measured(record):
        one = rates_of([record]).iloc[0]
        interval = f"{number(one['low'], 4)} to {number(one['high'], 4)}" if one["low"] > 0 else "unknown"
        joules = f", {number(one['joules'])} joules a unit ({one['energy_of']})" if one["energy_of"] else ""
        repetitions = f"{one['repetitions']} warm repetitions"
        yield from wrapped(f"rate: {rate_cell(record)}, 95 % interval {interval}, {repetitions}{joules}")
    packages = (record.environment.get("packages") or {}).items()
    yield from wrapped(", ".join([f"machine: {machine(record.environment)}", *(" ".join(one) for one in packages)]))
    table = frame([record], object)
    for column in COLUMNS:
        values = [one for one in table[column.name] if one is not None]
        ends = dict.fromkeys(map(str, [min(values), max(values)] if values else []))
        yield from wrapped(f"{column.name}: {' to '.join(ends)} {column.unit}".strip()) if values else []


def command(record: Record) -> str:
    """Return the command line that does a run's work on its device again, without options of measuring."""
    words = ["mpirun", "-n", str(record.ranks)] if record.ranks > 1 else []
    words += ["onekernel", record.workload, "--instance", record.instance]
    for name, value in (record.details.get("options") or {}).items():
        flag = f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
        words += [flag] if isinstance(value, bool) else [flag, str(value)]
    cores = record.details.get("cores_per_rank")
    place = ["--cores", str(cores)] if cores else ["--device", record.device]
    return shlex.join([*words, "--seed", str(record.seed), "--backend", record.backend, *place])
