"""Records as comma-separated values: a row per repetition.

`COLUMNS` is the table's documentation too: `python -m reports csv --help` prints it.
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from reports.records.meters import GPU_ENERGY, PACKAGE_ENERGY
from reports.records.schema import Record, Repetition


class Column(NamedTuple):
    """A column: its name, the unit and meaning of its values, and their origin (see `_sources`)."""

    name: str
    unit: str
    meaning: str
    source: str


COLUMNS = tuple(
    Column(name, *facts)
    for name, facts in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
)
"""Columns of a row, from `columns.toml`; a value that was not recorded is empty."""


def csv_text(records: Iterable[Record]) -> str:
    """Return a line for each repetition as comma-separated values; an empty cell was not recorded.

    Repetitions of a run may be spread over several records; the column `repetition` has the number in its run.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(column.name for column in COLUMNS)
    seen: Counter[str] = Counter()
    for record in records:
        for repetition in record.repetitions:
            seen[record.identity] += 1
            sources = _sources(record, repetition, seen[record.identity])
            table.writerow(sources[column.source].get(column.name) for column in COLUMNS)
    return text.getvalue()


def documentation() -> str:
    lines = [("column", "unit", "meaning"), *((column.name, column.unit, column.meaning) for column in COLUMNS)]
    return textwrap.indent("\n".join(f"{name:<20} {unit:<5} {meaning}" for name, unit, meaning in lines), "  ")


def _sources(record: Record, repetition: Repetition, number: int) -> dict[str, Mapping[str, Any]]:
    """Return the origins of a row's values, by the names of their columns."""
    running_s, reasons = repetition.running_s, (repetition.conditions or {}).get("throttled_by")
    joules, moved = repetition.energy_j or {}, repetition.bytes_moved or {}
    computed = {
        "repetition": number,
        "parameters": json.dumps(record.parameters, sort_keys=True),
        "execution": json.dumps(record.execution, sort_keys=True),
        "running_s": running_s,
        "rank_least_s": min(repetition.rank_s) if repetition.rank_s else None,
        "rank_most_s": max(repetition.rank_s) if repetition.rank_s else None,
        # A workload such as exact search may count no evaluations.
        "evaluations_per_s": record.evaluations / running_s if record.evaluations and running_s > 0 else None,
        "throttled_by": None if reasons is None else "; ".join(reasons),
        "gpu_j": joules.get(GPU_ENERGY),
        "package_j": joules.get(PACKAGE_ENERGY),
        "bytes_host_device": moved.get("host_device"),
        "bytes_between_ranks": moved.get("between_ranks"),
    }
    return {
        "record": structs.asdict(record),
        "environment": record.environment,
        "details": record.details,
        "repetition": structs.asdict(repetition),
        "conditions": repetition.conditions or {},
        "computed": computed,
    }
