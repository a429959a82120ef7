"""Repetitions of a run from Python: results are collected, and Ctrl-C or the callback ends a search early."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from core.local_search import Unconfirmed
from core.run.protocol import Callback, Progress, SearchResult
from drivers.library.results import Result
from drivers.runs.repetitions import Repetitions
from drivers.workload.declaration import RepetitionResult as Found

if TYPE_CHECKING:
    from reports.records.schema import Repetition


class CollectedRepetitions(Repetitions):
    """Repetitions that collect their results without printing; they run even if a record has them.

    Attributes
    ----------
    found : list of Result
        On the first rank.
    unconfirmed : Unconfirmed or None
        The error for the first rejected repetition; on the first rank.
    failure : BaseException or None
        The error of this rank's callback. With several ranks it ends the search, and is then raised on all of them.
    """

    def __init__(self, callback: Callback | None, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.found: list[Result] = []
        self.unconfirmed: Unconfirmed | None = None
        self.failure: BaseException | None = None
        self.callback = callback

    def collect(self) -> list[Result]:
        """Run, and return the results on all ranks. Raises `Unconfirmed` if the scorer contradicts one."""
        self.repeat()
        results, contradicted = self.ranks.bcast((self.found, self.unconfirmed))
        if contradicted is not None:
            raise contradicted
        self.ended = results[-1].interrupted
        return list(results)

    def begin(self, recorded: str) -> None:
        """Print nothing."""

    def done_before(self, recorded: int) -> int:
        """Return 0: a record holds no solution, and results before a loss may be a lost rank's."""
        return 0

    def searched(self, callback: Callback | None) -> SearchResult:
        """Search once, until Ctrl-C or the user's callback ends it."""
        with deferred_interrupt() as is_requested:

            def report(progress: Progress) -> bool:
                try:
                    for listener in filter(None, (callback, self.callback)):
                        self.ended |= self.failure is None and listener(progress) is True
                except BaseException as error:
                    if self.ranks.size == 1:
                        raise
                    self.failure, self.ended = error, True
                self.ended |= is_requested.is_set()
                return self.ended

            outcome: SearchResult = super().searched(report)
            return outcome

    def conclude(self, outcome: SearchResult, spent: Repetition | None) -> None:
        if self.failure is not None:
            raise self.failure
        super().conclude(outcome, spent)

    def show(self, result: Found, spent: Repetition, confirmed: bool | None, verdict: str) -> None:
        backend, outcome = self.run.search.backend, result.outcome
        self.found.append(
            shown := Result(
                name=self.run.problem.name,
                cost=outcome.cost,
                solution=outcome.solution,
                evaluations=outcome.evaluations,
                seconds=spent.running_s,
                compile_seconds=spent.compile_s,
                confirmed=confirmed,
                hash=outcome.hash,
                history=outcome.history,
                seed=self.options.seed,
                backend=backend.name,
                device=backend.device.name,
                ranks=self.ranks.size,
                unit=self.run.search.unit,
                optimum=self.run.problem.optimum,
                maximises=self.workload.maximises,
                interrupted=self.ended,
                words=self.in_words(result, spent, verdict),
            )
        )
        self.print_notes()
        if confirmed is False and self.unconfirmed is None:
            self.unconfirmed = self.contradiction(shown)

    def contradiction(self, result: Result) -> Unconfirmed:
        """Return the error for a result that a verifier rejects."""
        cost = next((verdict.cost for verdict in self.verdicts if verdict.objection and verdict.cost is not None), None)
        searched = self.run.search.searched
        if searched and cost is not None:
            return Unconfirmed(searched, result, cost)
        objections = "; ".join(verdict.objection for verdict in self.verdicts if verdict.objection)
        return Unconfirmed(f"{result.name}, {self.workload.name}", result, cost, objections)

    def end(self) -> None:
        """Print nothing."""


# --- Ctrl-C ---


@contextmanager
def deferred_interrupt() -> Iterator[threading.Event]:
    """Set the event at Ctrl-C inside; a second one interrupts at once. No effect in a thread without signals."""
    is_requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield is_requested
        return

    def request(number: int, frame: FrameType | None) -> None:
        if is_requested.is_set():
            raise KeyboardInterrupt
        is_requested.set()
        print("stopping with the best solution so far; press Ctrl-C again to interrupt at once", file=sys.stderr)

    before = signal.signal(signal.SIGINT, request)
    try:
        yield is_requested
    finally:
        signal.signal(signal.SIGINT, before)
