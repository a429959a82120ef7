"""Digest of the meaning of kernel functions: the same in every process, on every machine and Python.

`core.lang.source.Source.identity` names code by its place, which is enough while a job runs. Records and stored launch
shapes outlive a job, so they need to know if the code itself is the same.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable
from tokenize import TokenError
from types import CodeType
from typing import Any

from core.lang.bundle_forms import RowsOf, is_bundle, kind_text
from core.lang.source import Source, constant_text
from core.lang.types import Generic

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
VARIABLES = (
    (ast.Name, "id"),
    (ast.arg, "arg"),
    (ast.ExceptHandler, "name"),
    (ast.MatchAs, "name"),
    (ast.MatchStar, "name"),
)
"""Nodes that name a variable, each with the field that has the name."""
UNREAD_FIELDS = ("ctx", "kind", "type_comment")
"""Fields of nodes that say nothing about what is computed."""


def source_digest(sources: Iterable[Source]) -> str:
    """SHA-256 of functions, of all functions that they call, and of the constants that they read.

    Wording and place in a file do not count (see `normal_form`); neither does the order of ``sources``.
    """
    return hashlib.sha256("\n".join(sorted({_described(source, {}) for source in sources})).encode()).hexdigest()


def _described(source: Source, numbers: dict[Source, int]) -> str:
    """Return the function's normal form and the meaning of each name; a repeated function is only its number."""
    if source in numbers:
        return f"function {numbers[source]}"
    numbers[source] = len(numbers)
    code = source.python.__code__
    try:
        form = _words(code, tuple(source.signature.values()))
    except (OSError, SyntaxError, TokenError):
        source.refuse(None, "its source text cannot be found; define it in a file")
    kinds = (kind.bundle if isinstance(kind, RowsOf) else kind for kind in source.signature.values())
    meanings = sorted({kind_text(kind) for kind in kinds if is_bundle(kind) or getattr(kind, "naming", None)})
    for name in sorted({*code.co_names, *code.co_freevars}):
        value = source.lookup(name)
        if isinstance(value, Source):
            meanings.append(f"{name}: {_described(value, numbers)}")
        elif isinstance(value, Generic):
            meanings.append(f"{name}: any type {value.name}")
        elif (value is not None or source.has(name)) and (text := constant_text(value)) is not None:
            meanings.append(f"{name} = {text}")
    return f"{form} [{'; '.join(meanings)}]"


@functools.cache
def _words(code: CodeType, kinds: tuple[Any, ...]) -> str:
    """Return the normal form of a function, which also has its annotations; code is equal for functions without them.

    Raises `OSError` if there is no text, or one of something else: Python 3.13 keeps that of ``python -c`` under the
    file name of all code without a file.
    """
    import inspect
    import textwrap

    form = normal_form(textwrap.dedent(inspect.getsource(code)))
    if not form.startswith(f"Module(body=[FunctionDef(name={code.co_name!r} "):
        raise OSError(f"no source text of {code.co_name}")
    return form


@functools.cache
def normal_form(text: str) -> str:
    """Return the syntax tree of a function or a module as text, equal for texts that differ only in wording.

    Comments, docstrings, blank lines, parentheses without effect and names of local variables and parameters do not
    count; names of attributes, of keyword arguments and of everything outside functions do. The form is the same for
    every version of Python: empty fields, which newer versions add, are left out.
    """
    return _form(ast.parse(text), {})


def _form(node: object, numbers: dict[str, str]) -> str:
    """Return the form of a node, a list of nodes, or a constant; ``numbers`` replace the names of local variables."""
    if isinstance(node, list):
        return f"[{' '.join(_form(each, numbers) for each in node if not _is_docstring(each))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, FUNCTIONS) and not numbers:
        numbers = {name: f"${number}" for number, name in enumerate(_local_names(node))}
    fields = []
    for name, value in ast.iter_fields(node):
        if name in UNREAD_FIELDS or (value in (None, []) and not isinstance(node, ast.Constant)):
            continue
        if isinstance(node, ast.JoinedStr):  # Python 3.12 adds empty texts
            value = [part for part in value if not (isinstance(part, ast.Constant) and part.value == "")]
        is_variable = (type(node), name) in VARIABLES
        fields.append(f"{name}={numbers.get(value, value) if is_variable else _form(value, numbers)}")
    return f"{type(node).__name__}({' '.join(fields)})"


def _is_docstring(node: object) -> bool:
    """Return True for a string that is a statement: the docstring of a module, function, class or variable."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _local_names(function: ast.AST) -> list[str]:
    """Return the parameters and variables of a function and of the functions inside it, in order of their places."""
    bound: dict[str, tuple[int, int]] = {}
    outer: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        for kind, field in VARIABLES:
            if type(node) is kind and not isinstance(getattr(node, "ctx", None), ast.Load):
                place = (node.lineno, node.col_offset)
                name = getattr(node, field)
                bound[name] = min(bound.get(name, place), place)
    return sorted(bound.keys() - outer - {None}, key=bound.__getitem__)
