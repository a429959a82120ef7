"""Visitor that prints a typed program; a dialect prints each construct."""

from __future__ import annotations

import re
from typing import ClassVar

from core.lang import tree


class ProgramPrinter:
    """Prints statements and expressions by one small method each; an unknown node raises.

    Local names end in an underscore, and names of bundles' fields (``walk.cost``) in a word, so that they never clash
    with each other or with names of the dialect. The attributes are the dialect's syntax of statements.
    """

    end = ""
    opening = "{} {}:"
    """Line before a block, of a word and a test."""
    otherwise, closing = "else:", ""
    logic: ClassVar[dict[str, str]] = {}
    """Names of ``and`` and ``or`` that differ from Python's."""

    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.function = program.kernel
        self.lines: list[str] = []
        self.level = 0
        self.counters = 0
        self.fields: dict[str, str] = {}

    # --- text ---

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    def block(self, statements: list[tree.Statement]) -> None:
        """Print statements one level deeper."""
        self.level += 1
        for statement in statements:
            self.statement(statement)
        if not statements:
            self.nothing()
        self.level -= 1

    def nothing(self) -> None:
        """Print an empty block."""

    def name(self, name: str) -> str:
        """Return a user's name in the dialect."""
        if name.isidentifier():
            return f"{name}_"
        if name not in self.fields:
            text = re.sub(r"\W+", "_", name)
            again = sum(field.startswith(text + "_field") for field in self.fields.values())
            self.fields[name] = f"{text}_field{again or ''}"
        return self.fields[name]

    def array_type(self, name: str) -> tree.ArrayType:
        local = self.function.arrays.get(name)
        return local.array if local is not None else self.function.parameters[name]

    def fresh(self, stem: str) -> str:
        self.counters += 1
        return f"{stem}{self.counters}"

    # --- statements that differ only in these attributes ---

    def print_Assign(self, node: tree.Assign) -> None:  # noqa: N802
        self.line(f"{self.name(node.name)} = {self.text(node.value)}{self.end}")

    def print_Evaluate(self, node: tree.Evaluate) -> None:  # noqa: N802
        self.line(f"{self.text(node.value)}{self.end}")

    def print_If(self, node: tree.If) -> None:  # noqa: N802
        self.line(self.opening.format("if", self.text(node.test)))
        self.block(node.yes)
        if node.no:
            self.line(self.otherwise)
            self.block(node.no)
        self.close_block()

    def print_While(self, node: tree.While) -> None:  # noqa: N802
        self.before_loop(counted=False)
        self.line(self.opening.format("while", self.text(node.test)))
        self.block(node.body)
        self.close_block()

    def before_loop(self, counted: bool) -> None:
        """Print pragmas for the following loop; ``counted`` is true for a ``for``."""

    def close_block(self) -> None:
        if self.closing:
            self.line(self.closing)

    def print_Break(self, node: tree.Break) -> None:  # noqa: N802
        self.line(f"break{self.end}")

    def print_Continue(self, node: tree.Continue) -> None:  # noqa: N802
        self.line(f"continue{self.end}")

    def print_Return(self, node: tree.Return) -> None:  # noqa: N802
        self.line(f"return{self.end}" if node.value is None else f"return {self.text(node.value)}{self.end}")

    # --- dispatch ---

    def statement(self, node: tree.Statement) -> None:
        getattr(self, "print_" + type(node).__name__)(node)

    def text(self, node: tree.Expression | tree.View) -> str:
        return str(getattr(self, "text_" + type(node).__name__)(node))

    def text_Logic(self, node: tree.Logic) -> str:  # noqa: N802
        return f"({self.text(node.left)} {self.logic.get(node.op, node.op)} {self.text(node.right)})"

    def text_Local(self, node: tree.Local) -> str:  # noqa: N802
        return self.name(node.name)

    def arguments(self, call: tree.Call) -> list[str]:
        """Return the texts of a call's arguments: arrays by name, views and scalars as expressions."""
        return [self.name(a) if isinstance(a, str) else self.text(a) for a in call.arguments]
