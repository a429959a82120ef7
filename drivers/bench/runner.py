"""Execution of benchmark cases: candidates run in turn; a line for each candidate, and a record for each run.

Results for the same work must be equal, within a case and between cases.
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
from reports.text.formatting import duration, number, rate, time_unit

if TYPE_CHECKING:
    from reports.records.meters import Meter

PREPARING_S = 0.5
"""What a candidate takes to be made ready, roughly, when its machine code is in the cache."""


class CandidateRuns:
    """A candidate that is ready, and what it has done so far."""

    def __init__(self, candidate: BenchmarkCandidate, backend: Any, meter: Meter | None) -> None:
        self.candidate = candidate
        self.backend = backend
        self.meter = meter
        began_s = self.compiled_s
        self.prepared: PreparedCandidate = candidate.prepare(backend)
        self.unpaid_s = self.compiled_s - began_s
        """Seconds of compilation that no repetition has counted yet: the first one does."""
        self.seconds: list[float] = []
        self.outcomes: list[Any] = []
        self.finding: CandidateResult | None = None

    @property
    def compiled_s(self) -> float:
        """Seconds of compilation so far of the backend, which several candidates may share."""
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
    """All cases of a benchmark.

    Parameters
    ----------
    cases
        In the order in which they are run.
    repeats
        Repetitions of a case that does not say itself.
    record
        A file of records to append every repetition to; None: no records.

    """

    def __init__(self, cases: Sequence[BenchmarkCase], repeats: int, record: str | None = None) -> None:
        self.cases = cases
        self.repeats = repeats
        self.recorder = BenchmarkRecorder(record)
        self.found: dict[tuple[str, str], tuple[Any, str]] = {}
        self.confirmed: set[tuple[str, Any]] = set()

    @property
    def seconds(self) -> float:
        """About how long everything takes."""
        candidates = sum(len(case.candidates) for case in self.cases)
        return candidates * PREPARING_S + sum(case.seconds(self.repeats) for case in self.cases)

    def run(self) -> None:
        """Run all cases.

        Raises
        ------
        RuntimeError
            Two candidates that do the same work found different things, or somebody something wrong.

        """
        candidates = sum(len(case.candidates) for case in self.cases)
        print(
            f"{format_count(len(self.cases), 'benchmark case')} with {format_count(candidates, 'candidate')} in "
            f"turn, {format_count(self.repeats, 'repetition')} each unless a case sets another number: about "
            f"{duration(self.seconds)}, plus compilation; medians (minimum .. maximum)",
            flush=True,
        )
        began = time.perf_counter()
        for place, case in enumerate(self.cases, 1):
            print(f"\n[{place}/{len(self.cases)}] {case.title}", flush=True)
            with OpenDevices() as devices:
                self.hold(case, devices)
        print(f"\ndone in {duration(time.perf_counter() - began)}", flush=True)

    def hold(self, case: BenchmarkCase, devices: OpenDevices) -> None:
        """Run one case and show how it went."""
        entrants = [one for one in (self.entered(case, who, devices) for who in case.candidates) if one]
        for repetition in range(case.repeats or self.repeats):
            for entrant in entrants:
                self.measure(case, entrant, repetition)
        self.recorder.fold()
        together = len({describe_result(one) for one in entrants}) == 1
        for entrant in entrants:
            own = [] if together else [describe_result(entrant)]
            print("    " + "  ".join([self.line(case, entrant, entrants), *own]), flush=True)
        if together:
            print(f"    {'same result: ' if len(entrants) > 1 else ''}{describe_result(entrants[0])}", flush=True)
        for remark in case.remark({one.candidate.name: statistics.median(one.seconds) for one in entrants}):
            print(f"    {remark}", flush=True)

    def entered(self, case: BenchmarkCase, candidate: BenchmarkCandidate, devices: OpenDevices) -> CandidateRuns | None:
        """A candidate made ready, and rehearsed; None, and says why, if it cannot take part here."""
        try:
            backend = devices.backend(candidate.place)
            entrant = CandidateRuns(candidate, backend, self.recorder.meter(candidate, backend))
            if case.rehearsed:
                outcome, times = entrant.run(0)
                entrant.unpaid_s = times.compile_s
                self.compare(case, entrant, entrant.prepared.read(outcome))
        except UserError as error:
            print(f"    {candidate.name}: not measured ({error})", flush=True)
            return None
        return entrant

    def measure(self, case: BenchmarkCase, entrant: CandidateRuns, repetition: int) -> None:
        """One repetition of one candidate: timed, compared with what is known, and recorded."""
        outcome, times = entrant.run(repetition)
        finding = entrant.prepared.read(outcome)
        if finding.seconds is not None:
            times = BenchmarkTimes(0.0, 0.0, finding.seconds, finding.seconds)
        verified = self.compare(case, entrant, finding)
        measured = {**times._asdict(), **(entrant.meter.values if entrant.meter else {})}
        self.recorder.add(entrant.candidate, entrant.backend, entrant.prepared.subject, finding, measured, verified)
        entrant.seconds.append(times.kernel_s if case.by_kernels else times.running_s)
        entrant.outcomes.append(outcome)
        entrant.finding = finding
        if finding.confirmed is False:
            raise RuntimeError(f"{case.work}: the result of {entrant.candidate.name} is NOT CONFIRMED by the scorer")

    def compare(self, case: BenchmarkCase, entrant: CandidateRuns, finding: CandidateResult) -> bool:
        """Remember what somebody found, or compare it with what is known; whether the cost is confirmed.

        What is confirmed of one candidate is of all who do the same work and find the same.
        """
        on_device = case.where and entrant.candidate.place is not None
        name = f"{entrant.candidate.name}, {case.where}" if on_device else entrant.candidate.name
        for fact, value in finding.facts.items():
            known, whose = self.found.setdefault((case.work, fact), (value, name))
            if value != known:
                raise RuntimeError(f"{case.work}: {fact} is {value} by {name}, but {known} by {whose}")
        cost = (case.work, next(iter(finding.facts.items()), None))
        if finding.confirmed:
            self.confirmed.add(cost)
        return finding.confirmed is not False and cost in self.confirmed

    def line(self, case: BenchmarkCase, entrant: CandidateRuns, entrants: Sequence[CandidateRuns]) -> str:
        """What stands in the table of one candidate."""
        median, finding = statistics.median(entrant.seconds), entrant.finding
        assert finding is not None
        parts = [
            f"{entrant.candidate.name:24} {format_spread(entrant.seconds):34} "
            f"{format_rate(finding.amount, median, case.unit)}"
        ]
        against = entrant.candidate.against or case.candidates[0].name
        other = next((one for one in entrants if one.candidate.name == against), entrant)
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
    name, scale = time_unit(median)
    least, middle, most = (number(value * scale, 4) for value in (min(seconds), median, max(seconds)))
    return f"{middle:>6} {name} ({least} .. {most})"


def format_rate(amount: float, seconds: float, unit: str) -> str:
    """Units of work a second; of no time none are said."""
    if seconds <= 0:
        return f"too short to count {unit}/s"
    return f"{rate(amount / seconds, 4):>10} {unit}/s"


def format_count(number: int, what: str) -> str:
    """A number of things, in the plural where it is not one."""
    return f"{number} {what}" + ("" if number == 1 else "s")
