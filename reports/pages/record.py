"""Everything that is known about a record, as lines for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from reports.pages.comparison import wrapped
from reports.rates import is_measured, rates_of
from reports.records.files import Record
from reports.records.frame import COLUMNS, frame
from reports.text.formatting import machine, number


def record_lines(record: Record) -> Iterator[str]:
    """Yield the command of a run, its rate with interval, its machine, and each recorded value with its unit.

    Values that differ between repetitions have their ends.
    """
    yield f"command: {command(record)}"
    if is_measured(record):
        one = rates_of([record]).iloc[0]
        rate, low, high = (number(one[name], 4) for name in ("rate", "low", "high"))
        yield f"rate: {rate} {record.work_unit}/s, 95 % interval {low} to {high}, {one['repetitions']} warm repetitions"
    packages = (record.environment.get("packages") or {}).items()
    yield from wrapped(", ".join([f"machine: {machine(record.environment)}", *(" ".join(one) for one in packages)]))
    table = frame([record], object)
    for column in COLUMNS:
        if values := [one for one in table[column.name] if one is not None]:
            ends = dict.fromkeys(map(str, (min(values), max(values))))
            yield from wrapped(f"{column.name}: {' to '.join(ends)} {column.unit}".strip())


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
