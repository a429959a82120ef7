"""Parameters, execution settings and seed of a run: values that runs share, and their words in reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.records.files import Record


def run_parameters(record: Record) -> dict[str, Any]:
    """Return the parameters, the execution settings and the seed of a run."""
    return {**record.parameters, **record.execution, "seed": record.seed}


def shared_parameters(records: Sequence[Record]) -> dict[str, Any]:
    """Return those of `run_parameters` that have the same value in all records; at least one record."""
    first, *others = map(run_parameters, records)
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }


def parameters_text(values: Mapping[str, Any]) -> str:
    """Return parameters as text for a cell or a sentence, in the order of their names."""
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))
