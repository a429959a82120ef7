"""Context of the function that is being translated: what every visitor of the front end reads and writes."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any, NoReturn

from core.lang import tree
from core.lang.bundles import is_bundle
from core.lang.device_messages import MessageSettings, MessageStatement
from core.lang.front.advice import EXPRESSION_ADVICE, STATEMENT_ADVICE
from core.lang.front.bundle_types import Bundle
from core.lang.intrinsics import PYTHON_NAMES, WORDS
from core.lang.source import MOST_LEVELS, Function, Source, too_deep
from core.lang.types import Generic

MOST_LOCAL_BYTES = 1 << 18
"""Size of a lane's local arrays: they lie on the stack of a thread, which may be as small as 512 KiB."""


class ProgramContext:
    """State that the functions of one program share while they are translated.

    Attributes
    ----------
    said : tuple of str
        Messages that machine code supports, ``assert`` and ``print``, by the parameters `hidden`
        (`core.lang.device_messages`).
    hidden : dict
        Types of these parameters, by name.
    statements : dict
        Number of every message of the program.
    levels : int
        Levels of nesting at the node that is being translated.
    """

    def __init__(self, team_size: int, messages: MessageSettings | None) -> None:
        self.team_size = team_size
        self.said = messages.kinds if messages else ()
        self.hidden = messages.hidden() if messages else {}
        self.statements: dict[MessageStatement, int] = {}
        self.levels = 0


class FunctionContext:
    """State of the function that is being translated.

    Visitors enter themselves in `expressions` and `statements`, by the class of the nodes that they translate.

    Attributes
    ----------
    specialise : function of a `Function`, argument types, bound types, the call and its `FunctionContext`
        Returns the called function for these types.
    out
        Result of the translation.
    constants : dict
        Values of ``Const`` parameters and of the variables of `unroll`.
    bundles
        Values of names of bundles.
    assigned : set of str
        Names that the function stores to.
    defined : set of str, or None
        Locals that certainly have a value here; None in unreachable code.
    steps : tuple of int
        Values of the variables of `unroll` around this place.
    copies : int
        Number of copies of this place by `unroll`.
    open_loops : list
        For every loop around this place, the locals defined at its exits; None for `unroll`.
    depth : int
        Statements around this place.
    """

    def __init__(
        self,
        program: ProgramContext,
        specialise: Specialiser,
        source: Source,
        out: tree.TypedFunction,
        bundles: dict[str, Bundle],
    ) -> None:
        self.program = program
        self.specialise = specialise
        self.source = source
        self.out = out
        self.constants: dict[str, Any] = dict(out.constants)
        self.bundles = dict(bundles)
        self.assigned = {
            n.id for n in ast.walk(source.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.defined: set[str] | None = {
            n for n, t in out.parameters.items() if not isinstance(t, tree.ArrayType)
        } | bundles.keys()
        self.steps: tuple[int, ...] = ()
        self.copies = 1
        self.open_loops: list[list[set[str] | None] | None] = []
        self.depth = 0
        self.temporaries = 0
        self.node_numbers = itertools.count(1)
        self.expressions: dict[type, Callable[[Any], Any]] = {}
        self.statements: dict[type, Callable[[Any], list[Any]]] = {}

    def close(self) -> None:
        """Forget the visitors, so that reference counts free them and the garbage collector has no cycles to find."""
        self.expressions.clear()
        self.statements.clear()

    def refuse(self, node: Any, what: str) -> NoReturn:
        self.source.refuse(node, what)

    def descend(self, node: Any, levels: int) -> None:
        """Count levels of nesting; the caller takes them back after ``node``."""
        self.program.levels += levels
        if self.program.levels > MOST_LEVELS:
            too_deep(self.source, node)

    def key(self, node: Any) -> tuple[int, ...]:
        """Return what identifies an expression in one step of every `unroll` around it."""
        if not hasattr(node, "number"):  # made by the front end: no node of the function's text
            node.number = -next(self.node_numbers)
        return (node.number, *self.steps)

    def occupy(self, node: Any, count: int) -> None:
        """Count bytes of local arrays."""
        self.out.local_bytes += count
        if self.out.local_bytes > MOST_LOCAL_BYTES:
            self.refuse(
                node,
                f"local arrays of {self.out.local_bytes} bytes, with those of every call; a lane has "
                f"{MOST_LOCAL_BYTES}, pass a part of an argument instead",
            )

    def is_free(self, name: str) -> bool:
        """True if a name is none of the function's own: its module or closure defines it."""
        return not (name in self.assigned or name in self.source.signature or name in self.constants)

    def check_word(self, node: ast.Name, meant: Any) -> None:
        """Refuse a word of the language that means something else, or nothing, where the kernel stands."""
        name = node.id
        if not self.is_free(name):
            self.refuse(node, f"{name}, which is a variable here; choose another name for the variable")
        if name in WORDS and meant is not WORDS[name] and not (meant is None and name in PYTHON_NAMES):
            self.refuse(node, f"{name} is not the word of the kernel language here; import it from core.lang")

    def bound_type(self, name: str) -> Any:
        """Return the scalar type of a `Generic` in this function, or None."""
        meant = self.source.lookup(name)
        bound = self.out.types.get(meant.name) if isinstance(meant, Generic) else None
        return None if is_bundle(bound) else bound

    def count(self, node: ast.Call, expected: int) -> None:
        if len(node.args) != expected:
            self.refuse(node, f"{ast.unparse(node.func)} takes {expected} arguments, not {len(node.args)}")

    def touched(self, value: Any) -> Any:
        """Return the value; a field that the function is offered becomes a parameter of it."""
        name = getattr(value, "name", None)
        if name in self.out.offered:
            self.out.parameters.setdefault(name, self.out.offered[name])
        return value

    def hold(self, value: Any) -> tuple[Any, Any]:
        """Keep a value in a temporary: the assignment, and the local that reads it."""
        self.temporaries += 1
        name = f"held.{self.temporaries}"  # no identifier, so that it hides no name of the module
        self.out.locals[name] = value.type
        return tree.Assign(name, value), tree.Local(value.type, name)

    def hidden_argument(self, name: str) -> Any:
        """Return a hidden parameter, which the function takes from now on and passes to its calls."""
        kind = self.program.hidden[name]
        self.out.parameters.setdefault(name, kind)
        return name if isinstance(kind, tree.ArrayType) else tree.Local(kind, name)

    def block(self, statements: list[Any]) -> list[Any]:
        """Translate statements in order."""
        typed: list[Any] = []
        self.depth += 1
        for statement in statements:
            self.descend(statement, 1)
            kind = type(statement)
            if kind not in self.statements:
                self.refuse(
                    statement, STATEMENT_ADVICE.get(kind, f"{kind.__name__} is not part of the kernel language")
                )
            typed.extend(self.statements[kind](statement))
            self.program.levels -= 1
        self.depth -= 1
        return typed

    def branch(self, statements: list[Any], start: set[str] | None) -> tuple[list[Any], set[str] | None]:
        """Translate one path, which begins with the locals ``start``; return what is defined at its end, too."""
        self.defined = None if start is None else set(start)
        return self.block(statements), self.defined

    def expression(self, node: Any) -> Any:
        """Type one expression without effects."""
        kind = type(node)
        if kind not in self.expressions:
            self.refuse(node, EXPRESSION_ADVICE.get(kind, f"{kind.__name__} is not part of the kernel language"))
        levels = levels_of(node)
        self.descend(node, levels)
        typed = self.expressions[kind](node)
        self.program.levels -= levels
        return typed


Specialiser = Callable[[Function, tuple[Any, ...], dict[str, Any], ast.AST, FunctionContext], tree.TypedFunction]


def called_name(node: Any) -> str:
    """Return the bare name that a call calls; empty for anything else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def levels_of(node: Any) -> int:
    """Return the levels that an expression nests: at least as many parentheses as its text has on any device."""
    kind = type(node)
    if kind is ast.Call or kind is ast.Subscript:
        return 2
    if kind is ast.BinOp:
        return 3 if isinstance(node.op, (ast.LShift, ast.RShift)) else 1
    if kind is ast.Compare:
        return len(node.ops)
    return len(node.values) if kind is ast.BoolOp else 1
