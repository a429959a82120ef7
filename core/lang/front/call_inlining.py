"""Front end: a call of a function that is one expression becomes that expression, so that short functions cost nothing.

numba takes some 30 ms to compile each function, whatever its length.
"""

from __future__ import annotations

from typing import Any

from core.lang import tree


def inlined_call(function: tree.TypedFunction, arguments: tuple[Any, ...]) -> Any:
    """The expression that a call stands for, or None if it must stay a call.

    It stays one of a function that takes arrays, or of which an argument would be computed more than once.
    """
    value = function.body[0].value if len(function.body) == 1 and isinstance(function.body[0], tree.Return) else None
    if value is None or isinstance(value, tree.Literal):
        return None
    if any(isinstance(kind, tree.ArrayType) for kind in function.parameters.values()):
        return None
    given = dict(zip(function.parameters, arguments, strict=True))
    uses = list(names_in(value))
    if any(uses.count(n) > 1 and not isinstance(a, (tree.Local, tree.Literal)) for n, a in given.items()):
        return None
    return substituted(value, given)


def names_in(value: Any) -> Any:
    """The names of the locals in an expression, each as often as it stands there."""
    if isinstance(value, tree.Local):
        yield value.name
    elif isinstance(value, tuple):
        for part in value:
            yield from names_in(part)


def substituted(value: Any, given: dict[str, Any]) -> Any:
    """The expression with other expressions in the place of its locals."""
    if isinstance(value, tree.Local):
        return given[value.name]
    if isinstance(value, tree.Literal) or not isinstance(value, tuple):
        return value
    parts = (substituted(part, given) for part in value)
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
