"""Parameters of a run as text in reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def parameters_text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))
