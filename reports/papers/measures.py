"""Measures of a run that a cell of a paper's table can show: numbers from its rate and its record.

A paper's file names these measures in `measure` of a column.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.papers.paper import Exhibit
from reports.rates import complete_turns, proof_amount
from reports.records.files import Record, RecordError
from reports.statistics.medians import Estimate
from reports.text.formatting import cost, number, rate, size

PHASES = ("construction", "evaporation", "deposit", "update")
"""Names of the phases of an iteration that columns can show: `Exhibit.phases` has their kernels."""
REFERENCE_SOLVERS = {"Concorde": ("concorde",), "LKH": ("LKH", "elkai")}
"""Another solver of a paper, and its names in records; elkai is a package of LKH."""
LIMIT = "iterations"
"""Parameter that is only a limit of a run that counts whole runs."""


@dataclass(frozen=True)
class PaperRun:
    """A configuration's runs of one instance: a record for each seed, and their rate.

    `rate` is a row of `reports.rates.rates_of`: rate, low, high, first_call_s, joules ...
    """

    records: Sequence[Record]
    rate: Mapping[str, Any]

    @property
    def record(self) -> Record:
        return self.records[0]

    @property
    def amount(self) -> int:
        """Number of units in its proof."""
        return proof_amount(self.record)

    @property
    def started_at(self) -> str:
        return max((one.started_at or "" for record in self.records for one in record.repetitions), default="")

    def rates(self) -> Estimate:
        """Return its units of work a second, with the interval if there is one."""
        low, high = (None if end != end else float(end) for end in (self.rate["low"], self.rate["high"]))
        return Estimate(float(self.rate["rate"]), low, high)

    def part(self, name: str) -> float | None:
        """Return the median part of the last measurement's times in a field of seconds, in per cent."""
        turn = (complete_turns(self.record) or [list(self.record.repetitions)])[-1]
        parts = [100 * getattr(one, name) / one.running_s for one in turn if one.running_s > 0]
        return statistics.median(parts) if parts else None


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes
    ----------
    value : callable
        Number of a run in an exhibit, or None; with an interval if it follows from the rate.
    form : callable
        Its text.
    """

    value: Callable[[PaperRun, Exhibit], Estimate | float | None]
    form: Callable[[float], str] = number

    def of(self, run: PaperRun, exhibit: Exhibit) -> Estimate | None:
        """Return the number of a run; None without one."""
        value = self.value(run, exhibit)
        return Estimate(float(value)) if isinstance(value, int | float) else value


def amount_multiple(run: PaperRun, exhibit: Exhibit) -> float | None:
    """Return the paper's amount as a multiple of the proof's; None if it is another search than the paper's.

    A search that counts whole runs may end before its limit of iterations, which is then no amount.
    """
    record, parameters = run.record, run.record.parameters
    names = [name for name in exhibit.amount if parameters.get(name)]
    if record.work_unit == "runs" and LIMIT in names:
        limit, made = parameters[LIMIT], record.details.get(LIMIT, parameters[LIMIT])
        if limit != exhibit.amount[LIMIT] and made >= limit:
            return None
        names.remove(LIMIT)
    return math.prod(exhibit.amount[name] / parameters[name] for name in names)


def _seconds(run: PaperRun, exhibit: Exhibit) -> Estimate | None:
    multiple, rate = amount_multiple(run, exhibit), run.rates()
    if multiple is None:
        return None
    return Estimate(rate.value, rate.high, rate.low).changed(lambda end: run.amount * multiple / end)


def _milliseconds(run: PaperRun, exhibit: Exhibit) -> Estimate | None:
    seconds = _seconds(run, exhibit)
    return None if seconds is None else seconds.scaled(1e3)


def _best(run: PaperRun, exhibit: Exhibit) -> float:
    return (max if run.record.maximises else min)(record.best_cost for record in run.records)


def _gap(cost: float | None, run: PaperRun) -> float | None:
    """Return the distance of a cost from a run's optimum in per cent."""
    optimum = run.record.details.get("optimum")
    return 100 * abs(cost / optimum - 1) if cost is not None and optimum else None


def _process(run: PaperRun, exhibit: Exhibit) -> float | None:
    transfers, kernel = run.part("transfer_s"), run.part("kernel_s")
    return None if transfers is None or kernel is None else max(0.0, 100 - transfers - kernel)


def _communication(run: PaperRun, exhibit: Exhibit) -> float | None:
    share: float = run.rate["communication"]
    return 100 * share if run.record.ranks > 1 and share == share else None


def _charged(run: PaperRun, exhibit: Exhibit) -> Estimate | None:
    """Return the seconds of the paper's amount with the tuning that the first iterations of the first run do."""
    seconds, tuning, first = _seconds(run, exhibit), run.record.details.get("tuning_s"), run.record.repetitions[0]
    if seconds is None or tuning is None:
        return None
    return seconds.changed(lambda end: end + max(tuning, first.running_s - (first.work or 0) / run.rates().value))


def _detail(name: str) -> Callable[[PaperRun, Exhibit], float | None]:
    return lambda run, exhibit: run.record.details.get(name)


def _entries(record: Record, found: object, what: str, place: str, key: str) -> Sequence[Mapping[str, Any]]:
    """Return a list of a record's details. Raises `RecordError` if it is none, or an entry of it lacks the key."""
    if not isinstance(found, list | tuple) or not all(isinstance(one, dict) and key in one for one in found):
        raise RecordError(f"{record.label}: expected a list of {what} in details.{place}, found {found!r}")
    return found


def profile_of(record: Record) -> Sequence[Mapping[str, Any]]:
    """Return a profiler's counters of a run, one entry a kernel; empty without `--profile`.

    Raises `RecordError` if `details.profile` has no list of kernels.
    """
    kernels = (record.details.get("profile") or {}).get("kernels", ())
    return _entries(record, kernels, "kernels", "profile", "kernel")


def _counters(run: PaperRun, metric: str) -> Sequence[Mapping[str, Any]]:
    """Return a profiler's entries of the kernels that have a metric: its least, average and largest value.

    The kernel `clear`, which zeroes memory, is no part of an algorithm.
    """
    return [one for record in run.records for one in profile_of(record) if one.get(metric) and one["kernel"] != "clear"]


def _average(metric: str, factor: float = 1.0) -> Callable[[PaperRun, Exhibit], float | None]:
    """Return a measure of a profiler's counter: the average over the launches of all kernels."""

    def average(run: PaperRun, exhibit: Exhibit) -> float | None:
        known = _counters(run, metric)
        launches = sum(one.get("launches", 1) for one in known)
        return factor * sum(one[metric][1] * one.get("launches", 1) for one in known) / launches if launches else None

    return average


def _least(metric: str, factor: float) -> Callable[[PaperRun, Exhibit], float | None]:
    """Return a measure of a profiler's counter: its least value in a launch."""
    return lambda run, exhibit: min((factor * one[metric][0] for one in _counters(run, metric)), default=None)


def _phase(phase: str, *, is_part: bool) -> Callable[[PaperRun, Exhibit], float | None]:
    """Return a measure of a phase's kernels in an iteration: milliseconds, or per cent of those of all phases."""

    def measure(run: PaperRun, exhibit: Exhibit) -> float | None:
        means = {one["kernel"]: one["seconds"][1] for one in profile_of(run.record) if one.get("seconds")}
        spent = {one: sum(means.get(kernel, 0.0) for kernel in kernels) for one, kernels in exhibit.phases.items()}
        own = spent.get(phase)
        return (100 * own / sum(spent.values()) if is_part else 1e3 * own) if own else None

    return measure


def peer_seconds(record: Record, name: str) -> float | None:
    """Return the seconds of another solver beside a record; None without them.

    Raises `RecordError` if `details.reference_solvers` is no list of solvers.
    """
    names = REFERENCE_SOLVERS.get(name, (name,))
    solvers = _entries(record, record.details.get("reference_solvers", ()), "solvers", "reference_solvers", "name")
    return min((float(one["solve_s"]) for one in solvers if one["name"] in names and one.get("solve_s")), default=None)


WHOLE, ONE_DECIMAL, TWO_DECIMALS = "{:,.0f}".format, "{:.1f}".format, "{:.2f}".format

MEASURES: dict[str, Measure] = {
    "seconds": Measure(_seconds),
    "milliseconds": Measure(_milliseconds),
    "moves": Measure(lambda run, _: run.rates().scaled(run.rate["evaluations_per_s"] / run.rate["rate"] / 1e9)),
    "rate": Measure(lambda run, exhibit: run.rates(), rate),
    "cost": Measure(_best, cost),
    "gap": Measure(lambda run, exhibit: _gap(_best(run, exhibit), run), TWO_DECIMALS),
    "start_gap": Measure(lambda run, exhibit: _gap(run.record.details.get("start_cost"), run), TWO_DECIMALS),
    "mean_cost": Measure(lambda run, exhibit: statistics.mean(record.best_cost for record in run.records), cost),
    "index": Measure(lambda run, exhibit: run.record.best_index, WHOLE),
    "nodes": Measure(lambda run, exhibit: run.record.evaluations or None, WHOLE),
    "steps": Measure(_detail("steps_per_climb"), ONE_DECIMAL),
    **{name: Measure(_detail(name), cost) for name in ("fewest_steps", "most_steps", "optimum")},
    "process": Measure(_process),
    "transfers": Measure(lambda run, exhibit: run.part("transfer_s")),
    "kernel": Measure(lambda run, exhibit: run.part("kernel_s")),
    "communication": Measure(_communication),
    "streamed": Measure(_detail("streamed_bytes"), lambda count: size(int(count))),
    **{name: Measure(_average(name, 100)) for name in ("load_efficiency", "warp_efficiency")},
    **{f"least_{name}": Measure(_least(name, 100)) for name in ("load_efficiency", "warp_efficiency")},
    "ipc": Measure(_average("ipc"), TWO_DECIMALS),
    **{f"{phase}_part": Measure(_phase(phase, is_part=True)) for phase in PHASES},
    **{f"{phase}_ms": Measure(_phase(phase, is_part=False)) for phase in PHASES},
    "charged": Measure(_charged),
}
"""Measures by their names in papers' files."""
