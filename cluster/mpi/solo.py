"""Communicator of a process alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster.mpi.communicator import Communicator, Message, Summand, T, check_pair, check_summand
from cluster.mpi.shared_words import LocalWord, Word


class Solo(Communicator):
    """The communicator of a process alone, which returns what it is given."""

    rank = 0
    size = 1
    local_rank = 0

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        check_pair(value, index)
        return int(value), int(index)

    def sum(self, summand: Summand) -> Summand:
        """Return its input, an array as a copy."""
        check_summand(summand)
        return summand.copy() if isinstance(summand, np.ndarray) else summand

    def bcast(self, item: T) -> T:
        return item

    def gather(self, item: T) -> list[T] | None:
        return [item]

    def join(self, items: np.ndarray) -> np.ndarray:
        return np.array(items)

    def reduce(self, items: np.ndarray, operation: str) -> None:
        check_summand(items)

    def transfer(self, messages: Sequence[Message]) -> None:
        if messages:
            raise ValueError(f"{len(messages)} messages of a process alone")

    def send(self, items: np.ndarray, to: int) -> None:
        raise ValueError(f"rank {to} of a process alone")

    def receive(self, items: np.ndarray, source: int) -> None:
        raise ValueError(f"rank {source} of a process alone")

    def barrier(self) -> None:
        """Return at once; see `Communicator`."""

    def assemble(self) -> None:
        """Return at once; see `Communicator`."""

    def word(self) -> Word:
        return LocalWord()
