"""Records of one instance sorted by work: which algorithm with which parameters found what, on which device.

A work is a workload with its parameters, without the seed. Runs of one work and seed find the same cost on every device
and in every way, so costs are compared between works, and times to targets between works on one device.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, filterfalse
from typing import Any

from reports.comparison.execution_settings import value_text
from reports.comparison.speedups import configuration_name, letter_machines
from reports.records.files import Record, RecordError, families, group_by, merge, require_equal_work
from reports.records.iohprofiler import MAXIMISED
from reports.statistics.medians import Summary, summarise
from reports.statistics.rank_tests import PairTest, Values, compare_pairs
from reports.statistics.targets import SeedFamily, Target, TargetAttempts, Targets, choose_targets, stop_cost
from reports.text.formatting import cost

SELF_EXPLANATORY = ("algorithm", "variant", "workload")
"""Parameters whose values need no name beside them."""
UNEQUAL_BUDGETS = 0.05
"""Difference of budgets, as a part of the larger, above which final costs are compared after equal budgets too."""


@dataclass(frozen=True)
class AlgorithmRow:
    """The runs of a work on a device with the same execution settings: a row.

    Attributes
    ----------
    work : str
        Names the work among those of its instance.
    place : str
        Names the device, with the settings and the machine if they differ among the rows.
    family : Family
    """

    work: str
    place: str
    family: SeedFamily

    @property
    def record(self) -> Record:
        """The run of the first seed."""
        return self.family.runs[0]

    @property
    def sample(self) -> str:
        """Name of its sample of costs: the work, and if the clock ended its runs the device too."""
        return self.family.label if is_time_limited(self.record) else self.work

    @property
    def costs(self) -> Summary:
        """The best costs of all seeds in brief."""
        return summarise(self.family.costs)

    @property
    def budget(self) -> tuple[int, int]:
        """The fewest and the most evaluations of a run."""
        counts = [run.evaluations for run in self.family.runs]
        return min(counts), max(counts)


@dataclass(frozen=True)
class RankTestFamily:
    """Tests of all pairs of rows with one question.

    Attributes
    ----------
    of : str
        What was compared, and how the pairs were chosen.
    pairs : list of PairTest
    """

    of: str
    pairs: list[PairTest]


@dataclass(frozen=True)
class InstanceRuns:
    """Everything that ran on one instance.

    Attributes
    ----------
    entries : tuple of Entry
    works : mapping
        Parameters by the name of the work.
    targets : Targets
    machines : mapping
        Environments by letter.
    notes : tuple of str
        What was left out, and why, in sentences without their full stops.
    """

    entries: tuple[AlgorithmRow, ...]
    works: Mapping[str, Mapping[str, Any]]
    targets: Targets
    machines: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]

    @property
    def record(self) -> Record:
        """A run that speaks for the instance."""
        return self.entries[0].record

    @property
    def units(self) -> list[str]:
        """What evaluations count; those of several units are not to be compared."""
        return list(dict.fromkeys(entry.record.evaluation_unit for entry in self.entries))

    @cached_property
    def tests(self) -> list[RankTestFamily]:
        """Compare works by their costs, after equal evaluations too, and by their times to the first target."""
        found = [self._of_costs(), self._after_equal_evaluations(), self._of_times()]
        return [tests for tests in found if tests is not None]

    def cautions(self) -> Iterator[str]:
        """Say what a reader of the tests must know of these runs, in sentences without their full stops."""
        stopped = [entry.work for entry in self._one_of_each() if stop_cost(entry.record) is not None]
        if stopped:
            names = ", ".join(dict.fromkeys(stopped))
            yield f"{names}: stopped at a target cost, so final costs are not tested"
        early = [entry for entry in self.entries if (stop_cost(entry.record) or -math.inf) > self.targets.first.cost]
        for entry in early:
            stop = cost(stop_cost(entry.record) or 0)
            yield f"{entry.family.label}: stopped at the cost {stop}, above the target"
        if self._budgets_differ():
            counts = [f"{entry.work} {entry.budget[1]:,}" for entry in self._one_of_each()]
            yield (
                f"The algorithms made unequal numbers of evaluations, at most {', '.join(counts)}, so final costs are "
                "those of unequal budgets"
            )

    # --- what is tested ---

    def _one_of_each(self) -> list[AlgorithmRow]:
        """An entry for each sample of costs: one of each work, if possible with courses; all that the clock ended."""
        chosen: dict[str, AlgorithmRow] = {}
        for entry in self.entries:
            held = chosen.setdefault(entry.sample, entry).family
            if len(entry.family.runs) > len(held.runs) or (entry.family.has_histories and not held.has_histories):
                chosen[entry.sample] = entry
        return list(chosen.values())

    def _of_costs(self) -> RankTestFamily | None:
        entries = [entry for entry in self._one_of_each() if stop_cost(entry.record) is None]
        values = [Values(entry.sample, tuple(entry.family.costs)) for entry in entries]
        return _all_pairs("final costs, a value per seed", values)

    def _budgets_differ(self) -> bool:
        budgets = [entry.budget for entry in self._one_of_each()]
        most = max(most for _, most in budgets)
        return len(self.units) == 1 and min(least for least, _ in budgets) < (1 - UNEQUAL_BUDGETS) * most

    def _after_equal_evaluations(self) -> RankTestFamily | None:
        """Costs after as many evaluations as the run with the fewest made, where histories say them."""
        entries = self._one_of_each()
        if not self._budgets_differ() or not all(entry.family.has_histories for entry in entries):
            return None
        budget = min(entry.budget[0] for entry in entries)
        values = [Values(entry.sample, tuple(entry.family.costs_at([budget], "evaluations")[0])) for entry in entries]
        if any(math.isnan(cost) for sample in values for cost in sample.values):
            return None
        unit = self.units[0]
        return _all_pairs(f"best costs after {budget:,} {unit}, as many as the shortest run made", values)

    def _of_times(self) -> RankTestFamily | None:
        """Seconds to a target, on each device; a run that never reached it is slower than all that did."""
        target = self._telling_target()
        pairs = []
        for one, other in combinations(self.entries, 2):
            alike = one.work != other.work and _device(one.record) == _device(other.record)
            ours, theirs = one.family.tries(target), other.family.tries(target)
            if not alike or not ours or not theirs or not (ours.reached or theirs.reached):
                continue
            pairs.append((_times(one, ours), _times(other, theirs)))
        what = f"seconds to {target.words}, on the same device; a run that never reached it counts as the slowest"
        return RankTestFamily(what, compare_pairs(pairs)) if pairs else None

    def _telling_target(self) -> Target:
        """The hardest target that half the runs of some row reached: mostly unknown times would tell little."""
        families = [entry.family for entry in self.entries if entry.family.has_histories]
        telling = (
            target
            for target in self.targets.all
            if any(2 * family.reached(target) >= len(family.runs) for family in families)
        )
        return next(telling, self.targets.first)


def _times(entry: AlgorithmRow, tries: TargetAttempts) -> Values:
    return Values(entry.family.label, tuple(tries.spent["seconds"].where(tries.spent["reached"], math.inf)))


def _all_pairs(of: str, values: Sequence[Values]) -> RankTestFamily | None:
    pairs = list(combinations(values, 2))
    return RankTestFamily(of, compare_pairs(pairs)) if pairs else None


def _device(record: Record) -> tuple[str, str, int, str]:
    return record.backend, record.device, record.ranks, json.dumps(record.environment, sort_keys=True)


def is_time_limited(record: Record) -> bool:
    """Whether the clock ended a run, so that another device would have found another cost."""
    return record.parameters.get("seconds") is not None


# --- from records ---


def group_by_instance(records: Sequence[Record], asked: float | None = None) -> list[InstanceRuns]:
    """Sort records by instance, and those of each by work and device.

    Parameters
    ----------
    records : sequence of Record
    asked : float, optional
        A target; without one `reports.statistics.targets.choose_targets` chooses.

    Raises
    ------
    RecordError
        No record that counts, or of a workload that computes its one answer.
    UnequalWorkError
        Runs of one work and seed, or repetitions of a run, found different things.
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
    runs = merge(records)
    counted = [run for run in runs if run.verified and run.repetitions]
    if not counted:
        return None
    notes = [
        f"{run.workload}, seed {run.seed}, {run.label}: the NumPy scorer did not confirm its best cost: left out"
        for run in runs
        if not run.verified
    ]
    # Runs of one work and seed that the clock ended may have found different things.
    for alike in group_by(filterfalse(is_time_limited, counted), lambda run: [_algorithm_key(run), run.seed]):
        require_equal_work(alike)
    machines = letter_machines(counted)
    grouped = families(counted)
    works = name_algorithms([family[0] for family in grouped])
    entries = []
    for family in grouped:
        work, place = works[_algorithm_key(family[0])], _place(family[0], grouped, machines)
        entries.append(AlgorithmRow(work, place, SeedFamily.of(f"{work}, {place}", family)))
    for entry in entries:
        notes += entry.family.notes
        if entry.record.details.get("simulated"):
            notes.append(f"{entry.family.label}: simulated, so its time is not that of a device")
    described = {entry.work: entry.record.parameters for entry in entries}
    return InstanceRuns(tuple(entries), described, choose_targets(counted, asked), machines, tuple(notes))


def _algorithm_key(run: Record) -> str:
    return json.dumps([run.workload, run.parameters], sort_keys=True)


def name_algorithms(runs: Sequence[Record]) -> dict[str, str]:
    """Name each work by parameters that tell all apart: algorithm, variant and workload, then those that tell most."""
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
    """Name a device with those settings that other rows of the same work on it have not, and the machine's letter."""
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
        apart.append(f"machine {next(letter for letter, one in machines.items() if one == run.environment)}")
    return configuration_name(run) + (f" ({', '.join(apart)})" if apart else "")
