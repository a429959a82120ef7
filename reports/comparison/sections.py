"""The sections of a report: runs on one instance, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reports.comparison import hybrid_configurations, reference_solvers, scaling
from reports.comparison.cautions import Caution, cautions
from reports.comparison.seeds import SeedQuality, merge_seeds
from reports.comparison.speedups import ComparedRuns, NotRun, compare
from reports.records.files import Record, RecordError, families, group_by


@dataclass(frozen=True)
class InstanceSection:
    """Runs on one instance.

    Attributes
    ----------
    records
        Records of all configurations and seeds. Records with work that grows with the ranks are points of curves of
        weak scaling, not rows; without others, those on one rank are rows.
    not_run
        Other configurations, with the reasons.
    why
        Reason for the choice of this instance.
    """

    records: Sequence[Record]
    not_run: Sequence[NotRun] = ()
    why: str = ""


@dataclass(frozen=True)
class ComparedSection:
    """A section with its comparison and derived tables.

    Attributes
    ----------
    comparison
        Its rows; runs of several seeds are one row.
    why
        See `InstanceSection`.
    families : mapping
        The runs of all seeds of a row, by the identity of the row's record.
    records
        All records of the section.
    nearby
        Records of the whole report.
    """

    comparison: ComparedRuns
    why: str = ""
    families: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    records: Sequence[Record] = ()
    nearby: Sequence[Record] = ()

    @cached_property
    def cautions(self) -> list[Caution]:
        return cautions(self.comparison, self.nearby)

    @cached_property
    def quality(self) -> SeedQuality | None:
        """Costs over several seeds; None for a single seed."""
        family = self.families.get(self.comparison.work.identity, ())
        return SeedQuality.of(family) if len(family) > 1 else None

    @cached_property
    def mixed(self) -> list[hybrid_configurations.HybridConfigurations]:
        """Rows with the same number of cores, distributed among ranks differently."""
        return hybrid_configurations.find_hybrids(self.comparison)

    @cached_property
    def strong(self) -> list[scaling.ScalingCurve]:
        return scaling.strong(self.comparison)

    @cached_property
    def weak(self) -> list[scaling.ScalingCurve]:
        """Curves over ranks of work that grows with them."""
        return scaling.weak(self.records)

    @cached_property
    def solvers(self) -> reference_solvers.SolverComparison | None:
        """Other solvers, if recorded."""
        return reference_solvers.compare_solvers(self.comparison, self.records)


def compare_section(section: InstanceSection, nearby: Sequence[Record] = ()) -> ComparedSection:
    """Put the records of a section side by side; those of several seeds as one.

    ``nearby`` are records of the whole report, if it has other sections: they ran before or after. Raises as
    `reports.comparison.speedups.compare`.
    """
    alike = scaling.without_grown_work(section.records)
    joined = {merged.identity: (merged, family) for family in families(alike) for merged in [merge_seeds(family)]}
    comparison = compare([one for one, _ in joined.values()], section.not_run)
    runs = {identity: family for identity, (_, family) in joined.items()}
    return ComparedSection(comparison, section.why, runs, section.records, nearby or section.records)


def split_by_instance(records: Sequence[Record]) -> list[InstanceSection]:
    """Make a section of the records of each instance, in the order of their first records.

    Raises `RecordError` without records, or for several workloads.
    """
    workloads = list(dict.fromkeys(record.workload for record in records))
    if not workloads:
        raise RecordError("no records to compare")
    if len(workloads) > 1:
        raise RecordError(f"found records of {', '.join(workloads)}: expected those of one workload")
    return [InstanceSection(group) for group in group_by(records, lambda record: record.instance_sha256)]
