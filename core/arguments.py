"""Checks of arguments of public functions; an error names the argument, the value found and the value expected."""

from __future__ import annotations

import functools
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from core.errors import UserError

Kind = TypeVar("Kind")
Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")
Numbers = np.ndarray | Sequence[int]
"""A row of numbers given by the caller."""
Matrix = np.ndarray | Sequence[Sequence[float]]
"""A matrix given by the caller."""


def refuse(name: str, value: object, expected: str) -> NoReturn:
    """Raise a `UserError` in the form that all refusals of arguments have."""
    description = f"{value.__name__}, a class" if isinstance(value, type) else reprlib.repr(value)
    raise UserError(f"{name}={description}: expected {expected}")


def integer(name: str, value: object, least: int | None = None) -> int:
    """Return an integer of Python or NumPy; a truth value is refused."""
    expected = "an integer" if least is None else f"an integer of at least {least}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        refuse(name, value, expected)
    if least is not None and value < least:
        refuse(name, value, expected)
    return int(value)


def number(name: str, value: object, least: float | None = None) -> float:
    """Return a number of Python or NumPy; a truth value, a NaN and, with a least value, an infinity are refused."""
    expected = "a number" if least is None else f"a number of at least {least:g}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        refuse(name, value, expected)
    if value != value or (least is not None and not least <= value < inf):
        refuse(name, value, expected)
    return value  # type: ignore[return-value]


def flag(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        refuse(name, value, "True or False")
    return bool(value)


def text(name: str, value: object, expected: str = "a text") -> str:
    if not isinstance(value, str):
        refuse(name, value, expected)
    return value


def path(name: str, value: object) -> str:
    if not isinstance(value, (str, os.PathLike)):
        refuse(name, value, "a path")
    return str(os.fspath(value))


def function(name: str, value: Any) -> Any:
    if value is not None and not callable(value):
        refuse(name, value, "a function, or None")
    return value


def sequence(name: str, value: Any, expected: str) -> list[Any]:
    """Return the elements of a list, range, array and so on; a text is refused, since it is one value."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        refuse(name, value, expected)
    return list(value)


def frozen(values: Any, dtype: Any) -> np.ndarray:
    array = np.array(values, dtype, order="C")
    array.flags.writeable = False
    return array


def loaded_instance(value: Any, kind: type[Kind], load: Callable[[str], Kind], arrays: str = "") -> Kind:
    """Return an instance; a text or path is loaded. ``arrays`` names what else the caller takes, for the error."""
    if isinstance(value, (str, os.PathLike)):
        return load(str(os.fspath(value)))
    if not isinstance(value, kind):
        refuse("instance", value, f"a name, a path, {f'{arrays}, ' if arrays else ''}or an object of {kind.__name__}")
    return value


def refuse_choice(name: str, value: object, choices: Sequence[str]) -> NoReturn:
    refuse(name, value, f"one of {', '.join(choices)}")


def refuse_keyword(name: str, value: object, known: Iterable[str], owner: str) -> NoReturn:
    import difflib

    near = difflib.get_close_matches(name, [*known], 1)
    suggestion = f" (did you mean {near[0]}?)" if near else ""
    raise UserError(f"{name}={reprlib.repr(value)}{suggestion}: found no such option of {owner}")


def named_keywords(
    elsewhere: Mapping[str, str],
) -> Callable[[Callable[Parameters, Found]], Callable[Parameters, Found]]:
    """Make a function refuse unknown keywords by a `UserError` that gives the nearest one.

    ``elsewhere`` has keywords that belong to something else, with the form in which it takes them.
    """

    def decorate(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
        code = function.__code__
        known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

        @functools.wraps(function)
        def call(*arguments: Parameters.args, **named: Parameters.kwargs) -> Found:
            for name in named:
                if name in elsewhere:
                    raise UserError(f"{name}={named[name]!r}: expected {elsewhere[name]}")
                if name not in known:
                    refuse_keyword(name, named[name], known, function.__name__)
            return function(*arguments, **named)

        return call

    return decorate
