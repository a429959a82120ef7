"""Records as a data frame of pandas, or as comma-separated values: a row per repetition.

`COLUMNS` is the table's documentation too: `onekernel report csv --help` prints it.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from core.errors import UserError
from reports.records.meters import GPU_ENERGY, PACKAGE_ENERGY
from reports.records.schema import Record, Repetition

if TYPE_CHECKING:
    import pandas


class FrameColumn(NamedTuple):
    """A column: its name, the unit and meaning of its values, and their origin (see `_sources`)."""

    name: str
    unit: str
    meaning: str
    source: str


COLUMNS = tuple(
    FrameColumn(name, *facts)
    for name, facts in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
)
"""Columns of a row, from `frame.toml`; a value that was not recorded is empty."""


def frame(records: Iterable[Record], dtype: type | None = None) -> pandas.DataFrame:
    """Return a data frame with a row for each repetition, and the columns `record` and `COLUMNS`.

    Repetitions of a run may be spread over several records. The column `record` has the position of the record,
    `repetition` the number of the repetition in its run. ``dtype`` is the type of all columns, by default chosen by
    pandas; `object` keeps recorded values. Raises `UserError` if pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise UserError("tables of records need pandas: pip install 'onekernel[report]'") from None
    rows = []
    seen: Counter[str] = Counter()
    for position, record in enumerate(records):
        run = record.identity
        for repetition in record.repetitions:
            seen[run] += 1
            sources = _sources(record, repetition, seen[run])
            rows.append([position, *(sources[column.source].get(column.name) for column in COLUMNS)])
    return pandas.DataFrame(rows, columns=["record", *(column.name for column in COLUMNS)], dtype=dtype)


def csv_text(records: Iterable[Record]) -> str:
    """Return the columns as comma-separated values, lines ended by a line feed; None is an empty cell."""
    return str(
        frame(records, object).to_csv(index=False, columns=[column.name for column in COLUMNS], lineterminator="\n")
    )


def documentation() -> str:
    lines = [("column", "unit", "meaning"), *((column.name, column.unit, column.meaning) for column in COLUMNS)]
    return textwrap.indent("\n".join(f"{name:<20} {unit:<5} {meaning}" for name, unit, meaning in lines), "  ")


def _sources(record: Record, repetition: Repetition, number: int) -> dict[str, Mapping[str, Any]]:
    """Return the origins of a row's values, by the names of their columns."""
    running_s, reasons = repetition.running_s, (repetition.conditions or {}).get("throttled_by")
    evaluations = record.evaluations if repetition.evaluations is None else repetition.evaluations
    joules, updates, moved = repetition.energy_j or {}, repetition.energy_update_s or {}, repetition.bytes_moved or {}
    computed = {
        "repetition": number,
        "parameters": json.dumps(record.parameters, sort_keys=True),
        "execution": json.dumps(record.execution, sort_keys=True),
        "cores_per_rank": record.cores_per_rank,
        "running_s": running_s,
        "rank_least_s": min(repetition.rank_s) if repetition.rank_s else None,
        "rank_most_s": max(repetition.rank_s) if repetition.rank_s else None,
        "work_per_s": repetition.work / running_s if running_s > 0 else None,
        "evaluations": evaluations,
        # A workload such as exact search may count no evaluations.
        "evaluations_per_s": evaluations / running_s if evaluations and running_s > 0 else None,
        "throttled_by": None if reasons is None else "; ".join(reasons),
        "gpu_j": joules.get(GPU_ENERGY),
        "package_j": joules.get(PACKAGE_ENERGY),
        "gpu_update_s": updates.get(GPU_ENERGY),
        "package_update_s": updates.get(PACKAGE_ENERGY),
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
