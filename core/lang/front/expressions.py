"""Expressions without calls: Python's become typed ones, or are refused with the line and what to write."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from core.lang import tree
from core.lang.front.bundle_lowering import Bundles
from core.lang.front.bundle_types import ArrayRef, Bundle, boolean_of_parameter
from core.lang.front.context import Untyped, Value
from core.lang.front.numbers import MOST_BITS
from core.lang.front.references import LENGTH_ADVICE
from core.lang.named_arrays import as_array
from core.lang.source import Source
from core.lang.types import Integer, Scalar, boolean, promoted, type_of, u32

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
UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("neg", operator.neg),
    ast.Invert: ("invert", operator.invert),
}


class Expressions(Bundles):
    """Types the expressions of one function."""

    def literal(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return tree.Literal(boolean, node.value)
        if isinstance(node.value, (int, float)):
            return self.untyped(node.value, node)
        return self.refuse(node, f"the constant {node.value!r}; kernels have integers, floats and truth values")

    def name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.constants:
            value = self.constants[name]
            return tree.Literal(type_of(value), value)
        scalar = self.out.declared(name)
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

    def constant_of(self, value: object, node: ast.expr) -> Value:
        """Translate a constant of the module or of the closure."""
        if isinstance(value, Integer):
            return tree.Literal(type(value), value)
        if isinstance(value, bool):
            return tree.Literal(boolean, value)
        if type(value) is int or type(value) is float:
            return self.untyped(value, node)
        name = ast.unparse(node)
        return self.refuse(node, f"{name} is neither a local, a parameter nor a module constant (int, float or bool)")

    def binary(self, node: ast.BinOp) -> Value:
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

    def shift_count(self, count: tree.Expression, scalar: Scalar) -> tree.Expression:
        """Return a count modulo the width, as on every device."""
        mask = tree.Literal(scalar, scalar(scalar.bits - 1))
        if isinstance(count, tree.Literal):
            return tree.Literal(scalar, scalar(int(count.value) & (scalar.bits - 1)))
        return tree.Binary(scalar, "and", self.cast(count, scalar), mask)

    def check_operator(self, node: ast.expr, name: str, scalar: Scalar) -> None:
        """Refuse an operator without a meaning for a type."""
        if scalar.kind == "b":
            self.refuse(node, f"{name} of truth values; write and, or, not, or cast to i32")
        if name == "div" and scalar.kind != "f":
            self.refuse(node, "/ divides floats; write // for integers, or cast to f32 or f64")
        if scalar.kind == "f" and name not in ("add", "sub", "mul", "div"):
            self.refuse(node, f"{name} of floats; cast to an integer first")

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            test = self.truth(node.operand)
            if isinstance(test, tree.Literal):
                return tree.Literal(boolean, not test.value)
            return tree.Unary(boolean, "not", test)
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

    def comparison(self, node: ast.Compare) -> Value:
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return self.is_absent(node)
        operands = [self.expression(n) for n in (node.left, *node.comparators)]
        whole: tree.Expression = tree.Literal(boolean, True)
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            if type(op) not in COMPARE:
                self.refuse(node, f"comparison {type(op).__name__}; compare numbers with < <= > >= == !=")
            name, python = COMPARE[type(op)]
            if isinstance(left, Untyped) and isinstance(right, Untyped):
                part: tree.Expression = tree.Literal(boolean, python(left.value, right.value))
            else:
                scalar, left, right = self.meet(left, right, node)
                if scalar.kind == "b":
                    self.refuse(node, "comparison of truth values; use and, or, not")
                if isinstance(left, tree.Literal) and isinstance(right, tree.Literal):
                    part = tree.Literal(boolean, bool(python(left.value, right.value)))
                else:
                    part = tree.Compare(boolean, name, left, right)
            whole = self.logic("and", whole, part)
        return whole

    def is_absent(self, node: ast.Compare) -> tree.Literal:
        """Fold ``refresh is not None`` for a function that may be absent from a template."""
        name, nothing = node.left, node.comparators[0]
        is_none = isinstance(nothing, ast.Constant) and nothing.value is None
        if not (isinstance(name, ast.Name) and is_none and len(node.ops) == 1 and self.is_free(name.id)):
            self.refuse(node, f"{ast.unparse(node)}; ask whether a @function of the closure or module is None")
        value = self.source.lookup(name.id)
        if not (isinstance(value, Source) or (value is None and self.source.has(name.id))):
            self.refuse(node, f"{name.id} is None, or is not: only a @function that may be absent can be asked")
        return tree.Literal(boolean, (value is None) == isinstance(node.ops[0], ast.Is))

    def logic(self, op: str, left: tree.Expression, right: tree.Expression) -> tree.Expression:
        """Return a short-circuit ``and`` or ``or``; a constant left side is folded."""
        if isinstance(left, tree.Literal):
            return right if left.value == (op == "and") else left
        return tree.Logic(boolean, op, left, right)

    def logical(self, node: ast.BoolOp) -> Value:
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = self.truth(node.values[0])
        for operand in node.values[1:]:
            if isinstance(result, tree.Literal) and result.value != (op == "and"):
                return result
            result = self.logic(op, result, self.truth(operand))
        return result

    def choice(self, node: ast.IfExp) -> Value:
        test = self.truth(node.test)
        if isinstance(test, tree.Literal):
            return self.expression(node.body if test.value else node.orelse)
        yes, no = self.expression(node.body), self.expression(node.orelse)
        if isinstance(yes, Untyped) and isinstance(no, Untyped):
            yes, no = self.settled(yes, node.body), self.settled(no, node.orelse)
        scalar, yes, no = self.meet(yes, no, node)
        self.out.widened[self.key(node)] = scalar
        return tree.Select(scalar, test, yes, no)

    def subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Name) and self.is_free(node.value.id):
            constant = self.source.lookup(node.value.id)
            if isinstance(constant, tuple):
                return self.of_tuple(node, constant)
        if self.bundle(node) is not None:
            self.refuse(node, f"the bundle {ast.unparse(node)} instead of a number; read a field of it")
        array = self.array(node.value)
        load = tree.Load(array.type.element, array.name, self.index_in(array, node.slice))
        if array.type.holds is not boolean:
            return load
        return tree.Compare(boolean, "ne", tree.Cast(u32, load), tree.Literal(u32, u32(0)))

    def of_tuple(self, node: ast.Subscript, elements: tuple[Any, ...]) -> Value:
        """Return an element of a constant tuple at a constant subscript: ``shapes[k]``."""
        subject = f"a subscript of the tuple {ast.unparse(node.value)}"
        index = self.constant(node.slice, subject)
        if not 0 <= index < len(elements):
            self.refuse(node, f"{subject}, which has {len(elements)} elements: {index}")
        return self.constant_of(elements[index], node)

    def constants_in(self, node: ast.expr) -> tuple[Any, ...]:
        """Return the tuple of constants of a name of the module or the closure."""
        constant = self.source.lookup(node.id) if isinstance(node, ast.Name) and self.is_free(node.id) else None
        if not isinstance(constant, tuple) and self.is_array(node):
            self.refuse(node, f"the length of the array {ast.unparse(node)}; {LENGTH_ADVICE}")
        if not isinstance(constant, tuple):
            self.refuse(node, f"{ast.unparse(node)} is no tuple of constants of the module; write one, or use an array")
        return constant

    def attribute(self, node: ast.Attribute) -> Value:
        element = self.element(node)
        if element is not node:
            return self.expression(element)
        if isinstance(node.value, ast.Name) and self.is_free(node.value.id):
            naming = getattr(as_array(self.source.lookup(node.value.id)), "naming", None)
            if naming is not None:
                return self.untyped(self.column(naming, node), node)
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

    expressions = {
        ast.Constant: literal,
        ast.Name: name,
        ast.BinOp: binary,
        ast.UnaryOp: unary,
        ast.Compare: comparison,
        ast.BoolOp: logical,
        ast.IfExp: choice,
        ast.Subscript: subscript,
        ast.Attribute: attribute,
    }
