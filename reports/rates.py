"""Rates of runs of equal work, and their ratios: from records by data frames to the cells of a page.

A rate is units of work in a second: the median of warm repetitions with its 95 % interval. Ratios are those of rates of
one host. Work is proved equal on the records' amount. A record without a measured rate (`--repeats`) has the rate of
its fixed amount.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.records import frame
from reports.records.environment import EMULATED_HOSTS, EMULATED_NETWORK, host_of
from reports.records.files import Record, RecordError, group_by, merge, require_equal_work
from reports.records.meters import LEAST_UPDATES
from reports.records.schema import Repetition
from reports.statistics.medians import LEAST_FOR_COVERAGE, median_interval

if TYPE_CHECKING:
    import pandas

BUSY_CORES = 0.3
"""Mean number of cores of other programs above which a host is busy."""
ACCOUNTED = 0.05
"""Part of a run's own cores by which the system's processor times are off: joblib on an idle host of 16 had 0.04."""
MOST_DRIFT = 0.05
"""Largest difference between the rates of a baseline before and after the others."""
ONE_CORE, ALL_CORES = "one core", "all cores"
"""Baselines, and kinds of runs in a picture."""
ALGORITHM_SETTINGS = ("mapping", "evaluation", "bound")
"""Execution settings that change the algorithm of a run, and not its result."""
GROWING = ("walks", "climbers", "ants")
"""Parameters that grow with the ranks in weak scaling."""
FOLLOWING = ("points", "tenure", "tenure_span")
"""Parameters of walks that follow from the size of a problem or a neighbourhood."""
EQUAL_WORK = 0.01
"""Largest relative difference between the evaluations of each rank and those of one, if a size grows with the ranks."""
INTERRUPTED = "the measurement of its rate was interrupted"
BEST_CORE = "best_core_of"
"""Entry of a record's details: the workload that it is the best one-core algorithm for, and its name."""


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
class RateSection:
    """Runs of one problem on one host, and their rates.

    Attributes
    ----------
    records
        Confirmed runs, a record for each configuration and seed.
    rates : pandas.DataFrame
        A row for each configuration, see `rates_of`.
    not_run
        Configurations without a row, with the reasons.
    why
        Reason for the choice of the problem.
    best_core
        Run of the best one-core algorithm on the same problem and host; None without one.
    """

    records: Sequence[Record]
    rates: pandas.DataFrame
    not_run: Sequence[NotRun] = ()
    why: str = ""
    best_core: Record | None = None

    @property
    def proof(self) -> Record:
        return self.records[0]

    @property
    def busy_cores(self) -> float:
        """Largest mean number of cores that other programs kept busy beside a run; 0 for an idle host, or unknown."""
        most = self.rates["others_cores"].max()
        return float(most) if most >= BUSY_CORES else 0.0


def rate_sections(records: Iterable[Record], not_run: Sequence[NotRun] = (), why: str = "") -> list[RateSection]:
    """Return a section for each problem and host, in the order of their first records.

    Raises `RecordError` without a confirmed record or for several workloads, and `UnequalWorkError` for unequal work.
    """
    merged = merge(records)
    runs = [run for run in merged if BEST_CORE not in run.details]
    best = [run for run in merged if BEST_CORE in run.details and run.verified and is_measured(run)]
    if len({run.workload for run in runs}) > 1:
        names = ", ".join(dict.fromkeys(run.workload for run in runs))
        raise RecordError(f"found records of {names}: expected those of one workload")
    confirmed = [run for run in runs if run.verified and is_measured(run)]
    if not confirmed:
        unconfirmed = runs and not any(run.verified for run in runs)
        why = "the NumPy scorer confirmed none of them" if unconfirmed else INTERRUPTED if runs else ""
        raise RecordError(f"no records to compare{why and f': {why}'}")
    wrong = [
        NotRun(run.backend, run.device, run.ranks, "the NumPy scorer did not confirm its best cost", wrong=True)
        for run in runs
        if not run.verified
    ]
    wrong += [
        NotRun(run.backend, run.device, run.ranks, INTERRUPTED) for run in runs if run.verified and not is_measured(run)
    ]
    places = group_by(confirmed, lambda run: [run.instance_sha256, host_of(run.environment)])
    return [_section(place, [*wrong, *not_run] if place is places[0] else [], why, best) for place in places]


def compared_workload(record: Record) -> str:
    """Return the workload of the comparison that a record belongs to."""
    return str(record.details[BEST_CORE][0]) if BEST_CORE in record.details else record.workload


def _section(runs: Sequence[Record], not_run: Sequence[NotRun], why: str, best: Sequence[Record]) -> RateSection:
    grown = len(group_by(runs, work_of_a_rank)) == 1
    for alike in group_by(runs, lambda run: [run.seed, run.parameters if grown else None]):
        require_equal_work(alike)
    # Of several versions of the project or its packages, the last counts.
    last = {(_place(run), str(run.parameters), run.seed): run for run in runs}
    here = compared_workload(runs[0]), runs[0].instance, host_of(runs[0].environment)
    of_problem = [run for run in best if (compared_workload(run), run.instance, host_of(run.environment)) == here]
    best_core = of_problem[-1] if of_problem else None
    return RateSection([*last.values()], rates_of([*last.values()]), not_run, why, best_core)


def work_of_a_rank(run: Record) -> dict[str, Any]:
    """Return the parameters with the amount of each rank, which is equal in weak scaling."""
    amounts = {name: run.parameters[name] / run.ranks for name in GROWING if run.parameters.get(name)}
    return {**run.parameters, **amounts}


def is_grown(run: Record, one: Record) -> bool:
    """Return True if each of several ranks has as much work as one rank, by parameters that are equal otherwise.

    These are as many walks, climbers or ants for each on the same instance, or a table or neighbourhood of as many
    evaluations for each.
    """
    if any(run.parameters.get(name) != one.parameters.get(name) for name in GROWING):
        return run.instance_sha256 == one.instance_sha256 and work_of_a_rank(run) == work_of_a_rank(one)
    fixed = [{name: value for name, value in of.parameters.items() if name not in FOLLOWING} for of in (run, one)]
    return fixed[0] == fixed[1] and abs(run.evaluations / (run.ranks * one.evaluations) - 1) < EQUAL_WORK


# --- the data frame ---


def rates_of(records: Sequence[Record]) -> pandas.DataFrame:
    """Return a row for each configuration, runs of several seeds together.

    The index has the configurations' names. Columns: `kind` (one core, all cores, ranks, GPU, or others of a kind of
    device), `setting` (algorithm settings, equal in a ratio), `rate`, `low`, `high` (units of work in a second, with
    the 95 % interval), `least`, `most`, `repetitions`, `first_call_s`, `joules` (of a unit of work), `energy_of` (their
    sources), `others_cores`, `communication` (part of the time, 0 to 1), `ranks`, and `over_one_core`, `over_all_cores`
    (ratios to the best rate of one core, and to that of the first backend of all cores; missing without one).
    """
    labels = _labels(records)
    table = frame.frame(records)
    # A program that counts runs, beside others with a unit: a run is the amount of the others.
    unit, amount = records[0].work_unit, proof_amount(records[0])
    scales = [1 if record.work_unit == unit else amount / proof_amount(record) for record in records]
    for column in ("work", "work_per_s"):
        table[column] *= table["record"].map(scales.__getitem__)
    rates = rates_of_groups(table, labels)
    first = {label: record for label, record in reversed([*zip(labels, records, strict=True)])}
    rates["kind"] = [_kind(first[run]) for run in rates.index]
    rates["ranks"] = [first[run].ranks for run in rates.index]
    rates["setting"] = [_algorithm(first[run]) for run in rates.index]
    rates["comparable"] = [not any(map(first[run].details.get, ("reference", "simulated"))) for run in rates.index]
    base = rates[rates["comparable"]]
    best_core = base[base["kind"] == ONE_CORE].groupby("setting")["rate"].max()
    first_of_all_cores = base[base["kind"] == ALL_CORES].groupby("setting")["rate"].first()
    rates["over_one_core"] = rates["rate"] / rates["setting"].map(best_core)
    rates["over_all_cores"] = rates["rate"] / rates["setting"].map(first_of_all_cores)
    return rates


def rates_of_groups(table: pandas.DataFrame, names: Sequence[str]) -> pandas.DataFrame:
    """Return a row for each name of records: rate, interval, first call and more, see `rates_of`.

    ``table`` is a frame of `reports.records.frame`, ``names`` has the name of each record's group.
    """
    import pandas

    groups = table.groupby(table["record"].map(names.__getitem__), sort=False)
    rates = pandas.DataFrame.from_dict({name: _rate_row(rows) for name, rows in groups}, orient="index")
    return rates.astype({"low": float, "high": float})


def proof_amount(record: Record) -> int:
    """Return the number of units that a record's proof, or its fixed amount, has."""
    return next((one.work for one in record.repetitions if one.kind in ("proof", "fixed")), 1)


def seconds_of_proof(record: Record) -> float:
    """Return the time of a proof's amount at the rate of warm repetitions."""
    return proof_amount(record) / float(rates_of([record])["rate"].iloc[0])


def _rate_row(rows: pandas.DataFrame) -> dict[str, Any]:
    """Return the rate of one configuration from its repetitions."""
    warm = _warm(rows)
    sources = _energy_sources(warm)
    rate = median_interval(list(warm["work_per_s"]))
    first = rows[rows["kind"].isin(["proof", "fixed"])].groupby("record").first()
    return {
        "rate": rate.value,
        "low": rate.low,
        "high": rate.high,
        "least": warm["work_per_s"].min(),
        "most": warm["work_per_s"].max(),
        "evaluations_per_s": warm["evaluations_per_s"].astype(float).median(),
        "repetitions": len(warm),
        "first_call_s": (first["compile_s"] + first["start_s"].astype(float).fillna(0)).min() if len(first) else None,
        "joules": sum(warm[f"{one}_j"].sum() for one in sources) / warm["work"].sum() if sources else math.nan,
        "energy_of": " ".join(sources),
        "others_cores": _others_cores(warm),
        "communication": warm["communication_share"].astype(float).median(),
    }


def _others_cores(warm: pandas.DataFrame) -> float:
    """Return the mean number of cores of other programs, 0 if the run's own processor times explain it."""
    others = warm["others_cores"].astype(float).mean()
    own = (warm["ranks"] * warm["cores_per_rank"].fillna(1)).max()
    return 0.0 if others < ACCOUNTED * own else float(others)


def _energy_sources(warm: pandas.DataFrame) -> list[str]:
    """Return the sources of joules, `gpu` and `package`, that count over all repetitions together.

    A source counts if every repetition has it, and all together take at least `LEAST_UPDATES` of its updates.
    """
    return [
        source
        for source in ("gpu", "package")
        if warm[f"{source}_j"].notna().all()
        and warm["running_s"].sum() >= LEAST_UPDATES * warm[f"{source}_update_s"].astype(float).max()
    ]


def _warm(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return the repetitions of a rate: those of the last two measurements, as of a baseline before and after others.

    Both have equal numbers, so that the longer measurement does not decide the median. An interrupted measurement does
    not count. Without a measured rate: all repetitions of a fixed amount but the first, cold one, if there are others.
    """
    rates = rows[rows["kind"] == "rate"]
    rates = rates[rates.groupby(["record", "turn"])["kind"].transform("size") >= LEAST_FOR_COVERAGE]
    if rates.empty:
        fixed = rows[rows["kind"] == "fixed"]
        later = fixed[fixed["repetition"] > 1]
        return fixed if later.empty else later
    counted = rates[rates["turn"] >= rates.groupby("record")["turn"].transform("max") - 1]
    turns = counted.groupby(["record", "turn"])["kind"]
    fewest = turns.transform("size").groupby(counted["record"]).transform("min")
    return counted[turns.cumcount() < fewest]


def complete_turns(record: Record) -> list[list[Repetition]]:
    """Return the repetitions of each complete measurement of the rate, in order; empty without one."""
    return [turn for turn in record.turns() if len(turn) >= LEAST_FOR_COVERAGE]


def is_measured(record: Record) -> bool:
    """Return True if a record has a rate: a complete measurement, or a fixed amount; a proof alone is none."""
    return bool(complete_turns(record)) or any(one.kind == "fixed" for one in record.repetitions)


def drift(record: Record) -> float:
    """Return the relative difference between the rates of a baseline's first two measurements; 0 with only one."""
    medians = [median_interval([one.work / one.running_s for one in turn]).value for turn in record.turns()[:2]]
    return abs(medians[0] / medians[1] - 1) if len(medians) > 1 else 0.0


# --- names ---


def _kind(record: Record) -> str:
    if record.ranks > 1:
        return "ranks"
    if record.device_kind == "cores":
        return "some cores" if record.details.get("cores_per_rank") else ALL_CORES
    return "GPU" if record.device_kind == "gpu" else ONE_CORE


def _algorithm(record: Record) -> str:
    """Return the settings that change the algorithm: only runs of equal ones have a ratio."""
    return ", ".join(f"{name} {record.execution.get(name)}" for name in ALGORITHM_SETTINGS)


def short_name(record: Record) -> str:
    """Return the workload and its instance without seeds and other settings: lcs, random:120000."""
    parts = record.instance.removeprefix(f"{record.workload}:").split(":")
    return f"{record.workload}, {':'.join(part for part in parts if '=' not in part)}"


def _place(record: Record) -> tuple[Any, ...]:
    emulated = record.environment.get(EMULATED_NETWORK), record.environment.get(EMULATED_HOSTS)
    return record.backend, record.device, record.ranks, str(sorted(record.execution.items())), *emulated


def _labels(records: Sequence[Record]) -> list[str]:
    """Return the name of each record's configuration, with the settings that tell equal names apart."""
    names = [_name(record) for record in records]
    alike: dict[str, list[Record]] = {}
    for name, record in zip(names, records, strict=True):
        alike.setdefault(name, []).append(record)
    labels = []
    for name, record in zip(names, records, strict=True):
        apart = _differing_settings(record, alike[name]) if len({*map(_place, alike[name])}) > 1 else []
        labels.append(f"{name} ({', '.join(apart)})" if apart else name)
    return labels


def _name(record: Record) -> str:
    device = f" {record.device}" if record.device not in ("", "0") else ""
    place = f"{record.backend}{device}"
    if record.device_kind == "core" and not record.details.get("reference"):
        place = "" if record.ranks > 1 else ONE_CORE
    hosts = record.environment.get(EMULATED_HOSTS)
    if record.ranks > 1:
        place = f"{record.ranks} ranks" + (f" of {place}" if place else "")
    return place + (f" on {hosts} emulated hosts" if hosts else "")


def _differing_settings(record: Record, others: Sequence[Record]) -> list[str]:
    """Return the backend and the execution settings of a record in which others differ, as texts."""
    backend = [record.backend] if any(one.backend != record.backend for one in others) else []
    values = record.execution.items()
    return backend + [f"{name} {one}" for name, one in values if any(of.execution.get(name) != one for of in others)]
