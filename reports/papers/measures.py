"""Figures that a cell of a paper's table can show, each as text and as a number.

A paper's file names these measures: in `shows` for our cells, in `holds` for the parts of a published cell.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.comparison.speedups import ComparedRun
from reports.records.files import Record, RecordError
from reports.statistics.medians import Estimate, Summary, ratio_of_medians, summarise
from reports.statistics.startup import MOST_STARTUP, iteration_slope, ratio_of_slopes, startup_share
from reports.text.formatting import (
    cost,
    counted,
    gap,
    grouped,
    interval,
    number,
    per_cent,
    rate,
    ratio,
    ratio_interval,
    seconds,
    seconds_interval,
    size,
)

WEAK_VERIFIERS = ("scorer", "published optimum")
"""Verifiers that confirm the length of a tour, and do not search for a shorter one."""
AMOUNTS = ("ants", "climbers", "iterations")
NOT_PROFILED = "not profiled"
LEAST_FOR_MEAN = 10
"""Repetitions or seeds from which a cell has mean and standard deviation: papers print them of 30."""
WIDE_RATIO = 0.2
"""Width of a ratio's interval, relative to the ratio, above which a table of ratios marks it."""
LEAST_HOST_SHARE = 0.2
"""Part of an end-to-end time outside kernels above which a cell has the kernel time too."""
REFERENCE_SOLVERS = {"Concorde": ("concorde",), "LKH": ("LKH", "elkai")}
"""A paper's rival, and its solvers' names in records; elkai is a package of LKH."""


@dataclass(frozen=True)
class ExhibitCell:
    """A run of ours in its cell.

    `reference` is the run that `over_first` divides by, of the same work on the same device, or None. `rival` is the
    other solver of the exhibit, if any, which ran beside one of `nearby`, the runs on the same instance and machine.
    `lengths` are runs that give the start-up of a run shorter than the paper's; None for the paper's amount of work.
    """

    row: ComparedRun
    reference: ComparedRun | None = None
    rival: str = ""
    nearby: Sequence[Record] = ()
    lengths: Sequence[Record] | None = None

    @property
    def record(self) -> Record:
        return self.row.record

    @property
    def seconds(self) -> float:
        return self.row.median_s

    @property
    def iterations(self) -> int:
        """Iterations of the run; 1 without a count."""
        return int(self.record.parameters.get("iterations") or 1)

    def too_short(self, base: ComparedRun | None = None) -> str:
        """Describe the start-up of the run or of its base as a part of its time; empty if both parts are small."""
        for whose, row in (("", self.row), ("the baseline's ", base)):
            part = 0.0 if self.lengths is None or row is None else startup_share(row.record, self.lengths)
            if part > MOST_STARTUP:
                return f"{whose}start-up up to {per_cent(part)}"
        return ""

    def slope(self, row: ComparedRun) -> Estimate | None:
        """Seconds of an iteration without start-up; None without a run of another length."""
        return None if self.lengths is None else iteration_slope(row.record, self.lengths)

    def over(self, base: ComparedRun) -> Estimate | None:
        """Speed-up over a base: a ratio of slopes if start-up is too much of the times."""
        if not self.too_short(base):
            return ratio_of_medians(base.record.running_seconds, self.row.record.running_seconds)
        slow, own = self.slope(base), self.slope(self.row)
        return None if slow is None or own is None else ratio_of_slopes(slow, own)


@dataclass(frozen=True)
class Measure:
    """A measure that a cell can show.

    Attributes
    ----------
    axis : str
        Label of a plot's axis.
    words : callable
        Text of our cell; empty if the run does not have it.
    value : callable
        The same as a number, or None.
    """

    axis: str
    words: Callable[[ExhibitCell], str]
    value: Callable[[ExhibitCell], float | None] = lambda cell: None


def _seconds_words(cell: ExhibitCell) -> str:
    return seconds_interval(cell.row.running.median) + _kernel_words(cell)


def _kernel_words(cell: ExhibitCell, parts: int = 1) -> str:
    """Describe the kernel time, or a part of it, if it differs from the end-to-end time."""
    kernel = cell.row.kernel.median.value
    apart = kernel > 0 and cell.seconds - kernel > LEAST_HOST_SHARE * cell.seconds
    return f", kernel {seconds(kernel / parts)}" if apart else ""


def _iteration(cell: ExhibitCell) -> Estimate | None:
    if cell.too_short():
        return cell.slope(cell.row)
    median = cell.row.running.median
    low, high = (None if end is None else end / cell.iterations for end in (median.low, median.high))
    return Estimate(median.value / cell.iterations, low, high)


def _iteration_words(cell: ExhibitCell) -> str:
    iteration_s = _iteration(cell)
    if iteration_s is None:
        return f"{_seconds_words(cell)} for {counted(cell.iterations, 'iteration')}"
    apart = ", by slope" if cell.too_short() else _kernel_words(cell, cell.iterations)
    return f"{seconds_interval(iteration_s)} an iteration{apart}"


def _speedup(cell: ExhibitCell) -> Estimate | None:
    return cell.row.speedup if cell.row.base is None else cell.over(cell.row.base)


def _speedup_words(cell: ExhibitCell) -> str:
    row, speedup = cell.row, _speedup(cell)
    if row.speedup is None or row.baseline_s is None:
        return "no baseline"
    if row.base is None:
        return "the baseline"
    if speedup is None:
        return f"no ratio ({cell.too_short(row.base)})"
    how = "by slopes" if cell.too_short(row.base) else f"over {seconds(row.baseline_s)}"
    return f"×{interval(speedup, number)} {how}"


def _over_first(cell: ExhibitCell) -> Estimate | None:
    if cell.reference is None or not cell.seconds:
        return None
    return Estimate(1.0) if cell.reference is cell.row else cell.over(cell.reference)


def _over_first_words(cell: ExhibitCell) -> str:
    if cell.reference is cell.row:
        return ""
    if cell.reference is None:
        return "no run of the first column"
    estimate = _over_first(cell)
    if estimate is None:
        return f"no ratio ({cell.too_short(cell.reference)})"
    return ratio_interval(estimate) + (" by slopes" if cell.too_short(cell.reference) else "")


def is_uncertain(cell: ExhibitCell, measure: str) -> bool:
    """True if the interval of a ratio over another run of ours is wider than `WIDE_RATIO` of the ratio."""
    estimates = {"speedup": _speedup, "over_first": _over_first}
    estimate = estimates[measure](cell) if measure in estimates else None
    if estimate is None or estimate.low is None or estimate.high is None:
        return False
    return estimate.high - estimate.low > WIDE_RATIO * estimate.value


def _value_of(estimate: Callable[[ExhibitCell], Estimate | None]) -> Callable[[ExhibitCell], float | None]:
    return lambda one: None if (found := estimate(one)) is None else found.value


def _cost_words(cell: ExhibitCell) -> str:
    record = cell.record
    words = grouped(record.best_cost)
    apart = gap(record.best_cost, record.details.get("optimum"))
    return words + (f" ({apart})" if apart else "")


def _mean(cell: ExhibitCell) -> float | None:
    running = cell.row.running
    return running.mean if running.repetitions >= LEAST_FOR_MEAN else None


def _mean_words(cell: ExhibitCell) -> str:
    running, mean = cell.row.running, _mean(cell)
    if mean is None:
        return ""
    return f"mean {seconds(mean)}, standard deviation {seconds(running.deviation)} of {running.repetitions}"


def _cost_summary(cell: ExhibitCell) -> Summary | None:
    costs = cell.record.details.get("costs") or ()
    return summarise(costs) if len(costs) >= LEAST_FOR_MEAN else None


def _mean_cost_words(cell: ExhibitCell) -> str:
    costs = _cost_summary(cell)
    if costs is None:
        return ""
    apart = gap(costs.mean, cell.record.details.get("optimum"))
    return (
        f"mean {cost(costs.mean)}{f' ({apart})' * bool(apart)}, standard deviation {number(costs.deviation)} of "
        f"{costs.repetitions} seeds"
    )


def _work_words(cell: ExhibitCell) -> str:
    """Describe the amount of work that found a best cost."""
    asked = cell.record.parameters
    return ", ".join(f"{grouped(asked[name])} {name}" for name in AMOUNTS if asked.get(name))


def _share_words(cell: ExhibitCell) -> str:
    """Describe parts of the time: recorded transfers and kernels, and measured communication of ranks."""
    whole = cell.seconds
    if not whole:
        return ""
    shares = [("transfers", cell.row.transfer.median.value / whole), ("kernel", cell.row.kernel.median.value / whole)]
    communicated = [s.communication_share for s in cell.record.repetitions if s.communication_share is not None]
    if cell.record.ranks > 1 and communicated:
        shares = [("communication", statistics.median(communicated))]
    return ", ".join(f"{name} {per_cent(share)}" for name, share in shares)


def _rate_words(cell: ExhibitCell) -> str:
    per_second = cell.row.rate
    return "" if per_second is None else f"{rate(per_second)} {cell.record.evaluation_unit}/s"


def _step_words(cell: ExhibitCell) -> str:
    details = cell.record.details
    if details.get("most_steps") is None:
        return ""
    return f"{details['steps_per_climb']:.1f} steps a climb, {details['fewest_steps']} to {details['most_steps']}"


def _proof_words(cell: ExhibitCell) -> str:
    details = cell.record.details
    parts = []
    if cell.record.execution.get("bound") == "host":
        parts.append("all tours, on the host")
    if details.get("root_bound") is not None:
        parts.append(f"bound at the root {details['root_bound']}")
    if details.get("optimal_tours") is not None:
        parts.append(f"shortest tours: {grouped(details['optimal_tours'])}")
    verifiers = details.get("verified_by")
    found_again = [str(name) for name in verifiers if name not in WEAK_VERIFIERS] if isinstance(verifiers, list) else []
    if found_again:
        parts.append(f"verified by {' and by '.join(found_again)}")
    return ", ".join(parts)


def _stream_words(cell: ExhibitCell) -> str:
    count = cell.record.details.get("streamed_bytes")
    return "" if count is None else f"{size(count)} to the host"


# --- other people's solvers, as `drivers.peers` records them ---


def peers_of(record: Record) -> Sequence[Mapping[str, Any]]:
    """Solvers that ran beside a run. Raises `RecordError` if `details.reference_solvers` is no list of solvers."""
    solvers = record.details.get("reference_solvers", ())
    if not isinstance(solvers, list | tuple) or not all(isinstance(peer, dict) and "name" in peer for peer in solvers):
        raise RecordError(f"{record.label}: expected a list of solvers in details.reference_solvers, found {solvers!r}")
    return solvers


def _reference_solvers(cell: ExhibitCell) -> Iterable[Mapping[str, Any]]:
    """The rival's runs: beside this run, else beside another on the same instance and machine."""
    named = REFERENCE_SOLVERS.get(cell.rival, (cell.rival,))
    solvers = next((measured for record in (cell.record, *cell.nearby) if (measured := peers_of(record))), ())
    return (peer for peer in solvers if not cell.rival or peer["name"] in named)


def _timed_solvers(cell: ExhibitCell) -> list[Mapping[str, Any]]:
    return [peer for peer in _reference_solvers(cell) if isinstance(peer.get("solve_s"), int | float)]


def _peer_words(peer: Mapping[str, Any], cell: ExhibitCell) -> str:
    """Describe another solver's time, its ratio to ours, and its cost if different."""
    name, took, cost = peer["name"], float(peer["solve_s"]), peer.get("cost", peer.get("length"))
    other = f", cost {grouped(cost)}" if cost not in (None, cell.record.best_cost) else ""
    against = f" ({ratio(took / cell.seconds)} ours)" if cell.seconds else ""
    return f"{name} {seconds(took)}{against}{other}"


def missing_solver_text(cell: ExhibitCell) -> str:
    """Return the reason why an exhibit's rival has no time for a run; empty if it has one, or none is measured."""
    if not cell.rival or _peer_seconds(cell) is not None:
        return ""
    troubles = set()
    for peer in _reference_solvers(cell):
        failure = str(peer.get("failure") or "has no time")
        # A failure other than a missing program has its details after a colon.
        troubles.add(f"{peer['name']} {failure if failure.startswith('not found') else failure.partition(':')[0]}")
    return f"no time of {cell.rival}: {', '.join(sorted(troubles)) or 'it did not run here'}"


def _peer_seconds(cell: ExhibitCell) -> float | None:
    return min((float(peer["solve_s"]) for peer in _timed_solvers(cell)), default=None)


def _over_peer(cell: ExhibitCell) -> float | None:
    theirs = _peer_seconds(cell)
    return theirs / cell.seconds if theirs is not None and cell.seconds else None


# --- a profiler's metrics, as `drivers.runs.kernel_profile` records them ---


def profile_of(record: Record) -> Sequence[Mapping[str, Any]]:
    """Return a profiler's counters of a run, one entry a kernel; empty without `--profile`.

    Raises `RecordError` if `details.profile` has no list of kernels.
    """
    kernels = (record.details.get("profile") or {}).get("kernels", ())
    if not isinstance(kernels, list | tuple) or not all(isinstance(one, dict) and "kernel" in one for one in kernels):
        raise RecordError(f"{record.label}: expected a list of kernels in details.profile, found {kernels!r}")
    return kernels


def _profile_measure(metric: str) -> Measure:
    def words(cell: ExhibitCell) -> str:
        values = [f"`{kernel['kernel']}` {_spread(kernel.get(metric), metric)}" for kernel in profile_of(cell.record)]
        return "; ".join(values) or NOT_PROFILED

    return Measure(metric.replace("_", " "), words)


def _spread(spread: Sequence[float] | None, metric: str) -> str:
    """Describe least, average and largest values of a kernel: fractions in per cent, instructions per clock as is."""
    if spread is None:
        return "no launch has it"
    if metric == "ipc":
        return " / ".join(f"{value:.2f}" for value in spread)
    return " / ".join(f"{100 * value:.1f}" for value in spread) + " %"


MEASURES: dict[str, Measure] = {
    "seconds": Measure("seconds", _seconds_words, lambda one: one.seconds),
    "milliseconds": Measure("milliseconds", _seconds_words, lambda one: 1e3 * one.seconds),
    "iteration": Measure("seconds an iteration", _iteration_words, _value_of(_iteration)),
    "speedup": Measure("speed-up over one core", _speedup_words, _value_of(_speedup)),
    "over_first": Measure("times as fast as the first strategy", _over_first_words, _value_of(_over_first)),
    "rate": Measure("units a second", _rate_words, lambda one: one.row.rate),
    "cost": Measure("best cost", _cost_words, lambda one: float(one.record.best_cost)),
    "mean": Measure("mean seconds", _mean_words, _mean),
    "mean_cost": Measure(
        "mean best cost", _mean_cost_words, lambda one: None if (costs := _cost_summary(one)) is None else costs.mean
    ),
    "index": Measure("number of the best", lambda one: f"by climber {grouped(one.record.best_index)}"),
    "with": Measure("found with", _work_words),
    "optimum": Measure("optimum", lambda one: grouped(one.record.details.get("optimum") or "")),
    "cities": Measure("cities", lambda one: grouped(one.record.details.get("cities") or "")),
    "shares": Measure("parts of the time", _share_words),
    "nodes": Measure(
        "nodes",
        lambda one: counted(one.record.evaluations, "node") if one.record.evaluations else "",
        lambda one: float(one.record.evaluations),
    ),
    "steps": Measure("steps a climb", _step_words, lambda one: one.record.details.get("steps_per_climb")),
    "proof": Measure("proof", _proof_words),
    "streamed": Measure("bytes copied to the host", _stream_words),
    "peers": Measure(
        "seconds of other solvers",
        lambda one: "; ".join(_peer_words(peer, one) for peer in _timed_solvers(one)),
        _peer_seconds,
    ),
    "over_peer": Measure(
        "speed-up over the other solver",
        lambda one: "" if (found := _over_peer(one)) is None else ratio(found),
        _over_peer,
    ),
    "load_efficiency": _profile_measure("load_efficiency"),
    "warp_efficiency": _profile_measure("warp_efficiency"),
    "ipc": _profile_measure("ipc"),
    "text": Measure("", lambda one: ""),
}
"""Measures by their names in papers' files; `text` is a published cell as text."""
RATIOS = ("speedup", "over_first", "over_peer")
"""Measures that compare runs."""
