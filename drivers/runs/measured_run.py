"""`--measure`: the proof of a run, and its rate, on any number of ranks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from drivers.cli.exit_codes import DONE, FAILED
from drivers.options.declaration import Options
from drivers.runs.checkpointing import RecoveryState
from drivers.runs.measuring import MOST_AMOUNT, MeasuringRule, RateMeasurement, Work
from drivers.runs.reference_solvers import process_age_s
from drivers.runs.repetition_times import RepetitionMeasurement
from drivers.runs.repetitions import RECORDED_MESSAGE, Repetitions, report_idle_ranks
from drivers.workload.declaration import RepeatedRun, RepetitionResult, Workload
from reports.text import formatting

if TYPE_CHECKING:
    from core.run.protocol import Callback, SearchResult


def refuse_unmeasurable(options: Options) -> None:
    """Refuse options that contradict a measurement; raises `UserError`."""
    if options.measure is None:
        return
    others = {"--repeats": options.repeats > 1, "--checkpoint": options.checkpoint is not None}
    others["--seconds"] = vars(options).get("seconds") is not None
    for flag, given in others.items():
        if given:
            raise UserError(f"{flag} and --measure: expected one of them")


class MeasuredRun(Repetitions):
    """The proof of a run, then warm repetitions on an amount that fits the device; rank 0 decides for all ranks.

    A process adds one measurement to a record, or completes one that was interrupted.

    Attributes
    ----------
    rate : RateMeasurement
        State of the measurement; only the first rank's counts.
    work : Work or None
        Work of the current repetition; None for the proof.
    """

    def __init__(
        self,
        workload: Workload[Any],
        run: RepeatedRun,
        details: Mapping[str, object],
        memory: RecoveryState | None = None,
    ) -> None:
        super().__init__(workload, run, details, memory)
        assert self.options.measure is not None
        self.work: Work | None = None
        self.rate = RateMeasurement(
            MeasuringRule.of(self.work_unit, self.options.measure),
            Work(self.work_unit.amount),
            scales=bool(self.work_unit.option),
        )
        self.turn = 0
        self.kind: dict[str, Any] = {}
        self.hashes: dict[int, str] = {}
        self.proof: RepetitionResult | None = None
        self.is_confirmed = False

    def repeat(self) -> int:
        """Make the proof, and measure the rate; return the exit code on all ranks, 1 for a rejected result."""
        self.count_hosts()
        identity = self.ranks.on_first(self.resume) if self.options.record else ""
        if self.ranks.rank == 0:
            report_idle_ranks(self.workload, self.run)
        self.ranks.on_first(partial(self.begin, 0))
        start_s = process_age_s() - self.run.search.backend.timings.compile_s
        self.kind = {"kind": "proof", "work": self.work_unit.units, "turn": self.turn, "start_s": max(0.0, start_s)}
        self.ranks.on_all(partial(self.conclude, *self.measure()))
        while (work := self.ranks.bcast(self.next_work())) is not None:
            self.work = work
            self.ranks.on_all(partial(self.count, *self.measure()))
        code: int = self.ranks.on_first(partial(self.close, identity, 0))
        return code

    def resume(self) -> str:
        """Take the repetitions of an interrupted measurement, and the amount of an earlier one; return the identity."""
        identity, turns = self.recorder.measured()
        self.turn = len(turns)
        if turns:
            last = turns[-1]
            self.rate.work = self.work_of(last[0].work)
            seconds = [one.running_s for one in last]
            if not self.rate.rule.is_enough(seconds):
                self.turn -= 1
                self.rate.seconds = seconds
                print(f"{len(seconds)} warm {RECORDED_MESSAGE} {self.options.record} already")
        return identity

    def work_of(self, units: int) -> Work:
        """Return the work of a recorded repetition."""
        unit = self.work_unit
        if not unit.option:
            return Work(unit.amount, units // unit.units)
        amount = units // unit.each
        return Work(min(amount, MOST_AMOUNT), max(1, amount // MOST_AMOUNT))

    def next_work(self) -> Work | None:
        """Return the work of the next repetition; None if there is none, also without a proof."""
        if self.proof is None or self.proof.gave_up or self.contradicted or self.rate.is_done:
            return None
        return self.rate.work

    def searched(self, callback: Callback | None) -> SearchResult:
        if self.work is None:
            return super().searched(callback)
        run, option = self.run, self.work_unit.option
        if option:
            scaled: dict[str, Any] = {option: self.work.amount}
            run = replace(run, options=replace(self.options, **scaled))
        outcome: SearchResult
        for _ in range(self.work.runs):
            outcome = self.workload.once(run, callback)
        return outcome

    # --- on the first rank ---

    @property
    def kind_of_repetition(self) -> dict[str, Any]:
        return self.kind

    def record(self, result: RepetitionResult, spent: RepetitionMeasurement, verified: bool) -> None:
        self.is_confirmed = verified
        super().record(result, spent, verified)

    def show(
        self, result: RepetitionResult, spent: RepetitionMeasurement, confirmed: bool | None, verdict: str
    ) -> None:
        self.proof = result
        self.hashes[self.work_unit.amount] = result.outcome.hash
        super().show(result, spent, confirmed, verdict)

    def count(self, outcome: SearchResult, spent: RepetitionMeasurement) -> None:
        """Count and record a warm repetition; one with another hash than an earlier one of its amount is rejected."""
        if self.ranks.rank or self.work is None or self.proof is None:
            return
        work = self.work
        known = self.hashes.setdefault(work.amount, outcome.hash)
        if known != outcome.hash:
            self.contradicted += 1
            print(
                f"error: {self.run.problem.name}: hash {outcome.hash} of a repetition of {self.amount_text(work)}, "
                f"expected {known} of an earlier one",
                file=sys.stderr,
            )
            return
        kind = "rate" if self.rate.add(spent.times.running_s) else "trial"
        self.kind = {"kind": kind, "work": work.total * self.work_unit.each, "turn": self.turn}
        self.kind["evaluations"] = outcome.evaluations * work.runs
        if self.options.record:
            super().record(self.proof, spent, self.is_confirmed)

    def close(self, identity: str, done: int) -> int:
        if self.rate.is_done and not self.contradicted:
            print(self.rate_text(), flush=True)
        super().close(identity, done)
        return FAILED if self.contradicted else DONE

    def amount_text(self, work: Work) -> str:
        unit = self.work_unit
        if unit.name == "runs":
            return f"{work.runs:,} runs"
        of_runs = f"{work.runs:,} runs of " if work.runs > 1 else ""
        return f"{of_runs}{work.amount * unit.each:,} {unit.name}"

    def rate_text(self) -> str:
        rate, work, unit = self.rate.rate.scaled(self.work_unit.each), self.rate.work, self.work_unit.name
        width = formatting.deviation(rate, self.rate.rule.width)
        median = work.total * self.work_unit.each / rate.value
        return (
            f"{self.run.problem.name}: {formatting.rate(rate.value, 4)} {unit}/s{width and f' {width}'}, median of "
            f"{len(self.rate.seconds)} warm repetitions of {self.amount_text(work)}, {formatting.seconds(median)} each"
        )
