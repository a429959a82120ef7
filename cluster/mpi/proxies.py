"""Two stand-ins for a communicator: one measures the time that its calls take, one rehearses without the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cluster.mpi.communicator import Communicator, Message
from cluster.mpi.shared_words import LocalWord, SharedCounter, SharedWordFactory, Word
from cluster.mpi.solo import Solo

T = TypeVar("T")
PAIR = np.zeros(3, np.uint64)
"""As long as what a rank gives for `Communicator.minloc`."""
WORD = np.zeros(1, np.int64)
"""As long as an operand of a shared word."""
Summand = TypeVar("Summand", int, np.integer, np.ndarray)


class TimedCommunicator(SharedWordFactory):
    """A communicator that passes every call on and adds up how long the calls take, waiting for others included.

    Parameters
    ----------
    ranks
        The communicator that does the work.

    Attributes
    ----------
    seconds : float
        Wall-clock time inside calls since `reset`.
    calls : int
        How many there were.
    sent_bytes : int
        Bytes of arrays and of numbers of fixed size that this rank gave to others since `reset`, as often as it gave
        them: how often MPI passes them on is its own. Not counted is what is pickled, which is as long as pickling
        makes it: Python integers in `sum`, and what `bcast` and `gather` take other than arrays.

    """

    def __init__(self, ranks: Communicator) -> None:
        self.ranks = ranks
        self.rank = ranks.rank
        self.size = ranks.size
        self.local_rank = ranks.local_rank
        self.is_silent = ranks.is_silent
        self.survives = ranks.survives
        self.lost = ranks.lost
        self.reset()

    def host(self) -> str:
        """See `Communicator`."""
        return self.ranks.host()

    def reset(self) -> None:
        """Start again from zero."""
        self.seconds = 0.0
        self.calls = 0
        self.sent_bytes = 0

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:
        began = time.perf_counter()
        result = call(*arguments)
        self.seconds += time.perf_counter() - began
        self.calls += 1
        return result

    def _sends(self, item: Any) -> None:
        """Count an array or a number of NumPy's that this rank gives to others."""
        if self.size > 1:
            self.sent_bytes += getattr(item, "nbytes", 0)

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        """See `Communicator`."""
        self._sends(PAIR)
        found: tuple[int, int] = self._timed(self.ranks.minloc, value, index)
        return found

    def sum(self, summand: Summand) -> Summand:
        """See `Communicator`."""
        self._sends(summand)
        total: Summand = self._timed(self.ranks.sum, summand)
        return total

    def bcast(self, item: T) -> T:
        """See `Communicator`."""
        if self.rank == 0:
            self._sends(item)
        received: T = self._timed(self.ranks.bcast, item)
        return received

    def gather(self, item: T) -> list[T] | None:
        """See `Communicator`."""
        if self.rank > 0:
            self._sends(item)
        collected: list[T] | None = self._timed(self.ranks.gather, item)
        return collected

    def join(self, items: np.ndarray) -> np.ndarray:
        """See `Communicator`."""
        self._sends(items)
        whole: np.ndarray = self._timed(self.ranks.join, items)
        return whole

    def reduce(self, items: np.ndarray, operation: str) -> None:
        """See `Communicator`."""
        self._sends(items)
        self._timed(self.ranks.reduce, items, operation)

    def transfer(self, messages: Sequence[Message]) -> None:
        """See `Communicator`."""
        for items, source, _ in messages:
            if source == self.rank:
                self._sends(items)
        self._timed(self.ranks.transfer, messages)

    def send(self, items: np.ndarray, to: int) -> None:
        """See `Communicator`."""
        self._sends(items)
        self._timed(self.ranks.send, items, to)

    def receive(self, items: np.ndarray, source: int) -> None:
        """See `Communicator`."""
        self._timed(self.ranks.receive, items, source)

    def departed(self) -> int | None:
        """See `Communicator`; it is no communication that a search makes, and not timed."""
        return self.ranks.departed()

    def barrier(self) -> None:
        """See `Communicator`."""
        self._timed(self.ranks.barrier)

    def assemble(self) -> None:
        """See `Communicator`."""
        self._timed(self.ranks.assemble)

    def word(self) -> Word:
        """See `Communicator`; its calls are timed too, unless nothing is said to other ranks."""
        word = self.ranks.word()
        return word if isinstance(word, LocalWord) else TimedWord(word, self)

    def counter(self) -> SharedCounter:
        """See `Communicator`."""
        return self.ranks.counter() if self.survives else super().counter()


class TimedWord:
    """A word that ranks share, whose calls are added to a clock."""

    def __init__(self, word: Word, clock: TimedCommunicator) -> None:
        self._word = word
        self._clock = clock

    def _sends(self) -> None:
        """Count one operand: the word lies with rank 0."""
        if self._clock.rank > 0:
            self._clock._sends(WORD)

    def add(self, summand: int) -> int:
        """See `Word`."""
        self._sends()
        before: int = self._clock._timed(self._word.add, summand)
        return before

    def lower(self, value: int) -> int:
        """See `Word`."""
        self._sends()
        before: int = self._clock._timed(self._word.lower, value)
        return before

    def reset(self, value: int) -> None:
        """See `Word`."""
        self._clock._timed(self._word.reset, value)

    def close(self) -> None:
        """See `Word`."""
        self._clock._timed(self._word.close)


class Rehearsal(Solo):
    """A rank that knows its place in the job and answers itself, so that it can compile and warm up on its own.

    Parameters
    ----------
    ranks
        The communicator whose rank and size it shows.

    """

    is_silent = True

    def __init__(self, ranks: Communicator) -> None:
        self.rank = ranks.rank
        self.size = ranks.size
        self.local_rank = ranks.local_rank

    def transfer(self, messages: Sequence[Message]) -> None:
        """Send and receive nothing."""

    def send(self, items: np.ndarray, to: int) -> None:
        """Send nothing, for nobody receives."""

    def receive(self, items: np.ndarray, source: int) -> None:
        """Leave the array as it is."""
