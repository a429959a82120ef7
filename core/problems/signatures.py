"""Signatures of a problem's functions, checked before a kernel is made of them."""

from __future__ import annotations

from types import MethodType
from typing import Any, NoReturn

import numpy as np

from core.errors import UserError
from core.kernels.local_search.hooks import D
from core.kernels.local_search.walks import AnyMove, Move, S, Share
from core.lang import Function, KernelError
from core.lang.bundle_forms import is_bundle
from core.lang.types import BY_DTYPE, SCALARS, Array, Generic, described, i32, u32, widens

SOLUTION, MOVE, DATA, WORKER = (
    {"solution": Array(S)},
    {"move": Move},
    {"data": D},
    {"worker": i32, "workers": i32},
)
SIGNATURES: dict[str, tuple[dict[str, Any], Any]] = {
    "delta": (SOLUTION | MOVE | DATA, i32),
    "quick": (SOLUTION | {"index": u32} | MOVE | DATA, i32),
    "begin": (SOLUTION | DATA, None),
    "update": (SOLUTION | MOVE | DATA, None),
    "move": (SOLUTION | MOVE | DATA, None),
    "refresh": ({"share": Share, "changed": i32} | MOVE | SOLUTION | DATA, None),
    "partial": (WORKER | SOLUTION | MOVE | DATA, i32),
    "value": (SOLUTION | {"move": AnyMove} | DATA, i32),
    "touches": (SOLUTION | MOVE | DATA, i32),
    "touched": (SOLUTION | {"place": i32} | MOVE | DATA, u32),
}
"""Parameters and result of each function of `core.kernels.local_search.hooks.Hooks`; a move is an `AnyMove`."""
FOCUS: dict[str, tuple[dict[str, Any], Any]] = {
    "violated": (SOLUTION | DATA, i32),
    "violated_at": (SOLUTION | {"rank": i32} | DATA, i32),
    "repairs": (SOLUTION | {"constraint": i32} | DATA, i32),
    "repair": (SOLUTION | {"constraint": i32, "place": i32} | DATA, u32),
    "harm": (SOLUTION | MOVE | DATA, i32),
}
"""The same of `core.kernels.local_search.hooks.Focus`."""
INDEX, SIZE = {"index": u32}, {"n": i32}
DECODING: tuple[dict[str, Any], ...] = (
    INDEX | SIZE,
    INDEX | {"i": i32} | SIZE,
    INDEX | {"i": i32, "j": i32} | SIZE,
)
"""Parameters of the functions that find a neighbour's i, j and k in a custom neighbourhood, all of which return i32."""


def check_functions(name: str, evaluation: Any, dtype: str, data: type) -> None:
    """Refuse an evaluation's functions that the kernels of a search could not call.

    Parameters
    ----------
    evaluation
        A `core.problems.problem.Evaluation`.
    dtype
        Of a solution's elements.
    data
        The bundle's class that the functions read.

    Raises
    ------
    UserError
        One is no ``@function``.
    KernelError
        One has other parameters or another result; the line says where it is, what it has and what was expected.
    """
    meant = {id(S): BY_DTYPE[np.dtype(dtype)], id(D): data}
    for role, (parameters, result) in (SIGNATURES | (FOCUS if evaluation.focus else {})).items():
        given = getattr(evaluation.focus if role in FOCUS else evaluation, role)
        if given is None and (role not in ("delta", *FOCUS) or role == "harm" or evaluation.value is not None):
            continue
        check_function(name, role, given, {one: problem_type(kind, meant) for one, kind in parameters.items()}, result)


def check_neighbourhood(name: str, neighbourhood: Any, dtype: str) -> None:
    """Refuse a neighbourhood's own functions that the kernels of a search could not call.

    Raises `KernelError` if one has other parameters or another result; the message has its line, what it has and what
    was expected.

    Parameters
    ----------
    neighbourhood
        A `core.problems.encodings.Neighbourhood`.
    dtype
        Of a solution's elements.
    """
    what = f"{name}, neighbourhood {neighbourhood.name}"
    for given, wanted in zip(neighbourhood.decode, DECODING, strict=False):
        check_function(what, "decode", given, wanted, i32)
    if neighbourhood.apply is not None:
        wanted = {"solution": Array(BY_DTYPE[np.dtype(dtype)])} | MOVE | SIZE
        check_function(what, "apply", neighbourhood.apply, wanted, None)


def check_function(name: str, role: str, given: Any, wanted: dict[str, Any], result: Any) -> None:
    """Refuse a function without these parameters and this result; ``name`` and ``role`` identify it in the message."""
    expected = f"expected a @function {signature_text(wanted, result)}"
    if not isinstance(given, Function):
        require_function(name, role, given, expected)
    own = {one: kind for one, kind in given.signature.items() if one != "return"}
    returned = given.signature["return"]
    takes_them = len(own) == len(wanted) and all(map(parameter_matches, own.values(), wanted.values()))
    if not takes_them or not result_matches(returned, result):
        has = signature_text(own, returned)
        raise KernelError(f"{given.path}:{given.first_line}: {given.name}: `{role}` of {name} is {has}: {expected}")


def require_function(name: str, role: str, given: Any, expected: str) -> NoReturn:
    """Refuse something else where a ``@function`` is needed, with what to write."""
    code = getattr(given, "__code__", None)
    if code is None:
        also = ", or `value`" if role == "delta" else ""
        what = "missing" if given is None else repr(given)
        raise UserError(f"{name}: its `{role}` is {what}: {expected}{also}")
    what, advice = "a plain function", f"write @function above def {code.co_name}"
    if isinstance(given, MethodType):
        what, advice = "a method", f"write it outside of the class, without self, and {role} = its name in the class"
    elif code.co_name == "<lambda>":
        what, advice = "a lambda", "write a def"
    place = f"{code.co_filename}:{code.co_firstlineno}: {code.co_name}"
    raise UserError(f"{place}: `{role}` of {name} is {what}: {expected}; {advice}")


def problem_type(kind: Any, meant: dict[int, Any]) -> Any:
    """Return a parameter's type, with the problem's types in place of generic ones."""
    return Array(meant[id(kind.element)]) if isinstance(kind, Array) else meant.get(id(kind), kind)


def parameter_matches(declared: Any, given: Any) -> bool:
    """Return True if a parameter accepts the given type."""
    if isinstance(declared, Generic):
        return not isinstance(given, Array)
    if isinstance(given, Array):
        element = declared.element if isinstance(declared, Array) else None
        return isinstance(element, Generic) or element is given.element
    if is_bundle(given):
        passed = AnyMove if given is Move else given
        return is_bundle(declared) and issubclass(passed, declared)
    return declared in SCALARS and widens(given, declared)


def result_matches(declared: Any, wanted: Any) -> bool:
    """Return True if a function's result has the wanted type."""
    if wanted is None or declared not in SCALARS:
        return declared is wanted or isinstance(declared, Generic)
    return widens(declared, wanted)


def signature_text(parameters: dict[str, Any], result: Any) -> str:
    """A signature as its source text reads."""
    inside = ", ".join(f"{name}: {described(kind)}" for name, kind in parameters.items())
    return f"({inside})" + (f" -> {described(result)}" if result is not None else "")
