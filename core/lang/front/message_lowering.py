"""Messages of kernels: ``assert`` and ``print`` become branches, stores and atomics.

Messages may be dropped and do not count as effects, so functions called in expressions may have them.
"""

from __future__ import annotations

import ast
from typing import Any

from core.lang import tree
from core.lang.device_messages import (
    FAILED,
    FIRST,
    FLOATS,
    INTEGERS,
    MOST_PRINTS,
    MOST_VALUES,
    PRINTED,
    PROGRAM,
    MessageStatement,
    assertion_text,
)
from core.lang.front.context import FunctionContext
from core.lang.front.numbers import Numbers
from core.lang.front.references import References
from core.lang.types import boolean, i64


def literal(number: int) -> tree.Literal:
    return tree.Literal(i64, i64(number))


def sum_of(left: Any, right: Any) -> tree.Binary:
    return tree.Binary(i64, "add", left, right)


class Messages:
    """Types the messages of one function; only the kinds in the launch's `MessageSettings` are compiled."""

    def __init__(self, context: FunctionContext, numbers: Numbers, references: References) -> None:
        self.context, self.source, self.out, self.refuse = context, context.source, context.out, context.refuse
        self.numbers = numbers
        self.references = references
        context.statements[ast.Assert] = self.assertion

    def assertion(self, node: ast.Assert) -> list[Any]:
        self.out.has_messages = True
        if isinstance(node.test, ast.Tuple):
            self.refuse(node, "assert of a tuple, which always holds; leave out the parentheses")
        if node.msg is not None and text_of(node.msg) is None:
            advice = "write a literal text, and print numbers before it"
            self.refuse(node.msg, f"the text {ast.unparse(node.msg)} of an assertion; {advice}")
        test = self.numbers.truth(node.test)
        holds = isinstance(test, tree.Literal) and test.value
        if holds or "assert" not in self.context.program.message_kinds:
            return []
        line = node.test.lineno  # the line that Python reports as failed
        number = self.numbered(MessageStatement(self.source, line, (assertion_text(node),)))
        first = (literal(0), number)
        failed = tree.Evaluate(tree.Atomic(i64, "atomic_cas", self.integers(), literal(FAILED), first))
        return [failed] if isinstance(test, tree.Literal) else [tree.If(tree.Unary(boolean, "not", test), [failed], [])]

    def printed(self, node: ast.Call) -> list[Any]:
        """Translate ``print("text", x)``: reserve a place among the prints; store the statement's number and values."""
        if self.source.lookup("print") is not None:
            self.refuse(node, "print is not Python's own here; import the other one by another name")
        assert isinstance(node.func, ast.Name)
        self.context.check_word(node.func, None)
        self.out.has_messages = True
        if node.keywords:
            self.refuse(node, f"print with {node.keywords[0].arg}=; a print is a line, its parts with a space between")
        parts: list[Any] = []
        for argument in node.args:
            text = text_of(argument)
            parts.append(self.printable(argument) if text is None else text)
        shown = [part for part in parts if not isinstance(part, str)]
        if len(shown) > MOST_VALUES:
            self.refuse(node, f"print of {len(shown)} values; at most {MOST_VALUES}, write several")
        if "print" not in self.context.program.message_kinds:
            return []
        kinds = tuple(part if isinstance(part, str) else part.type for part in parts)
        number = self.numbered(MessageStatement(self.source, node.lineno, kinds))
        take = tree.Atomic(i64, "atomic_add", self.integers(), literal(PRINTED), (literal(1),))
        keep, place = self.context.hold(take)
        begin = sum_of(tree.Binary(i64, "mul", place, literal(1 + MOST_VALUES)), literal(FIRST))
        stores = [tree.Store(self.integers(), begin, number)]
        for k, value in enumerate(shown):
            if value.type.kind == "f":
                index = sum_of(tree.Binary(i64, "mul", place, literal(MOST_VALUES)), literal(k))
                array, scalar = self.context.hidden_argument(FLOATS), self.context.program.hidden[FLOATS].element
            else:
                index, array, scalar = sum_of(begin, literal(1 + k)), self.integers(), i64
            stores.append(tree.Store(array, index, self.numbers.cast(value, scalar)))
        return [keep, tree.If(tree.Compare(boolean, "lt", place, literal(MOST_PRINTS)), stores, [])]

    def printable(self, node: Any) -> Any:
        """Return a number or truth value to print."""
        text = ast.unparse(node)
        if isinstance(node, ast.JoinedStr):
            self.refuse(node, 'an f-string; write text and values apart: print("x is", x)')
        if isinstance(node, ast.Name) and self.context.is_free(text) and isinstance(self.source.lookup(text), str):
            self.refuse(node, f"print of {text}, a text that is no literal; write the text itself")
        if self.references.bundle(node) is not None:
            self.refuse(node, f"print of the bundle {text}; print its fields")
        if self.references.is_array(node):
            self.refuse(node, f"print of the array {text}; print its elements, one by one")
        return self.numbers.typed(node)

    def numbered(self, statement: MessageStatement) -> Any:
        """Return the number by which the host identifies a statement of this program among all that it runs."""
        numbers = self.context.program.statements
        number = numbers.setdefault(statement, len(numbers))
        self.context.hidden_argument(PROGRAM)
        return sum_of(tree.Local(i64, PROGRAM), literal(number))

    def integers(self) -> str:
        """Return the name of the array that stores all but floats."""
        return self.context.hidden_argument(INTEGERS)

    def is_compiled(self, function: tree.TypedFunction) -> bool:
        """Return True if machine code contains a message of a function."""
        return not function.parameters.keys().isdisjoint(self.context.program.hidden)


def text_of(node: Any) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
