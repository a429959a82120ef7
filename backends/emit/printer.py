"""Walks a typed program and prints it; a dialect says how each construct reads."""

from __future__ import annotations

import re
from typing import Any

from core.lang import tree


class ProgramPrinter:
    """Prints statements and expressions by one small method each; an unknown node raises.

    A function's own names end in an underscore, those of bundles' fields (``walk.cost``) in a word, so that neither
    meets the other, nor a word of the dialect.
    """

    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.function = program.kernel
        self.lines: list[str] = []
        self.level = 0
        self.counters = 0
        self.fields: dict[str, str] = {}

    # --- text ---

    def line(self, text: str) -> None:
        """Print one line at the present level."""
        self.lines.append("    " * self.level + text)

    def block(self, statements: list[Any]) -> None:
        """Print statements one level deeper."""
        self.level += 1
        for statement in statements:
            self.statement(statement)
        if not statements:
            self.nothing()
        self.level -= 1

    def nothing(self) -> None:
        """Print what stands for an empty block."""

    def name(self, name: str) -> str:
        """A user's name in the dialect."""
        if name.isidentifier():
            return f"{name}_"
        if name not in self.fields:
            text = re.sub(r"\W+", "_", name)
            again = sum(one.startswith(text + "_field") for one in self.fields.values())
            self.fields[name] = f"{text}_field{again or ''}"
        return self.fields[name]

    def array_type(self, name: str) -> tree.ArrayType:
        """The type of an array of the function that is being printed."""
        made = self.function.arrays.get(name)
        found: tree.ArrayType = made.array if made is not None else self.function.parameters[name]
        return found

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        self.counters += 1
        return f"{stem}{self.counters}"

    # --- dispatch ---

    def statement(self, node: Any) -> None:
        """Print one statement."""
        getattr(self, "print_" + type(node).__name__)(node)

    def text(self, node: Any) -> str:
        """The text of one expression."""
        return str(getattr(self, "text_" + type(node).__name__)(node))

    def text_Local(self, node: tree.Local) -> str:  # noqa: N802
        return self.name(node.name)

    def arguments(self, call: tree.Call) -> list[str]:
        """The texts of a call's arguments: arrays by name, views and scalars as expressions."""
        return [self.name(a) if isinstance(a, str) else self.text(a) for a in call.arguments]
