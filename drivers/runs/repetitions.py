"""The repetitions of a run of any workload: timed, checked, recorded and shown."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_note, print_status
from drivers.cli.progress import SilentDisplay, make_progress_display, progress_callback, rate
from drivers.runs.checkpointing import RecoveryState, RunCheckpoints
from drivers.runs.parallel_benefit import ParallelBenefitCheck
from drivers.runs.reference_solvers import ReferenceSolvers
from drivers.runs.single_rank import SingleRankRepetition
from drivers.workload.declaration import PreparedRun, RepetitionResult, VerifierVerdict, Workload, verifier_with_article
from drivers.workload.history import MOST_ROWS, keeps_history, thin_rows
from drivers.workload.run_time import announce_run_time
from reports.text import formatting

if TYPE_CHECKING:
    from core.search.protocol import Callback
    from drivers.runs.checkpoint_file import CheckpointIdentity

RECORDED_MESSAGE = "repetitions are in"
"""Part of the line of a run that is recorded already; comparisons search for it."""


class RepetitionTimes(NamedTuple):
    """Seconds of one repetition.

    Over several ranks as in `reports.records.schema.Repetition`: the longest compilation of any rank, the transfers and
    kernels of the rank that ran longest, and as total that compilation and that rank's time, one after the other.
    """

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

    @property
    def running_s(self) -> float:
        """From end to end, without compilation."""
        return self.total_s - self.compile_s


ZERO_TIMES: tuple[RepetitionTimes, float, Mapping[str, Any]] = (RepetitionTimes(0.0, 0.0, 0.0, 0.0), 0.0, {})
"""What a rank has spent that had nothing to do."""


def combine_rank_times(every: Sequence[RepetitionTimes]) -> RepetitionTimes:
    """The times of a repetition from those of all its ranks, which compile, meet, and then run together.

    The slowest rank is the one that ran longest, whatever it took to compile: a difference of the longest total and the
    longest compilation is nobody's time.
    """
    slowest = max(every, key=lambda times: times.running_s)
    compile_s = max(times.compile_s for times in every)
    return slowest._replace(compile_s=compile_s, total_s=compile_s + slowest.running_s)


class RepetitionMeasurement(NamedTuple):
    """What one repetition took, and under which conditions.

    Attributes
    ----------
    times : Times
        See there.
    rank_s : list of float
        Every rank's own running time.
    communication_share : float
        Mean over ranks of the part of its time that a rank spent in communication, waiting for others included.
    read : Mapping
        What meters and counters read: `started_at`, `conditions`, `energy_j` and `bytes_moved` of
        `reports.records.schema.Repetition`.

    """

    times: RepetitionTimes
    rank_s: list[float]
    communication_share: float
    read: Mapping[str, Any]

    @classmethod
    def of(cls, every: Sequence[tuple[RepetitionTimes, float, Mapping[str, Any]]]) -> RepetitionMeasurement:
        """What all ranks spent: the times, the shares of communication and the readings of each."""
        times = [one for one, _, _ in every]
        return cls(
            combine_rank_times(times),
            [one.running_s for one in times],
            sum(share for _, share, _ in every) / len(every),
            combine_readings([read for _, _, read in every]),
        )


def combine_readings(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first rank's date and conditions; the joules and bytes of all ranks together, by where they were counted."""
    return {**every[0], **{name: sum_by_name(read.get(name) for read in every) for name in ("energy_j", "bytes_moved")}}


def sum_by_name(every: Iterable[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    """The sum of each name's numbers; None where there are none at all."""
    sums: dict[str, Any] = {}
    for one in every:
        for name, value in (one or {}).items():
            sums[name] = sums.get(name, 0) + value
    return sums or None


class Repetitions:
    """The repetitions of one run; all have its one seed, since equal hashes prove that they did the same work.

    Parameters
    ----------
    workload
        The declaration of what is run.
    run
        The search, made ready on this rank.
    details
        What the record's ``details`` hold besides, on the first rank.
    sharing
        Decides whether the ranks share the work out; they do unless it is given.
    memory
        What this rank remembers of earlier attempts.

    Attributes
    ----------
    opinions : list of Opinion
        Opinions about the last repetition; on the first rank.

    """

    def __init__(
        self,
        workload: Workload[Any],
        run: PreparedRun[Any],
        details: Mapping[str, Any],
        sharing: ParallelBenefitCheck | None = None,
        memory: RecoveryState | None = None,
    ) -> None:
        self.workload = workload
        self.shared = run
        self.sharing = sharing or ParallelBenefitCheck(workload, run, None)
        self.options = run.options
        self.ranks = run.ranks
        self.details = details
        self.saved = False
        self.contradicted = 0
        self.alone: SingleRankRepetition | None = None
        """The repetition that the first rank began alone, if it did."""
        self.opinions: list[VerifierVerdict] = []
        self.hosts = 1
        self.beside = ReferenceSolvers(workload, run) if run.options.peers else None
        self.long_run = RunCheckpoints(run.options, run.ranks, memory)

    @property
    def run(self) -> PreparedRun[Any]:
        """What this rank works on."""
        return replace(self.sharing.run, checkpointer=self.long_run.checkpointer)

    ended = False
    """True if no further seed shall run."""

    def collect(self) -> Any:
        """Return what `repeat` returns, of one seed."""
        return self.repeat()

    def repeat(self) -> int:
        """Make the repetitions that the record does not hold yet.

        Returns
        -------
        int
            The exit code, on all ranks the same: 1 if a result was contradicted, else 0.

        """
        first = self.ranks.rank == 0
        # Each host has one rank that is its first.
        self.hosts = (self.ranks.gather(self.ranks.local_rank) or [0]).count(0)
        identity, recorded = self.recorded() if first and self.options.record else ("", 0)
        done = self.ranks.bcast(self.done_before(recorded))
        if done < self.options.repeats:
            self.sharing.before()
        if first:
            self.begin(recorded)
        for number in range(done, self.options.repeats):
            goes_on = self.long_run.begin(partial(self.about, number))
            outcome, spent = self.measure()
            if not goes_on and self.sharing.after_first(spent.times.running_s, spent.communication_share):
                # What all ranks have compiled counts for the repetition that takes the place of theirs.
                self.run.search.backend.timings.compile_s += spent.times.compile_s
                outcome, spent = self.measure()
            if first:
                self.finish(outcome, spent)
                self.long_run.finish()
        if first:
            if identity:
                from reports.records.files import merge_lines

                merge_lines(self.options.record, identity)
            self.end(done)
        self.ranks.assemble()
        code: int = self.ranks.bcast(FAILED if self.contradicted else DONE)
        self.long_run.forget()
        return code

    def done_before(self, recorded: int) -> int:
        """Number of repetitions that are recorded, or were done before ranks were lost."""
        return max(recorded, self.long_run.done)

    def begin(self, done: int) -> None:
        """Say what runs, what is done already, and how long it takes if that is long; on rank 0."""
        headline = self.workload.headline(self.run)
        if headline and not self.ranks.lost:
            print_status(headline)
        if done:
            print(f"{done} of {self.options.repeats} {RECORDED_MESSAGE} {self.options.record} already")
        work = self.workload.work(self.run)
        if work is not None:
            announce_run_time(work, self.run.search.backend, self.ranks.size, self.options.repeats - done)

    def end(self, done: int) -> None:
        """Show the reference solvers, and name what was contradicted; on rank 0."""
        why = self.run.search.backend.why_ranks_are_slow
        if why and self.sharing.verdict is None:
            print_note(f"the ranks' devices communicate over the host: {why}")
        if self.beside is not None:
            print("\n".join(self.beside.table()), flush=True)
        if self.contradicted:
            print(
                f"error: {self.run.problem.name}: {self.contradicted} of {self.options.repeats - done} results NOT "
                "CONFIRMED; recorded and saved anyway",
                file=sys.stderr,
            )

    # --- one repetition ---

    def measure(self) -> tuple[Any, RepetitionMeasurement]:
        """One repetition: its outcome, and on rank 0 what all ranks spent."""
        # The first rank may still judge and record the repetition before.
        self.ranks.assemble()
        self.ranks.reset()
        self.sharing.former = None
        self.alone = (
            None if self.sharing.verdict is None else SingleRankRepetition(self.sharing, self.long_run.checkpointer)
        )
        works = self.alone is None or self.ranks.rank == 0 or self.alone.waits()
        outcome, own = self.work() if works else (None, ZERO_TIMES)
        return outcome, RepetitionMeasurement.of(self.ranks.gather(own) or [own])

    def work(self) -> tuple[Any, tuple[RepetitionTimes, float, Mapping[str, Any]]]:
        """This rank's part of a repetition: the outcome, and its times, share of communication and readings."""
        from reports.records.meters import Meter

        backend = self.run.search.backend
        timings = backend.timings
        met_before = backend.seconds_in_collectives()
        if self.alone is None:
            self.ranks.barrier()
        self.ranks.reset()
        before_s = self.long_run.before_s
        compiled = timings.compile_s
        timings.transfer_s = timings.kernel_s = 0.0
        timings.copied_bytes = 0
        workload = self.workload
        doing = workload.progress_label(self.run)
        meter = Meter(backend.device.kind, self.options.device, device_name=backend.device.name)
        with (
            make_progress_display(doing, wanted=self.options.progress, rank=self.ranks.rank) as bar,
            meter,
            self.long_run.listening(),
        ):
            shown = not isinstance(bar, SilentDisplay)
            unit = getattr(self.run.search, "work_unit", workload.unit)
            told = progress_callback(bar, unit, workload.noun, workload.in_words) if shown else None
            began = time.perf_counter()
            outcome = self.searched(told)
            ran_s = time.perf_counter() - began
        # What was compiled before counts for the first repetition; what is compiled now is in its time already.
        times = RepetitionTimes(timings.compile_s, timings.transfer_s, timings.kernel_s, before_s + ran_s + compiled)
        met = self.ranks.seconds + backend.seconds_in_collectives() - met_before
        share = met / ran_s if self.ranks.size > 1 and ran_s else 0.0
        timings.compile_s = 0.0
        read = {
            **self.readings(meter),
            "bytes_moved": {"host_device": timings.copied_bytes, "between_ranks": self.ranks.sent_bytes},
        }
        if before_s:
            # Those of the time before are not known, and a part would read as the whole.
            read |= {"energy_j": None, "bytes_moved": None}
        return outcome, (times, share, read)

    def searched(self, callback: Callback | None) -> Any:
        """Search once, on all ranks that work; the callback gets the progress."""

        def once(run: PreparedRun[Any]) -> Any:
            return self.workload.once(run, callback)

        return once(self.run) if self.alone is None else self.alone.search(once)

    def readings(self, meter: Any) -> dict[str, Any]:
        """What a rank's meter read; of all ranks of a host the first alone tells the processors' energy."""
        from reports.records.meters import PACKAGE_ENERGY

        read: dict[str, Any] = dict(meter.values)
        if self.ranks.local_rank and read["energy_j"]:
            read["energy_j"] = {name: joules for name, joules in read["energy_j"].items() if name != PACKAGE_ENERGY}
        return read

    def finish(self, outcome: Any, spent: RepetitionMeasurement) -> None:
        """Check one repetition, record it, save the solution, and show it, in this order; on rank 0.

        Each is done even if another fails: what hours have found is in the record when the terminal is gone, and on
        the terminal when the disk is full.
        """
        result = self.workload.result(self.run, outcome)
        opinions = list(self.workload.judges(self.run, outcome, result))
        if self.beside is not None:
            opinions += self.beside.opinions(result, spent.times.running_s, self.long_run.before_s)
        self.opinions = opinions
        unasked = [name for name in ("trace", "verify", "peers") if getattr(self.options, name, None) is False]
        confirmed, verdict = overall_verdict(opinions, result, ", ".join(f"--{name}" for name in unasked))
        with ExitStack() as last:
            last.callback(self.show, result, spent, confirmed, verdict)
            if not self.saved:
                self.saved = True
                last.callback(self.workload.save, self.run, result.solution)
            if self.options.record:
                self.append(result, spent, confirmed is True, confirming_verifiers(opinions))
        self.contradicted += confirmed is False

    def show(
        self, result: RepetitionResult, spent: RepetitionMeasurement, confirmed: bool | None, verdict: str
    ) -> None:
        """One line on standard output, and what the search has to note."""
        print(self.in_words(result, spent, verdict), flush=True)
        for words in getattr(self.run.search, "notes", ()):
            print_note(words)

    def in_words(self, result: RepetitionResult, spent: RepetitionMeasurement, verdict: str) -> str:
        """What a repetition found and took, and who confirms it."""
        from reports.records.schema import HASH_SCOPES

        unit, running_s = self.unit_of(result), spent.times.running_s
        return (
            f"{self.run.problem.name}: {result.words}, {result.evaluations:,} {unit}, "
            f"{formatting.rate(rate(result.evaluations, running_s), 4)} {unit}/s, {self.times_in_words(spent)}, "
            f"hash {result.hash} of {HASH_SCOPES[self.workload.hash_scope]}, {verdict}"
        )

    def unit_of(self, result: RepetitionResult) -> str:
        """What the work of a repetition is counted in."""
        return result.unit or self.workload.unit

    def times_in_words(self, spent: RepetitionMeasurement) -> str:
        """The end-to-end time of a repetition, and its parts; parts of a resumed one are those since then."""
        times, before_s = spent.times, self.long_run.before_s
        host_s = max(0.0, times.running_s - before_s - times.transfer_s - times.kernel_s)
        earlier = f"{before_s:.6f} before it resumed, then " if before_s else ""
        talking = f"; {100 * spent.communication_share:.1f} % in communication" if self.ranks.size > 1 else ""
        return (
            f"{times.running_s:.6f} s ({earlier}compile {times.compile_s:.3f}, transfer {times.transfer_s:.6f}, "
            f"kernel {times.kernel_s:.6f}, host {host_s:.6f}{talking})"
        )

    # --- records ---

    def about(self, repetition: int) -> CheckpointIdentity:
        """Whose state it is that a repetition keeps."""
        from drivers.runs.checkpoint_file import CheckpointIdentity

        name, seed, history = self.run.problem.name, self.options.seed, keeps_history(self.options)
        return CheckpointIdentity(self.workload.name, name, self.sha256, seed, self.parameters, history, repetition)

    @functools.cached_property
    def sha256(self) -> str:
        """Digest of the problem when the run began, though its data may change later."""
        digest: str = self.run.problem.sha256
        return digest

    @property
    def parameters(self) -> dict[str, Any]:
        """What decides the work, and nothing that decides its speed alone."""
        return {**self.options.deciding("work"), **self.workload.parameters(self.shared)}

    @property
    def execution(self) -> dict[str, Any]:
        """Execution settings, which affect only the speed: the same work has the same hash under all of them.

        `distribute` and `pin_cores` are present only if they are not the default.
        """
        apart = {"pin_cores": True} if self.options.pin_cores else {}
        share = {"distribute": "always"} if self.ranks.size > 1 and self.options.distribute == "always" else {}
        return {**apart, **share, **self.options.deciding("way"), **self.workload.execution(self.shared)}

    def identified(self) -> dict[str, Any]:
        """What makes two repetitions belong to one run."""
        from reports.records.environment import environment

        return {
            "workload": self.workload.name,
            "instance_sha256": self.sha256,
            "parameters": self.parameters,
            "execution": self.execution,
            "seed": self.options.seed,
            "backend": self.run.search.backend.name,
            "device": self.run.search.backend.device.part or self.options.device,
            "ranks": self.ranks.size + len(self.ranks.lost),
            "environment": environment(self.hosts),
        }

    def recorded(self) -> tuple[str, int]:
        """This run's identity, and how many of its repetitions are in the file.

        A run with a state may go on in another way: then those count that were made in any.
        """
        from reports.records.files import count_repetitions, find_run, identity, refuse_namesake

        path, sha256 = self.options.record, self.sha256
        refuse_namesake(path, self.workload.name, self.run.problem.name, sha256)
        run = identity(**self.identified())
        done = find_run(path, run)
        if done is not None and not done.verified:
            print_note(f"{path}: not all repetitions of this run are confirmed")
        if self.options.checkpoint:
            return run, count_repetitions(path, self.workload.name, sha256, self.parameters, self.options.seed)
        return run, len(done.repetitions) if done else 0

    def append(
        self, result: RepetitionResult, spent: RepetitionMeasurement, verified: bool, judges: Sequence[str]
    ) -> None:
        """Add this repetition to the record."""
        from reports.records.files import Record, Repetition, append

        backend = self.run.search.backend
        device = backend.device
        peers = {} if self.beside is None else {"reference_solvers": self.beside.recorded()}
        verdict = self.sharing.verdict or self.sharing.former
        alone = {} if verdict is None else {"single_rank": verdict.details()}
        conditions = {**(spent.read["conditions"] or {}), **self.long_run.conditions}
        about = {
            "instance_source": self.run.source,
            "verified_by": list(judges),
            "device_name": device.name,
            **({"cores_per_rank": device.compute_units} if device.part else {}),
            "device_driver": device.driver,
            "simulated": device.driver == "simulated",
            "reference": backend.is_reference,
        }
        append(
            self.options.record,
            Record.checked(
                **self.identified(),
                instance=self.run.problem.name,
                device_kind=device.kind,
                best_cost=result.cost,
                best_index=result.index,
                evaluations=result.evaluations,
                evaluation_unit=self.unit_of(result),
                hash=result.hash,
                hash_scope=self.workload.hash_scope,
                details={**result.details, **peers, **alone, **self.details, **about},
                repetitions=(
                    Repetition(
                        *spent.times,
                        **{**spent.read, "conditions": conditions or None},
                        rank_s=None if self.ranks.lost else spent.rank_s,
                        communication_share=spent.communication_share,
                        history=None if result.history is None else thin_rows(result.history, MOST_ROWS),
                    ),
                ),
                verified=verified,
            ),
        )


def confirming_verifiers(opinions: Sequence[VerifierVerdict]) -> list[str]:
    """Who knows about a result and has nothing against it, in words."""
    return [one.judge for one in opinions if one.judge and not one.objection]


def overall_verdict(
    opinions: Sequence[VerifierVerdict], result: RepetitionResult, unasked: str
) -> tuple[bool | None, str]:
    """Whether a result is confirmed, and that in words.

    True: the plain scorer, or another who knows it, confirms it. False: somebody contradicts. None: nobody could be
    asked, or the search was told to give up.
    """
    objections = [one.objection for one in opinions if one.objection]
    confirmed_by = confirming_verifiers(opinions)
    if objections:
        return False, f"NOT CONFIRMED: {'; '.join(objections)}"
    if result.gave_up:
        return None, f"NOT PROVED: {result.gave_up}"
    if confirmed_by:
        return True, f"confirmed by {' and by '.join(map(verifier_with_article, confirmed_by))}"
    return None, f"not confirmed: no verifier was run ({unasked})"
