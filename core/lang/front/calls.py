"""Calls of functions, casts and words, with their arguments.

A call of a function that is one expression becomes that expression, so that short functions cost nothing: numba takes
some 30 ms to compile any function.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from core.lang import tree
from core.lang.bundle_forms import is_bundle, is_bundled
from core.lang.front.advice import ADVICE
from core.lang.front.bundle_types import ArrayRef, Bundle
from core.lang.front.context import Untyped, Value, called_name
from core.lang.front.expressions import Expressions
from core.lang.intrinsics import ATOMICS, PURE, WORDS
from core.lang.source import Function, called_at
from core.lang.types import BY_NAME, Array, Const, Generic, Scalar, boolean, i32, promoted


def inlined_call(function: tree.TypedFunction, arguments: tuple[tree.Argument, ...]) -> tree.Expression | None:
    """Return the expression of an inlined call, or None if it must stay a call.

    A call stays if the function takes arrays, or if an argument would be computed more than once.
    """
    value = function.body[0].value if len(function.body) == 1 and isinstance(function.body[0], tree.Return) else None
    if value is None or isinstance(value, tree.Literal):
        return None
    if any(isinstance(kind, tree.ArrayType) for kind in function.parameters.values()):
        return None
    by_name = dict(zip(function.parameters, arguments, strict=True))
    uses = [node.name for node in tree.nodes(value) if isinstance(node, tree.Local)]
    if any(uses.count(n) > 1 and not isinstance(a, (tree.Local, tree.Literal)) for n, a in by_name.items()):
        return None

    def substituted(part: Sequence[object]) -> Any:
        return by_name[part.name] if isinstance(part, tree.Local) else tree.rebuilt(part, substituted)

    return substituted(value)


class Calls(Expressions):
    """Types the calls of one function."""

    def call_expression(self, node: ast.Call) -> Value:
        """Type a call inside an expression, which has no effects."""
        value = self.call(node)
        if isinstance(value, tree.Atomic) or (isinstance(value, tree.Call) and not value.function.pure):
            name = ast.unparse(node.func)
            self.refuse(node, f"{name} has an effect and stands inside an expression; assign it to a local first")
        if isinstance(value, tree.Call) and value.type is None:
            self.refuse(node, f"{ast.unparse(node.func)} returns nothing; call it as a statement")
        return value

    def call(self, node: ast.Call) -> Value:
        """Type a call, which may have effects."""
        if not isinstance(node.func, ast.Name):
            self.refuse(node, f"a call of {ast.unparse(node.func)}; {self.advice_for(node.func)}")
        if node.keywords:
            self.refuse(node, "keyword arguments; pass arguments by position")
        if any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, ADVICE[ast.Starred])
        name = node.func.id
        value = self.source.lookup(name)
        if not self.is_free(name):
            self.check_word(node.func, value)
        if isinstance(value, Function):
            return self.call_function(node, value)
        if is_bundle(value):
            self.refuse(node, f"the bundle {name}(...) instead of a number; assign it to a name, or pass it on")
        self.check_word(node.func, value)
        if scalar := BY_NAME.get(name) or self.bound_type(name):
            return self.call_cast(node, scalar)
        if name == "team_size":
            self.count(node, 0)
            return tree.Literal(i32, i32(self.program.team_size))
        if name in ATOMICS:
            return self.call_atomic(node, name)
        if name in PURE:
            return self.call_word(node, name)
        if name == "len":
            self.count(node, 1)
            return self.untyped(len(self.constants_in(node.args[0])), node)
        if name == "print":
            self.refuse(node, "print inside an expression; it gives no value, write it as a separate statement")
        if name == "view":
            self.refuse(node, "view outside the arguments of a @function; subscript the array itself")
        if value is None and self.source.has(name):
            self.refuse(node, f"a call of {name}, which is None here; ask first: if {name} is not None")
        advice = ""
        if isinstance(value, FunctionType):
            advice = f"; write @function above def {value.__name__}"
        elif callable(value) or name in dir(builtins):
            advice = "; write a loop, or a @function"
        return self.refuse(node, f"a call of {name}, which is neither a @function nor a word of the language{advice}")

    def advice_for(self, node: ast.expr) -> str:
        """Advise on a call of a module's function, or of a method."""
        bare = "call functions by their bare name"
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            return bare
        owner = self.source.lookup(node.value.id)
        if not isinstance(owner, ModuleType):
            return bare
        value = getattr(owner, node.attr, None)
        if isinstance(value, Function):
            return f"{bare}: from {owner.__name__} import {node.attr}"
        if node.attr in WORDS:
            return f"write {node.attr}(...), a word of the kernel language: from onekernel import {node.attr}"
        return f"kernels cannot call {owner.__name__}; write a loop, or a @function"

    def call_cast(self, node: ast.Call, scalar: Scalar) -> tree.Expression:
        """Translate ``u32(x)``."""
        self.count(node, 1)
        if scalar is boolean:
            self.refuse(node, "a cast to a truth value; write a comparison such as x != 0")
        value = self.expression(node.args[0])
        if isinstance(value, (Untyped, tree.Literal)):
            return tree.Literal(scalar, self.folded(node, scalar, value.value))
        return self.cast(value, scalar)

    def call_word(self, node: ast.Call, name: str) -> tree.Intrinsic:
        expected, rule, result, needs = PURE[name]
        self.count(node, expected)
        if rule is None:
            return tree.Intrinsic(i32, name, ())
        values = [self.expression(a) for a in node.args]
        first = next((promoted(v.type) for v in values if not isinstance(v, Untyped)), None)
        operands = [
            self.fitted(v, first, a, "operand") if first and isinstance(v, Untyped) else self.settled(v, a)
            for v, a in zip(values, node.args, strict=True)
        ]
        scalar = rule([v.type for v in operands])
        if scalar is None:
            kinds = ", ".join(v.type.__name__ for v in operands)
            self.refuse(node, f"{name} needs {needs}, not {kinds}; cast the arguments")
        return tree.Intrinsic(result or scalar, name, tuple(self.cast(v, scalar) for v in operands))

    def call_atomic(self, node: ast.Call, name: str) -> tree.Atomic:
        """Translate an atomic update of one element."""
        self.count(node, 2 + ATOMICS[name])
        reference = self.array(node.args[0])
        array = reference.type
        self.check_writable(node, node.args[0], array)
        scalar = array.holds
        if scalar.kind not in "iu" or scalar.bits < 32 or array.space == "local":
            self.refuse(
                node,
                f"{name} on {scalar.__name__} in {array.space} memory; use 32 or 64-bit integers "
                "in an argument or a shared array",
            )
        index = self.index_in(reference, node.args[1])
        values = tuple(self.fitted(self.expression(a), scalar, a, "the element") for a in node.args[2:])
        self.out.pure = False
        return tree.Atomic(scalar, name, reference.name, index, values)

    def call_function(self, node: ast.Call, callee: Function) -> Value:
        """Bind the types of a called function to the arguments, and specialise it."""
        with called_at(self.source, node):
            kinds = {k: v for k, v in callee.signature.items() if k != "return"}
        self.count(node, len(kinds))
        bound: dict[str, Any] = {}
        types: list[Any] = []
        nodes = dict(zip(kinds, node.args, strict=True))
        by_name: dict[str, Any] = {}
        for name, kind in kinds.items():
            subject = f"argument {name} of {callee.name}"
            if isinstance(kind, Const):
                types.append(self.known(nodes[name], kind.scalar, subject))
            elif is_bundled(kind) or (isinstance(kind, Generic) and self.bundle(nodes[name]) is not None):
                by_name[name], expected = self.passed_bundle(nodes[name], kind, bound, subject)
                types.append(expected)
            elif isinstance(kind, Array):
                self.check_naming(nodes[name], kind, subject)
                array = by_name[name] = self.passed_array(nodes[name])
                self.bind_array(nodes[name], kind, bound, array, subject)
                types.append(array.type)
            else:
                number = by_name[name] = self.bound_number(nodes[name], kind, bound, subject)
                types.append(number.type)
        holds = self.program.function(callee, tuple(types), bound, node, self)
        self.out.calls[self.key(node)] = holds
        self.occupy(node, holds.local_bytes)
        arguments, touched = self.used_arguments(holds, by_name, nodes)
        only_local = all(array.name in self.out.arrays and array.type.space == "local" for array in touched)
        self.out.pure = self.out.pure and (holds.pure or (only_local and not holds.has_barrier))
        self.out.has_barrier = self.out.has_barrier or holds.has_barrier
        self.out.has_messages = self.out.has_messages or holds.has_messages
        return inlined_call(holds, arguments) or tree.Call(holds.result, holds, arguments)

    def used_arguments(
        self, callee: tree.TypedFunction, by_name: dict[str, Any], nodes: dict[str, Any]
    ) -> tuple[tuple[tree.Argument, ...], list[ArrayRef]]:
        """Return the arguments for the parameters that a function uses, and the arrays among them."""
        arguments: list[tree.Argument] = []
        touched: dict[str, ArrayRef] = {}
        for parameter in callee.parameters:
            name = parameter if parameter in by_name else re.split(r"[.\[]", parameter, maxsplit=1)[0]
            value, node = by_name[name], nodes[name]
            if isinstance(value, Bundle):
                value = self.operand(value, parameter.removeprefix(name))
            if isinstance(value, ArrayRef):
                value = self.of_team(value)
                if value.name in touched:
                    self.refuse(node, f"the array {value.name} is passed twice; arrays of one call must not overlap")
                touched[value.name] = value
                arguments.append(self.viewed(value, node))
            else:
                arguments.append(value)
        return tuple(arguments), list(touched.values())

    def passed_array(self, node: ast.expr) -> ArrayRef:
        """Return an array argument, whole or as a view."""
        if not isinstance(node, ast.Call) or called_name(node) != "view":
            return self.array(node)
        self.check_word(node.func, self.source.lookup("view"))
        self.count(node, 2)
        array = self.array(node.args[0])
        array = array._replace(offset=self.index_in(array, node.args[1], beyond=1))
        self.viewed(array, node)
        return array

    def viewed(self, array: ArrayRef, node: ast.AST) -> str | tree.View:
        """Return an array as a call takes it: its name, or a view of it."""
        if array.offset is None:
            return array.name
        if array.type.space == "local":
            self.refuse(node, f"a view of the local array {array.name}; pass it whole, with an index")
        if array.type.space == "image":
            self.refuse(node, f"a view of the image {array.name}; pass it whole, with an index, or make it readonly")
        return tree.View(array.name, array.offset)

    expressions = {**Expressions.expressions, ast.Call: call_expression}
