"""Parameters, execution settings and seed of a run: shared values, and their text in reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.records.files import Record


def run_parameters(record: Record) -> dict[str, Any]:
    return {**record.parameters, **record.execution, "seed": record.seed}


def shared_parameters(records: Sequence[Record]) -> dict[str, Any]:
    """Return values of `run_parameters` that are equal in all records; at least one record."""
    first, *others = map(run_parameters, records)
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }


def parameters_text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))
