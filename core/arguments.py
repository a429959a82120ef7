"""Checks of arguments of public functions; an error names the argument, the value found and the value expected."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from core.errors import UserError, did_you_mean, shown

Kind = TypeVar("Kind")
Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")
Numbers = np.ndarray | Sequence[int]
"""A row of numbers given by the caller."""
Matrix = np.ndarray | Sequence[Sequence[float]]
"""A matrix given by the caller."""
MOST_BITS = 128
"""Largest size of an integer that the checks of single options see."""


def refuse(name: str, value: object, expected: str) -> NoReturn:
    """Raise a `UserError` in the form that all refusals of arguments have."""
    description = f"{value.__name__}, a class" if isinstance(value, type) else shown(value)
    raise UserError(f"{name}={description}: expected {expected}")


def integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return an integer of Python or NumPy, of at most 128 bits; a truth value is refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        refuse(name, value, interval("an integer", least, most))
    if not (-inf if least is None else least) <= value <= (inf if most is None else most):
        refuse(name, value, interval("an integer", least, most))
    if int(value).bit_length() > MOST_BITS:
        refuse(name, value, f"{interval('an integer', least, most)}, with at most {MOST_BITS} bits")
    return int(value)


def number(name: str, value: object, least: float | None = None, most: float | None = None) -> float:
    """Return a number of Python or NumPy; a truth value, a NaN and, with a least value, an infinity are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        refuse(name, value, interval("a number", least, most))
    largest = sys.float_info.max if most is None else most
    if not (-largest if least is None else least) <= value <= largest and not (least is None and abs(value) == inf):
        refuse(name, value, interval("a number", least, most))
    return value  # type: ignore[return-value]


def interval(noun: str, least: float | None, most: float | None) -> str:
    if least is None:
        return noun
    return f"{noun} of at least {least}" if most is None else f"{noun} from {least} to {most}"


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


def function(name: str, value: Kind) -> Kind:
    if value is not None and not callable(value):
        refuse(name, value, "a function, or None")
    return value


def sequence(name: str, value: object, expected: str) -> list[Any]:
    """Return the elements of a list, range, array and so on; a text is refused, since it is one value."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        refuse(name, value, expected)
    return list(value)


def frozen(values: object, dtype: np.dtype | type[np.generic]) -> np.ndarray:
    array = np.array(values, dtype, order="C")
    array.flags.writeable = False
    return array


def loaded_instance(value: object, kind: type[Kind], load: Callable[[str], Kind], arrays: str = "") -> Kind:
    """Return an instance; a text or path is loaded. ``arrays`` names what else the caller takes, for the error."""
    if isinstance(value, (str, os.PathLike)):
        return load(str(os.fspath(value)))
    if not isinstance(value, kind):
        refuse("instance", value, f"a name, a path, {f'{arrays}, ' if arrays else ''}or an object of {kind.__name__}")
    return value


def refuse_choice(name: str, value: object, choices: Sequence[str]) -> NoReturn:
    raise UserError(f"{name}={shown(value)}{did_you_mean(value, choices)}: expected one of {', '.join(choices)}")


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    if value not in choices:
        refuse_choice(name, value, choices)
    return str(value)


def refuse_keyword(name: str, value: object, known: Iterable[str], owner: str) -> NoReturn:
    raise UserError(f"{name}={shown(value)}{did_you_mean(name, known)}: found no such option of {owner}")


def named_keywords(
    elsewhere: Mapping[str, str],
) -> Callable[[Callable[Parameters, Found]], Callable[Parameters, Found]]:
    """Make a function refuse unknown keywords by a `UserError` that gives the nearest one.

    Missing and superfluous arguments are refused too. ``elsewhere`` has keywords that belong to something else, with
    the form in which it takes them.
    """

    def decorate(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
        @functools.wraps(function)
        def call(*arguments: Parameters.args, **named: Parameters.kwargs) -> Found:
            try:
                return function(*arguments, **named)
            except TypeError:
                refuse_misfit(function, arguments, named, elsewhere)
                raise

        return call

    return decorate


checked_call = named_keywords({})
"""Decorator of a function that refuses a call that does not fit its parameters."""


def checked_class(kind: type[Kind]) -> type[Kind]:
    """Make a class refuse a call that does not fit its parameters; see `checked_call`."""
    maker = "__new__" if issubclass(kind, tuple) else "__init__"
    setattr(kind, maker, checked_call(getattr(kind, maker)))
    return kind


def refuse_misfit(
    function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any], elsewhere: Mapping[str, str]
) -> None:
    """Raise a `UserError` if a call does not fit the parameters of a function; see `named_keywords`."""
    signature = inspect.signature(function)
    owner = function.__qualname__.removesuffix(".__init__").removesuffix(".__new__").rpartition(".<locals>.")[2]
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        takes = {name: one.kind for name, one in signature.parameters.items() if name not in ("self", "cls", "_cls")}
        known = [name for name, kind in takes.items() if kind is not inspect.Parameter.VAR_KEYWORD]
        for name in named:
            if name in elsewhere:
                raise UserError(f"{name}={shown(named[name])}: expected {elsewhere[name]}") from None
            if name not in known and (len(known) == len(takes) or did_you_mean(name, known)):
                refuse_keyword(name, named[name], known, owner)
        raise UserError(f"{owner}(): {error}: expected {', '.join(known[:5])}") from None
