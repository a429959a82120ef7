"""Records of one instance sorted by work (algorithm and parameters) and device.

A work is a workload with its parameters, without the seed. Runs of one work and seed find the same cost on every device
with all execution settings, so costs are compared between works, and times to targets between works on one device.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, filterfalse
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from reports.comparison.execution_settings import value_text
from reports.comparison.machines import letter_machines, machine_letter
from reports.comparison.speedups import configuration_name
from reports.records.files import Record, RecordError, families, group_by, merge, require_equal_work
from reports.records.iohprofiler import MAXIMISED
from reports.statistics.medians import summarise
from reports.statistics.rank_tests import compare_pairs
from reports.statistics.targets import SeedFamily, Target, TargetAttempts, Targets, choose_targets, stop_cost
from reports.text.formatting import cost

if TYPE_CHECKING:
    import numpy as np
    import pandas

SELF_EXPLANATORY = ("algorithm", "variant", "workload")
"""Parameters with values that are clear without the name."""
UNEQUAL_BUDGETS = 0.05
"""Difference of budgets, relative to the larger, above which costs are compared after equal budgets too."""

SamplePairs: TypeAlias = "list[tuple[pandas.Series, pandas.Series]]"


@dataclass(frozen=True)
class InstanceRuns:
    """All runs on one instance.

    Attributes
    ----------
    rows
        A row for the runs of a work on a device with the same execution settings: the name of the work, and that of the
        device with the settings and the machine if they differ among the rows (`work`, `place`); its runs, with and
        without their histories (`family`, `record`: the run of the first seed); the name of its sample of costs: the
        work's, and the device's if a time limit ended its runs (`sample`); the best costs of all seeds in brief
        (`costs`); the cost at which runs stopped, if at any (`stop`); the fewest and the most evaluations of a run
        (`least`, `most`).
    machines : mapping
        Environments by letter.
    notes
        Excluded runs with the reasons, in sentences without full stops.
    """

    rows: pandas.DataFrame
    targets: Targets
    machines: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]

    @property
    def record(self) -> Record:
        return cast(Record, self.rows["record"][0])

    @property
    def families(self) -> list[SeedFamily]:
        return list(self.rows["family"])

    @property
    def units(self) -> list[str]:
        """Units of evaluations; costs by evaluations of different units are not compared."""
        return list(dict.fromkeys(record.evaluation_unit for record in self.rows["record"]))

    @cached_property
    def samples(self) -> pandas.DataFrame:
        """A row for each sample of costs: one of each work, preferably with histories; all that the clock ended."""
        rows = self.rows.assign(
            has_histories=[family.has_histories for family in self.families],
            seeds=[len(family.runs) for family in self.families],
        )
        best = rows.sort_values(["has_histories", "seeds"], ascending=False, kind="stable").drop_duplicates("sample")
        return best.set_index("sample", drop=False).loc[self.rows["sample"].unique()]

    @cached_property
    def tests(self) -> dict[str, pandas.DataFrame]:
        """Comparisons by `compare_pairs`, by compared quantity and selection of pairs.

        Works are compared by their costs, after equal evaluations too, and by their times to the first target.
        """
        pairs_of = dict([self._of_costs(), *self._after_equal_evaluations(), self._times_to_target()])
        return {of: compare_pairs(pairs) for of, pairs in pairs_of.items() if pairs}

    def cautions(self) -> Iterator[str]:
        """Yield notes for readers of the tests: sentences without full stops."""
        stopped = self.samples[self.samples["stop"].notna()]
        if not stopped.empty:
            names = ", ".join(stopped["work"].unique())
            yield f"{names}: stopped at a target cost, so final costs are not tested"
        for early in self.rows[self.rows["stop"] > self.targets.first.cost].itertuples():
            yield f"{early.family.label}: stopped at the cost {cost(stop_cost(early.record) or 0)}, above the target"
        if self._budgets_differ():
            counts = [f"{row.work} {row.most:,}" for row in self.samples.itertuples()]
            yield (
                f"The algorithms made unequal numbers of evaluations, at most {', '.join(counts)}, so final costs are "
                "those of unequal budgets"
            )

    # --- what is tested ---

    def _of_costs(self) -> tuple[str, SamplePairs]:
        tested = self.samples[self.samples["stop"].isna()]
        costs = [_sample(row.family.costs, row.sample) for row in tested.itertuples()]
        return "final costs, a value per seed", list(combinations(costs, 2))

    def _budgets_differ(self) -> bool:
        least, most = self.samples["least"].min(), self.samples["most"].max()
        return len(self.units) == 1 and bool(least < (1 - UNEQUAL_BUDGETS) * most)

    def _after_equal_evaluations(self) -> Iterator[tuple[str, SamplePairs]]:
        """Costs after the least number of evaluations of a run, from histories."""
        if not self._budgets_differ() or not self.samples["has_histories"].all():
            return
        budget = int(self.samples["least"].min())
        costs = [
            _sample(row.family.costs_at([budget], "evaluations")[0], row.sample) for row in self.samples.itertuples()
        ]
        if not any(sample.isna().any() for sample in costs):
            of = f"best costs after {budget:,} {self.units[0]}, as many as the shortest run made"
            yield of, list(combinations(costs, 2))

    def _times_to_target(self) -> tuple[str, SamplePairs]:
        """Seconds to a target on each device; a run that never reached it is slower than all that did."""
        target = self._hardest_useful_target()
        tries = [(row, row.family.tries(target)) for row in self.rows.itertuples()]
        pairs = [
            (_times(one, ours), _times(other, theirs))
            for (one, ours), (other, theirs) in combinations(tries, 2)
            if one.work != other.work and _device(one.record) == _device(other.record)
            if ours and theirs and (ours.reached or theirs.reached)
        ]
        what = f"seconds to {target.words}, on the same device; a run that never reached it counts as the slowest"
        return what, pairs

    def _hardest_useful_target(self) -> Target:
        """The hardest target that half the runs of some row reached, since unknown times would say little."""
        families = [family for family in self.families if family.has_histories]
        telling = (
            target
            for target in self.targets.all
            if any(2 * family.reached(target) >= len(family.runs) for family in families)
        )
        return next(telling, self.targets.first)


def _sample(values: Sequence[float] | np.ndarray, name: str) -> pandas.Series:
    import pandas

    return pandas.Series(values, name=name, dtype=float)


def _times(row: Any, tries: TargetAttempts) -> pandas.Series:
    return tries.spent["seconds"].where(tries.spent["reached"], math.inf).rename(row.family.label)


def _device(record: Record) -> tuple[str, str, int, str]:
    return record.backend, record.device, record.ranks, json.dumps(record.environment, sort_keys=True)


def is_time_limited(record: Record) -> bool:
    """True if a time limit ended a run, so that another device would have another cost."""
    return record.parameters.get("seconds") is not None


# --- from records ---


def group_by_instance(records: Sequence[Record], asked: float | None = None) -> list[InstanceRuns]:
    """Sort records by instance, then by work and device. ``asked`` is a target, by default from `choose_targets`.

    Raises
    ------
    RecordError
        No record counts, or its workload computes its only answer.
    UnequalWorkError
        Runs of one work and seed, or repetitions of a run, differ.
    """
    computed = sorted({record.workload for record in records}.intersection(MAXIMISED))
    if computed:
        raise RecordError(
            f"found records of {', '.join(computed)}, where every run has the same answer: expected records of searches"
        )
    instances = group_by(records, lambda record: record.instance_sha256)
    fields = [field for group in instances if (field := _instance_runs(group, asked)) is not None]
    if not fields:
        raise RecordError("no records to compare" + (": the NumPy scorer confirmed none of them" if records else ""))
    return fields


def _instance_runs(records: Sequence[Record], asked: float | None) -> InstanceRuns | None:
    import pandas

    runs = merge(records)
    counted = [run for run in runs if run.verified and run.repetitions]
    if not counted:
        return None
    notes = [
        f"{run.workload}, seed {run.seed}, {run.label}: the NumPy scorer did not confirm its best cost: left out"
        for run in runs
        if not run.verified
    ]
    # Runs of one work and seed that the clock ended may differ.
    for alike in group_by(filterfalse(is_time_limited, counted), lambda run: [_algorithm_key(run), run.seed]):
        require_equal_work(alike)
    machines = letter_machines(counted)
    grouped = families(counted)
    works = name_algorithms([family[0] for family in grouped])
    rows = []
    for runs in grouped:
        record, work, place = runs[0], works[_algorithm_key(runs[0])], _place(runs[0], grouped, machines)
        family = SeedFamily.of(f"{work}, {place}", runs)
        counts = [run.evaluations for run in runs]
        rows.append(
            {
                "work": work,
                "place": place,
                "family": family,
                "record": record,
                "sample": family.label if is_time_limited(record) else work,
                "costs": summarise(family.costs),
                "stop": stop_cost(record),
                "least": min(counts),
                "most": max(counts),
            }
        )
    table = pandas.DataFrame(rows).astype({"stop": float})
    for row in table.itertuples():
        notes += row.family.notes
        if row.record.details.get("simulated"):
            notes.append(f"{row.family.label}: simulated, so its time is not that of a device")
    return InstanceRuns(table, choose_targets(counted, asked), machines, tuple(notes))


def _algorithm_key(run: Record) -> str:
    return json.dumps([run.workload, run.parameters], sort_keys=True)


def name_algorithms(runs: Sequence[Record]) -> dict[str, str]:
    """Name each work by distinguishing parameters: algorithm, variant and workload first, then the best ones."""
    works = {_algorithm_key(run): run for run in runs}
    asked = {key: {"workload": run.workload, **run.parameters} for key, run in works.items()}
    open_names = list(dict.fromkeys(name for values in asked.values() for name in values))

    def told_apart(names: Sequence[str]) -> int:
        return len({json.dumps([values.get(name) for name in names]) for values in asked.values()})

    chosen = [name for name in SELF_EXPLANATORY if told_apart([name]) > 1]

    while told_apart(chosen) < len(works):
        best = max(open_names, key=lambda name: told_apart([*chosen, name]))
        if told_apart([*chosen, best]) == told_apart(chosen):
            break
        chosen.append(best)
    chosen = chosen or [next(name for name in SELF_EXPLANATORY if all(name in values for values in asked.values()))]
    return {key: _name(values, chosen) for key, values in asked.items()}


def _name(values: Mapping[str, Any], names: Sequence[str]) -> str:
    said = [
        str(values[name]) if name in SELF_EXPLANATORY else f"{name} = {value_text(values[name])}"
        for name in names
        if name in values
    ]
    return ", ".join(said) or str(values["workload"])


def _place(run: Record, grouped: Sequence[Sequence[Record]], machines: Mapping[str, Mapping[str, Any]]) -> str:
    """Name a device with settings that other rows of the same work on it lack, and the machine's letter."""
    alike = [
        other[0]
        for other in grouped
        if _algorithm_key(other[0]) == _algorithm_key(run) and _device(other[0]) == _device(run)
    ]
    apart = [
        f"{name} = {value_text(value)}"
        for name, value in sorted(run.execution.items())
        if any(other.execution.get(name) != value for other in alike)
    ]
    if len(machines) > 1:
        apart.append(f"machine {machine_letter(run, machines)}")
    return configuration_name(run) + (f" ({', '.join(apart)})" if apart else "")
