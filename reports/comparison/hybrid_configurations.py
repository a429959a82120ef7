"""The same number of cores as one rank with threads, as a rank for each core, and as mixtures of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reports.comparison.cautions import Caution, marks
from reports.comparison.speedups import ComparedRun, ComparedRuns, surely_above_one
from reports.records.files import group_by
from reports.statistics.medians import ratio_of_medians
from reports.text.formatting import per_cent, ratio_interval, seconds_interval
from reports.text.tables import TextTable


@dataclass(frozen=True)
class HybridConfigurations:
    """Rows of a comparison with the same number of cores, distributed among ranks differently.

    Attributes
    ----------
    comparison
        All rows, including the baseline.
    cores
        Cores of all ranks of a row.
    rows
        In the order of their ranks.
    """

    comparison: ComparedRuns
    cores: int
    rows: tuple[ComparedRun, ...]

    @property
    def present(self) -> int:
        """Number of existing cores: fewer if rows are oversubscribed."""
        return min(self.cores, self.rows[0].record.present_cores or self.cores)

    @property
    def where(self) -> str:
        return f"{self.cores} cores" if self.present == self.cores else f"{self.cores} workers for {self.present} cores"

    def table(self, cautions: Sequence[Caution]) -> TextTable:
        work, label = self.comparison.work, self.comparison.label
        columns: dict[str, Callable[[ComparedRun], str]] = {
            ">ranks x cores each": hybrid_label,
            "run": label,
            ">time, median [95 % CI]": lambda row: seconds_interval(row.running.median),
            ">speed-up over one core [95 % CI]": lambda row: ratio_interval(row.speedup),
            ">efficiency": self._efficiency,
            ">in communication": lambda row: per_cent(row.record.communication_share),
            "notes": lambda row: marks(cautions, label(row)),
        }
        caption = f"{work.work_name}: {self.where}, divided among ranks"
        return TextTable.of(caption, (*filter(None, [self.comparison.baseline]), *self.rows), columns)

    def _efficiency(self, row: ComparedRun) -> str:
        return "" if row.speedup is None else per_cent(row.speedup.value / min(row.record.busy_cores, self.present))

    def verdicts(self) -> list[str]:
        """Sentences without full stops that compare the fastest with flat MPI and one rank with all cores."""
        is_bound = all("rank_cores" in row.record.details for row in self.rows)
        kept = "Every rank was pinned to separate cores" if is_bound else "Ranks were not pinned to separate cores"
        fastest = min(self.rows, key=lambda row: row.median_s)
        over = "" if fastest.speedup is None else f": {ratio_interval(fastest.speedup)} as fast as one core"
        sentences = [f"The fastest configuration of {self.where} is {hybrid_text(fastest)}{over}"]
        for name, ranks in (("flat MPI", self.cores), ("one rank with all cores", 1)):
            other = next((row for row in self.rows if row.record.ranks == ranks), None)
            if other is not None and other is not fastest:
                sentences.append(f"That is {ratio_text(fastest, other, f'{name} ({hybrid_label(other)})')}")
        return [*sentences, kept]


def cores_each(row: ComparedRun) -> int:
    return row.record.cores_per_rank or 1


def hybrid_label(row: ComparedRun) -> str:
    return f"{row.record.ranks}x{cores_each(row)}"


def hybrid_text(row: ComparedRun) -> str:
    ranks, cores = row.record.ranks, cores_each(row)
    if ranks == 1:
        return f"one rank with {cores} threads"
    return f"{ranks} ranks" + (f" with {cores} threads each" if cores > 1 else " with one core each, flat MPI")


def ratio_text(run: ComparedRun, other: ComparedRun, name: str) -> str:
    """Ratio of a row to a slower one as text, and a doubt if the difference is not significant."""
    times = ratio_of_medians(other.record.running_seconds, run.record.running_seconds)
    doubt = "" if surely_above_one(times, run, other) else ", but the difference is not significant"
    return f"{ratio_interval(times)} as fast as {name}{doubt}"


def find_hybrids(comparison: ComparedRuns) -> list[HybridConfigurations]:
    """Numbers of cores common to several rows with different ranks, if at least one row set its cores."""
    known = [
        row
        for row in comparison.rows
        if row.record.cores_per_rank is not None and not row.record.details.get("reference")
    ]
    mixed = []
    for rows in group_by(known, lambda row: [row.record.busy_cores, row.machine]):
        cores = rows[0].record.busy_cores
        asked = any(row.record.details.get("cores_per_rank") for row in rows)
        if cores > 1 and len({row.record.ranks for row in rows}) > 1 and asked:
            mixed.append(HybridConfigurations(comparison, cores, tuple(sorted(rows, key=lambda row: row.record.ranks))))
    return mixed
