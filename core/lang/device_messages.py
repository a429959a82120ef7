"""Messages of ``assert`` and ``print`` in kernels, and their output by the host.

Machine code cannot raise and has no terminal. There a failed assertion leaves its number in an array that no user sees,
a print its number and its values; the host reads that array after the launch. A number stands for a `MessageStatement`
of the program, so that texts stay on the host. The plain-Python run does both as Python does.
"""

from __future__ import annotations

import builtins
import opcode
from typing import TYPE_CHECKING, Any, NamedTuple

from core.lang import tree
from core.lang.kernel_errors import LOCATED_ERRORS
from core.lang.source import Source, located_error
from core.lang.types import Integer, boolean, i64

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

    import numpy as np

MESSAGES = "what it says"
"""Where the `MessageSettings` of a launch stands among its types; no identifier has spaces."""
INTEGERS, FLOATS, PROGRAM = "said integers", "said floats", "said by"
"""The hidden parameters: an array of i64, one of floats, and an i64 whose upper half is the program's number."""
FAILED, PRINTED, FIRST = 0, 1, 2
"""In the array of integers: the first failure's number, how many prints there were, and where the first of them is."""
MOST_PRINTS = 1000
"""That a launch keeps, or a replay of a sequence."""
MOST_VALUES = 15
"""Of one print, beside its number."""
INTEGERS_SIZE, FLOATS_SIZE = FIRST + MOST_PRINTS * (1 + MOST_VALUES), MOST_PRINTS * MOST_VALUES

ASSERTS = opcode.opmap["LOAD_ASSERTION_ERROR"]


class MessageSettings(NamedTuple):
    """What machine code does: ``assert``, ``print`` or both, and the type in which it keeps floats."""

    kinds: tuple[str, ...]
    floats: Any

    def hidden(self) -> dict[str, Any]:
        """The hidden parameters and their types."""
        return {INTEGERS: tree.ArrayType(i64, "global"), FLOATS: tree.ArrayType(self.floats, "global"), PROGRAM: i64}


class MessageStatement(NamedTuple):
    """An ``assert``, whose one part is what its failure tells, or a ``print`` of texts and of values of these types."""

    source: Source
    line: int
    parts: tuple[Any, ...]


def message_kinds(source: Source) -> tuple[str, ...]:
    """Which of ``assert`` and ``print`` a function has, or one that it names; found without its source text.

    ``python -O`` leaves assertions out, and so do we: there is no instruction for them then.
    """
    found: set[str] = set()
    seen: set[Source] = set()
    pending = [source]
    while pending:
        one = pending.pop()
        seen.add(one)
        code = one.python.__code__
        # pytest rewrites the assertions of test files so that they raise by name.
        if ASSERTS in code.co_code[::2] or "AssertionError" in code.co_names:
            found.add("assert")
        for name in (*code.co_names, *code.co_freevars):
            meant = one.lookup(name)
            if isinstance(meant, Source):
                pending += {meant} - seen
            elif name == "print" and meant is None:
                found.add("print")
    return tuple(sorted(found))


def assertion_text(node: ast.Assert) -> str:
    """What a failed assertion tells: its test as it is written, and its text."""
    import ast

    text = f": {node.msg.value!s}" if isinstance(node.msg, ast.Constant) else ""
    return f"assertion failed: {ast.unparse(node.test)}{text}"


def print_line(*values: Any) -> None:
    """Print a line as Python does, numbers of the language as plain ones."""
    builtins.print(*(int(value) if isinstance(value, Integer) else value for value in values))


def report_messages(integers: np.ndarray, floats: np.ndarray, programs: dict[int, Callable[[], tree.Program]]) -> None:
    """Print what launches printed, and raise what failed.

    Parameters
    ----------
    integers, floats : 1-D
        The hidden arrays.
    programs
        Who may have said it, by the numbers that they were given, from 1 on.

    Raises
    ------
    KernelError
        An assertion failed; an ``AssertionError`` too.

    """

    def said(number: int) -> tuple[tree.Program, MessageStatement]:
        program = programs[number >> 32]()
        return program, program.statements[number & 0xFFFFFFFF]

    count = int(integers[PRINTED])
    for k in range(min(count, MOST_PRINTS)):
        begin = FIRST + k * (1 + MOST_VALUES)
        number, *kept = integers[begin : begin + 1 + MOST_VALUES].tolist()
        print_line(
            *printed_values(said(number)[1].parts, kept, floats[k * MOST_VALUES : (k + 1) * MOST_VALUES].tolist())
        )
    if count > MOST_PRINTS:
        print_line(f"(prints left out: {count - MOST_PRINTS:,}; a launch keeps {MOST_PRINTS:,})")
    if integers[FAILED]:
        program, one = said(int(integers[FAILED]))
        error = located_error(LOCATED_ERRORS[AssertionError], [(one.source, one.line)], one.parts[0])
        if one.source is not program.kernel.source:
            error.calls.append(f"in a launch of {program.kernel.name}")
        raise error


def printed_values(parts: tuple[Any, ...], integers: list[int], floats: list[float]) -> Iterator[Any]:
    """What a print's texts and types stand for; its k-th value is the k-th of the integers, or of the floats."""
    k = 0
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        value = floats[k] if part.kind == "f" else integers[k]
        yield bool(value) if part is boolean else part(value)
        k += 1
