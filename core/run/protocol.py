"""Protocol of a search, its result, and the progress that it reports.

A search is constructed once and run any number of times::

    search = Kind(backend, communicator, problem, ...settings by name...)
    search.warm_up()
    result = search.run(stop, history=..., callback=..., ranks=...)

Every rank constructs and runs it with the same arguments. The loop of a run is in `core.run.loop`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypedDict, Unpack

import numpy as np

from core.run.checkpoint import Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.stop import Stop


class Progress(NamedTuple):
    """Progress of a search on one rank.

    Attributes
    ----------
    done, total
        Steps made so far, and steps of the whole run; the ``run`` of a search says what its steps are.
    cost
        Cost of the best solution so far.
    seconds
        Seconds since the run began.
    evaluations
        Units of work so far, as `SearchResult.evaluations` counts them.
    bound
        A cost below which there is no solution.
    """

    done: int
    total: int | None
    cost: int | None
    seconds: float
    evaluations: int | None = None
    bound: int | None = None


Callback = Callable[[Progress], object]
"""Called soon after the start, then about four times a second, and at the end.

If it returns True, the search ends as soon as it can and returns the best solution so far. Each rank may have a
callback; only the first rank's can end the search. A table has an answer only at its end, and does not end early.
"""

CountCallback = Callable[[int, int], None]
"""Called with the number of parts of a table that are done, and with the number of all."""


class Watching(TypedDict, total=False):
    """Arguments of `Search.run` that a search passes to its `core.run.loop.Run`; described there."""

    history: bool
    callback: Callback | None
    checkpointer: Checkpointer | None


class SearchResult(Protocol):
    """Result of a run: every search has a separate class, with further fields."""

    @property
    def cost(self) -> int:
        """Cost of the best solution: a length, or the value if the largest one is best."""

    @property
    def solution(self) -> np.ndarray | None:
        """The best solution; None: not requested."""

    @property
    def evaluations(self) -> int:
        """Units of work done by all ranks."""

    @property
    def hash(self) -> str:
        """16 hexadecimal digits, equal on every backend and any number of ranks for equal work."""

    @property
    def history(self) -> list[list[Any]] | None:
        """Rows [iteration, evaluations, seconds, best cost] of improvements of the best cost; None: not requested."""

    @property
    def finished(self) -> bool:
        """False if the callback ended the search, or the time limit a proof."""


class Search(Protocol):
    """Base of searches: a search on one device of each rank, ready to be repeated.

    It is constructed from a backend (`backends.launch.Backend`), a communicator (`cluster.Communicator`), the problem
    (or an instance's data) and settings by name; every rank constructs and calls the same. The rank and the size of the
    communicator determine the rank's part of the work; a rehearsal of one (`cluster.mpi.proxies.Rehearsal`) lets every
    rank warm up alone.
    """

    backend: ComputeDevice
    unit: str
    """Unit of `SearchResult.evaluations`, plural."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes for the user after a run."""
        return ()

    @property
    def searched(self) -> str:
        """The search in messages about a wrong result, as text; empty: the workload has a text."""
        return ""

    def warm_up(self) -> None:
        """Compile everything; the time counts as the backend's compilation."""

    def join(self, ranks: Ranks) -> None:
        """Connect the devices of these ranks before the first run; the time counts as the backend's compilation.

        All ranks call this, after `warm_up`. Without it the first run does the same.
        """
        self.backend.collectives(ranks).connect()

    def run(
        self, stop: Stop | None = None, *, ranks: Ranks | None = None, **watching: Unpack[Watching]
    ) -> SearchResult:
        """Search until ``stop`` holds, the callback returns True, or no work is left.

        Parameters
        ----------
        stop
            Stop criteria; None: the search ends by itself.
        history
            True to record `SearchResult.history`.
        callback
            See `Callback`.
        ranks
            The communicator of all ranks that search together, of the same size as the constructor's, which is the
            default.
        checkpointer
            Keeps checkpoints between launches, and has the one from which the run resumes; None: no checkpoints. The
            result is the same, also on another backend and number of ranks. All ranks have one, or none has.

        Raises
        ------
        Terminated
            The process received a signal to end, and the checkpoint is kept.
        UserError
            A criterion, a history or checkpoints that this search does not have, or nothing that would end it.
        """


def alias(field: str) -> Any:
    """Return a property of a result: a name of `SearchResult` for a field with another name."""
    return property(attrgetter(field))


class Digested:
    """Base of the results that have a ``digest`` of 64 bits, of which `SearchResult.hash` is the text."""

    digest: int

    @property
    def hash(self) -> str:
        return f"{self.digest:016x}"
