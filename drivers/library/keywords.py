"""Keywords of the library's functions: an unknown one is refused with the nearest name, as options of programs are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from core.errors import UserError
from drivers.options.declaration import refuse_keyword

Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")


def named_keywords(
    elsewhere: Mapping[str, str],
) -> Callable[[Callable[Parameters, Found]], Callable[Parameters, Found]]:
    """Make a function refuse unknown keywords by a `UserError` that gives the nearest one.

    Parameters
    ----------
    elsewhere
        Keywords that belong to something else, with the form in which it takes them.

    """

    def decorate(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
        known = frozenset(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*given: Parameters.args, **named: Parameters.kwargs) -> Found:
            for name in named:
                if name in elsewhere:
                    raise UserError(f"{name}={named[name]!r}: expected {elsewhere[name]}")
                if name not in known:
                    refuse_keyword(name, named[name], known, function.__name__)
            return function(*given, **named)

        return call

    return decorate
