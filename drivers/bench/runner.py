"""Runs contests: every contestant in turn, a line for each when its contest is over, and a record for each run.

What was found under the same name of work must be the same for all, in this contest or an earlier one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from drivers.bench.cases import BenchmarkCandidate, BenchmarkCase, CandidateResult, PreparedCandidate
from drivers.bench.devices import OpenDevices
from drivers.bench.recording import BenchmarkRecorder, BenchmarkTimes

if TYPE_CHECKING:
    from reports.records.meters import Meter

PREPARING_S = 0.5
"""What a contestant takes to be made ready, roughly, when its machine code is in the cache."""
PERIODS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
"""Seconds, and what so many are called; the longest that fits twice is said."""
UNITS_OF_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (0.0, ""))


class CandidateRuns:
    """A contestant that is ready, and what it has done so far."""

    def __init__(self, contestant: BenchmarkCandidate, backend: Any, meter: Meter | None) -> None:
        self.contestant = contestant
        self.backend = backend
        self.meter = meter
        began_s = self.compiled_s
        self.prepared: PreparedCandidate = contestant.prepare(backend)
        self.unpaid_s = self.compiled_s - began_s
        """Seconds of compilation that no repetition has counted yet: the first one does."""
        self.seconds: list[float] = []
        self.outcomes: list[Any] = []
        self.finding: CandidateResult | None = None

    @property
    def compiled_s(self) -> float:
        """Seconds of compilation so far of the backend, which several contestants may share."""
        return 0.0 if self.backend is None else float(self.backend.timings.compile_s)

    def run(self, repetition: int) -> tuple[Any, BenchmarkTimes]:
        """Run once; the outcome and its times."""
        timings = None if self.backend is None else self.backend.timings
        if timings is not None:
            timings.transfer_s = timings.kernel_s = 0.0
        before_s = self.compiled_s
        with self.meter or nullcontext():
            began = time.perf_counter()
            outcome = self.prepared.solve(repetition)
            total_s = time.perf_counter() - began + self.unpaid_s
        compile_s = self.compiled_s - before_s + self.unpaid_s
        self.unpaid_s = 0.0
        if timings is None:
            return outcome, BenchmarkTimes(compile_s, 0.0, 0.0, total_s)
        return outcome, BenchmarkTimes(compile_s, timings.transfer_s, timings.kernel_s, total_s)


class BenchmarkRun:
    """All contests of a benchmark.

    Parameters
    ----------
    contests
        In the order in which they are run.
    repeats
        Repetitions of a contest that does not say itself.
    record
        A file of records to append every repetition to; None: no records.

    """

    def __init__(self, contests: Sequence[BenchmarkCase], repeats: int, record: str | None = None) -> None:
        self.contests = contests
        self.repeats = repeats
        self.recorder = BenchmarkRecorder(record)
        self.found: dict[tuple[str, str], tuple[Any, str]] = {}
        self.confirmed: set[tuple[str, Any]] = set()

    @property
    def seconds(self) -> float:
        """About how long everything takes."""
        contestants = sum(len(contest.contestants) for contest in self.contests)
        return contestants * PREPARING_S + sum(contest.seconds(self.repeats) for contest in self.contests)

    def run(self) -> None:
        """Run all contests.

        Raises
        ------
        RuntimeError
            Two contestants that do the same work found different things, or somebody something wrong.

        """
        contestants = sum(len(contest.contestants) for contest in self.contests)
        print(
            f"{format_count(len(self.contests), 'contest')} of {format_count(contestants, 'contestant')}, in turn, "
            f"{format_count(self.repeats, 'repetition')} each unless a contest has its own number: about "
            f"{format_rough_time(self.seconds)}, and what compiles for the first time; medians (least .. most)",
            flush=True,
        )
        began = time.perf_counter()
        for number, contest in enumerate(self.contests, 1):
            print(f"\n[{number}/{len(self.contests)}] {contest.title}", flush=True)
            with OpenDevices() as devices:
                self.hold(contest, devices)
        print(f"\ndone in {format_rough_time(time.perf_counter() - began)}", flush=True)

    def hold(self, contest: BenchmarkCase, devices: OpenDevices) -> None:
        """Run one contest and show how it went."""
        entrants = [one for one in (self.entered(contest, who, devices) for who in contest.contestants) if one]
        for repetition in range(contest.repeats or self.repeats):
            for entrant in entrants:
                self.measure(contest, entrant, repetition)
        self.recorder.fold()
        together = len({describe_result(one) for one in entrants}) == 1
        for entrant in entrants:
            own = [] if together else [describe_result(entrant)]
            print("    " + "  ".join([self.line(contest, entrant, entrants), *own]), flush=True)
        if together:
            print(f"    {'found by all: ' if len(entrants) > 1 else ''}{describe_result(entrants[0])}", flush=True)
        for remark in contest.remark({one.contestant.name: statistics.median(one.seconds) for one in entrants}):
            print(f"    {remark}", flush=True)

    def entered(
        self, contest: BenchmarkCase, contestant: BenchmarkCandidate, devices: OpenDevices
    ) -> CandidateRuns | None:
        """A contestant made ready, and rehearsed; None, and says why, if it cannot take part here."""
        try:
            backend = devices.backend(contestant.place)
            entrant = CandidateRuns(contestant, backend, self.recorder.meter(contestant, backend))
            if contest.rehearsed:
                outcome, times = entrant.run(0)
                entrant.unpaid_s = times.compile_s
                self.compare(contest, entrant, entrant.prepared.read(outcome))
        except UserError as error:
            print(f"    {contestant.name}: not measured ({error})", flush=True)
            return None
        return entrant

    def measure(self, contest: BenchmarkCase, entrant: CandidateRuns, repetition: int) -> None:
        """One repetition of one contestant: timed, compared with what is known, and recorded."""
        outcome, times = entrant.run(repetition)
        finding = entrant.prepared.read(outcome)
        if finding.seconds is not None:
            times = BenchmarkTimes(0.0, 0.0, finding.seconds, finding.seconds)
        verified = self.compare(contest, entrant, finding)
        measured = {**times._asdict(), **(entrant.meter.values if entrant.meter else {})}
        self.recorder.add(entrant.contestant, entrant.backend, entrant.prepared.subject, finding, measured, verified)
        entrant.seconds.append(times.kernel_s if contest.by_kernels else times.running_s)
        entrant.outcomes.append(outcome)
        entrant.finding = finding
        if finding.confirmed is False:
            raise RuntimeError(f"{contest.work}: what {entrant.contestant.name} found is NOT CONFIRMED by the scorer")

    def compare(self, contest: BenchmarkCase, entrant: CandidateRuns, finding: CandidateResult) -> bool:
        """Remember what somebody found, or compare it with what is known; whether the cost is confirmed.

        What is confirmed of one contestant is of all who do the same work and find the same.
        """
        on_device = contest.where and entrant.contestant.place is not None
        name = f"{entrant.contestant.name}, {contest.where}" if on_device else entrant.contestant.name
        for fact, value in finding.facts.items():
            known, whose = self.found.setdefault((contest.work, fact), (value, name))
            if value != known:
                raise RuntimeError(f"{contest.work}: {fact} is {value} by {name}, but {known} by {whose}")
        cost = (contest.work, next(iter(finding.facts.items()), None))
        if finding.confirmed:
            self.confirmed.add(cost)
        return finding.confirmed is not False and cost in self.confirmed

    def line(self, contest: BenchmarkCase, entrant: CandidateRuns, entrants: Sequence[CandidateRuns]) -> str:
        """What stands in the table of one contestant."""
        median, finding = statistics.median(entrant.seconds), entrant.finding
        assert finding is not None
        parts = [
            f"{entrant.contestant.name:24} {format_spread(entrant.seconds):34} "
            f"{format_rate(finding.amount, median, contest.unit)}"
        ]
        against = entrant.contestant.against or contest.contestants[0].name
        other = next((one for one in entrants if one.contestant.name == against), entrant)
        if other is not entrant:
            parts.append(f"{speedup(entrant.seconds, other.seconds):.2f}x as fast as {against}")
        parts.append(entrant.prepared.note(entrant.outcomes, median))
        return "  ".join(part for part in parts if part)


def describe_result(entrant: CandidateRuns) -> str:
    """What an entrant found."""
    facts = {} if entrant.finding is None else entrant.finding.facts
    return ", ".join(f"{fact} {value}" for fact, value in facts.items())


def speedup(seconds: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of times that were taken one after the other."""
    return statistics.median(other / max(own, 1e-9) for own, other in zip(seconds, others, strict=True))


def format_spread(seconds: Sequence[float]) -> str:
    """Median, least and most in one unit of time."""
    median = statistics.median(seconds)
    unit, name = next((one for one in UNITS_OF_TIME if median >= one[0]), UNITS_OF_TIME[-1])
    least, middle, most = (f"{value / unit:.4g}" for value in (min(seconds), median, max(seconds)))
    return f"{middle:>6} {name} ({least} .. {most})"


def format_rate(amount: float, seconds: float, unit: str) -> str:
    """Units of work a second; of no time none are said."""
    if seconds <= 0:
        return f"too short to count {unit}/s"
    per_second = amount / seconds
    factor, prefix = next(one for one in PREFIXES if per_second >= one[0])
    return f"{per_second / (factor or 1):8.4g} {prefix + ' ' if prefix else ''}{unit}/s"


def format_rough_time(seconds: float) -> str:
    """A time that is only roughly known: 45 s, 3 min."""
    period, name = next((one for one in PERIODS if seconds >= 2 * one[0]), PERIODS[-1])
    return f"{seconds / period:.2g} {name}" if seconds / period < 9.95 else f"{seconds / period:,.0f} {name}"


def format_count(number: int, what: str) -> str:
    """A number of things, in the plural where it is not one."""
    return f"{number} {what}" + ("" if number == 1 else "s")
