"""Material of the twelve rules: comparisons, single records, and properties of a report with its page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reports.comparison.speedups import ComparedRun, ComparedRuns, configuration_name, is_baseline
from reports.records.files import Record

HARMONIC, ARITHMETIC = "harmonic", "arithmetic"
RATES = "rates"
"""Key of `ReportProperties.means` for means of rates."""


@dataclass(frozen=True)
class ReportProperties:
    """Properties of a report that its records do not have. A sentence counts only if the page prints it.

    Attributes
    ----------
    page : str or None
        The report's text without the section of the rules. None: not given, and rules that depend on it cannot be told.
    reasons : str or mapping
        Reason for these instances: one for all, or by the name of the instance; empty where there is none.
    parts : str
        Reason for using only a part of the machine, if it was.
    absent : str
        Part of the paper's benchmarks without a run, in words; empty: none, or no paper's benchmarks are shown.
    why_absent : str
        Reason for that.
    bounds : collection of str
        Labels of the rows beside which an upper bound of their performance stands, an ideal speed-up for instance. The
        label of a row is `ComparedRuns.label`; of a record given by itself it is
        `reports.comparison.speedups.configuration_name`.
    bound : str
        Name of the bound in the page.
    figures : sequence of str
        Alternative texts of the pictures in the page.
    extremes : sequence of str
        Headings of the columns that show the spread of values beside medians.
    tests : str
        Tests that compare runs, beside the intervals of speed-ups, as the page names them.
    means : mapping or None
        Means in the page: values that are averaged (`RATES`, or costs by name) and the kind of mean, `ARITHMETIC` or
        `HARMONIC`. None: not known.
    mean_ratios : str or None
        Ratios that the report averages; empty: none. None: not known.
    assumed_normal : str or None
        Figures that take values as normally distributed; empty: none. None: not known.
    joined : str or None
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
    means: Mapping[str, str] | None = None
    mean_ratios: str | None = None
    assumed_normal: str | None = None
    joined: str | None = None

    @cached_property
    def _words(self) -> str:
        return _flat(self.page or "")

    def prints(self, text: str) -> bool:
        """Return True if the page has a text, wherever its lines break."""
        return bool(text.strip()) and _flat(text).rstrip(". ") in self._words

    def heads(self, heading: str) -> bool:
        """Return True if a table of the page has a column of this heading."""
        return self.prints(f"| {heading} |")

    def reason(self, instance: str) -> str:
        """Return the reason for an instance that the page prints, or nothing."""
        reason = self.reasons if isinstance(self.reasons, str) else self.reasons.get(instance, "")
        return reason if self.prints(reason) else ""


def _flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class RuleRun:
    """A row of a comparison, or a record by itself."""

    label: str
    record: Record
    row: ComparedRun | None

    @property
    def repetitions(self) -> int:
        """Number of timed repetitions."""
        return len(self.record.repetitions)


@dataclass(frozen=True)
class RuleInputs:
    """Comparisons, single records and the page: all that a check may look at."""

    comparisons: tuple[ComparedRuns, ...]
    records: tuple[tuple[str, Record], ...]
    about: ReportProperties
    several: bool = field(init=False)

    @classmethod
    def of(cls, shown: Iterable[ComparedRuns | Record | tuple[str, Record]], about: ReportProperties) -> RuleInputs:
        """Sort what a report shows.

        Raises
        ------
        ValueError
            Nothing is shown.
        """
        everything = list(shown)
        if not everything:
            raise ValueError("no comparison and no record to judge")
        single = [one for one in everything if not isinstance(one, ComparedRuns)]
        return cls(
            tuple(one for one in everything if isinstance(one, ComparedRuns)),
            tuple(one if isinstance(one, tuple) else (configuration_name(one), one) for one in single),
            about,
        )

    def __post_init__(self) -> None:
        everything = [comparison.work for comparison in self.comparisons] + [record for _, record in self.records]
        object.__setattr__(self, "several", len({(one.workload, one.instance) for one in everything}) > 1)

    @cached_property
    def runs(self) -> list[RuleRun]:
        """All rows and records."""
        rows = [
            RuleRun(self._label(comparison.label(row), row.record), row.record, row)
            for comparison in self.comparisons
            for row in comparison.rows
        ]
        return rows + [RuleRun(self._label(label, one), one, None) for label, one in self.records]

    def _label(self, label: str, record: Record) -> str:
        return f"{label} on {record.instance}" if self.several else label

    @property
    def compared(self) -> list[RuleRun]:
        """Rows with a speed-up over another row."""
        return [run for run in self.runs if run.row and run.row.speedup and not is_its_own_base(run.row)]

    def bounded(self, run: RuleRun) -> bool:
        """Return True if a bound stands beside a run. Its label may have the instance or not."""
        return (
            run.label in self.about.bounds or run.label.removesuffix(f" on {run.record.instance}") in self.about.bounds
        )


def is_its_own_base(row: ComparedRun) -> bool:
    """Return True if a row is the run on one core that its own speed-up is over."""
    return row.speedup is not None and row.base is None and is_baseline(row)
