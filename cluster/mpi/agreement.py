"""Agreement of all ranks on the success of work between two collective calls, or on one error; base of communicators.

An error that one rank alone raises leaves the others waiting for it. So work that ranks do apart, such as reading a
file or making a search, ends with an exchange of errors, and all ranks raise the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cluster.mpi.communicator import Communicator
from cluster.mpi.shared_words import SharedCounter, SharedMinimum
from core.errors import UserError
from core.ranks import T


class CommunicatorBase:
    """The part of a communicator that consists of other calls.

    An error of a function, which does not communicate, is raised on all ranks. It has the attribute ``on_rank``, the
    first rank that raised it.
    """

    def counter(self: Communicator) -> SharedCounter:
        return SharedCounter(self.word())

    def least(self: Communicator, value: int) -> SharedMinimum:
        return SharedMinimum(self.word(), value)

    def on_first(self: Communicator, act: Callable[[], T], *, is_long: bool = True) -> T:
        """Call a function on rank 0 alone; return its result, or raise its error, on every rank.

        In a rehearsal, other ranks get None; else see `on_all`.
        """
        own: Callable[[], Any] = act if self.rank == 0 else lambda: None
        return self.bcast(self.on_all(own, is_long=is_long))

    def on_all(self: Communicator, act: Callable[[], T], *, is_long: bool = True) -> T:
        """Call a function on every rank; return its own result, or raise the error of the first rank that has one.

        Ranks wait for each other in sleep if the function ``is_long``.
        """
        if self.size == 1 or self.is_silent:
            return act()
        own: BaseException | None = None
        try:
            result = act()
        except BaseException as error:
            own = error
        if is_long:
            self.assemble()
        everyone = self.gather(None if own is None else _sent(own, self.rank))
        sent = self.bcast(next(filter(None, everyone or ()), None))
        if sent is not None:
            raise own if own is not None and sent[-1]["on_rank"] == self.rank else _restored(*sent)
        return result

    def is_awaited(self) -> bool:
        """Return True if another rank waits for a call that this rank, which has failed, will not make."""
        return False


def _sent(error: BaseException, rank: int) -> tuple[type[BaseException], tuple[Any, ...], dict[str, Any]]:
    """Return the parts of an error for other ranks, or of one with its text if they cannot be sent."""
    import pickle

    error.__dict__["on_rank"] = rank
    # `args` lacks a file's name, which the method of Python's own class has.
    sent = type(error), tuple(_builtin(type(error)).__reduce__(error)[1]), error.__dict__
    with suppress(Exception):
        if str(_restored(*pickle.loads(pickle.dumps(sent)))) == str(error):
            return sent
    is_users = getattr(error, "exit_code", None) == UserError.exit_code
    return _sent(UserError(str(error)) if is_users else RuntimeError(f"{type(error).__name__}: {error}"), rank)


def _restored(kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """Return an error from its parts; unlike pickle, this calls no constructor outside of Python's own classes."""
    error = kind.__new__(kind, *arguments)
    _builtin(kind).__init__(error, *arguments)
    error.__dict__.update(state)
    return error


def _builtin(kind: type[BaseException]) -> type[BaseException]:
    return next(base for base in kind.__mro__ if base.__module__ == "builtins")
