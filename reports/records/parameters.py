"""What was asked of a run, its ways and its seed too: what runs have in common, and how reports word it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.records.files import Record


def run_parameters(record: Record) -> dict[str, Any]:
    """Return everything that was asked of a run, its ways and its seed included."""
    return {**record.parameters, **record.ways, "seed": record.seed}


def shared_parameters(records: Sequence[Record]) -> dict[str, Any]:
    """Return the parameters, ways and seed included, that have the same value in all records; at least one record."""
    first, *others = map(run_parameters, records)
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }


def parameters_text(values: Mapping[str, Any]) -> str:
    """Word parameters for a cell or a sentence, in the order of their names."""
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))
