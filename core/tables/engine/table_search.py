"""The common part of the searches that compute a table to its end: one search, and strategies that it chooses from.

A new table derives from `TableSearch`, chooses a `TableStrategy` when it is made, and makes its result of an answer::

    class Partition(TableSearch[Split]):
        subject = "the partition table"

        def __init__(self, backend, communicator, numbers):
            self.backend, self.communicator = backend, communicator
            self.strategy = PublishedTable(backend, communicator, Sums(numbers), Sums(numbers[:2]))

        def result(self, answer):
            return Split(answer.value, answer.solution)

Tables keep no checkpoints, and only the published mapping keeps host memory (`make_room`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar, Unpack

import numpy as np

from core.errors import UserError, check_choice
from core.ranks import Transfer
from core.run.checkpoint import Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.progress import ProgressMonitor, refuse_history
from core.run.protocol import CountCallback, Search, SearchResult, Watching
from core.run.stop import Stop
from core.tables.engine.recurrences import AnsweringWaves, TableAnswer
from core.tables.engine.waves import WaveEngine

Result = TypeVar("Result", bound=SearchResult)


class TableRun(NamedTuple):
    """Settings of one run. ``progress(done, all)`` reports parts of the table; without it the device never waits."""

    trace: bool
    progress: CountCallback | None
    ranks: Ranks


class TableStrategy:
    """One algorithm for a table, ready to be repeated.

    ``work`` counts the units of a run, over all ranks.
    """

    work: int

    @property
    def notes(self) -> Sequence[str]:
        """See `core.run.protocol.Search.notes`."""
        return ()

    def make_room(self) -> None:
        """Allocate host memory for all cells if they are kept, before any computation."""

    def warm_up(self, trace: bool) -> None:
        """Compile all programs, or those of a run with or without ``trace``."""

    def join(self, run: TableRun) -> None:
        """Allocate what such runs need, and connect the devices of the ranks; all ranks call this."""

    def compute(self, run: TableRun) -> TableAnswer:
        raise NotImplementedError


class PublishedTable(TableStrategy):
    """The paper's mapping of a problem; programs are compiled with the ``smallest`` problem of the same types."""

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        problem: AnsweringWaves,
        smallest: AnsweringWaves,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        shape = None if team_size is None else (team_size,)
        self.engine = WaveEngine(backend, communicator, problem, folder=folder, shape=shape)
        self.smallest = WaveEngine(backend, communicator, smallest, shape=shape)
        self.work = problem.work()

    def make_room(self) -> None:
        self.engine.make_room()

    def warm_up(self, trace: bool) -> None:
        self.smallest.run()

    def compute(self, run: TableRun) -> TableAnswer:
        return self.engine.problem.answer(self.engine.run(run.trace, run.progress))


class TableSearch(Search, Generic[Result]):
    """A search by a table; the answer is known at its end.

    ``subject`` names the table in messages. ``traces`` says for which runs the search was warmed up. ``are_parts_even``
    is True if the parts that progress counts are about equal work.
    """

    unit = "cells"
    backend: ComputeDevice
    communicator: Ranks
    subject: str
    are_parts_even = True
    traces = True
    strategy: TableStrategy

    @property
    def work(self) -> int:
        """Units of work that a run does, over all ranks."""
        return self.strategy.work

    @property
    def evaluations(self) -> int:
        return self.work

    @property
    def notes(self) -> Sequence[str]:
        return self.strategy.notes

    def make_room(self) -> None:
        """Allocate host memory for all cells if they are kept, before any computation."""
        self.strategy.make_room()

    def warm_up(self, trace: bool = True) -> None:
        self.traces = trace
        with self.backend.warming_up():
            self.strategy.warm_up(trace)

    def join(self, ranks: Ranks) -> None:
        self.strategy.join(TableRun(self.traces, None, ranks))

    def result(self, answer: TableAnswer) -> Result:
        raise NotImplementedError

    def run(
        self, stop: Stop | None = None, *, ranks: Ranks | None = None, trace: bool = True, **watching: Unpack[Watching]
    ) -> Result:
        """Find the best value and, with ``trace``, a solution that has it; see `core.run.protocol.Search.run`.

        Stop criteria, a history and checkpoints are refused: the answer is known at the end. The callback's steps are
        parts of the table; it cannot end the search.
        """
        refuse_checkpoints(watching.get("checkpointer"), self.subject)
        (stop or Stop()).only(self.subject)
        refuse_history(watching.get("history", False), self.subject)
        monitor = ProgressMonitor(Stop(), watching.get("callback"))
        ranks = self.communicator if ranks is None else ranks
        progress = monitor.counts(self.evaluations if self.are_parts_even else None)
        result = self.result(self.strategy.compute(TableRun(trace, progress, ranks)))
        monitor.total = monitor.total or 1  # a table that counts no parts is one part
        monitor.report_end(monitor.total, result.cost, self.evaluations)
        return result


def connect(backend: ComputeDevice, ranks: Ranks, pairs: Iterable[tuple[int, int]]) -> None:
    """Send a word from the first to the second rank of each pair: devices connect at their first message."""
    word = backend.upload(np.zeros(1, np.uint32))
    backend.collectives(ranks).transfer(word, [Transfer(source, to, 0, 1) for source, to in sorted(set(pairs))])
    backend.synchronize()


def digest(value: int, content: bytes = b"") -> str:
    """Return 16 hexadecimal digits of a value and, if traced, the bytes of its solution."""
    return hashlib.blake2b(str(value).encode() + content, digest_size=8).hexdigest()


def check_mapping(mapping: str) -> None:
    check_choice("mapping", mapping, ("native", "published"))


def refuse_checkpoints(checkpointer: Checkpointer | None, subject: str) -> None:
    """Refuse to keep checkpoints in a file; those in memory, for lost ranks, are allowed: the others begin again."""
    if checkpointer is not None and checkpointer.write is not None:
        raise UserError(f"--checkpoint: {subject} has none, since it takes seconds; leave it out")


def trace_over_ranks(ranks: Ranks, state: np.ndarray, follow: Callable[[np.ndarray], np.ndarray]) -> None:
    """Pass a trace from the last rank to the first; each follows it through its part of the table.

    ``state`` is the last cell on the last rank, and becomes the cell where the trace enters the part of each rank.
    """
    if ranks.rank < ranks.size - 1:
        ranks.receive(state, ranks.rank + 1)
    reached = follow(state)
    if ranks.rank > 0:
        ranks.send(reached, ranks.rank - 1)
