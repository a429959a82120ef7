"""Typed tree of a kernel, made by the front end and printed by emitters.

Every expression has a type and no conversion is implicit: an emitter never decides what an operation means.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from core.lang.types import Scalar, boolean, u8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.lang.source import Source


class Literal(NamedTuple):
    """A number or truth value known at compile time."""

    type: Scalar
    value: int | float


class Local(NamedTuple):
    """A scalar parameter or local variable."""

    type: Scalar
    name: str


class Load(NamedTuple):
    """``array[index]``."""

    type: Scalar
    array: str
    index: Expression  # type: ignore[assignment]


class Unary(NamedTuple):
    """``op`` is ``neg``, ``invert`` or ``not``; the operand has the result's type."""

    type: Scalar
    op: str
    operand: Expression


class Binary(NamedTuple):
    """``op`` is add, sub, mul, div, floordiv, mod, and, or, xor, shl or shr; both operands have the result's type."""

    type: Scalar
    op: str
    left: Expression
    right: Expression


class Compare(NamedTuple):
    """``op`` is lt, le, gt, ge, eq or ne; both operands have the same type, the result is boolean."""

    type: Scalar
    op: str
    left: Any
    right: Expression


class Logic(NamedTuple):
    """Short-circuit ``and`` or ``or`` of boolean operands."""

    type: Scalar
    op: str
    left: Expression
    right: Expression


class Select(NamedTuple):
    """``yes if test else no``."""

    type: Scalar
    test: Expression
    yes: Expression
    no: Expression


class Cast(NamedTuple):
    """Conversion of the operand to ``type``."""

    type: Scalar
    operand: Expression


class Intrinsic(NamedTuple):
    """Word of the language without effects: ``lane``, ``min``, ``sqrt`` ..."""

    type: Scalar
    name: str
    arguments: tuple[Expression, ...]


class Atomic(NamedTuple):
    """``atomic_add``, ``_min``, ``_max`` or ``_cas`` on ``array[index]``; the value is the element's old one."""

    type: Scalar
    name: str
    array: str
    index: Expression  # type: ignore[assignment]
    arguments: tuple[Expression, ...]


class View(NamedTuple):
    """``view(array, offset)``: the part of an array from an element on; only an argument of a `Call`."""

    array: str
    offset: Expression


class Call(NamedTuple):
    """A call of another function of the program; arguments are expressions, names of arrays as ``str``, or views."""

    type: Any
    function: TypedFunction
    arguments: tuple[Argument, ...]


class Assign(NamedTuple):
    """``name = value``."""

    name: str
    value: Expression


class Store(NamedTuple):
    """``array[index] = value``; the value has the element's type."""

    array: str
    index: Expression  # type: ignore[assignment]
    value: Expression


class NewArray(NamedTuple):
    """``name = shared_array(count, element)`` or ``local_array``, according to ``array.space``."""

    name: str
    array: ArrayType
    count: int  # type: ignore[assignment]


class Evaluate(NamedTuple):
    """An expression evaluated for its effect."""

    value: Expression


class Barrier(NamedTuple):
    """Barrier of all lanes of the team."""


class If(NamedTuple):
    """A branch on a boolean."""

    test: Expression
    yes: list[Statement]
    no: list[Statement]


class While(NamedTuple):
    """A loop on a boolean."""

    test: Expression
    body: list[Statement]


class For(NamedTuple):
    """``for name in range(start, stop, step)``, all three of the loop variable's type; ``down``: a negative step."""

    name: str
    type: Scalar
    start: Expression
    stop: Expression
    step: Expression
    down: bool
    body: list[Statement]


class Break(NamedTuple):
    """Leave the innermost loop."""


class Continue(NamedTuple):
    """Continue with the next step of the innermost loop."""


class Return(NamedTuple):
    """Leave the function, with a value unless it has none."""

    value: Expression | None


class ArrayType(NamedTuple):
    """Element type and place of an array: ``global``, ``shared`` (by a team) or ``local`` (to a lane).

    Tables are ``fixed``, never written: ``readonly``, ``image``, or a team's ``shared`` copy.
    """

    holds: Scalar
    space: str
    fixed: bool = False

    @property
    def element(self) -> Scalar:
        """The type of the elements in memory, where a truth value is a byte of 0 or 1."""
        return u8 if self.holds is boolean else self.holds


class Field(NamedTuple):
    """Field of a `BundleType`.

    ``type`` is a scalar type, an `ArrayType`, a `BundleType`, or the `Literal` of a constant. ``size`` is that of a
    row.
    """

    name: str
    type: Any
    size: int | str | None = None


class BundleType(NamedTuple):
    """A bundle in a function: the declared class and its fields' types; ``rows`` is true for rows of it."""

    bundle: type
    fields: tuple[Field, ...]
    rows: bool = False


Expression = Literal | Local | Load | Unary | Binary | Compare | Logic | Select | Cast | Intrinsic | Atomic | Call
Argument = Expression | str | View
Statement = Assign | Store | NewArray | Evaluate | Barrier | If | While | For | Break | Continue | Return
"""Nodes with a value, and nodes of a body."""


class TypedFunction:
    """A function or kernel specialised for its argument types, constants and team size.

    ``parameters`` maps names to a scalar type or an `ArrayType`, without constants; a bundle is replaced by the fields
    that the function uses (``walk.cost``), out of those ``offered``. ``locals`` maps scalars to their types.
    ``local_bytes`` are those of its local arrays and, for each call in its text, of the called function, because
    devices inline functions. ``copies`` names a team's copy of each shared table, ``staged`` those that are read.

    The plain-Python run needs ``constants``, ``types`` (of generics), ``literals`` and ``widened`` to give values their
    types, ``calls`` for the functions called, ``unrolled`` for constants of ``unroll``, ``rising`` for ranges with a
    step that must be positive, ``bundles``, its bundled parameters, and of a kernel ``counts``, the elements of tables.
    ``truths`` are a kernel's truth values, passed as numbers. ``has_messages`` is true if the function or one that it
    calls asserts or prints; that is no effect (``pure``).
    """

    def __init__(self, name: str, source: Source) -> None:
        self.name = name
        self.source = source
        self.parameters: dict[str, Any] = {}
        self.offered: dict[str, Any] = {}
        self.bundles: dict[str, Any] = {}
        self.counts: dict[str, int] = {}
        self.truths: set[str] = set()
        self.constants: dict[str, Any] = {}
        self.types: dict[str, Any] = {}
        self.locals: dict[str, Scalar] = {}
        self.arrays: dict[str, NewArray] = {}
        self.copies: dict[str, str] = {}
        self.staged: set[str] = set()
        self.body: list[Statement] = []
        self.result: Scalar | None = None
        self.pure = True
        self.has_messages = False
        self.has_barrier = False
        self.literals: dict[tuple[int, ...], Any] = {}
        self.widened: dict[tuple[int, ...], Scalar] = {}
        self.calls: dict[tuple[int, ...], TypedFunction] = {}
        self.unrolled: dict[tuple[int, ...], range] = {}
        self.rising: set[tuple[int, ...]] = set()
        self.local_bytes = 0

    def declared(self, name: str) -> Any:
        """Return the type of a parameter or a local; None for any other name."""
        return self.parameters.get(name) or self.locals.get(name)


def written_arrays(function: TypedFunction, seen: dict[TypedFunction, set[str]] | None = None) -> set[str]:
    """Return the arrays to which the function, or one that it calls, stores; ``seen`` has those of other functions."""
    seen = {} if seen is None else seen
    if function in seen:
        return seen[function]
    stored = seen[function] = set()
    for node in nodes(function.body):
        if isinstance(node, (Store, Atomic)):
            stored.add(node.array)
        if isinstance(node, Call):
            inside = written_arrays(node.function, seen)
            for name, argument in zip(node.function.parameters, node.arguments, strict=True):
                if name in inside and isinstance(argument, (View, str)):
                    stored.add(argument.array if isinstance(argument, View) else argument)
    return stored


def nodes(tree: Sequence[object]) -> Iterator[Sequence[object]]:
    """Yield a node, or a list of them, and all nodes inside, in no order, without those of called functions."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending += [part for part in node if isinstance(part, (tuple, list))]


def rebuilt(node: Sequence[object], change: Callable[..., object]) -> Any:
    """Return a statement, an expression or a sequence with changed parts; the same object if nothing changed."""
    parts: list[Any] = [change(part) if isinstance(part, (tuple, list)) else part for part in node]
    if all(map(is_, parts, node)):
        return node
    if isinstance(node, list):
        return parts
    return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)


class Program(NamedTuple):
    """A kernel, all functions that it calls, callees first."""

    kernel: TypedFunction
    functions: list[TypedFunction]
    team_size: int


def shared_bytes(program: Program) -> int:
    """Return the bytes of shared memory that a team occupies, each array aligned to 16 bytes."""
    return sum(padded(a) for a in program.kernel.arrays.values() if a.array.space == "shared")


def padded(array: NewArray) -> int:
    """Return the bytes of an array, rounded up to a multiple of 16."""
    return -(-array.count * array.array.element.bits // 8 // 16) * 16
