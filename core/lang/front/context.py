"""Context of the function that is being translated: the base of its translators."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol, TypeVar

from core.lang import tree
from core.lang.bundle_forms import is_bundle
from core.lang.front.advice import ADVICE
from core.lang.front.bundle_types import Bundle
from core.lang.intrinsics import PYTHON_NAMES, WORDS
from core.lang.source import MOST_LEVELS, Function, too_deep
from core.lang.types import Generic, Scalar

T = TypeVar("T")
MOST_LOCAL_BYTES = 1 << 18
"""Size of a lane's local arrays: they lie on the stack of a thread, which may be as small as 512 KiB."""


class Untyped(NamedTuple):
    """A number written in the source: its ``type`` is None until its context gives it one."""

    type: Any
    value: int | float
    node: ast.expr


Value = tree.Expression | Untyped
"""Value of an expression: it has a type, or is a number without one."""


class ProgramContext(Protocol):
    """Translator of the program; ``levels`` counts the nesting at the node that is being translated."""

    team_size: int
    levels: int

    def function(
        self, source: Function, types: tuple[Any, ...], bound: dict[str, Any], node: ast.expr, caller: FunctionContext
    ) -> tree.TypedFunction: ...


class FunctionContext:
    """State of the function that is being translated, with its result ``out``.

    Subclasses translate it, each one kind of construct with the methods of those before it. They enter these methods in
    `expressions` and `statements`, by the class of the node. The rest describes a place in the function.

    Attributes
    ----------
    program
        Specialises called functions.
    constants : dict
        Values of ``Const`` parameters and of the variables of `unroll`.
    bundles
        Values of names of bundles.
    assigned, defined : set of str
        Names that the function stores to; locals that certainly have a value here, None in unreachable code.
    steps, copies
        Values of the variables of `unroll` around this place, and the number of copies that they make of it.
    open_loops : list
        For every loop around this place, the locals defined at its exits; None for `unroll`.
    depth : int
        Statements around this place.
    """

    expressions: ClassVar[dict[type, Callable[..., Value]]] = {}
    statements: ClassVar[dict[type, Callable[..., list[tree.Statement]]]] = {}

    def __init__(self, program: ProgramContext, out: tree.TypedFunction) -> None:
        self.program, self.source, self.out = program, out.source, out
        self.constants: dict[str, Any] = dict(out.constants)
        self.bundles: dict[str, Bundle] = dict(out.bundles)
        names = (node for node in ast.walk(self.source.node) if isinstance(node, ast.Name))
        self.assigned = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        numbers = {name for name, kind in out.parameters.items() if not isinstance(kind, tree.ArrayType)}
        self.defined: set[str] | None = numbers | out.bundles.keys()
        self.steps: tuple[int, ...] = ()
        self.copies = 1
        self.open_loops: list[list[set[str] | None] | None] = []
        self.depth = 0
        self.temporaries = 0
        self.node_numbers = itertools.count(1)

    def refuse(self, node: ast.AST, message: str) -> NoReturn:
        self.source.refuse(node, message)

    def descend(self, node: ast.AST, levels: int) -> None:
        """Count levels of nesting; the caller subtracts them after ``node``."""
        self.program.levels += levels
        if self.program.levels > MOST_LEVELS:
            too_deep(self.source, node)

    def key(self, node: ast.AST) -> tuple[int, ...]:
        """Return the identity of an expression in one step of every `unroll` around it."""
        facts = vars(node)
        if "number" not in facts:  # made by the front end: no node of the function's text
            facts["number"] = -next(self.node_numbers)
        return (facts["number"], *self.steps)

    def occupy(self, node: ast.AST, count: int) -> None:
        self.out.local_bytes += count
        if self.out.local_bytes > MOST_LOCAL_BYTES:
            self.refuse(
                node,
                f"local arrays of {self.out.local_bytes} bytes, with those of every call; a lane has "
                f"{MOST_LOCAL_BYTES}, pass a part of an argument instead",
            )

    def is_free(self, name: str) -> bool:
        """Return True for a name that the function does not define: its module or closure does."""
        return not (name in self.assigned or name in self.source.signature or name in self.constants)

    def check_word(self, node: ast.expr, value: object) -> None:
        """Refuse a word of the language that the kernel's module does not import, or defines otherwise."""
        assert isinstance(node, ast.Name)
        name = node.id
        if not self.is_free(name):
            self.refuse(node, f"{name}, which is a variable here; choose another name for the variable")
        if name in WORDS and value is not WORDS[name] and not (value is None and name in PYTHON_NAMES):
            self.refuse(node, f"{name} is not the word of the kernel language here; import it from core.lang")

    def bound_type(self, name: str) -> Scalar | None:
        """Return the scalar type of a `Generic` in this function, or None."""
        value = self.source.lookup(name)
        bound = self.out.types.get(value.name) if isinstance(value, Generic) else None
        return None if is_bundle(bound) else bound

    def count(self, node: ast.Call, expected: int) -> None:
        if len(node.args) != expected:
            self.refuse(node, f"{ast.unparse(node.func)} takes {expected} arguments, not {len(node.args)}")

    def touched(self, value: T) -> T:
        """Return the value; an offered field becomes a parameter of the function."""
        name = getattr(value, "name", None)
        if name in self.out.offered:
            self.out.parameters.setdefault(name, self.out.offered[name])
        return value

    def hold(self, value: tree.Expression) -> tuple[tree.Assign, tree.Local]:
        """Return the assignment of a value to a temporary, and the local that reads it."""
        self.temporaries += 1
        name = f"held.{self.temporaries}"  # no identifier, so that it hides no name of the module
        self.out.locals[name] = value.type
        return tree.Assign(name, value), tree.Local(value.type, name)

    def block(self, statements: list[ast.stmt]) -> list[tree.Statement]:
        """Translate statements in order."""
        typed: list[tree.Statement] = []
        self.depth += 1
        for statement in statements:
            typed.extend(self.translated(statement, self.statements, 1))
        self.depth -= 1
        return typed

    def branch(self, body: list[ast.stmt], start: set[str] | None) -> tuple[list[tree.Statement], set[str] | None]:
        """Translate one path, which begins with the locals ``start``; return also the locals defined at its end."""
        self.defined = None if start is None else set(start)
        return self.block(body), self.defined

    def expression(self, node: ast.expr) -> Value:
        """Type one expression without effects."""
        return self.translated(node, self.expressions, levels_of(node))

    def translated(self, node: ast.AST, methods: Mapping[type, Callable[..., T]], levels: int) -> T:
        """Translate a node that nests some levels by the method for its class."""
        kind = type(node)
        if kind not in methods:
            self.refuse(node, ADVICE.get(kind, f"{kind.__name__} is not part of the kernel language"))
        self.descend(node, levels)
        typed = methods[kind](self, node)
        self.program.levels -= levels
        return typed


def called_name(node: ast.AST) -> str:
    """Return the bare name of the called function; empty for anything but a call."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def levels_of(node: ast.expr) -> int:
    """Return the levels that an expression nests: at least as many parentheses as its text has on any device."""
    if isinstance(node, (ast.Call, ast.Subscript)):
        return 2
    if isinstance(node, ast.BinOp):
        return 3 if isinstance(node.op, (ast.LShift, ast.RShift)) else 1
    if isinstance(node, ast.Compare):
        return len(node.ops)
    return len(node.values) if isinstance(node, ast.BoolOp) else 1
