"""Cautions: reasons to doubt a figure of a comparison, each with a number from the records."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from reports.comparison.speedups import ComparedRun, ComparedRuns
from reports.records.files import Record
from reports.records.schema import Repetition
from reports.statistics.medians import LEAST_FOR_COVERAGE
from reports.text.formatting import letters, number, per_cent, ratio, seconds

DOUBTFUL = "*"
"""Mark of a figure with a caution."""
WIDE_SPREAD = 0.10
"""Spread of times, relative to the median, above which there is a caution."""
SLOWER_CLOCK = 0.10
"""Relative difference of a clock below the fastest of its machine, or its own highest."""
OTHERS_LOAD = 0.5
"""Part of the cores that other programs may keep busy without a caution."""
INTERRUPTED = {
    "resume_count": "resumed from a checkpoint, so the time is a sum of parts without the work lost in between",
    "lost_ranks": "ranks were killed and the others did their share, so fewer ranks took this time",
}
"""Effect of a repetition's condition on its time."""
SHORTEST_BASELINE_S = 1.0
"""Seconds on one core below which launches and copies decide a ratio."""
OTHER_MEDIANS = "other_medians"
"""Key of a record's details: medians of other runs of the same work, each with `seconds` and `where`."""
OTHER_PROGRAMS = "load of other programs"
"""Beginning of the caution of a host with other programs."""
FEW_REPETITIONS = f"fewer than {LEAST_FOR_COVERAGE} repetitions, so an interval covers less than 95 %"
SPREAD_PREFIX = "spread above "
"""Beginning of the caution of a row's wide spread, which an interval beside its time shows too."""
BASELINE_PREFIX = "its baseline: "
"""Beginning of a ratio's cautions about its baseline's time."""
LOAD_DECAY = timedelta(minutes=3)
"""Time for which a run affects the load average of the last minute: after three minutes 5 % of it are left."""


@dataclass(frozen=True)
class Caution:
    """A reason to doubt figures, the affected rows, and the figure of each.

    Attributes
    ----------
    mark
        Its letter in tables.
    text
        The reason, as printed after the mark: without a capital and a full stop.
    figures
        The figure, perhaps empty, by the row's label.
    everywhere
        True if it affects all rows.
    """

    mark: str
    text: str
    figures: Mapping[str, str]
    everywhere: bool

    def __str__(self) -> str:
        """Return the caution with all figures, without its full stop."""
        if self.everywhere and len(set(self.figures.values())) == 1:
            rows = ["every row" + "".join(f" {figure}" for figure in set(self.figures.values()) if figure)]
        else:
            rows = [f"{label} {figure}".strip() for label, figure in self.figures.items()]
        return f"{self.text}: {'; '.join(rows)}"


CautionFigures = Iterator[tuple[str, str]]


def cautions(comparison: ComparedRuns, nearby: Sequence[Record] = ()) -> list[Caution]:
    """Return the cautions of a comparison's rows. ``nearby`` are runs of the same experiment, whose load counts."""
    figures_of: dict[str, dict[str, str]] = {}
    ours = [*nearby, *(row.record for row in comparison.rows)]
    for row in comparison.rows:
        for text, figure in (*_of_row(row, ours), *_slow_clock(row, comparison)):
            figures_of.setdefault(text, {})[comparison.label(row)] = figure
    return [
        Caution(letters(place), text, figures, len(figures) == len(comparison.rows) > 1)
        for place, (text, figures) in enumerate(figures_of.items())
    ]


def doubts(row: ComparedRun, nearby: Sequence[Record] = ()) -> list[str]:
    """List the reasons to doubt a row's time or ratio, without figures."""
    texts = [text for text, _ in _of_row(row, [*nearby, row.record])]
    return [text for text in texts if text not in (*row.labels, FEW_REPETITIONS)]


def ratio_doubts(row: ComparedRun, nearby: Sequence[Record] | None = None) -> dict[str, str]:
    """Return the reasons to doubt a row's ratio because of its baseline's time, with figures.

    ``nearby`` is as in `cautions`, with the runs of all rows. None: unknown, and the load of others is ignored.
    """
    return dict(_of_baseline(row, nearby))


def is_short(row: ComparedRun) -> bool:
    """True if a ratio is over less time of one core than `SHORTEST_BASELINE_S`."""
    return row.baseline_s is not None and row.baseline_s < SHORTEST_BASELINE_S


def _of_row(row: ComparedRun, ours: Sequence[Record]) -> CautionFigures:
    for label in row.labels:
        yield label, ""
    if row.running.repetitions < LEAST_FOR_COVERAGE:
        yield FEW_REPETITIONS, str(row.running.repetitions)
    yield from _interrupted(row.record.repetitions)
    yield from _spread(row)
    yield from _other_medians(row)
    yield from _too_fast(row)
    yield from _load(row, ours)
    yield from _throttled(row.record.repetitions)
    yield from _of_baseline(row, ours)


def _interrupted(repetitions: Sequence[Repetition]) -> CautionFigures:
    """Describe times of several processes, or of fewer ranks than the row has."""
    for name, text in INTERRUPTED.items():
        count = sum(bool((repetition.conditions or {}).get(name)) for repetition in repetitions)
        if count:
            yield text, f"{count} of {len(repetitions)} repetitions"


def _spread(row: ComparedRun) -> CautionFigures:
    """Return the relative width of the median's interval, or the times of few repetitions, as text."""
    times = row.running
    low, high, what = times.minimum, times.maximum, "from the shortest to the longest time"
    if times.repetitions >= LEAST_FOR_COVERAGE and times.median.low is not None and times.median.high is not None:
        low, high, what = times.median.low, times.median.high, "the 95 % interval"
    if "seeds" in row.record.parameters:
        what += ", over seeds, which may differ in their work"
    if times.median.value > 0 and high - low > WIDE_SPREAD * times.median.value:
        yield (
            f"{SPREAD_PREFIX}{per_cent(WIDE_SPREAD)} of the median ({what})",
            per_cent((high - low) / times.median.value),
        )


def _other_medians(row: ComparedRun) -> CautionFigures:
    """Name other medians of the same work outside the interval of this one."""
    median = row.running.median
    low = row.running.minimum if median.low is None else median.low
    high = row.running.maximum if median.high is None else median.high
    for other in row.record.details.get(OTHER_MEDIANS, ()):
        if not low <= other["seconds"] <= high:
            yield f"the interval excludes the median of {other['where']}", seconds(other["seconds"])


def _of_baseline(row: ComparedRun, ours: Sequence[Record] | None = None) -> CautionFigures:
    """Return the cautions of a ratio's baseline; that of its load only with the runs around it."""
    base = row.base
    if base is None:
        return
    load = iter(()) if ours is None else _load(base, [*ours, base.record, row.record])
    for doubts_of_part in (_interrupted(base.record.repetitions), _spread(base), _other_medians(base), load):
        for text, figure in doubts_of_part:
            yield f"{BASELINE_PREFIX}{text}", figure


def _too_fast(row: ComparedRun) -> CautionFigures:
    cores = _usable_cores(row.record)
    if row.speedup is not None and cores is not None and row.speedup.value > max(1, cores):
        yield (
            "speed-up above the number of cores, which is suspicious: larger caches in total, or a slow baseline",
            f"{ratio(row.speedup)} on {cores}",
        )


def _usable_cores(record: Record) -> int | None:
    """Number of cores that a run can keep busy; None for a GPU, or if not recorded."""
    cores = record.host_cores if record.device_kind == "cores" else record.environment.get("cores")
    if record.device_kind == "gpu" or not cores:
        return None
    everywhere = int(cores) * record.host_count
    return everywhere if record.device_kind == "cores" else min(record.ranks, everywhere)


# --- load of others ---


def _load(row: ComparedRun, ours: Sequence[Record]) -> CautionFigures:
    """Compare the load of the minute before with the cores of our own runs in the last minutes."""
    cores = row.record.environment.get("cores")
    load = condition(row.record, "load_1min")
    if not cores or load is None:
        return
    explained = _own_load(row.record, ours)
    if load > explained + OTHERS_LOAD * cores:
        yield (
            f"{OTHER_PROGRAMS}: the load average before the run was above that of our own runs by more than half "
            "the cores",
            f"{number(load)} ({explained} ours, {cores} cores)",
        )


def _own_load(record: Record, ours: Sequence[Record]) -> int:
    """Largest number of this machine's cores that a run of ours kept busy in the minutes before."""
    begins = [moment for moment in map(_began, record.repetitions) if moment is not None]
    busy = [_busy_cores(record)]
    for other in ours:
        if other.environment.get("host") != record.environment.get("host"):
            continue
        ran = [moment for moment in map(_began, other.repetitions) if moment is not None]
        if any(timedelta() <= begin - moment <= LOAD_DECAY for begin in begins for moment in ran):
            busy.append(_busy_cores(other))
    return max(busy)


def _busy_cores(record: Record) -> int:
    """Cores that a run keeps busy on one host; a GPU's run has a waiting thread."""
    cores = _usable_cores(record)
    return max(1, (record.ranks if cores is None else cores) // record.host_count)


def _began(repetition: Repetition) -> datetime | None:
    return datetime.fromisoformat(repetition.started_at) if repetition.started_at else None


# --- clocks ---


def _throttled(repetitions: Sequence[Repetition]) -> CautionFigures:
    slowed = [run.conditions for run in repetitions if run.conditions and run.conditions.get("throttled")]
    if slowed:
        reasons = sorted({reason for condition in slowed for reason in condition.get("throttled_by") or ()})
        by = f" ({', '.join(reasons)})" if reasons else ""
        yield "the GPU's clock was throttled", f"in {len(slowed)} of {len(repetitions)} repetitions{by}"


def _slow_clock(row: ComparedRun, comparison: ComparedRuns) -> CautionFigures:
    limit = 1 - SLOWER_CLOCK
    own, most = condition(row.record, "gpu_mhz"), condition(row.record, "gpu_mhz_max")
    if own and most and own < limit * most:
        yield _SLOW.format("its GPU's highest"), f"{number(own)} of {number(most)} MHz"
    own = condition(row.record, "cpu_mhz_mean")
    others = [
        condition(other.record, "cpu_mhz_mean") or 0.0 for other in comparison.rows if other.machine == row.machine
    ]
    if own and row.record.device_kind != "gpu" and own < limit * max(others):
        yield _SLOW.format("another row's on this machine"), f"{number(own)} of {number(max(others))} MHz"


_SLOW = f"clock more than {per_cent(SLOWER_CLOCK)} below {{}}"


def condition(record: Record, name: str) -> float | None:
    """Median of a condition at a run's repetitions, such as `load_1min`; None without any."""
    read = [
        run.conditions[name] for run in record.repetitions if run.conditions and run.conditions.get(name) is not None
    ]
    return statistics.median(read) if read else None
