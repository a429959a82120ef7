"""Reports as Markdown: loads the templates, with what all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.comparison.speedups import ComparedRun
from reports.statistics.medians import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL, RESAMPLES
from reports.text.formatting import grouped, machine

TEMPLATES = Path(__file__).parent / "templates"


def statistics_of(rows: Sequence[ComparedRun]) -> dict[str, Any]:
    """What a template needs in order to say how the intervals were made."""
    return {
        "resamples": RESAMPLES,
        "few_repetitions": any(row.running.repetitions < LEAST_FOR_COVERAGE for row in rows),
        "least_for_coverage": LEAST_FOR_COVERAGE,
        "least_for_interval": LEAST_FOR_INTERVAL,
    }


def template(name: str) -> Any:
    """Load a template, with the filters that all reports share.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise UserError("jinja2 is missing: pip install -e '.[report]'") from None

    # Markdown for readers and not HTML: nothing is escaped but the cells of tables.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {"grouped": grouped, "machine": machine}
    return environment.get_template(name)
