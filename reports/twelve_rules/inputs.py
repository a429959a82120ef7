"""Material of the twelve rules: comparisons, single records, and properties of a report with its page."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeVar

import msgspec

from reports.comparison.speedups import ComparedRun, ComparedRuns, is_baseline
from reports.records.files import Record
from reports.text.formatting import listed

HARMONIC: Literal["harmonic"] = "harmonic"
ARITHMETIC: Literal["arithmetic"] = "arithmetic"
RATES = "rates"
MOST_NAMED = 3
"""Most runs that a reason names one by one."""
SETTINGS = re.compile(r" \([^()]*\)")
"""Execution settings and the machine in a label."""
Subject = TypeVar("Subject")


class PageUnknownError(Exception):
    """A rule depends on a page that was not given."""


class ReportProperties(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Properties of a report that its records do not have. A sentence counts only if the page prints it.

    Attributes
    ----------
    page
        The report's text without the section of the rules. None if missing; rules that need it cannot be checked.
    reasons : str or mapping
        Reason for these instances: one for all, or by the name of the instance; may be empty.
    parts
        Reason for using only a part of the machine, if it was.
    absent
        Description of the paper's benchmarks without a run; empty if none, or if no paper's benchmarks are shown.
    why_absent
        Reason for that.
    bounds : collection of str
        Labels of the rows with an upper bound of their performance, an ideal speed-up for instance. The label of a
        row is `ComparedRuns.label`; of a single record it is
        `reports.comparison.speedups.configuration_name`.
    bound
        Name of the bound in the page.
    figures
        Alternative texts of the pictures in the page.
    extremes
        Headings of the columns that show the spread of values beside medians.
    tests
        Tests that compare runs, beside the intervals of speed-ups, as the page names them.
    means
        Means in the page: values that are averaged (`RATES`, or costs by name) and the kind of mean, `ARITHMETIC` or
        `HARMONIC`. None: not known.
    mean_ratios
        Ratios that the report averages; empty: none. None: not known.
    assumed_normal
        Figures that take values as normally distributed; empty: none. None: not known.
    joined
        Points that a picture joins although nothing lies between them; empty: none. None: not known.
    """

    page: str | None = None
    reasons: str | Mapping[str, str] = ""
    parts: str = ""
    absent: str = ""
    why_absent: str = ""
    bounds: Collection[str] = ()
    bound: str = ""
    figures: Sequence[str] = ()
    extremes: Sequence[str] = ()
    tests: str = ""
    means: Mapping[str, Literal["arithmetic", "harmonic"]] | None = None
    mean_ratios: str | None = None
    assumed_normal: str | None = None
    joined: str | None = None

    def require_page(self) -> None:
        if self.page is None:
            raise PageUnknownError

    def prints(self, text: str) -> bool:
        """Return True if the page has a text, with any line breaks. Raises `PageUnknownError` without a page."""
        self.require_page()
        return bool(text.strip()) and _flat(text).rstrip(". ") in _flat(self.page or "")

    def reason(self, instance: str) -> bool:
        return self.prints(self.reasons if isinstance(self.reasons, str) else self.reasons.get(instance, ""))


@lru_cache(maxsize=64)
def _flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class RuleInputs:
    """Comparisons, single records and the page: all inputs of a check."""

    comparisons: Sequence[ComparedRuns]
    records: Sequence[tuple[str, Record]]
    about: ReportProperties

    @cached_property
    def rows(self) -> list[tuple[str, ComparedRun]]:
        labelled = [(comparison.label(row), row) for comparison in self.comparisons for row in comparison.rows]
        return [(self._label(label, row.record), row) for label, row in labelled]

    @property
    def runs(self) -> list[tuple[str, Record]]:
        single = [(self._label(label, record), record) for label, record in self.records]
        return [(label, row.record) for label, row in self.rows] + single

    @property
    def compared(self) -> list[tuple[str, ComparedRun]]:
        return [(label, row) for label, row in self.rows if row.speedup and not is_its_own_base(row)]

    @cached_property
    def _several(self) -> bool:
        everything = [comparison.work for comparison in self.comparisons] + [record for _, record in self.records]
        return len({(record.workload, record.instance) for record in everything}) > 1

    def _label(self, label: str, record: Record) -> str:
        return f"{label} on {record.instance}" if self._several else label


def named(labels: Iterable[str], what: str = "runs") -> str:
    """Name a few runs one by one; of many return the number and examples without settings. Empty without any."""
    distinct = list(dict.fromkeys(labels))
    count = len(distinct)
    if count > MOST_NAMED:
        distinct = list(dict.fromkeys(SETTINGS.sub("", label) for label in distinct))[:MOST_NAMED]
    if not distinct:
        return ""
    # Labels such as `cpu, 2 ranks` contain commas.
    names = "; ".join(distinct) if any("," in label for label in distinct) else listed(distinct)
    return names if count <= MOST_NAMED else f"{count} {what} {'such as' if len(distinct) > 1 else 'of'} {names}"


def which(labelled: Iterable[tuple[str, Subject]], condition: Callable[[Subject], Any]) -> str:
    """Name the rows or records that meet a condition; empty without any."""
    return named(label for label, one in labelled if condition(one))


def is_its_own_base(row: ComparedRun) -> bool:
    """True if a row is the run on one core that its own speed-up is over."""
    return row.speedup is not None and row.base is None and is_baseline(row)
