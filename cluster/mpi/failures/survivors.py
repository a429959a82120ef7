"""Continuation after killed ranks, with `mpirun --with-ft ulfm` (User-Level Failure Mitigation).

Bland, Bouteiller, Herault, Bosilca and Dongarra, "Post-failure recovery of MPI communication capability" (2013): a call
with a lost rank returns an error on the ranks that detect it. They revoke the communicator, so that the next call of
all other ranks fails too. The survivors agree on the remaining ranks, and shrink it. Open MPI's one-sided calls do not
support lost ranks, so shared words use messages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from cluster.mpi.communicator import Communicator
from cluster.mpi.failures import abort, liveness
from cluster.mpi.mpi_communicator import Mpi
from cluster.mpi.shared_words import LocalWord, SharedCounter, Word
from core.ranks import Message, gather_on_all

Done = TypeVar("Done")
WORD_TAG = 2
"""The tag of messages about a shared word."""
EPOCH, WORD, KIND, VALUE = range(4)
"""Fields of such a message: number of resets so far, word, operation, operand."""
ADD, LOWER = range(2)


class RankLost(Exception):  # noqa: N818
    """A required rank has been killed; the others can continue without it (`FaultTolerantMpi.shrink`)."""


class FaultTolerantMpi(Mpi):
    """The communicator of a rank of a job that survives the loss of others; calls raise `RankLost`."""

    survives = True

    def __init__(self) -> None:
        super().__init__()
        self._whole = self.world.group
        self.lost: Sequence[int] = []
        self._guard(self.world)

    def _make_liveness(self, mpi: ModuleType) -> liveness.Liveness:
        """Share it with no other rank: the memory of a lost rank cannot be read."""
        return liveness.Liveness(mpi, mpi.COMM_SELF)

    def _guard(self, world: liveness.Intracomm) -> None:
        self.world = GuardedCommunicator(world, self._mpi)
        self.rank, self.size = world.Get_rank(), world.Get_size()
        self._posted = WordMessages(self)

    def departed(self) -> int | None:
        failed = self.world.Get_failed()
        numbers = self._mpi.Group.Translate_ranks(failed, range(failed.size), self.world.whole.group)
        return int(numbers[0]) if numbers else None

    def transfer(self, messages: Sequence[Message]) -> None:
        self.world.guarded(super().transfer)(messages)

    def assemble(self) -> None:
        """Wait in sleep, in which the loss of another rank is detected too."""
        self.world.guarded(super().assemble)()

    def word(self) -> Word:
        return self._posted.word()

    def counter(self) -> SharedCounter:
        """Make a counter of this rank alone, which takes the items assigned to the rank beforehand."""
        return SharedCounter(LocalWord())

    def agree(self, is_done: bool) -> bool:
        """Return True if all remaining ranks are done; each of them calls this, also after an error."""
        world = self.world.whole
        while True:
            try:
                return bool(world.Agree(int(is_done)))
            except self._mpi.Exception as error:
                if not self.world.is_loss(error):
                    raise
                # A rank was lost and not all ranks knew; now they do, and can agree.
                world.Ack_failed()

    def shrink(self) -> list[int]:
        """Continue with the remaining ranks, which all call this; returns the lost ones by their initial numbers."""
        world = self.world.whole
        shrunk = world.Shrink()
        shrunk.Set_errhandler(self._mpi.ERRORS_RETURN)
        survivors = set(self._mpi.Group.Translate_ranks(shrunk.group, range(shrunk.size), self._whole))
        before, self.lost = self.lost, [rank for rank in range(self._whole.size) if rank not in survivors]
        self._guard(shrunk)
        return [rank for rank in self.lost if rank not in before]

    def find_places(self) -> None:
        """Number the ranks of each host again; all of them call this."""
        hosts = gather_on_all(self, self.host())
        self.local_rank = hosts[: self.rank].count(hosts[self.rank])


class GuardedCommunicator:
    """mpi4py's communicator, with calls that raise `RankLost` on a lost rank, after notifying all others."""

    def __init__(self, world: liveness.Intracomm, mpi: ModuleType) -> None:
        self.whole = world
        self._mpi = mpi
        self._signs = {mpi.ERR_PROC_FAILED, mpi.ERR_PROC_FAILED_PENDING, mpi.ERR_REVOKED}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self.guarded(getattr(self.whole, name))

    def guarded(self, call: Callable[..., Done]) -> Callable[..., Done]:
        """Wrap a call so that a lost rank raises `RankLost`."""

        def checked(*arguments: object, **named: object) -> Done:
            try:
                result = call(*arguments, **named)
            except Exception as error:
                if self._is_whole() and not self.is_loss(error):
                    raise
                self.whole.Revoke()
                raise RankLost from error
            if not self._is_whole():
                self.whole.Revoke()
                raise RankLost
            return result

        return checked

    def _is_whole(self) -> bool:
        """Return True if this rank knows of no lost rank.

        A collective call during which a rank is lost may return normally with arbitrary buffers (Open MPI 5.0.11: an
        Allgather, once in eight jobs that lost ranks).
        """
        return not self.whole.Is_revoked() and self.whole.Get_failed().size == 0

    def is_loss(self, error: Exception) -> bool:
        return isinstance(error, self._mpi.Exception) and error.Get_error_class() in self._signs


class WordMessages:
    """Words that ranks share by messages: each rank has a copy, and sends its changes to all others."""

    def __init__(self, ranks: FaultTolerantMpi) -> None:
        self.ranks = ranks
        self.words: dict[int, ReplicatedWord] = {}
        self.made = 0
        self.sent: list[Any] = []

    def word(self) -> ReplicatedWord:
        self.made += 1
        return self.words.setdefault(self.made, ReplicatedWord(self, self.made))

    def send(self, *news: int) -> None:
        """Send to all others; the messages are short, so the call does not wait."""
        self.sent = [message for message in self.sent if not message[0].Test()]
        words = np.array(news, np.int64)
        for other in range(self.ranks.size):
            if other != self.ranks.rank:
                self.sent.append((self.ranks.world.Isend(words, other, WORD_TAG), words))

    def receive(self) -> None:
        """Apply the messages that have arrived."""
        world, news = self.ranks.world, np.zeros(4, np.int64)
        while world.Iprobe(tag=WORD_TAG):
            world.Recv(news, tag=WORD_TAG)
            word = self.words.get(int(news[WORD]))
            if word is not None and word.epoch == news[EPOCH]:
                word.apply(int(news[KIND]), int(news[VALUE]))


class ReplicatedWord:
    """A number of 64 bits with a copy on every rank; sums and minima do not depend on the order of updates.

    Updates of other ranks arrive with a message's delay. That suffices for flags and the length of the best tour, but
    not for a counter that gives out each number once.
    """

    def __init__(self, posted: WordMessages, number: int) -> None:
        self.posted = posted
        self.number = number
        self.epoch = 0
        self.value = 0

    def add(self, summand: int) -> int:
        return self._share(ADD, summand) if summand else self._update()

    def lower(self, value: int) -> int:
        before = self._update()
        return self._share(LOWER, value) if value < before else before

    def reset(self, value: int) -> None:
        self.posted.ranks.barrier()
        self._update()
        self.epoch += 1
        self.value = int(value)
        self.posted.ranks.barrier()

    def close(self) -> None:
        del self.posted.words[self.number]

    def apply(self, kind: int, operand: int) -> None:
        self.value = self.value + operand if kind == ADD else min(self.value, operand)

    def _update(self) -> int:
        self.posted.receive()
        return self.value

    def _share(self, kind: int, operand: int) -> int:
        before = self._update()
        self.apply(kind, int(operand))
        self.posted.send(self.epoch, self.number, kind, int(operand))
        return before


def rerun_on_survivors(ranks: Communicator, run: Callable[[], Done]) -> Done:
    """Run a function on all ranks, and again, from its checkpoint, on the remaining ones whenever one is lost.

    Unless the communicator is a `FaultTolerantMpi`, a lost rank ends all others.
    """
    if not isinstance(ranks, FaultTolerantMpi):
        return run()
    while True:
        result, is_done = None, True
        try:
            # Another rank may be lost during recovery.
            if ranks.lost:
                ranks.find_places()
            result = run()
        except RankLost:
            is_done = False
        if ranks.agree(is_done):
            return result  # type: ignore[return-value]
        abort.end_without_mpi()
        lost = ranks.shrink()
        if ranks.rank == 0:
            names = ", ".join(map(str, lost))
            plural = "s" if len(lost) > 1 else ""
            print(f"note: lost rank{plural} {names}; the other {ranks.size} continue", file=sys.stderr, flush=True)
