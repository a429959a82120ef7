"""Proxies of a communicator: one measures the time of its calls, one rehearses without the other ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cluster.mpi.communicator import Communicator
from cluster.mpi.shared_words import LocalWord, SharedCounter, Word
from cluster.mpi.solo import Solo
from core.ranks import Message, T

PAIR = np.zeros(3, np.uint64)
"""Array of the size of `Communicator.minloc`'s operands."""
WORD = np.zeros(1, np.int64)
"""Array of the size of a shared word's operand."""


def _forward(name: str, sent: Callable[..., Iterable[object]] = lambda *_: ()) -> Callable[..., Any]:
    """Make a method that forwards a call, times it, and counts the sent items."""

    def call(self: TimedCommunicator | TimedWord, *arguments: object) -> object:
        return self.timed(getattr(self.wrapped, name), sent(self, *arguments), *arguments)

    call.__name__, call.__doc__ = name, "See `Communicator`."
    return call


class TimedCommunicator(Communicator):
    """A communicator that forwards every call and adds up their ``seconds`` since `reset`, including waiting.

    ``sent_bytes`` counts arrays and numbers of fixed size that this rank sent, without forwarding inside MPI. Pickled
    objects are not counted: Python integers in `sum`, and objects in `bcast` and `gather`.
    """

    def __init__(self, ranks: Communicator) -> None:
        self.wrapped = ranks
        self.rank, self.size, self.local_rank = ranks.rank, ranks.size, ranks.local_rank
        self.is_silent, self.survives, self.lost = ranks.is_silent, ranks.survives, ranks.lost
        self.reset()

    def reset(self) -> None:
        self.seconds = 0.0
        self.sent_bytes = 0

    def timed(self, call: Callable[..., T], sent: Iterable[object], *arguments: object) -> T:
        if self.size > 1:
            self.sent_bytes += sum(getattr(item, "nbytes", 0) for item in sent)
        began = time.perf_counter()
        result = call(*arguments)
        self.seconds += time.perf_counter() - began
        return result

    minloc = _forward("minloc", lambda self, value, index: [PAIR])
    sum = _forward("sum", lambda self, summand: [summand])
    bcast = _forward("bcast", lambda self, item: [item] if self.rank == 0 else [])
    gather = _forward("gather", lambda self, item: [item] if self.rank > 0 else [])
    join = _forward("join", lambda self, items: [items])
    reduce = _forward("reduce", lambda self, items, operation: [items])
    transfer = _forward(
        "transfer", lambda self, messages: [items for items, source, _ in messages if source == self.rank]
    )
    send = _forward("send", lambda self, items, to: [items])
    receive = _forward("receive")
    barrier = _forward("barrier")
    assemble = _forward("assemble")

    def host(self) -> str:
        return self.wrapped.host()

    def departed(self) -> int | None:
        """Return a rank that has ended; not timed, since searches do not communicate by it."""
        return self.wrapped.departed()

    def word(self) -> Word:
        """Make a word with timed calls, except local ones."""
        word = self.wrapped.word()
        return word if isinstance(word, LocalWord) else TimedWord(word, self)

    def counter(self) -> SharedCounter:
        return self.wrapped.counter() if self.survives else super().counter()


class TimedWord:
    """A shared word with calls that are added to a clock."""

    def __init__(self, word: Word, clock: TimedCommunicator) -> None:
        self.wrapped = word
        self.timed, self.rank = clock.timed, clock.rank

    # The word is in the memory of rank 0.
    add = _forward("add", lambda self, summand: [WORD] if self.rank else [])
    lower = _forward("lower", lambda self, value: [WORD] if self.rank else [])
    reset = _forward("reset")
    close = _forward("close")


class Rehearsal(Solo):
    """A rank with its place in the job but without communication, so that it can compile and warm up alone."""

    is_silent = True

    def __init__(self, ranks: Communicator) -> None:
        self.rank, self.size, self.local_rank = ranks.rank, ranks.size, ranks.local_rank

    def transfer(self, messages: Sequence[Message]) -> None:
        """Send and receive nothing."""

    def send(self, items: np.ndarray, to: int) -> None:
        """Send nothing: there is no receiver."""

    def receive(self, items: np.ndarray, source: int) -> None:
        """Leave the array as it is."""
