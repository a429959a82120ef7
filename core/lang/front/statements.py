"""Statements: branches, returns, and calls that stand alone."""

from __future__ import annotations

import ast

from core.lang import tree
from core.lang.front.context import called_name
from core.lang.front.loops import Loops, certainly_assigned


class Statements(Loops):
    """Translates the other statements of one function."""

    def conditional(self, node: ast.If) -> list[tree.Statement]:
        """Translate ``if``; of a constant test only the branch taken."""
        test = self.truth(node.test)
        if isinstance(test, tree.Literal):
            self.depth -= 1
            statements = self.block(node.body if test.value else node.orelse)
            self.depth += 1
            return statements
        start = self.defined
        yes, after_yes = self.branch(node.body, start)
        no, after_no = self.branch(node.orelse, start)
        self.defined = certainly_assigned([after_yes, after_no])
        return [tree.If(test, yes, no)]

    def return_value(self, node: ast.Return) -> list[tree.Statement]:
        result = self.out.result
        if node.value is None or result is None:
            if node.value is not None:
                self.refuse(node, "a value returned, but the function declares none; annotate it with -> type")
            if result is not None:
                self.refuse(node, f"return without a value; return {result.__name__}")
            self.defined = None
            return [tree.Return(None)]
        value = self.stored(self.right_side(node.value), result, node, "the result", node.value)
        self.defined = None
        return [tree.Return(value)]

    def nothing(self, _: ast.Pass) -> list[tree.Statement]:
        return []

    def evaluated(self, node: ast.Expr) -> list[tree.Statement]:
        """Translate a call used as a statement, or leave out a docstring."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []
        if not isinstance(node.value, ast.Call):
            if type(node.value) is not ast.Constant:
                self.expression(node.value)
            self.refuse(node, f"{ast.unparse(node.value)} has no effect; assign it or remove it")
        if called_name(node.value) == "barrier":
            self.count(node.value, 0)
            self.check_word(node.value.func, self.source.lookup("barrier"))
            self.out.has_barrier = True
            self.out.pure = False
            return [tree.Barrier()]
        if called_name(node.value) == "print":
            return self.printed(node.value)
        value = self.call(node.value)
        if isinstance(value, tree.Atomic) or (isinstance(value, tree.Call) and not value.function.pure):
            return [tree.Evaluate(value)]
        called = self.out.calls.get(self.key(node.value))
        if called is None or not called.has_messages:
            self.refuse(node, f"{ast.unparse(node.value)} has no effect; assign it or remove it")
        return []

    def assertion(self, node: ast.Assert) -> list[tree.Statement]:
        """Check the test, and leave the assertion out: only the reference interpreter asserts and prints."""
        self.out.has_messages = True
        self.truth(node.test)
        if node.msg is not None and not is_text(node.msg):
            advice = "write a literal text, and print numbers before it"
            self.refuse(node.msg, f"the text {ast.unparse(node.msg)} of an assertion; {advice}")
        return []

    def printed(self, node: ast.Call) -> list[tree.Statement]:
        """Check the values of ``print("text", x)``, and leave it out."""
        if self.source.lookup("print") is not None:
            self.refuse(node, "print is not Python's own here; import the other one by another name")
        self.check_word(node.func, None)
        self.out.has_messages = True
        if node.keywords:
            self.refuse(node, f"print with {node.keywords[0].arg}=; a print is a line, its parts with a space between")
        for argument in node.args:
            if not is_text(argument):
                self.typed(argument)
        return []

    statements = {
        **Loops.statements,
        ast.If: conditional,
        ast.Return: return_value,
        ast.Pass: nothing,
        ast.Expr: evaluated,
        ast.Assert: assertion,
    }


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
