"""Functions as the user wrote them: source text, signature, and errors with file and line."""

from __future__ import annotations

from contextlib import contextmanager
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from core.errors import shown
from core.lang import intrinsics
from core.lang.bundle_forms import RowArray, RowsOf, is_bundle, kind_text
from core.lang.kernel_errors import KernelError
from core.lang.named_arrays import as_array
from core.lang.types import SCALARS, Array, Const, Generic, Integer, Table, boolean

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator


MOST_LEVELS = 100
"""Largest nesting of statements, expressions and calls; device compilers and Python's stack allow little more."""


class Source:
    """A Python function written in the kernel language; a call runs it as plain Python."""

    is_kernel = False

    def __init__(self, python: Any) -> None:
        self.python = python
        _check_decorated(python)
        self.name: str = python.__name__
        self.path: str = python.__code__.co_filename
        self.first_line: int = python.__code__.co_firstlineno
        _forget_older_text(self.path)
        if self.name in intrinsics.WORDS:
            self.refuse(None, f"{self.name} is a word of the kernel language; choose another name for the function")
        self.__doc__ = python.__doc__
        self.__module__ = python.__module__
        self._signature: dict[str, Any] | None = None
        self._node: ast.FunctionDef | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.__module__}.{self.name}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle a function by name if another process can import it, else by value."""
        import sys

        current = getattr(sys.modules.get(self.__module__), self.name, None)
        return self.name if current is self and self.__module__ != "__main__" else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the tree, and the lines of a source that is no file, such as a notebook's cell."""
        import linecache
        import os

        state = {**vars(self), "_node": None}
        return state if os.path.exists(self.path) else {**state, "lines": linecache.getlines(self.path)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled function; register the lines of a source that is no file with Python."""
        lines = state.pop("lines", None)
        vars(self).update(state)
        if lines:
            import linecache

            linecache.cache[self.path] = (sum(map(len, lines)), None, lines, self.path)

    def refuse(self, node: ast.AST | None, message: str) -> NoReturn:
        line = getattr(node, "lineno", self.first_line)
        raise KernelError(f"{self.path}:{line}: {self.name}: {message}")

    @property
    def node(self) -> ast.FunctionDef:
        """The function's syntax tree, with the line numbers of its file."""
        if self._node is None:
            definition = _functions(self.path).get((self.first_line, self.name))
            if definition is None:
                self.refuse(None, "its source text cannot be found; define it in a file")
            _check_depth(self, definition)
            self._node = definition
        return self._node

    @property
    def identity(self) -> str | None:
        """A text that names the same code in every process, or None if something in its closure has no name."""
        parts = [f"{self.path}:{self.first_line} {self.name}"]
        code, cells = self.python.__code__, self.python.__closure__ or ()
        for free, cell in zip(code.co_freevars, cells, strict=True):
            value = cell.cell_contents
            text = value.identity if isinstance(value, Source) else constant_text(value)
            if text is None:
                return None
            parts.append(f"{free}={text}")
        return "; ".join(parts)

    def lookup(self, name: str) -> object:
        """Return the value of a free name of the function, or None."""
        code, cells = self.python.__code__, self.python.__closure__ or ()
        for free, cell in zip(code.co_freevars, cells, strict=True):
            if free == name:
                return cell.cell_contents
        return self.python.__globals__.get(name)

    def has(self, name: str) -> bool:
        """Return True if a free name of the function has a value, even None."""
        return name in self.python.__code__.co_freevars or name in self.python.__globals__

    def annotation(self, node: ast.expr | None, owner: ast.AST) -> Any:
        """Evaluate the annotation of a parameter or the result."""
        import ast

        if node is None:
            if getattr(owner, "arg", "") == "self":
                self.refuse(owner, "has a parameter self; leave it out, since a @function is no method")
            self.refuse(owner, "has no annotation; write a type such as i32, Array[u32] or Const[i32]")
        names = {n.id: self.lookup(n.id) for n in ast.walk(node) if isinstance(n, ast.Name)}
        code = ast.Expression(ast.copy_location(node, node))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.refuse(node, f"annotation {node.value!r}; write the type without quotes")
        try:
            kind = as_array(eval(compile(code, self.path, "eval"), {**names, "__builtins__": {}}))
        except (TypeError, AttributeError, NameError, ValueError) as error:
            self.refuse(node, f"annotation {ast.unparse(node)} is not a type of the kernel language ({error})")
        if not is_type(kind):
            name = ast.unparse(node)
            is_users = isinstance(kind, type) and kind.__module__ not in ("builtins", "numpy")
            advice = f"; write @bundle above class {name}" if is_users else ""
            self.refuse(node, f"annotation {name} is not a type of the kernel language{advice}")
        if isinstance(kind, Table) and not self.is_kernel:
            self.refuse(node, "a Table, which only kernels declare; write Array[...], which takes tables too")
        return kind

    @property
    def signature(self) -> dict[str, Any]:
        """Parameter names and their annotations, in order; the key ``return`` holds the result's."""
        if self._signature is None:
            self._signature = self._evaluated_signature() or self._read_signature()
        return self._signature

    def _evaluated_signature(self) -> dict[str, Any] | None:
        """Return the signature as Python has it; None if something is wrong with it.

        A process that finds its machine code in the cache thus parses no source text.
        """
        code, notes = self.python.__code__, self.python.__annotations__
        names = code.co_varnames[: code.co_argcount]
        starred = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or code.co_kwonlyargcount or code.co_posonlyargcount
        if starred or self.python.__defaults__ or not all(name in notes for name in names):
            return None
        kinds = {name: as_array(notes[name]) for name in (*names, "return") if name in notes}
        result = kinds.setdefault("return", None)
        is_valid = all(is_type(kinds[name], self.is_kernel) for name in names)
        return kinds if is_valid and (result is None or is_result(result)) else None

    def _read_signature(self) -> dict[str, Any]:
        """Return the signature from the source text; refuse errors in it with their line."""
        import ast

        arguments = self.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            self.refuse(self.node, "has starred or keyword-only parameters; write plain ones")
        if arguments.defaults:
            self.refuse(self.node, "has default values; pass every argument")
        kinds = {a.arg: self.annotation(a.annotation, a) for a in arguments.args}
        returns, kinds["return"] = self.node.returns, None
        if returns is not None and not (isinstance(returns, ast.Constant) and returns.value is None):
            kinds["return"] = self.annotation(returns, self.node)
            if not is_result(kinds["return"]):
                self.refuse(returns, f"returns {ast.unparse(returns)}; return a number, and store the rest in arrays")
        return kinds


def is_type(kind: object, takes_tables: bool = True) -> bool:
    """Return True for a type that a parameter of a kernel or a function can have; only kernels take tables."""
    if isinstance(kind, RowsOf):
        return is_bundle(kind.bundle) or isinstance(kind.bundle, Generic)
    inner = kind.element if isinstance(kind, Array) else kind.scalar if isinstance(kind, Const) else kind
    excluded = RowArray if takes_tables else (RowArray, Table)
    return (is_result(inner) or is_bundle(kind)) and not isinstance(kind, excluded)


def is_result(kind: object) -> bool:
    """Return True for the type of a number, the only results of functions."""
    return kind in SCALARS or kind is boolean or isinstance(kind, Generic)


def constant_text(value: object) -> str | None:
    """Return a constant as text, equal in every process: a number, a text, None, a tuple of such, names of fields."""
    if is_bundle(value) or as_array(value) is not value:
        return kind_text(as_array(value))
    if isinstance(value, tuple):
        inner = [constant_text(element) for element in value]
        return None if None in inner else f"({', '.join(map(str, inner))})"
    return repr(value) if value is None or isinstance(value, (bool, int, float, str, Integer)) else None


class Function(Source):
    """A function that kernels call; it is compiled into them, once for each combination of argument types."""


def located_error(kind: type[KernelError], places: list[tuple[Source, int]], message: str) -> KernelError:
    """Return an error in the last of some functions, each of which calls the next one at its line."""
    if not places:
        return kind(message)
    *callers, (source, line) = places
    error = kind(f"{source.path}:{line}: {source.name}: {message}")
    for caller, place in reversed(callers):
        error.add_caller(caller.path, place, caller.name)
    return error


@contextmanager
def called_at(source: Source, node: ast.expr) -> Iterator[None]:
    """Add the call that ``source`` makes at ``node`` to errors that pass through this block."""
    try:
        yield
    except KernelError as error:
        error.add_caller(source.path, node.lineno, source.name)
        raise


def _check_decorated(function: object) -> None:
    if isinstance(function, Source):
        function.refuse(None, f"is a @{type(function).__name__.lower()} already; decorate it once")
    code, name = getattr(function, "__code__", None), getattr(function, "__name__", None)
    if code is None or name is None:
        raise KernelError(f"{shown(function)} is no Python function; decorate a def")


def _check_depth(source: Source, node: ast.FunctionDef) -> None:
    """Refuse a function with a syntax tree too deep for recursion in Python."""
    import ast

    pending: list[tuple[ast.AST, int]] = [(node, -1)]
    while pending:
        inner, depth = pending.pop()
        depth += isinstance(inner, (ast.stmt, ast.expr))
        if depth > MOST_LEVELS:
            too_deep(source, inner)
        pending += [(child, depth) for child in ast.iter_child_nodes(inner)]


def too_deep(source: Source, node: ast.AST) -> NoReturn:
    """Refuse code nested deeper than `MOST_LEVELS`."""
    source.refuse(
        node,
        f"statements, expressions and calls nested more than {MOST_LEVELS} levels deep; "
        "write several statements, or fewer functions that call each other",
    )


def _forget_older_text(path: str) -> None:
    """Let Python read a changed file again; a function of it is being defined, so the file was loaded again."""
    import sys

    cached = sys.modules.get("linecache")
    if cached is not None and path in cached.cache:
        cached.checkcache(path)


_parsed: dict[tuple[str, int], dict[tuple[int, str], ast.FunctionDef]] = {}


def _functions(path: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """Return every function of a file by first line (its first decorator's, if any) and name.

    Every node has a unique ``number``, kept by copies: the key of all facts found by the front end.
    """
    import ast
    import linecache

    text = "".join(linecache.getlines(path))
    key = (path, hash(text))
    if key not in _parsed:
        functions = _parsed[key] = {}
        for number, node in enumerate(ast.walk(ast.parse(text))):
            node.number = number  # type: ignore[attr-defined]
            if isinstance(node, ast.FunctionDef):
                functions[min([node.lineno] + [d.lineno for d in node.decorator_list]), node.name] = node
    return _parsed[key]
