"""Decision if ranks share a run, or the first rank does all of it because there is too little work between reductions.

The ranks rehearse a run, or some iterations of it. If communication takes much of that time, they rehearse in rounds,
together and then the first rank alone, while the others sleep; the median of the rounds' ratios decides. A run of the
first rank alone pauses at times to decide again (`drivers.runs.single_rank`).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.cli.messages import print_note
from drivers.workload.declaration import PreparedRun, Workload
from reports.text import formatting

SIGNIFICANT_GAIN = 0.1
"""Fraction of the time saved from which sharing pays, for ranks that synchronise in long iterations."""
LONG_STEP_S = 1e-3
SHORT_S = 0.25
"""Shorter runs are rehearsed repeatedly as a whole; the first repetition of longer ones decides."""
LONGEST_ALONE_S = 0.5
"""A whole run is rehearsed alone only if that takes hardly longer than this, or than all ranks took."""
ENOUGH_S = 0.02
"""Least seconds of a rehearsal, if the run takes that long."""
FEWEST_STEPS, GROWTH = 1, 4
MOST_TRIALS, ENOUGH_TRIALS_S = 5, 0.1
"""Largest number of trials of a rehearsal, and seconds after which no more follow."""
FEWEST_ROUNDS, ENOUGH_ROUNDS_S = 3, 10.0
"""Least number of deciding rounds, since one may be noisy, and seconds after which fewer suffice."""
LEAST_GAIN = 1.1
"""One rank alone is preferred to ranks with a smaller gain."""


class RehearsalTiming(NamedTuple):
    """Times of a rehearsal.

    Attributes
    ----------
    seconds
        Median of several trials: the least would be an idle machine's.
    share
        Mean over ranks of the fraction of time in communication, including waiting.
    """

    seconds: float
    share: float


class SingleRankVerdict(NamedTuple):
    """Reason why the first rank works alone: seconds of the same work, of all ranks together and of that one."""

    all_ranks_s: float
    one_rank_s: float
    iterations: int | None
    """Number of rehearsed iterations; None for the whole run."""
    shared_after_s: float | None = None
    """Seconds after which the ranks shared the rest of the run; None if they did not."""

    def details(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if name != "shared_after_s" or value is not None}

    def words(self, name: str, ranks: int) -> str:
        if self.iterations is None:
            together, alone = formatting.seconds(self.all_ranks_s, 2), formatting.seconds(self.one_rank_s, 2)
            took = f"all ranks take {together}, rank 0 alone {alone}"
        else:
            together, alone = (formatting.seconds(s / self.iterations, 2) for s in (self.all_ranks_s, self.one_rank_s))
            took = f"an iteration takes all ranks {together}, rank 0 alone {alone}"
        return (
            f"{name} is too small for {ranks} ranks here: {took}; rank 0 does all the work (--distribute always "
            "distributes it)"
        )


class ParallelBenefitCheck:
    """The decision of one run; all ranks make the same calls.

    Parameters
    ----------
    workload, run
        The run, with the search of all ranks.
    alone
        Makes the search that does all of the work on the first rank's device; called only there, if at all. None if
        the ranks always share the work.

    Attributes
    ----------
    run
        Run of this rank in a repetition if it `works`: that of all ranks, or the first rank's alone.
    verdict : SingleRankVerdict or None
        Reason why the first rank works alone; None if all share.
    """

    def __init__(self, workload: Workload[Any], run: PreparedRun[Any], alone: Callable[[], Any] | None) -> None:
        self.workload = workload
        self.shared = run
        self.run = run
        self.ranks = run.ranks
        self.make_alone = alone
        self.own: PreparedRun[Any] | None = None
        """The run of the first rank alone, on that rank, once rehearsed."""
        self.steps: int | None = None
        """Iterations of a rehearsal; None for the whole run."""
        self.verdict: SingleRankVerdict | None = None
        self.former: SingleRankVerdict | None = None
        """The verdict on which the first rank began a repetition alone, which the ranks then shared."""
        self.is_settled = alone is None or run.ranks.size == 1 or run.options.distribute == "always"

    @property
    def may_change(self) -> bool:
        """True if the first rank alone must pause: all ranks rehearse iterations, and can take over."""
        return self.steps is not None

    @property
    def works(self) -> bool:
        return self.verdict is None or self.ranks.rank == 0

    def before(self) -> None:
        """Decide before the first repetition, for an iterative search with synchronisation in every iteration.

        If ranks work independently, report the number of ranks without work.
        """
        apart = self.workload.shorter(self.shared, 1) is None
        parts = getattr(self.shared.options, self.workload.scaled or "none", None)
        if apart and self.ranks.rank == 0 and parts:
            report_idle_ranks(parts, self.workload.scaled, self.ranks.size)
        if self.is_settled or apart:
            return
        self.is_settled = True
        if self.are_unlike():
            return
        steps = FEWEST_STEPS
        while self.ranks.bcast(
            self.trial(self.shared, steps).seconds < ENOUGH_S
            and self.rehearsed(steps) != self.rehearsed(steps * GROWTH)
        ):
            steps *= GROWTH
        pace = self.together(steps)
        self.steps = steps
        if pace.share > SIGNIFICANT_GAIN or pace.seconds < steps * LONG_STEP_S:
            self.decide(None)

    def after_first(self, seconds: float, share: float) -> bool:
        """Decide after the first repetition of any other search; True if one rank must repeat it.

        ``seconds`` and ``share`` are the repetition's time and mean fraction of communication; the first rank's count.
        """
        if self.is_settled:
            return False
        self.is_settled = True
        # The work of all ranks outside synchronisation is the work of one rank alone.
        alone_s = seconds * self.ranks.size * (1 - share)
        in_doubt, is_short = self.ranks.bcast((alone_s < max(LONGEST_ALONE_S, seconds), seconds < SHORT_S))
        if not in_doubt or self.are_unlike():
            return False
        self.decide(None if is_short else seconds)
        return self.verdict is not None

    def again(self, seconds: float) -> bool:
        """Decide again while the first rank works alone, after ``seconds`` of the repetition on it.

        Returns True if the ranks share the rest. All ranks call this.
        """
        timings = self.shared.search.backend.timings
        before = timings.transfer_s, timings.kernel_s, timings.copied_bytes
        verdict = self.rounds(None)
        former = self.ranks.bcast(self.verdict and self.verdict._replace(shared_after_s=seconds))
        timings.transfer_s, timings.kernel_s, timings.copied_bytes = before  # rehearsals are no part of the run
        self.verdict = verdict
        if verdict is None:
            self.former, self.run = former, self.shared
            if self.ranks.rank == 0:
                print_note(
                    f"{self.run.problem.name}: after {formatting.seconds(seconds, 2)} alone, "
                    f"all {self.ranks.size} ranks continue"
                )
        return verdict is None

    def are_unlike(self) -> bool:
        """Return True if ranks have devices of several kinds; the first rank's may be the slower one."""
        device = self.shared.search.backend.device
        kinds = self.ranks.gather((device.kind, device.name))
        unlike: bool = self.ranks.bcast(kinds is not None and len(set(kinds)) > 1)
        return unlike

    def decide(self, together_s: float | None) -> None:
        """Let the first rank rehearse alone, and choose; for ``together_s`` see `rounds`."""
        self.verdict = self.rounds(together_s)
        if self.verdict is not None and self.ranks.rank == 0:
            assert self.own is not None
            self.run = self.own
            print_note(self.verdict.words(self.run.problem.name, self.ranks.size))

    def rounds(self, together_s: float | None) -> SingleRankVerdict | None:
        """Rehearse together and alone in turns; None if the ranks together are faster. All ranks call this.

        ``together_s`` are the seconds of all ranks together if known and long: then only the first rank rehearses,
        once.
        """
        if not self.ranks.on_first(lambda: self.own is not None or self.has_own()):
            return None
        together: list[float] = []
        alone: list[float] = []

        def goes_on() -> bool:
            spent = sum(together) + sum(alone)
            if together_s is not None or len(alone) >= MOST_TRIALS:
                return not alone
            return spent < ENOUGH_TRIALS_S or (len(alone) < FEWEST_ROUNDS and spent < ENOUGH_ROUNDS_S)

        while self.ranks.bcast(goes_on()):
            together.append(self.trial(self.shared, self.steps).seconds if together_s is None else together_s)
            self.ranks.on_first(lambda: alone.append(self.trial(self.own, self.steps).seconds))  # type: ignore[arg-type]
        verdict = None
        if self.ranks.rank == 0:
            ratio = statistics.median(one / other for one, other in zip(together, alone, strict=True))
            if ratio * LEAST_GAIN >= 1:
                iterations = None if self.steps is None else self.rehearsed(self.steps).iterations
                verdict = SingleRankVerdict(statistics.median(together), statistics.median(alone), iterations)
        self.ranks.reset()
        chosen: SingleRankVerdict | None = self.ranks.bcast(verdict)
        return chosen

    def has_own(self) -> bool:
        """Make the search of the first rank alone, on that rank; False if it lacks memory."""
        from cluster import Solo
        from cluster.mpi.proxies import TimedCommunicator

        assert self.make_alone is not None
        try:
            search = self.make_alone()
        except (MemoryError, UserError):
            return False
        self.own = replace(self.shared, search=search, ranks=TimedCommunicator(Solo()))
        return True

    def rehearsed(self, steps: int | None) -> Any:
        """Return the options of at most ``steps`` iterations; None for those of the run."""
        return self.shared.options if steps is None else self.workload.shorter(self.shared, steps)

    def together(self, steps: int) -> RehearsalTiming:
        """Rehearse on all ranks; the first one's clock determines the number of trials. All get the result."""
        trials: list[RehearsalTiming] = []
        while self.ranks.bcast(len(trials) < MOST_TRIALS and sum(own.seconds for own in trials) < ENOUGH_TRIALS_S):
            trials.append(self.trial(self.shared, steps))
        seconds, share = (sorted(values)[len(trials) // 2] for values in zip(*trials, strict=True))
        shares = self.ranks.gather(share) or [share]
        trial: RehearsalTiming = self.ranks.bcast(RehearsalTiming(seconds, sum(shares) / len(shares)))
        return trial

    def trial(self, run: PreparedRun[Any], steps: int | None) -> RehearsalTiming:
        """Run some iterations, or all of them; nothing is kept."""
        backend, tried = run.search.backend, replace(run, options=self.rehearsed(steps))
        run.ranks.barrier()
        run.ranks.reset()
        before = backend.seconds_in_collectives()
        began = time.perf_counter()
        self.workload.once(tried, None)
        seconds = time.perf_counter() - began
        met = run.ranks.seconds + backend.seconds_in_collectives() - before
        return RehearsalTiming(seconds, met / seconds)


def report_idle_ranks(parts: int, what: str, ranks: int) -> None:
    """Print the number of ranks without work, if there are fewer parts (walks, climbers, colonies) than ranks."""
    idle = ranks - parts
    if idle > 0:
        print_note(f"{parts} {what} for {ranks} ranks: {idle} of them {'has' if idle == 1 else 'have'} no work")
