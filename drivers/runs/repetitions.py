"""The repetitions of a run of any workload: timed, checked, recorded and shown.

`--repeats` repeats a fixed amount. `--measure` makes a proof on that amount, and measures the rate.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_error, print_note, print_status
from drivers.cli.progress import progress_bar, progress_callback, rate
from drivers.runs.checkpointing import RecoveryState, RunCheckpoints
from drivers.runs.measuring import FixedAmount, RateMeasurement, Work, amount_text, repetition_plan
from drivers.runs.rank_times import RankTimes, of_all_ranks
from drivers.runs.recording import RunRecorder
from drivers.runs.reference_solvers import ReferenceSolvers, process_age_s
from drivers.workload.declaration import RepeatedRun, RepetitionResult, VerifierVerdict, Workload, verifier_with_article
from drivers.workload.run_time import usual_speed
from reports.text import formatting

if TYPE_CHECKING:
    from core.run.protocol import Callback, SearchResult
    from reports.records.meters import Meter
    from reports.records.schema import Repetition

RECORDED_MESSAGE = "repetitions are in"
"""Part of the line of a recorded run; comparisons search for it."""
LONG_S = 600.0
"""Estimated seconds of a run from which on a line says so at its beginning."""
MOST_COMMUNICATION = 0.5
"""Fraction of the time in communication above which a line says so at the end of a run."""


class Repetitions:
    """The repetitions of one run; all have the same seed, since equal hashes prove equal work.

    A process with `--measure` adds one measurement of the rate to a record, or completes one that was interrupted. Rank
    0 decides for all ranks.

    Parameters
    ----------
    run
        The search, prepared on this rank.
    details
        Further ``details`` of the record, on the first rank.
    memory
        State of earlier attempts on this rank.

    Attributes
    ----------
    plan : FixedAmount or RateMeasurement
        Decides on the work of each repetition; only the first rank's counts.
    work : Work
        Work of the current repetition.
    made : int
        Number of repetitions of this process.
    hashes : dict
        The hash of each amount that ran.
    result : RepetitionResult or None
        Result of the last repetition that was checked: of a rate, the proof.
    verdicts : list of VerifierVerdict
        Verdicts on it; on the first rank.
    """

    def __init__(
        self,
        workload: Workload[Any],
        run: RepeatedRun,
        details: Mapping[str, object],
        memory: RecoveryState | None = None,
    ) -> None:
        self.workload = workload
        self.run = run
        self.options = run.options
        self.ranks = run.ranks
        self.details = details
        self.saved = False
        self.contradicted = 0
        self.communication_shares: list[float] = []
        self.result: RepetitionResult | None = None
        self.verdicts: list[VerifierVerdict] = []
        self.is_confirmed: bool | None = None
        self.hashes: dict[int, str] = {}
        self.made = 0
        self.start_s = 0.0
        self.work_unit = unit = workload.work_unit(run.options, run.problem)
        self.work = Work(unit.amount)
        self.plan = repetition_plan(self.options, unit)
        self.recorder = RunRecorder(workload, run, unit)
        self.reference_solvers = ReferenceSolvers(workload, run) if run.options.peers else None
        self.long_run = RunCheckpoints(run.options, run.ranks, memory)

    ended = False
    """True if no further seed must run."""

    def collect(self) -> Any:
        return self.repeat()

    def repeat(self) -> int:
        """Make the repetitions that the record lacks; return the exit code on all ranks, 1 for a rejected result."""
        # Each host has one first rank.
        self.recorder.hosts = (self.ranks.gather(self.ranks.local_rank) or [0]).count(0)
        identity = self.ranks.on_first(self.resume)
        while (work := self.ranks.bcast(self.next_work())) is not None:
            self.work = work
            if isinstance(self.plan, FixedAmount):
                about = partial(self.recorder.checkpoint_identity, self.plan.done)
                self.run.checkpointer = self.long_run.begin(about)
            self.ranks.on_all(partial(self.conclude, *self.measure()))
        code: int = self.ranks.on_first(partial(self.close, identity))
        self.long_run.forget()
        return code

    # --- on the first rank ---

    def resume(self) -> str:
        """Continue after the repetitions in the record or before a loss; print the run and return its identity."""
        identity, repetitions = self.recorder.find() if self.options.record else ("", [])
        recorded = self.plan.resume(repetitions)
        if isinstance(self.plan, FixedAmount):
            self.plan.done = self.done_before(self.plan.done)
        else:
            self.start_s = max(0.0, process_age_s() - self.run.search.backend.timings.compile_s)
        if self.plan.next_work() is not None:
            report_idle_ranks(self.workload, self.run)
        self.begin(recorded)
        return identity

    def done_before(self, recorded: int) -> int:
        """Return the number of repetitions that are recorded, or were done before ranks were lost."""
        return max(recorded, self.long_run.done)

    def begin(self, recorded: str) -> None:
        """Print the run, its recorded repetitions and an estimate of a long duration."""
        left = self.options.repeats - (self.plan.done if isinstance(self.plan, FixedAmount) else 0)
        headline = self.workload.headline(self.run)
        if headline and not self.ranks.lost:
            print_status(headline)
        if self.run.covered_s:
            limited = ", which the limit covers but for a second" if vars(self.options).get("seconds") else ""
            print_note(f"{self.run.problem.name}: prepared in {self.run.prepared_s:.1f} s before the run{limited}")
        if recorded:
            print(f"{recorded} {RECORDED_MESSAGE} {self.options.record} already")
        core_s = self.workload.core_seconds(self.options, self.run.problem)
        if core_s is not None:
            backend, device = self.run.search.backend, self.run.search.backend.device
            places = device.kind, device.compute_units, self.ranks.size
            seconds = core_s * left / usual_speed(*places, is_reference=backend.is_reference)
            if seconds >= LONG_S:
                print_note(f"{self.run.problem.name}: about {formatting.duration(seconds)} on devices like this one")

    def next_work(self) -> Work | None:
        """Return the work of the next repetition, or None; a rate without a confirmed proof is not measured."""
        is_proved = self.result is None or not (self.result.gave_up or self.contradicted)
        return self.plan.next_work() if is_proved or isinstance(self.plan, FixedAmount) else None

    def conclude(self, outcome: SearchResult, spent: Repetition | None) -> None:
        """Check, record and show a repetition on the first rank, which has its measurements; all ranks call this."""
        if spent is None:
            return
        from msgspec.structs import replace as replaced

        unit, kind = self.work_unit, self.plan.add(spent.running_s)
        spent = replaced(spent, kind=kind, turn=self.plan.turn, work=self.work.total * unit.each)
        if kind in ("trial", "rate"):
            self.count(outcome, replaced(spent, evaluations=outcome.evaluations * self.work.runs))
            return
        self.communication_shares.append(spent.communication_share or 0.0)
        if kind == "proof":
            self.hashes[self.work.amount] = outcome.hash
            spent = replaced(spent, start_s=self.start_s)
        self.finish(outcome, spent)
        self.long_run.finish()

    def count(self, outcome: SearchResult, spent: Repetition) -> None:
        """Record a warm repetition of a rate; one with another hash than an earlier one of its amount is rejected."""
        known = self.hashes.setdefault(self.work.amount, outcome.hash)
        if known != outcome.hash:
            self.contradicted += 1
            found = f"hash {outcome.hash} of a repetition of {amount_text(self.work_unit, self.work)}"
            print_error(f"{self.run.problem.name}: {found}, expected {known} of an earlier one")
        elif self.options.record:
            self.record(spent)

    def close(self, identity: str) -> int:
        """Show the rate, complete the record, and return the exit code."""
        if isinstance(self.plan, RateMeasurement) and self.plan.is_done and not self.contradicted:
            print(f"{self.run.problem.name}: {self.plan}", flush=True)
        if identity:
            from reports.records.files import merge_lines

            merge_lines(self.recorder.path, identity)
        self.end()
        return FAILED if self.contradicted else DONE

    def end(self) -> None:
        """Show the reference solvers, and name the rejected results."""
        why = self.run.search.backend.why_ranks_are_slow
        if why:
            print_note(f"the ranks' devices communicate over the host: {why}")
        share = statistics.median(self.communication_shares or [0.0])
        if share > MOST_COMMUNICATION:
            spent = f"spent {formatting.per_cent(share)} of the time in communication"
            print_note(f"{self.run.problem.name}: the {self.ranks.size} ranks {spent}")
        if self.reference_solvers is not None:
            print("\n".join(self.reference_solvers.table()), flush=True)
        if self.contradicted:
            found = f"{self.contradicted} of {len(self.communication_shares)} results NOT CONFIRMED"
            print_error(f"{self.run.problem.name}: {found}; recorded and saved anyway")

    # --- one repetition ---

    @cached_property
    def meter(self) -> Meter:
        from reports.records.meters import Meter

        device = self.run.search.backend.device
        return Meter(device.kind, device.index, device_name=device.name)

    def measure(self) -> tuple[SearchResult, Repetition | None]:
        """Make one repetition; return its outcome, and on rank 0 the measurements of all ranks."""
        from reports.records.meters import PACKAGE_ENERGY

        backend = self.run.search.backend
        timings = backend.timings
        communicated_before_s = backend.seconds_in_collectives()
        self.ranks.barrier()
        self.ranks.reset()
        before_s, compile_s = self.long_run.before_s, timings.compile_s
        timings.transfer_s = timings.kernel_s = 0.0
        timings.copied_bytes = 0
        workload, meter = self.workload, self.meter
        meter.in_series = self.options.measure is not None and self.made > 0
        self.made += 1
        with (
            progress_bar(workload.progress_label(self.run), self.options.progress, self.ranks.rank) as bar,
            meter,
            self.long_run.handling_sigterm(),
        ):
            labels = self.run.search.unit, workload.noun, workload.in_words
            callback = None if bar is None else progress_callback(bar, *labels)
            began = time.perf_counter()
            outcome = self.searched(callback)
            ran_s = time.perf_counter() - began
        backend.synchronize()  # counts the times of kernels and copies that the search has not waited for by itself
        communicated_s = self.ranks.seconds + backend.seconds_in_collectives() - communicated_before_s
        share = communicated_s / ran_s if self.ranks.size > 1 and ran_s else 0.0
        # Earlier compilations count for the first repetition; later ones are in its time already.
        running_s = before_s + ran_s + compile_s - timings.compile_s
        times = timings.compile_s, timings.transfer_s, timings.kernel_s, running_s
        timings.compile_s = 0.0
        energy = meter.values["energy_j"]
        if self.ranks.local_rank and energy:
            # The first rank of a host reads the processors' energy.
            energy = {name: joules for name, joules in energy.items() if name != PACKAGE_ENERGY}
        moved = {"host_device": timings.copied_bytes, "between_ranks": self.ranks.sent_bytes}
        read = {**meter.values, "processor_s": meter.processor_s, "gpu": meter.gpu}
        read |= {"energy_j": energy, "bytes_moved": moved}
        if before_s:
            # Readings before the resumption are unknown, and a part would look like the whole.
            read |= {"energy_j": None, "energy_update_s": None, "bytes_moved": None}
        gathered = self.ranks.gather(RankTimes(*times, share, read))
        return outcome, of_all_ranks(gathered) if gathered else None

    def searched(self, callback: Callback | None) -> SearchResult:
        """Return the outcome of a run of the current amount, the last one of several."""
        run, option = self.run, self.work_unit.option
        if option and self.work.amount != self.work_unit.amount:
            scaled: dict[str, Any] = {option: self.work.amount}
            run = replace(run, options=replace(self.options, **scaled))
        outcome: SearchResult
        for _ in range(self.work.runs):
            outcome = self.workload.once(run, callback)
        return outcome

    def finish(self, outcome: SearchResult, spent: Repetition) -> None:
        """Check one repetition, record it, save the solution, and show it, in this order; on rank 0.

        Each step follows even if another fails: the record keeps results without a terminal, and the terminal shows
        them on a full disk.
        """
        self.result = result = self.workload.result(self.run, outcome)
        self.verdicts = list(self.workload.verify(self.run, outcome, result))
        if self.reference_solvers is not None:
            self.verdicts += self.reference_solvers.verdicts(result, spent.running_s, self.long_run.before_s)
        omitted = [f"--{name}" for name in ("trace", "verify", "peers") if vars(self.options).get(name) is False]
        self.is_confirmed, verdict = overall_verdict(self.verdicts, result, ", ".join(omitted))
        with ExitStack() as last:
            last.callback(self.show, result, spent, self.is_confirmed, verdict)
            if not self.saved:
                self.saved = True
                last.callback(self.workload.save, self.run, result.outcome)
            if self.options.record:
                self.record(spent)
        self.contradicted += self.is_confirmed is False

    def record(self, spent: Repetition) -> None:
        """Append a repetition to the record, with the last result."""
        from msgspec.structs import replace as replaced

        assert self.result is not None
        peers = {} if self.reference_solvers is None else {"reference_solvers": self.reference_solvers.recorded()}
        conditions = {**(spent.conditions or {}), **self.long_run.conditions}
        details = {**peers, **self.details, "verified_by": confirming_verifiers(self.verdicts)}
        spent = replaced(spent, conditions=conditions or None)
        self.recorder.append(self.result, spent, self.is_confirmed is True, details)

    def show(self, result: RepetitionResult, spent: Repetition, confirmed: bool | None, verdict: str) -> None:
        print(self.in_words(result, spent, verdict), flush=True)
        self.print_notes()

    def print_notes(self) -> None:
        for note in self.run.search.notes:
            print_note(note)

    def in_words(self, result: RepetitionResult, spent: Repetition, verdict: str) -> str:
        from reports.records.schema import HASH_SCOPES

        outcome, unit = result.outcome, self.run.search.unit
        per_second = formatting.rate(rate(outcome.evaluations, spent.running_s), 4)
        # The parts of a resumed repetition are those since its resumption.
        before_s = self.long_run.before_s
        host_s = max(0.0, spent.running_s - before_s - spent.transfer_s - spent.kernel_s)
        earlier = f"{before_s:.6f} before it resumed, then " if before_s else ""
        share = spent.communication_share or 0.0
        shared = f"; {100 * share:.1f} % in communication" if self.ranks.size > 1 else ""
        return (
            f"{self.run.problem.name}: {result.words}, {outcome.evaluations:,} {unit}, {per_second} {unit}/s, "
            f"{spent.running_s:.6f} s ({earlier}compile {spent.compile_s:.3f}, transfer {spent.transfer_s:.6f}, "
            f"kernel {spent.kernel_s:.6f}, host {host_s:.6f}{shared}), "
            f"hash {outcome.hash} of {HASH_SCOPES[self.workload.hash_scope]}, {verdict}"
        )


def report_idle_ranks(workload: Workload[Any], run: RepeatedRun) -> None:
    """Print the number of ranks without work, if there are fewer walks, climbers, ants or colonies than ranks."""
    parts, what = workload.parts(run) or (run.ranks.size, "")
    idle = run.ranks.size - parts
    if idle > 0:
        verb = "has" if idle == 1 else "have"
        print_note(f"{parts} {what} for {run.ranks.size} ranks: {idle} of them {verb} no work")


def confirming_verifiers(verdicts: Sequence[VerifierVerdict]) -> list[str]:
    return [verdict.verifier for verdict in verdicts if verdict.verifier and not verdict.objection]


def overall_verdict(
    verdicts: Sequence[VerifierVerdict], result: RepetitionResult, omitted: str
) -> tuple[bool | None, str]:
    """Return the verdict on a result, and its text.

    True if the plain scorer, or another verifier that knows the result, confirms it. False if one rejects it. None if
    no verifier applies, or the search was stopped.
    """
    objections = [verdict.objection for verdict in verdicts if verdict.objection]
    confirmed_by = confirming_verifiers(verdicts)
    if objections:
        return False, f"NOT CONFIRMED: {'; '.join(objections)}"
    if result.gave_up:
        return None, f"NOT PROVED: {result.gave_up}"
    if confirmed_by:
        return True, f"confirmed by {' and by '.join(map(verifier_with_article, confirmed_by))}"
    return None, f"not confirmed: no verifier was run ({omitted})"
