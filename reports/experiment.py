"""The report of a comparison of one workload: a section for each instance and seed, the tables beside it as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports import markdown, plots
from reports.comparison import Comparison, NotRun, compare
from reports.records import Record
from reports.table import print_table


@dataclass(frozen=True)
class Section:
    """What ran on one instance.

    Attributes
    ----------
    records : sequence of Record
        Of all configurations that ran, and all seeds.
    not_run : sequence of NotRun
        The others, and why.
    why : str
        Why this instance was chosen, in words.

    """

    records: Sequence[Record]
    not_run: Sequence[NotRun]
    why: str
