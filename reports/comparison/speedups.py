"""Records of equal work side by side: medians with intervals, and speed-ups over the absolute baseline.

The baseline is a run on one core and one rank, as Hoefler and Belli (SC 2015, rule 1) require: its time is shown beside
every ratio. Unequal work, or work not confirmed by the NumPy scorer, never enters a ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from reports.comparison.baseline_groups import ONE_CORE, group_labels, quietest_group
from reports.comparison.execution_settings import value_text
from reports.comparison.machines import letter_machines, machine_letter
from reports.records.environment import EMULATED_HOSTS, EMULATED_NETWORK
from reports.records.files import Record, RecordError, group_by, merge, require_equal_work
from reports.records.stated_amount import at_stated_amount
from reports.statistics.medians import Estimate, Summary, ratio_of_medians, summarise

PROBLEM_FIELDS = ("workload", "instance_sha256", "parameters", "seed")
"""Fields of a record that are equal in runs of equal work."""
ALGORITHM_SETTINGS = ("mapping", "evaluation", "bound")
"""Execution settings that change the algorithm of a run, and not its result."""
NOT_RECORDED = "not recorded"


@dataclass(frozen=True)
class BaselineSelection:
    """Choice of the one-core run that a row is compared with: the one with the most equal settings, then the fastest.

    Attributes
    ----------
    first
        Execution settings that weigh more than all others, the first most.
    plain : mapping
        Settings that an experiment varies, with their values without it: a baseline has these values, and not the
        row's. A setting that no row has is ignored.
    same
        Further execution settings that must be equal, beside `ALGORITHM_SETTINGS`.
    """

    first: tuple[str, ...] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)
    same: tuple[str, ...] = ()

    def unlike(self, record: Record, baseline: Record) -> list[str]:
        """Settings in which a baseline differs from the wanted one, by falling weight."""
        wanted = {name: self.plain.get(name, value) for name, value in record.execution.items()}
        names = dict.fromkeys([*self.first, *sorted({*wanted, *baseline.execution})])
        return [name for name in names if wanted.get(name) != baseline.execution.get(name)]


@dataclass(frozen=True)
class NotRun:
    """A configuration without a row in the table, with the reason; `wrong` if it ran but its result was rejected."""

    backend: str
    device: str
    ranks: int
    reason: str
    wrong: bool = False

    def __str__(self) -> str:
        device = [f"device {self.device}"] if self.device else []
        ranks = [f"{self.ranks} ranks"] if self.ranks > 1 else []
        where = f" ({', '.join(device + ranks)})" if device or ranks else ""
        return f"{self.backend}{where}: {self.reason}"


@dataclass(frozen=True)
class ComparedRun:
    """One configuration of the comparison. Times in seconds.

    `running` is end to end without compilation; `compile_s` is the longest compilation of any repetition, since only
    the first one compiles. `speedup` and `baseline_s` are None without a baseline. `base` is the row that the speed-up
    is over, or None for the row itself.
    """

    record: Record
    machine: str
    compile_s: float
    transfer: Summary
    kernel: Summary
    running: Summary
    labels: tuple[str, ...]
    speedup: Estimate | None = None
    baseline_s: float | None = None
    base: ComparedRun | None = None

    @property
    def name(self) -> str:
        """Backend, device if there is a choice, and ranks, for tables and plots."""
        record = self.record
        device = f" {record.device}" if record.device not in ("", "0") else ""
        ranks = f", {record.ranks} ranks" if record.ranks > 1 else ""
        hosts = record.environment.get(EMULATED_HOSTS)
        return f"{record.backend}{device}{ranks}" + (f" on {hosts} emulated hosts" if hosts else "")

    @property
    def device_name(self) -> str:
        """Name of the device, or of the processor if not recorded."""
        return str(self.record.details.get("device_name") or self.record.environment.get("cpu_model", "unknown"))

    @property
    def median_s(self) -> float:
        return self.running.median.value

    @property
    def rate(self) -> float | None:
        return _rate(self.record.evaluations, self.running)


@dataclass(frozen=True)
class ComparedRuns:
    """Content of a report. `machines` maps a letter to the environment of the rows with this letter."""

    rows: tuple[ComparedRun, ...]
    not_run: tuple[NotRun, ...]
    machines: Mapping[str, Mapping[str, Any]]

    @property
    def work(self) -> Record:
        return self.rows[0].record

    @cached_property
    def usual_settings(self) -> dict[str, Any]:
        """Execution settings of most rows: the most frequent value of each, the first of equally frequent ones."""
        usual = {}
        for name in dict.fromkeys(name for row in self.rows for name in row.record.execution):
            values = [row.record.execution[name] for row in self.rows if name in row.record.execution]
            usual[name] = max(values, key=values.count)
        return usual

    def unusual_settings(self, record: Record) -> dict[str, Any]:
        own = {name: record.execution.get(name, NOT_RECORDED) for name in self.usual_settings}
        return {name: value for name, value in own.items() if value != self.usual_settings[name]}

    @property
    def baseline(self) -> ComparedRun | None:
        return next((row for row in self.rows if is_baseline(row)), None)

    def label(self, row: ComparedRun) -> str:
        """Name a row uniquely in the comparison, with its settings and its machine."""
        apart = [f"{name} = {value_text(value)}" for name, value in sorted(self.unusual_settings(row.record).items())]
        machine = [f"machine {row.machine}"] if len(self.machines) > 1 else []
        return row.name + (f" ({', '.join(apart + machine)})" if apart or machine else "")


def compare(
    records: Iterable[Record],
    not_run: Sequence[NotRun] = (),
    likeness: BaselineSelection | None = None,
    machines: Mapping[str, Mapping[str, Any]] | None = None,
) -> ComparedRuns:
    """Put runs of equal work side by side.

    Parameters
    ----------
    records
        Lines of one or more record files; repetitions of a run are joined.
    not_run
        Configurations to list with the reason why they have no row.
    likeness
        Selection of a row's baseline among several one-core runs.
    machines
        Environments by letter, if several comparisons share their letters.

    Raises
    ------
    RecordError
        No record counts.
    UnequalWorkError
        Two records did not do the same work; says which.
    """
    runs = [at_stated_amount(run) for run in merge(records)]
    confirmed = [run for run in runs if run.verified and run.repetitions]
    if not confirmed:
        raise RecordError("no records to compare" + (": the NumPy scorer confirmed none of them" if runs else ""))
    require_equal_work(confirmed)
    machines = letter_machines(confirmed) if machines is None else machines
    rows = tuple(_with_speedups([_row(run, machines) for run in confirmed], likeness or BaselineSelection()))
    unconfirmed = "the NumPy scorer did not confirm its best cost"
    wrong = [
        NotRun(run.backend, run.device, run.ranks, f"{unconfirmed} {run.best_cost}", True)
        for run in runs
        if not run.verified
    ]
    return ComparedRuns(rows, (*wrong, *not_run), machines)


def compare_each_problem(records: Iterable[Record], likeness: BaselineSelection | None = None) -> list[ComparedRuns]:
    """Sort runs by instance, seed and parameters, and put those of each work side by side.

    All comparisons share letters of machines. Parameters and errors are those of `compare`.
    """
    runs = merge(records)
    works = group_by(runs, lambda run: [run.workload, run.instance_sha256, run.seed, run.parameters])
    machines = letter_machines(runs)
    return [compare(equal, likeness=likeness, machines=machines) for equal in works]


def _row(run: Record, machines: Mapping[str, Mapping[str, Any]]) -> ComparedRun:
    record = quietest_group(run)
    repetitions = record.repetitions
    return ComparedRun(
        record=record,
        machine=machine_letter(record, machines),
        compile_s=max(repetition.compile_s for repetition in repetitions),
        transfer=summarise([repetition.transfer_s for repetition in repetitions]),
        kernel=summarise([repetition.kernel_s for repetition in repetitions]),
        running=summarise(record.running_seconds),
        labels=(*_labels(record), *group_labels(run)),
    )


def _labels(record: Record) -> tuple[str, ...]:
    cores, own = record.present_cores, record.cores_per_rank or 1
    labels = []
    if record.is_oversubscribed:
        each = f" of {own} cores" if own > 1 else ""
        labels.append(f"oversubscribed: {record.ranks} ranks{each} on {cores} cores")
    if record.details.get("simulated"):
        labels.append("simulated: its time is not that of a device")
    if network := record.environment.get(EMULATED_NETWORK):
        hosts = record.environment.get(EMULATED_HOSTS)
        crowded = record.busy_cores > cores
        shows = ", so it shows the cost of communication and no speed-up of computation" if crowded else ""
        labels.append(
            f"emulated: its {hosts} hosts on the network {network} are one machine and share {cores} cores{shows}"
        )
    return tuple(labels)


def ratio_obstacles(record: Record, other: Record, further: Sequence[str] = ()) -> list[str]:
    """Return the obstacles to a ratio of two runs' times: names of fields of a record, or of execution settings.

    A ratio compares devices, or layouts of the work. Both runs therefore do equal work by the same algorithm: the
    settings of `ALGORITHM_SETTINGS`, and of ``further``, are equal. The list is empty if the times may be divided.
    """
    apart = [name for name in PROBLEM_FIELDS if getattr(record, name) != getattr(other, name)]
    settings = (*ALGORITHM_SETTINGS, *further)
    return apart + [name for name in settings if record.execution.get(name) != other.execution.get(name)]


def is_baseline(row: ComparedRun) -> bool:
    """True for an absolute baseline: one core, one rank, and not the reference interpreter."""
    record = row.record
    return record.device_kind == ONE_CORE and record.ranks == 1 and not record.details.get("reference")


def _with_speedups(rows: Sequence[ComparedRun], likeness: BaselineSelection) -> Iterable[ComparedRun]:
    baselines = [row for row in rows if is_baseline(row)]
    for row in rows:
        comparable = [base for base in baselines if not ratio_obstacles(row.record, base.record, likeness.same)]
        if not comparable:
            yield replace(row, labels=row.labels + _no_baseline_label(row, baselines, likeness))
            continue
        if row.median_s == 0:
            yield row
            continue
        baseline = _baseline_of(row, comparable, likeness)
        if row is baseline:
            yield replace(row, speedup=Estimate(1.0), baseline_s=row.median_s)
            continue
        yield replace(
            row,
            labels=row.labels + _baseline_labels(row, baseline, likeness),
            speedup=ratio_of_medians(baseline.record.running_seconds, row.record.running_seconds),
            baseline_s=baseline.median_s,
            base=baseline,
        )


def _baseline_of(row: ComparedRun, baselines: Sequence[ComparedRun], likeness: BaselineSelection) -> ComparedRun:
    same_machine = [baseline for baseline in baselines if baseline.machine == row.machine]

    def unlikeness(baseline: ComparedRun) -> tuple[list[bool], int, float]:
        unlike = likeness.unlike(row.record, baseline.record)
        return [name in unlike for name in likeness.first], len(unlike), baseline.median_s

    return min(same_machine or baselines, key=unlikeness)


def _baseline_labels(row: ComparedRun, baseline: ComparedRun, likeness: BaselineSelection) -> tuple[str, ...]:
    """Label the differences between a baseline and the one that a row wants."""
    elsewhere = () if baseline.machine == row.machine else (f"its baseline ran on machine {baseline.machine}",)
    # Settings that a baseline lacks, by another mapping or the device's default, are ignored.
    settings = baseline.record.execution
    names = [name for name in likeness.unlike(row.record, baseline.record) if settings.get(name) is not None]
    others = [f"{name} = {settings[name]}" for name in names]
    return elsewhere + ((f"its baseline ran with {', '.join(others)}",) if others else ())


def _no_baseline_label(
    row: ComparedRun, baselines: Sequence[ComparedRun], likeness: BaselineSelection
) -> tuple[str, ...]:
    """Label a row without a baseline by the settings that no run on one core has together, if there are any runs."""
    names = {name for baseline in baselines for name in ratio_obstacles(row.record, baseline.record, likeness.same)}
    wanted = ", ".join(f"{name} = {value_text(row.record.execution.get(name))}" for name in sorted(names))
    return (f"no baseline: no run on one core has {wanted}",) if names else ()


def _rate(evaluations: int, time: Summary) -> float | None:
    return evaluations / time.median.value if evaluations and time.median.value > 0 else None
