"""Errors of one rank that all ranks raise: their form as a message between ranks, see `Communicator.on_all`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from core.errors import UserError


def sent_error(error: BaseException, rank: int) -> tuple[type[BaseException], tuple[Any, ...], dict[str, Any]]:
    """Return the parts of an error for other ranks, or of one with its text if they cannot be sent."""
    import pickle

    error.__dict__["on_rank"] = rank
    # `args` lacks a file's name, which the method of Python's own class has.
    sent = type(error), tuple(_builtin(type(error)).__reduce__(error)[1]), error.__dict__
    with suppress(Exception):
        if str(restored_error(*pickle.loads(pickle.dumps(sent)))) == str(error):
            return sent
    is_users = getattr(error, "exit_code", None) == UserError.exit_code
    return sent_error(UserError(str(error)) if is_users else RuntimeError(f"{type(error).__name__}: {error}"), rank)


def restored_error(kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """Return an error from its parts; unlike pickle, this calls no constructor outside of Python's own classes."""
    error = kind.__new__(kind, *arguments)
    _builtin(kind).__init__(error, *arguments)
    error.__dict__.update(state)
    return error


def _builtin(kind: type[BaseException]) -> type[BaseException]:
    return next(base for base in kind.__mro__ if base.__module__ == "builtins")
