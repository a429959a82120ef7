"""Signatures of a problem's functions, checked before a kernel is made of them."""

from __future__ import annotations

from types import MethodType
from typing import Any, NoReturn

import numpy as np

from core.errors import UserError
from core.lang import Function, KernelError
from core.lang.bundle_forms import is_bundle
from core.lang.types import BY_DTYPE, SCALARS, Array, Generic, described, i32, u32, widens
from core.local_search.encodings import Neighbourhood
from core.local_search.kernels.hooks import D, Evaluation
from core.local_search.kernels.walks import AnyMove, Move, S, Share

SOLUTION, MOVE, DATA, WORKER = ({"solution": Array(S)}, {"move": Move}, {"data": D}, {"worker": i32, "workers": i32})
SIGNATURES: dict[str, tuple[dict[str, Any], Any]] = {
    "delta": (SOLUTION | MOVE | DATA, i32),
    "quick": (SOLUTION | {"index": u32} | MOVE | DATA, i32),
    "begin": (SOLUTION | DATA, None),
    "update": (SOLUTION | MOVE | DATA, None),
    "move": (SOLUTION | MOVE | DATA, None),
    "refresh": ({"share": Share, "changed": i32} | MOVE | SOLUTION | DATA, None),
    "partial": (WORKER | SOLUTION | MOVE | DATA, i32),
    "value": (SOLUTION | {"move": AnyMove} | DATA, i32),
}
"""Parameters and result of each function of `core.local_search.kernels.hooks.Evaluation`; a move is an `AnyMove`."""
INDEX, SIZE = {"index": u32}, {"n": i32}
DECODING: tuple[dict[str, Any], ...] = (INDEX | SIZE, INDEX | {"i": i32} | SIZE, INDEX | {"i": i32, "j": i32} | SIZE)
"""Parameters of the functions that compute a neighbour's i, j and k in a custom neighbourhood; all return i32."""


def check_functions(name: str, evaluation: Evaluation, dtype: str) -> None:
    """Refuse an evaluation's functions that the kernels of a search could not call.

    ``name`` is that of the problem, ``dtype`` that of a solution's elements. Raises `UserError` for anything but a
    ``@function``, and `KernelError`, with its line, for other parameters or another result.
    """
    types = {id(S): BY_DTYPE[np.dtype(dtype)], id(D): type(evaluation.data)}
    for role, (parameters, result) in SIGNATURES.items():
        function = getattr(evaluation, role)
        if function is None and (role != "delta" or evaluation.value is not None):
            continue
        bound = {
            parameter: Array(types[id(kind.element)]) if isinstance(kind, Array) else types.get(id(kind), kind)
            for parameter, kind in parameters.items()
        }
        check_function(name, role, function, bound, result)


def check_neighbourhood(name: str, neighbourhood: Neighbourhood, dtype: str) -> None:
    """Refuse a custom neighbourhood's functions that the kernels of a search could not call.

    ``dtype`` is that of a solution's elements. Raises as `check_functions`.
    """
    owner = f"{name}, neighbourhood {neighbourhood.name}"
    for function, parameters in zip(neighbourhood.decode, DECODING, strict=False):
        check_function(owner, "decode", function, parameters, i32)
    if neighbourhood.apply is not None:
        parameters = {"solution": Array(BY_DTYPE[np.dtype(dtype)])} | MOVE | SIZE
        check_function(owner, "apply", neighbourhood.apply, parameters, None)


def check_function(name: str, role: str, function: object, parameters: dict[str, Any], result: object) -> None:
    """Refuse a function with other parameters or another result; ``name`` and ``role`` identify it in the message."""
    expected = f"expected a @function {signature_text(parameters, result)}"
    if not isinstance(function, Function):
        require_function(name, role, function, expected)
    actual = {parameter: kind for parameter, kind in function.signature.items() if parameter != "return"}
    returned = function.signature["return"]
    takes_them = len(actual) == len(parameters) and all(map(parameter_matches, actual.values(), parameters.values()))
    if not takes_them or not result_matches(returned, result):
        has = signature_text(actual, returned)
        place = f"{function.path}:{function.first_line}: {function.name}"
        raise KernelError(f"{place}: `{role}` of {name} is {has}: {expected}")


def require_function(name: str, role: str, value: object, expected: str) -> NoReturn:
    """Refuse anything but a ``@function``, with advice."""
    code = getattr(value, "__code__", None)
    if code is None:
        also = ", or `value`" if role == "delta" else ""
        kind = "missing" if value is None else repr(value)
        raise UserError(f"{name}: its `{role}` is {kind}: {expected}{also}")
    kind, advice = "a plain function", f"write @function above def {code.co_name}"
    if isinstance(value, MethodType):
        kind, advice = "a method", f"write it outside of the class, without self, and {role} = its name in the class"
    elif code.co_name == "<lambda>":
        kind, advice = "a lambda", "write a def"
    place = f"{code.co_filename}:{code.co_firstlineno}: {code.co_name}"
    raise UserError(f"{place}: `{role}` of {name} is {kind}: {expected}; {advice}")


def parameter_matches(declared: Any, argument: Any) -> bool:
    """Return True if a parameter accepts the argument's type."""
    if isinstance(declared, Generic):
        return not isinstance(argument, Array)
    if isinstance(argument, Array):
        element = declared.element if isinstance(declared, Array) else None
        return isinstance(element, Generic) or element is argument.element
    if is_bundle(argument):
        return is_bundle(declared) and issubclass(AnyMove if argument is Move else argument, declared)
    return declared in SCALARS and widens(argument, declared)


def result_matches(declared: object, expected: object) -> bool:
    if expected is None or declared not in SCALARS:
        return declared is expected or isinstance(declared, Generic)
    return expected in SCALARS and widens(declared, expected)


def signature_text(parameters: dict[str, Any], result: object) -> str:
    """Return a signature as source text."""
    inside = ", ".join(f"{name}: {described(kind)}" for name, kind in parameters.items())
    return f"({inside})" + (f" -> {described(result)}" if result is not None else "")
