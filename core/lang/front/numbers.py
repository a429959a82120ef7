"""Types of numbers: a literal takes the type of its context, and values are widened if nothing is lost."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from core.lang import tree
from core.lang.front.context import FunctionContext, Untyped, Value
from core.lang.types import Scalar, boolean, f32, i32, joined, promoted, widens

MOST_BITS = 128
"""Most bits of an integer constant without a type: a value has at most 64, intermediate results a few more."""
CONSTANTS = "use literals, module constants or Const parameters"


class Numbers(FunctionContext):
    """Types the numbers of one function."""

    def adopt(self, value: Untyped, scalar: Scalar, node: ast.AST) -> tree.Literal:
        """Give an untyped number the type ``scalar``, and record it for the plain-Python run."""
        number = value.value
        if scalar.kind == "b":
            self.refuse(node, f"the number {number} instead of a truth value; write a comparison")
        if isinstance(number, float) and scalar.kind != "f":
            self.refuse(node, f"the float {number} beside {scalar.__name__}; cast one of them")
        if scalar.kind != "f" and not scalar.low <= number <= scalar.high:
            self.refuse(node, f"{number} does not fit {scalar.__name__}; cast it to a type that holds it")
        typed = self.folded(node, scalar, number)
        recorded = self.out.literals.setdefault(self.key(value.node), typed)
        if type(recorded) is not type(typed):
            self.refuse(node, f"the number {number} beside two types; cast one of them")
        return tree.Literal(scalar, typed)

    def untyped(self, number: int | float, node: ast.expr) -> Untyped:
        if isinstance(number, int) and number.bit_length() > MOST_BITS:
            self.refuse(node, f"a constant of {number.bit_length()} bits; at most {MOST_BITS}, and 64 where it is used")
        return Untyped(None, number, node)

    def settled(self, value: Value, node: ast.AST) -> tree.Expression:
        """Return a typed expression: an untyped number without context is i32, or f32."""
        if isinstance(value, Untyped):
            return self.adopt(value, f32 if isinstance(value.value, float) else i32, node)
        return value

    def fitted(self, value: Value, scalar: Scalar, node: ast.AST, subject: str) -> tree.Expression:
        """Return an expression of exactly type ``scalar``, widened if nothing is lost; refuse any other."""
        if isinstance(value, Untyped):
            return self.adopt(value, scalar, node)
        if value.type is scalar:
            return value
        if not widens(value.type, scalar):
            advice = "a comparison such as x != 0" if scalar.kind == "b" else f"{scalar.__name__}(...)"
            self.refuse(node, f"{subject} is {scalar.__name__}, not {value.type.__name__}; write {advice}")
        return self.cast(value, scalar)

    def cast(self, value: tree.Expression, scalar: Scalar) -> tree.Expression:
        """Convert a value; a constant is folded."""
        if isinstance(value, tree.Literal):
            return tree.Literal(scalar, scalar(value.value))
        return value if value.type is scalar else tree.Cast(scalar, value)

    def stored(self, value: Value, scalar: Scalar, node: ast.AST, subject: str, place: ast.AST) -> tree.Expression:
        """Return the value as `fitted` does, and note that the plain-Python run widens it at ``place``."""
        fitted = self.fitted(value, scalar, node, subject)
        if not isinstance(value, Untyped) and value.type is not scalar:
            self.out.widened[self.key(place)] = scalar
        return fitted

    def meet(self, left: Value, right: Value, node: ast.AST) -> tuple[Scalar, tree.Expression, tree.Expression]:
        """Return the common type of two operands, and both in it."""
        if isinstance(left, Untyped):
            scalar = promoted(right.type)
        elif isinstance(right, Untyped):
            scalar = promoted(left.type)
        else:
            common = joined(left.type, right.type)
            if common is None:
                names = f"{left.type.__name__} and {right.type.__name__}"
                self.refuse(node, f"{names} do not mix; cast one of them")
            scalar = common
        return scalar, self.fitted(left, scalar, node, "operand"), self.fitted(right, scalar, node, "operand")

    def folded(self, node: ast.AST, python: Callable[..., Any], *values: object) -> Any:
        """Compute a constant expression."""
        try:
            with np.errstate(all="ignore"):
                return python(*values)
        except (ArithmeticError, TypeError, ValueError) as error:
            return self.refuse(node, f"constant expression {ast.unparse(node)}: {error}")

    def typed(self, node: ast.expr) -> tree.Expression:
        return self.settled(self.expression(node), node)

    def truth(self, node: ast.expr) -> tree.Expression:
        """Return an expression that must be a truth value."""
        value = self.typed(node)
        if value.type is not boolean:
            self.refuse(node, f"{value.type.__name__} instead of a truth value; write a comparison such as x != 0")
        return value

    def index(self, node: ast.expr) -> tree.Expression:
        """Return an array index: one integer."""
        if isinstance(node, ast.Tuple):
            self.refuse(node, "a subscript of several dimensions; arrays are flat, write row * width + column")
        value = self.typed(node)
        if value.type.kind not in "iu":
            self.refuse(node, f"a subscript of type {value.type.__name__}; cast it to an integer")
        if isinstance(value, tree.Literal) and int(value.value) < 0:
            self.refuse(node, "a negative subscript; count from the front")
        return self.cast(value, promoted(value.type))

    def constant(self, node: ast.expr, subject: str) -> int:
        """Return the value of an expression that must be an integer known at compile time."""
        number = getattr(self.expression(node), "value", None)  # only a number or truth value has one
        if isinstance(number, bool) or not isinstance(number, int):
            self.refuse(node, f"{subject} must be a constant integer; {CONSTANTS}")
        return int(number)

    def known(self, node: ast.expr, scalar: Scalar, subject: str) -> int | float:
        """Return the value of a ``Const`` argument."""
        value = self.expression(node)
        if not isinstance(value, (tree.Literal, Untyped)):
            self.refuse(node, f"{subject} must be a constant; {CONSTANTS}")
        return self.fitted(value, scalar, node, subject).value  # type: ignore[union-attr]
