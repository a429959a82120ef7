"""Continuation after killed ranks, with `mpirun --with-ft ulfm` (User-Level Failure Mitigation).

Bland, Bouteiller, Herault, Bosilca and Dongarra, "Post-failure recovery of MPI communication capability" (2013): a call
that a lost rank takes part in returns an error to those who notice; whoever does revokes the communicator, so that all
others hear of it in their next call; the survivors agree on who they are, and shrink it. Open MPI's one-sided calls are
not made for lost ranks, so words that ranks share are messages here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cluster.mpi.communicator import Message
from cluster.mpi.failures import abort, liveness
from cluster.mpi.mpi_communicator import Mpi
from cluster.mpi.shared_words import LocalWord, SharedCounter, Word

Done = TypeVar("Done")
WORD_TAG = 2
"""The tag of messages about a shared word."""
EPOCH, WORD, KIND, VALUE = range(4)
"""What such a message says: since which reset, of which word, which operation, with which operand."""
ADD, LOWER = range(2)


class RankLost(Exception):  # noqa: N818
    """A rank that was needed has been killed; the others can go on without it (`FaultTolerantMpi.shrink`)."""


class FaultTolerantMpi(Mpi):
    """The communicator of a rank of a job that survives the loss of others; calls raise `RankLost`.

    Attributes
    ----------
    lost : list of int
        Ranks, by their numbers when the job began, that others have gone on without.

    """

    survives = True

    def __init__(self) -> None:
        super().__init__()
        self._whole = self.world.group
        self.lost: Sequence[int] = []
        self._guard(self.world)

    def _make_liveness(self, mpi: Any) -> liveness.Liveness:
        """Of this rank alone: nobody looks into the memory of a rank that may be gone."""
        return liveness.Liveness(mpi, mpi.COMM_SELF)

    def _guard(self, world: Any) -> None:
        self.world = GuardedCommunicator(world, self._mpi)
        self.rank, self.size = world.Get_rank(), world.Get_size()
        self._posted = WordMessages(self)

    def departed(self) -> int | None:
        """See `cluster.Communicator`; here also one that was killed."""
        failed = self.world.Get_failed()
        numbers = self._mpi.Group.Translate_ranks(failed, range(failed.size), self.world.group)
        return int(numbers[0]) if numbers else None

    def transfer(self, messages: Sequence[Message]) -> None:
        """See `cluster.Communicator`."""
        self.world.guarded(super().transfer)(messages)

    def assemble(self) -> None:
        """See `cluster.Communicator`; a rank that naps also hears that another has been lost."""
        self.world.guarded(super().assemble)()

    def word(self) -> Word:
        """See `cluster.Communicator`: a copy for each rank, and messages between them."""
        return self._posted.word()

    def counter(self) -> SharedCounter:
        """Not shared: a counter of this rank's own, from which it takes the items that are its own beforehand."""
        return SharedCounter(LocalWord())

    def agree(self, is_done: bool) -> bool:
        """Return True if all remaining ranks are done; each of them calls this, also after an error."""
        world = self.world.whole
        while True:
            try:
                return bool(world.Agree(int(is_done)))
            except self._mpi.Exception as error:
                if not self.world.tells_of_loss(error):
                    raise
                # Somebody was lost of whom not all knew; now they do, and can agree.
                world.Ack_failed()

    def shrink(self) -> list[int]:
        """Go on with those who are left, who all call this; returns who is not, by their numbers when the job began."""
        world = self.world.whole
        left = world.Shrink()
        left.Set_errhandler(self._mpi.ERRORS_RETURN)
        here = set(self._mpi.Group.Translate_ranks(left.group, range(left.size), self._whole))
        before, self.lost = self.lost, [rank for rank in range(self._whole.size) if rank not in here]
        self._guard(left)
        return [rank for rank in self.lost if rank not in before]

    def find_places(self) -> None:
        """Number the ranks of each host anew; all of them call this."""
        every: list[str] = self.bcast(self.gather(self.host()) or [])
        self.local_rank = every[: self.rank].count(every[self.rank])


class GuardedCommunicator:
    """An MPI communicator whose calls raise `RankLost` where one of its ranks is, after having told all others.

    Parameters
    ----------
    whole
        The communicator.
    mpi
        The module of mpi4py.

    """

    def __init__(self, whole: Any, mpi: Any) -> None:
        self.whole = whole
        self._mpi = mpi
        self._signs = {mpi.ERR_PROC_FAILED, mpi.ERR_PROC_FAILED_PENDING, mpi.ERR_REVOKED}

    def __getattr__(self, name: str) -> Any:
        """A call or an attribute of the communicator."""
        found = getattr(self.whole, name)
        return self.guarded(found) if callable(found) else found

    def guarded(self, call: Callable[..., Done]) -> Callable[..., Done]:
        """The call, with a lost rank told by `RankLost`."""

        def checked(*arguments: Any, **named: Any) -> Done:
            try:
                result = call(*arguments, **named)
            except Exception as error:
                if self._is_whole() and not self.tells_of_loss(error):
                    raise
                self.whole.Revoke()
                raise RankLost from error
            if not self._is_whole():
                self.whole.Revoke()
                raise RankLost
            return result

        return checked

    def _is_whole(self) -> bool:
        """Whether all ranks are there, as far as this one knows.

        A collective call during which a rank is lost may return as if it were done, with what happened to be in its
        buffers (Open MPI 5.0.11: an Allgather, once in eight jobs that lost ranks).
        """
        return not self.whole.Is_revoked() and self.whole.Get_failed().size == 0

    def tells_of_loss(self, error: Exception) -> bool:
        """Whether this error is how MPI tells of a rank that is lost."""
        return isinstance(error, self._mpi.Exception) and error.Get_error_class() in self._signs


class WordMessages:
    """Words that ranks share by messages: each rank has a copy, and sends its changes to all others.

    Parameters
    ----------
    ranks
        Who shares them.

    """

    def __init__(self, ranks: FaultTolerantMpi) -> None:
        self.ranks = ranks
        self.words: dict[int, ReplicatedWord] = {}
        self.made = 0
        self.sent: list[Any] = []

    def word(self) -> ReplicatedWord:
        """A further word; all ranks make the same ones in the same order."""
        self.made += 1
        return self.words.setdefault(self.made, ReplicatedWord(self, self.made))

    def send(self, *news: int) -> None:
        """Send to all others; the messages are short, so that no rank waits for them."""
        self.sent = [one for one in self.sent if not one[0].Test()]
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
                word.take_over(int(news[KIND]), int(news[VALUE]))


class ReplicatedWord:
    """A number of 64 bits of which every rank has a copy; sums and minima come out the same in whatever order.

    What another does is seen a message later: enough for a word that says that somebody has something to say, or how
    long the best tour is, and too little for a counter from which each number is to be taken once.
    """

    def __init__(self, posted: WordMessages, number: int) -> None:
        self.posted = posted
        self.number = number
        self.epoch = 0
        self.value = 0

    def add(self, summand: int) -> int:
        """See `cluster.mpi.shared_words.Word`."""
        return self._done(ADD, summand) if summand else self._up_to_date()

    def lower(self, value: int) -> int:
        """See `cluster.mpi.shared_words.Word`."""
        before = self._up_to_date()
        return self._done(LOWER, value) if value < before else before

    def reset(self, value: int) -> None:
        """See `cluster.mpi.shared_words.Word`."""
        self.posted.ranks.barrier()
        self._up_to_date()
        self.epoch += 1
        self.value = int(value)
        self.posted.ranks.barrier()

    def close(self) -> None:
        """See `cluster.mpi.shared_words.Word`."""
        del self.posted.words[self.number]

    def take_over(self, kind: int, operand: int) -> None:
        """Do what another has done."""
        self.value = self.value + operand if kind == ADD else min(self.value, operand)

    def _up_to_date(self) -> int:
        self.posted.receive()
        return self.value

    def _done(self, kind: int, operand: int) -> int:
        before = self._up_to_date()
        self.take_over(kind, int(operand))
        self.posted.send(self.epoch, self.number, kind, int(operand))
        return before


def rerun_on_survivors(ranks: Any, run: Callable[[], Done]) -> Done:
    """Run something on all ranks, and again on those who are left whenever one is lost meanwhile.

    Parameters
    ----------
    ranks
        The communicator; where it is no `FaultTolerantMpi` a lost rank ends all others.
    run
        Is called again from the beginning, and goes on from what it has kept.

    """
    if not isinstance(ranks, FaultTolerantMpi):
        return run()
    while True:
        result, is_done = None, True
        try:
            # Another rank may be lost while those who are left find each other.
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
