"""Front end, second part: calls of functions, casts and words, with what they bind and hand over."""

from __future__ import annotations

import ast
from typing import Any

from core.lang import tree
from core.lang.errors import called_at
from core.lang.expressions import ADVICE, Expressions, Untyped
from core.lang.intrinsics import ATOMICS, PURE, PYTHON_NAMES, VIEW_OF_PART, WORDS
from core.lang.source import Function
from core.lang.types import BY_NAME, Array, Const, Generic, i32, promoted


class Calls(Expressions):
    """Types the calls of one function."""

    def expr_Call(self, node: ast.Call) -> Any:  # noqa: N802
        """Type a call inside an expression, which has no effects."""
        value = self.call(node)
        if isinstance(value, tree.Atomic) or (isinstance(value, tree.Call) and not value.function.pure):
            name = ast.unparse(node.func)
            self.refuse(node, f"{name} has an effect and stands inside an expression; assign it to a local first")
        if isinstance(value, tree.Call) and value.type is None:
            self.refuse(node, f"{ast.unparse(node.func)} returns nothing; call it as a statement")
        return value

    def call(self, node: ast.Call) -> Any:
        """Type a call, which may have effects."""
        if not isinstance(node.func, ast.Name):
            self.refuse(node, f"a call of {ast.unparse(node.func)}; call functions by their bare name")
        if node.keywords:
            self.refuse(node, "keyword arguments; pass arguments by position")
        if any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, ADVICE[ast.Starred])
        name = node.func.id
        meant = self.source.lookup(name)
        if isinstance(meant, Function):
            return self.call_function(node, meant)
        self.check_word(node.func, meant)
        if name in BY_NAME or self.bound_type(name):
            return self.call_cast(node, BY_NAME.get(name) or self.bound_type(name))
        if name == "team_size":
            self.count(node, 0)
            return tree.Literal(i32, i32(self.team_size))
        if name in ATOMICS:
            return self.call_atomic(node, name)
        if name in PURE:
            return self.call_word(node, name)
        if name == "view":
            self.refuse(node, "view outside the arguments of a @function; subscript the array itself")
        return self.refuse(node, f"a call of {name}, which is neither a @function nor a word of the language")

    def check_word(self, node: ast.Name, meant: Any) -> None:
        """Refuse a word of the language that means something else, or nothing, where the kernel stands."""
        name = node.id
        if name in self.assigned or name in self.out.parameters or name in self.out.constants:
            self.refuse(node, f"{name}, which is a variable here; choose another name for the variable")
        if name in WORDS and meant is not WORDS[name] and not (meant is None and name in PYTHON_NAMES):
            self.refuse(node, f"{name} is not the word of the kernel language here; import it from core.lang")

    def bound_type(self, name: str) -> Any:
        """The scalar type that a `Generic` stands for in this function, or None."""
        meant = self.source.lookup(name)
        return self.out.types.get(meant.name) if isinstance(meant, Generic) else None

    def count(self, node: ast.Call, expected: int) -> None:
        """Check the number of arguments."""
        if len(node.args) != expected:
            self.refuse(node, f"{ast.unparse(node.func)} takes {expected} arguments, not {len(node.args)}")

    def call_cast(self, node: ast.Call, scalar: Any) -> Any:
        """``u32(x)``."""
        self.count(node, 1)
        value = self.expression(node.args[0])
        if isinstance(value, Untyped):
            return tree.Literal(scalar, self.folded(node, scalar, value.value))
        if isinstance(value, tree.Literal):
            return tree.Literal(scalar, self.folded(node, scalar, value.value))
        return self.cast(value, scalar)

    def call_word(self, node: ast.Call, name: str) -> Any:
        """An intrinsic without effects."""
        expected, rule, result, needs = PURE[name]
        self.count(node, expected)
        values = [self.expression(a) for a in node.args]
        if rule is None:
            return tree.Intrinsic(result, name, ())
        known = [v for v in values if not isinstance(v, Untyped)]
        if known:
            first = promoted(known[0].type)
            values = [
                self.fitted(v, first, a, "operand") if isinstance(v, Untyped) else v
                for v, a in zip(values, node.args, strict=True)
            ]
        values = [self.settled(v, a) for v, a in zip(values, node.args, strict=True)]
        scalar = rule(values)
        if scalar is None:
            found = ", ".join(v.type.__name__ for v in values)
            self.refuse(node, f"{name} needs {needs}, not {found}; cast the arguments")
        return tree.Intrinsic(result or scalar, name, tuple(self.cast(v, scalar) for v in values))

    def call_atomic(self, node: ast.Call, name: str) -> Any:
        """An atomic update of one element."""
        self.count(node, 2 + ATOMICS[name])
        array_name, array = self.array(node.args[0])
        self.check_writable(node, node.args[0], array)
        scalar = array.element
        if scalar.kind not in "iu" or scalar.bits < 32 or array.space == "local":
            self.refuse(
                node,
                f"{name} on {scalar.__name__} in {array.space} memory; use 32 or 64-bit integers "
                "in an argument or a shared array",
            )
        index = self.index(node.args[1])
        values = tuple(self.fitted(self.expression(a), scalar, a, "the element") for a in node.args[2:])
        self.out.pure = False
        return tree.Atomic(scalar, name, array_name, index, values)

    def call_function(self, node: ast.Call, callee: Function) -> Any:
        """A function of the user's: bind its types to the arguments and specialise it."""
        with called_at(self.source, node):
            kinds = {k: v for k, v in callee.signature.items() if k != "return"}
        self.count(node, len(kinds))
        bound: dict[str, Any] = {}
        types: list[Any] = []
        arguments: list[Any] = []
        touched: list[tuple[str, tree.ArrayType]] = []
        for (name, kind), given in zip(kinds.items(), node.args, strict=True):
            what = f"argument {name} of {callee.name}"
            if isinstance(kind, Const):
                types.append(self.known(given, kind.scalar, what))
            elif isinstance(kind, Array):
                passed, array_name, array = self.passed_array(given)
                if array_name in [one for one, _ in touched]:
                    self.refuse(given, f"the array {array_name} is passed twice; arrays of one call must not overlap")
                wanted = self.bind(bound, kind.element, array.element)
                if array.element is not wanted:
                    self.refuse(given, f"{what} is Array[{wanted.__name__}], not Array[{array.element.__name__}]")
                types.append(array)
                arguments.append(passed)
                touched.append((array_name, array))
            else:
                value = self.expression(given)
                if isinstance(kind, Generic) and kind.name not in bound:
                    value = self.settled(value, given)
                wanted = self.bind(bound, kind, None if isinstance(value, Untyped) else promoted(value.type))
                types.append(wanted)
                arguments.append(self.stored(value, wanted, given, what, given))
        found = self.translator.function(callee, tuple(types), bound, node, self)
        self.out.calls[self.key(node)] = found
        self.occupy(node, found.local_bytes)
        own = all(name in self.out.arrays and array.space == "local" for name, array in touched)
        self.out.pure = self.out.pure and (found.pure or (own and not found.has_barrier))
        self.out.has_barrier = self.out.has_barrier or found.has_barrier
        return tree.Call(found.result, found, tuple(arguments))

    def passed_array(self, given: Any) -> tuple[Any, str, tree.ArrayType]:
        """An array argument, whole or as a view: what is passed, the array's name and its type."""
        word = given.func.id if isinstance(given, ast.Call) and isinstance(given.func, ast.Name) else ""
        if word not in ("view", VIEW_OF_PART):
            name, array = self.array(given)
            return name, name, array
        if word == "view":
            self.check_word(given.func, self.source.lookup("view"))
        self.count(given, 2)
        name, array = self.array(given.args[0])
        if array.space == "local":
            self.refuse(given, f"a view of the local array {name}; pass it whole, with an index")
        if array.space == "image":
            self.refuse(given, f"a view of the image {name}; pass it whole, with an index, or make it readonly")
        return tree.View(name, self.index(given.args[1])), name, array

    @staticmethod
    def bind(bound: dict[str, Any], kind: Any, offered: Any) -> Any:
        """The scalar type that an annotation stands for in this call."""
        return bound.setdefault(kind.name, offered) if isinstance(kind, Generic) else kind
