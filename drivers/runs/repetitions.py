"""The repetitions of a run of any workload: timed, checked, recorded and shown."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_note, print_status
from drivers.cli.progress import progress_bar, progress_callback, rate
from drivers.runs.checkpointing import RecoveryState, RunCheckpoints
from drivers.runs.recording import RunRecorder
from drivers.runs.reference_solvers import ReferenceSolvers
from drivers.runs.repetition_times import RepetitionMeasurement, RepetitionTimes
from drivers.workload.declaration import RepeatedRun, RepetitionResult, VerifierVerdict, Workload, verifier_with_article
from drivers.workload.run_time import run_time_message
from reports.text import formatting

if TYPE_CHECKING:
    from core.run.protocol import Callback, SearchResult

RECORDED_MESSAGE = "repetitions are in"
"""Part of the line of a recorded run; comparisons search for it."""
MOST_COMMUNICATION = 0.5
"""Fraction of the time in communication above which a line says so at the end of a run."""


class Repetitions:
    """The repetitions of one run; all have the same seed, since equal hashes prove equal work.

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
    verdicts : list of VerifierVerdict
        Verdicts on the last repetition; on the first rank.
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
        self.verdicts: list[VerifierVerdict] = []
        self.work_unit = workload.work_unit(run.options, run.problem)
        self.recorder = RunRecorder(workload, run, self.work_unit)
        self.reference_solvers = ReferenceSolvers(workload, run) if run.options.peers else None
        self.long_run = RunCheckpoints(run.options, run.ranks, memory)

    ended = False
    """True if no further seed must run."""

    def collect(self) -> Any:
        return self.repeat()

    def repeat(self) -> int:
        """Make the repetitions that the record lacks; return the exit code on all ranks, 1 for a rejected result."""
        self.count_hosts()
        identity, recorded = self.ranks.on_first(self.recorder.recorded) if self.options.record else ("", 0)
        done = self.ranks.bcast(self.done_before(recorded))
        if self.ranks.rank == 0 and done < self.options.repeats:
            report_idle_ranks(self.workload, self.run)
        self.ranks.on_first(partial(self.begin, recorded))
        for number in range(done, self.options.repeats):
            self.run.checkpointer = self.long_run.begin(partial(self.recorder.checkpoint_identity, number))
            outcome, spent = self.measure()
            self.ranks.on_all(partial(self.conclude, outcome, spent))
        code: int = self.ranks.on_first(partial(self.close, identity, done))
        self.long_run.forget()
        return code

    def count_hosts(self) -> None:
        """Count the hosts, each of which has one first rank; all ranks call this."""
        self.recorder.hosts = (self.ranks.gather(self.ranks.local_rank) or [0]).count(0)

    def conclude(self, outcome: SearchResult, spent: RepetitionMeasurement) -> None:
        """Check, record and show a repetition on the first rank; all ranks call this."""
        if self.ranks.rank == 0:
            self.communication_shares.append(spent.communication_share)
            self.finish(outcome, spent)
            self.long_run.finish()

    def close(self, identity: str, done: int) -> int:
        """Complete the record, and return the exit code; on rank 0."""
        if identity:
            from reports.records.files import merge_lines

            merge_lines(self.recorder.path, identity)
        self.end(done)
        return FAILED if self.contradicted else DONE

    def done_before(self, recorded: int) -> int:
        """Return the number of repetitions that are recorded, or were done before ranks were lost."""
        return max(recorded, self.long_run.done)

    def begin(self, done: int) -> None:
        """Print the run, finished repetitions and an estimate of a long duration; on rank 0."""
        headline = self.workload.headline(self.run)
        if headline and not self.ranks.lost:
            print_status(headline)
        if self.run.covered_s:
            limited = ", which the limit covers but for a second" if vars(self.options).get("seconds") else ""
            print_note(f"{self.run.problem.name}: prepared in {self.run.prepared_s:.1f} s before the run{limited}")
        if done:
            print(f"{done} of {self.options.repeats} {RECORDED_MESSAGE} {self.options.record} already")
        work = self.workload.work(self.run)
        repetitions = self.options.repeats - done
        if work and (message := run_time_message(work, self.run.search.backend, self.ranks.size, repetitions)):
            print_note(message)

    def end(self, done: int) -> None:
        """Show the reference solvers, and name the rejected results; on rank 0."""
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
            print(
                f"error: {self.run.problem.name}: {self.contradicted} of {self.options.repeats - done} results NOT "
                "CONFIRMED; recorded and saved anyway",
                file=sys.stderr,
            )

    # --- one repetition ---

    def measure(self) -> tuple[SearchResult, RepetitionMeasurement]:
        """Make one repetition; return its outcome, and on rank 0 the measurements of all ranks."""
        from reports.records.meters import PACKAGE_ENERGY, Meter

        backend = self.run.search.backend
        timings = backend.timings
        communicated_before_s = backend.seconds_in_collectives()
        self.ranks.barrier()
        self.ranks.reset()
        before_s, compiled_s = self.long_run.before_s, timings.compile_s
        timings.transfer_s = timings.kernel_s = 0.0
        timings.copied_bytes = 0
        workload = self.workload
        meter = Meter(backend.device.kind, self.options.device, device_name=backend.device.name)
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
        # Earlier compilations count for the first repetition; later ones are in its time already.
        times = RepetitionTimes(timings.compile_s, timings.transfer_s, timings.kernel_s, before_s + ran_s + compiled_s)
        communicated_s = self.ranks.seconds + backend.seconds_in_collectives() - communicated_before_s
        share = communicated_s / ran_s if self.ranks.size > 1 and ran_s else 0.0
        timings.compile_s = 0.0
        energy = meter.values["energy_j"]
        if self.ranks.local_rank and energy:
            # The first rank of a host reads the processors' energy.
            energy = {name: joules for name, joules in energy.items() if name != PACKAGE_ENERGY}
        read = {
            **meter.values,
            "processor_s": meter.processor_s,
            "energy_j": energy,
            "bytes_moved": {"host_device": timings.copied_bytes, "between_ranks": self.ranks.sent_bytes},
        }
        if before_s:
            # Readings before the resumption are unknown, and a part would look like the whole.
            read |= {"energy_j": None, "energy_update_s": None, "bytes_moved": None}
        own = times, share, read
        return outcome, RepetitionMeasurement.of(self.ranks.gather(own) or [own])

    def searched(self, callback: Callback | None) -> SearchResult:
        outcome: SearchResult = self.workload.once(self.run, callback)
        return outcome

    def finish(self, outcome: SearchResult, spent: RepetitionMeasurement) -> None:
        """Check one repetition, record it, save the solution, and show it, in this order; on rank 0.

        Each step follows even if another fails: the record keeps results when the terminal is gone, and the terminal
        when the disk is full.
        """
        result = self.workload.result(self.run, outcome)
        self.verdicts = list(self.workload.verify(self.run, outcome, result))
        if self.reference_solvers is not None:
            self.verdicts += self.reference_solvers.verdicts(result, spent.times.running_s, self.long_run.before_s)
        omitted = [f"--{name}" for name in ("trace", "verify", "peers") if vars(self.options).get(name) is False]
        confirmed, verdict = overall_verdict(self.verdicts, result, ", ".join(omitted))
        with ExitStack() as last:
            last.callback(self.show, result, spent, confirmed, verdict)
            if not self.saved:
                self.saved = True
                last.callback(self.workload.save, self.run, result.outcome)
            if self.options.record:
                self.record(result, spent, confirmed is True)
        self.contradicted += confirmed is False

    @property
    def kind_of_repetition(self) -> dict[str, Any]:
        """Kind and work of the last repetition, in the names of `reports.records.schema.Repetition`."""
        return {"work": self.work_unit.units}

    def record(self, result: RepetitionResult, spent: RepetitionMeasurement, verified: bool) -> None:
        peers = {} if self.reference_solvers is None else {"reference_solvers": self.reference_solvers.recorded()}
        conditions = {**(spent.read["conditions"] or {}), **self.long_run.conditions}
        details = {**peers, **self.details, "verified_by": confirming_verifiers(self.verdicts)}
        read = {**spent.read, "conditions": conditions or None}
        read |= self.kind_of_repetition
        self.recorder.append(result, spent._replace(read=read), verified, details)

    def show(
        self, result: RepetitionResult, spent: RepetitionMeasurement, confirmed: bool | None, verdict: str
    ) -> None:
        print(self.in_words(result, spent, verdict), flush=True)
        self.print_notes()

    def print_notes(self) -> None:
        for note in self.run.search.notes:
            print_note(note)

    def in_words(self, result: RepetitionResult, spent: RepetitionMeasurement, verdict: str) -> str:
        from reports.records.schema import HASH_SCOPES

        outcome, unit, times = result.outcome, self.run.search.unit, spent.times
        per_second = formatting.rate(rate(outcome.evaluations, times.running_s), 4)
        # The parts of a resumed repetition are those since its resumption.
        before_s = self.long_run.before_s
        host_s = max(0.0, times.running_s - before_s - times.transfer_s - times.kernel_s)
        earlier = f"{before_s:.6f} before it resumed, then " if before_s else ""
        shared = f"; {100 * spent.communication_share:.1f} % in communication" if self.ranks.size > 1 else ""
        return (
            f"{self.run.problem.name}: {result.words}, {outcome.evaluations:,} {unit}, {per_second} {unit}/s, "
            f"{times.running_s:.6f} s ({earlier}compile {times.compile_s:.3f}, transfer {times.transfer_s:.6f}, "
            f"kernel {times.kernel_s:.6f}, host {host_s:.6f}{shared}), "
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
