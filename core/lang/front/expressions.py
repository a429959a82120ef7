"""Front end, second part: Python expressions become typed ones, or are refused with the line and what to write."""

from __future__ import annotations

import ast
import itertools
import operator
from typing import Any, NamedTuple

import numpy as np

from core.lang import tree
from core.lang.front.bundle_lowering import ArrayRef, Bundle, BundleLowering, boolean_of_parameter
from core.lang.source import MOST_LEVELS, Source, too_deep
from core.lang.types import (
    Integer,
    boolean,
    f32,
    i32,
    joined,
    promoted,
    type_of,
    u32,
    widens,
)

BINARY = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("shl", operator.lshift),
    ast.RShift: ("shr", operator.rshift),
}
COMPARE = {
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
}
UNARY = {ast.USub: ("neg", operator.neg), ast.Invert: ("invert", operator.invert)}
ADVICE = {
    ast.List: "a list; use local_array or shared_array",
    ast.Tuple: "a tuple; use separate variables",
    ast.Dict: "a dict; use arrays",
    ast.Set: "a set; use arrays",
    ast.ListComp: "a comprehension; write a for loop over an array",
    ast.DictComp: "a comprehension; write a for loop over an array",
    ast.SetComp: "a comprehension; write a for loop over an array",
    ast.GeneratorExp: "a generator expression; write a for loop",
    ast.Lambda: "a lambda; write a @function",
    ast.JoinedStr: "an f-string; kernels have no text",
    ast.NamedExpr: "an assignment inside an expression; write it as a separate statement",
    ast.Starred: "a starred expression; write the items out",
    ast.Slice: "a slice; loop over the elements",
    ast.Yield: "yield; store results in an array",
    ast.YieldFrom: "yield; store results in an array",
    ast.Await: "await; kernels are not asynchronous",
}


LENGTH_ADVICE = "arrays do not know their length: pass it as a number, such as a field n: i32 of the bundle"


class Untyped(NamedTuple):
    """A number written in the source: it takes a type from where it stands."""

    type: None
    value: Any
    node: Any


MOST_LOCAL_BYTES = 1 << 18
"""Of a lane's local arrays: they lie on the stack of a thread, which may be as small as 512 KiB."""
MOST_BITS = 128
"""Of an integer constant without a type: a value has at most 64, what leads to it, as ``(1 << 64) - 1``, a few more."""


def levels_of(node: Any) -> int:
    """How many levels an expression nests: at least as many parentheses as its text has on any device."""
    if isinstance(node, ast.BoolOp):
        return len(node.values)
    if isinstance(node, ast.Compare):
        return len(node.ops)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.LShift, ast.RShift)):
        return 3
    return 2 if isinstance(node, (ast.Call, ast.Subscript)) else 1


class Expressions(BundleLowering):
    """Types the expressions of one function; the statements are in the subclass `core.lang.front.translator.Body`."""

    def __init__(self, translator: Any, source: Source, out: tree.TypedFunction, team_size: int) -> None:
        self.translator = translator
        self.source = source
        self.out = out
        self.team_size = team_size
        self.constants: dict[str, Any] = dict(out.constants)
        self.defined: set[str] | None = set()
        self.steps: tuple[int, ...] = ()
        self.numbers = itertools.count(1)
        self.bundles: dict[str, Bundle] = {}

    def descend(self, node: Any, levels: int) -> None:
        """Count levels of nesting, which the caller takes back when he has left ``node``."""
        self.translator.levels += levels
        if self.translator.levels > MOST_LEVELS:
            too_deep(self.source, node)

    def key(self, node: Any) -> tuple[int, ...]:
        """What names an expression in one step of every `unroll` around it."""
        if not hasattr(node, "number"):  # made by the front end: no node of the function's text
            node.number = -next(self.numbers)
        return (node.number, *self.steps)

    # --- types of numbers ---

    def adopt(self, value: Any, scalar: Any, node: Any) -> Any:
        """Give an untyped number the type ``scalar``, and remember it for the plain-Python run."""
        number = value.value
        if scalar.kind == "b":
            self.refuse(node, f"the number {number} instead of a truth value; write a comparison")
        if isinstance(number, float) and scalar.kind != "f":
            self.refuse(node, f"the float {number} beside {scalar.__name__}; cast one of them")
        if scalar.kind != "f" and not scalar.low <= number <= scalar.high:
            self.refuse(node, f"{number} does not fit {scalar.__name__}; cast it to a type that holds it")
        typed = self.folded(node, scalar, number)
        known = self.out.literals.setdefault(self.key(value.node), typed)
        if type(known) is not type(typed):
            self.refuse(node, f"the number {number} beside two types; cast one of them")
        return tree.Literal(scalar, typed)

    def occupy(self, node: Any, count: int) -> None:
        """Count bytes of local arrays."""
        self.out.local_bytes += count
        if self.out.local_bytes > MOST_LOCAL_BYTES:
            self.refuse(
                node,
                f"local arrays of {self.out.local_bytes} bytes, with those of every call; a lane has "
                f"{MOST_LOCAL_BYTES}, pass a part of an argument instead",
            )

    def untyped(self, number: Any, node: Any) -> Untyped:
        """A number that takes its type from where it stands."""
        if isinstance(number, int) and number.bit_length() > MOST_BITS:
            self.refuse(node, f"a constant of {number.bit_length()} bits; at most {MOST_BITS}, and 64 where it is used")
        return Untyped(None, number, node)

    def settled(self, value: Any, node: Any) -> Any:
        """A typed expression: an untyped number alone is i32, or f32."""
        if isinstance(value, Untyped):
            return self.adopt(value, f32 if isinstance(value.value, float) else i32, node)
        return value

    def fitted(self, value: Any, scalar: Any, node: Any, what: str) -> Any:
        """An expression of exactly type ``scalar``, widened if nothing is lost, or an error."""
        if isinstance(value, Untyped):
            return self.adopt(value, scalar, node)
        if value.type is scalar:
            return value
        if not widens(value.type, scalar):
            advice = "a comparison such as x != 0" if scalar.kind == "b" else f"{scalar.__name__}(...)"
            self.refuse(node, f"{what} is {scalar.__name__}, not {value.type.__name__}; write {advice}")
        return self.cast(value, scalar)

    def cast(self, value: Any, scalar: Any) -> Any:
        """Convert, at once if the value is known."""
        if isinstance(value, tree.Literal):
            return tree.Literal(scalar, scalar(value.value))
        return value if value.type is scalar else tree.Cast(scalar, value)

    def stored(self, value: Any, scalar: Any, node: Any, what: str, place: Any) -> Any:
        """`fitted`, for a value that is kept: the plain-Python run must widen the value at ``place`` too."""
        found = self.fitted(value, scalar, node, what)
        if not isinstance(value, Untyped) and value.type is not scalar:
            self.out.widened[self.key(place)] = scalar
        return found

    def meet(self, left: Any, right: Any, node: Any) -> tuple[Any, Any, Any]:
        """Both operands in their common type."""
        if isinstance(left, Untyped):
            scalar = promoted(right.type)
        elif isinstance(right, Untyped):
            scalar = promoted(left.type)
        else:
            scalar = joined(left.type, right.type)
            if scalar is None:
                names = f"{left.type.__name__} and {right.type.__name__}"
                self.refuse(node, f"{names} do not mix; cast one of them")
        return scalar, self.fitted(left, scalar, node, "operand"), self.fitted(right, scalar, node, "operand")

    def constant(self, node: Any, what: str) -> int:
        """The value of an expression that must be an integer known at compile time."""
        value = self.expression(node)
        if (
            not isinstance(value, (tree.Literal, Untyped))
            or type(value.value) is bool
            or not isinstance(value.value, int)
        ):
            self.refuse(node, f"{what} must be a constant integer; use literals, module constants or Const parameters")
        return int(value.value)

    def known(self, node: Any, scalar: Any, what: str) -> Any:
        """The value of a ``Const`` argument."""
        value = self.expression(node)
        if not isinstance(value, (tree.Literal, Untyped)):
            self.refuse(node, f"{what} must be a constant; use literals, module constants or Const parameters")
        return self.fitted(value, scalar, node, what).value

    # --- expressions ---

    def expression(self, node: Any) -> Any:
        """Type one expression without effects."""
        method = getattr(self, "expr_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, ADVICE.get(type(node), f"{type(node).__name__} is not part of the kernel language"))
        levels = levels_of(node)
        self.descend(node, levels)
        found = method(node)
        self.translator.levels -= levels
        return found

    def typed(self, node: Any) -> Any:
        """An expression whose numbers all have a type."""
        return self.settled(self.expression(node), node)

    def truth(self, node: Any) -> Any:
        """An expression that must be a truth value."""
        value = self.typed(node)
        if value.type is not boolean:
            self.refuse(node, f"{value.type.__name__} instead of a truth value; write a comparison such as x != 0")
        return value

    def expr_Constant(self, node: ast.Constant) -> Any:  # noqa: N802
        if isinstance(node.value, bool):
            return tree.Literal(boolean, node.value)
        if isinstance(node.value, (int, float)):
            return self.untyped(node.value, node)
        return self.refuse(node, f"the constant {node.value!r}; kernels have integers, floats and truth values")

    def expr_Name(self, node: ast.Name) -> Any:  # noqa: N802
        name = node.id
        if name in self.constants:
            value = self.constants[name]
            return tree.Literal(type_of(value), value)
        scalar = self.out.parameters.get(name) or self.out.locals.get(name)
        if isinstance(scalar, tree.ArrayType) or name in self.out.arrays:
            return self.refuse(node, f"the array {name} as a value; subscript it, or pass it to a function")
        if name in self.bundles:
            return self.refuse(node, f"the bundle {name} instead of a number; read a field of it")
        if scalar is not None:
            if self.defined is not None and name not in self.defined:
                self.refuse(node, f"{name} may be unassigned here; give it a value on every path")
            return boolean_of_parameter(name) if name in self.out.truths else tree.Local(scalar, name)
        if name in self.assigned:
            return self.refuse(node, f"{name} is used before its assignment")
        return self.constant_of(self.source.lookup(name), node)

    def constant_of(self, value: Any, node: Any) -> Any:
        """A constant of the module, or of the closure."""
        if isinstance(value, Integer):
            return tree.Literal(type(value), value)
        if isinstance(value, bool):
            return tree.Literal(boolean, value)
        if type(value) in (int, float):
            return self.untyped(value, node)
        name = ast.unparse(node)
        return self.refuse(node, f"{name} is neither a local, a parameter nor a module constant (int, float or bool)")

    assigned: set[str]

    def expr_BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        left, right = self.expression(node.left), self.expression(node.right)
        if type(node.op) not in BINARY:
            advice = "write a product or pow" if isinstance(node.op, ast.Pow) else "it has no meaning for scalars"
            self.refuse(node, f"operator {type(node.op).__name__}; {advice}")
        name, python = BINARY[type(node.op)]
        if isinstance(left, Untyped) and isinstance(right, Untyped):
            if isinstance(node.op, ast.Div) and not isinstance(left.value + right.value, float):
                self.refuse(node, "/ divides floats; write // for integers")
            if name == "shl" and not isinstance(right.value, float) and right.value > MOST_BITS:
                self.refuse(node, f"a constant shifted by {right.value}; at most {MOST_BITS}")
            return self.untyped(self.folded(node, python, left.value, right.value), node)
        if name in ("shl", "shr"):
            left, right = self.settled(left, node.left), self.settled(right, node.right)
            scalar = promoted(left.type)
            if scalar.kind not in "iu" or right.type.kind not in "iu":
                self.refuse(node, "shifts are for integers; cast the operands")
            left, right = self.cast(left, scalar), self.shift_count(right, scalar)
        else:
            scalar, left, right = self.meet(left, right, node)
            self.check_operator(node, name, scalar)
        if isinstance(left, tree.Literal) and isinstance(right, tree.Literal):
            return tree.Literal(scalar, self.folded(node, python, left.value, right.value))
        return tree.Binary(scalar, name, left, right)

    def shift_count(self, count: Any, scalar: Any) -> Any:
        """Counts are taken modulo the width, on every device."""
        mask = tree.Literal(scalar, scalar(scalar.bits - 1))
        if isinstance(count, tree.Literal):
            return tree.Literal(scalar, scalar(int(count.value) & (scalar.bits - 1)))
        return tree.Binary(scalar, "and", self.cast(count, scalar), mask)

    def check_operator(self, node: Any, name: str, scalar: Any) -> None:
        """Refuse what an operator does not mean for a type."""
        if scalar.kind == "b":
            self.refuse(node, f"{name} of truth values; write and, or, not, or cast to i32")
        if name == "div" and scalar.kind != "f":
            self.refuse(node, "/ divides floats; write // for integers, or cast to f32 or f64")
        if scalar.kind == "f" and name not in ("add", "sub", "mul", "div"):
            self.refuse(node, f"{name} of floats; cast to an integer first")

    def folded(self, node: Any, python: Any, *values: Any) -> Any:
        """Compute a constant expression."""
        try:
            with np.errstate(all="ignore"):
                return python(*values)
        except (ArithmeticError, TypeError, ValueError) as error:
            return self.refuse(node, f"constant expression {ast.unparse(node)}: {error}")

    def expr_UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        if isinstance(node.op, ast.Not):
            value = self.truth(node.operand)
            if isinstance(value, tree.Literal):
                return tree.Literal(boolean, not value.value)
            return tree.Unary(boolean, "not", value)
        if isinstance(node.op, ast.UAdd):
            self.refuse(node, "unary +; leave it out")
        value = self.expression(node.operand)
        name, python = UNARY[type(node.op)]
        if isinstance(value, Untyped):
            return self.untyped(self.folded(node, python, value.value), node)
        scalar = promoted(value.type)
        if scalar.kind == "b" or (scalar.kind == "f" and name == "invert"):
            self.refuse(
                node, f"{name} of {scalar.__name__}; it is for numbers" + (" without a point" * (name != "neg"))
            )
        value = self.cast(value, scalar)
        if isinstance(value, tree.Literal):
            return tree.Literal(scalar, self.folded(node, python, value.value))
        return tree.Unary(scalar, name, value)

    def is_absent(self, node: ast.Compare) -> Any:
        """``refresh is not None``, of a function that a template was given or not: known when compiling."""
        name, nothing = node.left, node.comparators[0]
        is_none = isinstance(nothing, ast.Constant) and nothing.value is None
        if not (isinstance(name, ast.Name) and is_none and len(node.ops) == 1 and self.is_free(name.id)):
            self.refuse(node, f"{ast.unparse(node)}; ask whether a @function of the closure or module is None")
        meant = self.source.lookup(name.id)
        if not (isinstance(meant, Source) or (meant is None and self.source.has(name.id))):
            self.refuse(node, f"{name.id} is None, or is not: only a @function that may be absent can be asked")
        return tree.Literal(boolean, (meant is None) == isinstance(node.ops[0], ast.Is))

    def expr_Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return self.is_absent(node)
        operands = [self.expression(n) for n in (node.left, *node.comparators)]
        found: Any = None
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            if type(op) not in COMPARE:
                self.refuse(node, f"comparison {type(op).__name__}; compare numbers with < <= > >= == !=")
            name, python = COMPARE[type(op)]
            if isinstance(left, Untyped) and isinstance(right, Untyped):
                one: Any = tree.Literal(boolean, python(left.value, right.value))
            else:
                scalar, left, right = self.meet(left, right, node)
                if scalar.kind == "b":
                    self.refuse(node, "comparison of truth values; use and, or, not")
                if isinstance(left, tree.Literal) and isinstance(right, tree.Literal):
                    one = tree.Literal(boolean, bool(python(left.value, right.value)))
                else:
                    one = tree.Compare(boolean, name, left, right)
            found = one if found is None else self.logic("and", found, one)
        return found

    def logic(self, op: str, left: Any, right: Any) -> Any:
        """Short-circuit, folding a constant left side."""
        if isinstance(left, tree.Literal):
            return right if left.value == (op == "and") else left
        return tree.Logic(boolean, op, left, right)

    def expr_BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        op = "and" if isinstance(node.op, ast.And) else "or"
        found = self.truth(node.values[0])
        for operand in node.values[1:]:
            if isinstance(found, tree.Literal) and found.value != (op == "and"):
                return found
            found = self.logic(op, found, self.truth(operand))
        return found

    def expr_IfExp(self, node: ast.IfExp) -> Any:  # noqa: N802
        test = self.truth(node.test)
        if isinstance(test, tree.Literal):
            return self.expression(node.body if test.value else node.orelse)
        yes, no = self.expression(node.body), self.expression(node.orelse)
        if isinstance(yes, Untyped) and isinstance(no, Untyped):
            yes, no = self.settled(yes, node.body), self.settled(no, node.orelse)
        scalar, yes, no = self.meet(yes, no, node)
        self.out.widened[self.key(node)] = scalar
        return tree.Select(scalar, test, yes, no)

    def is_free(self, name: str) -> bool:
        """Whether a name is none of the function's own, so that its module or closure says what it means."""
        return not (name in self.assigned or name in self.source.signature or name in self.constants)

    def array(self, node: Any) -> ArrayRef:
        """The array that a name or a bundle's field stands for."""
        outer = self.bundle(node.value) if isinstance(node, ast.Attribute) else None
        if outer is not None:
            value = self.member(outer, node)
            if not isinstance(value, ArrayRef):
                what = "a bundle" if isinstance(value, Bundle) else "a number"
                self.refuse(node, f"{ast.unparse(node)} is {what}, not an array")
            return self.of_team(value)
        if not isinstance(node, ast.Name):
            advice = "name the array itself"
            if isinstance(node, ast.Attribute) and self.is_array(node.value):
                advice = LENGTH_ADVICE
            self.refuse(node, f"{ast.unparse(node)} is not the name of an array; {advice}")
        name = node.id
        found = self.out.arrays[name].array if name in self.out.arrays else self.out.parameters.get(name)
        if name in self.bundles:
            self.refuse(node, f"the bundle {name} instead of an array; name a field of it")
        if not isinstance(found, tree.ArrayType):
            self.refuse(node, f"{name} is not an array; declare it as Array[...], shared_array or local_array")
        return self.of_team(ArrayRef(name, found))

    def is_array(self, node: Any) -> bool:
        """True if a name or a bundle's field stands for an array."""
        if isinstance(node, ast.Attribute):
            outer = self.bundle(node.value)
            return outer is not None and isinstance(outer.members.get(node.attr), ArrayRef)
        if not isinstance(node, ast.Name):
            return False
        return node.id in self.out.arrays or isinstance(self.out.parameters.get(node.id), tree.ArrayType)

    def of_team(self, array: ArrayRef) -> ArrayRef:
        """The array itself, or the team's copy of a shared table."""
        if array.name not in self.out.copies:
            return array
        name = self.out.copies[array.name]
        self.out.staged.add(name)
        return array._replace(name=name, type=self.out.arrays[name].array)

    def element(self, node: ast.Subscript) -> tuple[ArrayRef, Any]:
        """The array and the index of ``array[index]``, counted from the array's first element."""
        array = self.array(node.value)
        return array, self.index_in(array, node.slice)

    def index_in(self, array: ArrayRef, node: Any) -> Any:
        """An index of an array, which may begin at a row."""
        index = self.index(node)
        if array.offset is None:
            return index
        return tree.Binary(index.type, "add", self.cast(array.offset, index.type), index)

    def check_writable(self, node: Any, array_node: Any, array: tree.ArrayType) -> None:
        """Refuse a store into a table."""
        if array.fixed:
            name = ast.unparse(array_node)
            self.refuse(
                node, f"a store into the table {name}, which is only read; declare it as Array[...] to write it"
            )

    def index(self, node: Any) -> Any:
        """An array index: one integer."""
        if isinstance(node, ast.Tuple):
            self.refuse(node, "a subscript of several dimensions; arrays are flat, write row * width + column")
        value = self.typed(node)
        if value.type.kind not in "iu":
            self.refuse(node, f"a subscript of type {value.type.__name__}; cast it to an integer")
        if isinstance(value, tree.Literal) and int(value.value) < 0:
            self.refuse(node, "a negative subscript; count from the front")
        return self.cast(value, promoted(value.type))

    def expr_Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        if isinstance(node.value, ast.Name) and self.is_free(node.value.id):
            given = self.source.lookup(node.value.id)
            if isinstance(given, tuple):
                return self.of_tuple(node, given)
        if self.bundle(node) is not None:
            self.refuse(node, f"the bundle {ast.unparse(node)} instead of a number; read a field of it")
        array, index = self.element(node)
        found = tree.Load(array.type.element, array.name, index)
        if array.type.holds is not boolean:
            return found
        return tree.Compare(boolean, "ne", tree.Cast(u32, found), tree.Literal(u32, u32(0)))

    def constants_in(self, node: Any) -> tuple[Any, ...]:
        """The tuple of constants that a name of the module, or of the closure, stands for."""
        found = self.source.lookup(node.id) if isinstance(node, ast.Name) and self.is_free(node.id) else None
        if not isinstance(found, tuple) and self.is_array(node):
            self.refuse(node, f"the length of the array {ast.unparse(node)}; {LENGTH_ADVICE}")
        if not isinstance(found, tuple):
            self.refuse(node, f"{ast.unparse(node)} is no tuple of constants of the module; write one, or use an array")
        return found

    def of_tuple(self, node: ast.Subscript, given: tuple[Any, ...]) -> Any:
        """``shapes[k]``: an element of a constant tuple, by a constant."""
        what = f"a subscript of the tuple {ast.unparse(node.value)}"
        index = self.constant(node.slice, what)
        if not 0 <= index < len(given):
            self.refuse(node, f"{what}, which has {len(given)} elements: {index}")
        return self.constant_of(given[index], node)

    def expr_Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        outer = self.bundle(node.value)
        if outer is None:
            later = self.assigned - self.out.locals.keys() - self.out.arrays.keys()
            if isinstance(node.value, ast.Name) and node.value.id in later:
                self.refuse(node, f"{node.value.id} is used before its assignment")
            self.refuse(
                node, "an attribute; import the name itself, and pass sizes as arguments or as fields of a bundle"
            )
        value = self.member(outer, node)
        if isinstance(value, ArrayRef):
            self.refuse(node, f"the array {ast.unparse(node)} as a value; subscript it, or pass it to a function")
        if isinstance(value, Bundle):
            self.refuse(node, f"the bundle {ast.unparse(node)} instead of a number; read a field of it")
        return value
