"""Messages of ``assert`` and ``print`` in kernels, and their output by the host.

Machine code cannot raise and has no terminal. It stores the number of a failed assertion, or number and values of a
print, in a hidden array, which the host reads after the launch. A number identifies a `MessageStatement` of the
program, so texts stay on the host. The reference interpreter asserts and prints in Python.
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
"""Key of a launch's `MessageSettings` among its types; no identifier has spaces."""
INTEGERS, FLOATS, PROGRAM = "said integers", "said floats", "said by"
"""Hidden parameters: arrays of i64 and of floats, and an i64 with the program's number in its upper half."""
FAILED, PRINTED, FIRST = 0, 1, 2
"""Places in the array of integers: the first failure's number, the number of prints, and the first print."""
MOST_PRINTS = 1000
"""Most prints stored for a launch, or for a replay of a sequence."""
MOST_VALUES = 15
"""Most values of one print, besides its number."""
INTEGERS_SIZE, FLOATS_SIZE = FIRST + MOST_PRINTS * (1 + MOST_VALUES), MOST_PRINTS * MOST_VALUES

ASSERTS = opcode.opmap["LOAD_ASSERTION_ERROR"]


class MessageSettings(NamedTuple):
    """Messages of machine code: ``assert``, ``print`` or both, and the type in which it stores floats."""

    kinds: tuple[str, ...]
    floats: Any

    def hidden(self) -> dict[str, Any]:
        return {INTEGERS: tree.ArrayType(i64, "global"), FLOATS: tree.ArrayType(self.floats, "global"), PROGRAM: i64}


class MessageStatement(NamedTuple):
    """An ``assert``, with its message as the only part, or a ``print`` of texts and of values of these types."""

    source: Source
    line: int
    parts: tuple[Any, ...]


def message_kinds(source: Source) -> tuple[str, ...]:
    """Return ``assert``, ``print`` or both, if a function or one that it calls has them; needs no source text.

    ``python -O`` removes assertions, here too: there is no instruction for them then.
    """
    kinds: set[str] = set()
    seen: set[Source] = set()
    pending = [source]
    while pending:
        current = pending.pop()
        seen.add(current)
        code = current.python.__code__
        # pytest rewrites the assertions of test files so that they raise by name.
        if ASSERTS in code.co_code[::2] or "AssertionError" in code.co_names:
            kinds.add("assert")
        for name in (*code.co_names, *code.co_freevars):
            value = current.lookup(name)
            if isinstance(value, Source):
                pending += {value} - seen
            elif name == "print" and value is None:
                kinds.add("print")
    return tuple(sorted(kinds))


def assertion_text(node: ast.Assert) -> str:
    """Return the message of a failed assertion: its test as written, and its text."""
    import ast

    text = f": {node.msg.value!s}" if isinstance(node.msg, ast.Constant) else ""
    return f"assertion failed: {ast.unparse(node.test)}{text}"


def print_line(*values: Any) -> None:
    """Print a line as Python does, numbers of the language as plain ones."""
    builtins.print(*(int(value) if isinstance(value, Integer) else value for value in values))


def report_messages(integers: np.ndarray, floats: np.ndarray, programs: dict[int, Callable[[], tree.Program]]) -> None:
    """Print the messages of launches, and raise failed assertions.

    ``integers`` and ``floats`` are the hidden arrays, 1-D; ``programs`` makes programs by their numbers, from 1. Raises
    `KernelError`, which is an `AssertionError` too, if an assertion failed.
    """

    def message_of(number: int) -> tuple[tree.Program, MessageStatement]:
        program = programs[number >> 32]()
        return program, program.statements[number & 0xFFFFFFFF]

    count = int(integers[PRINTED])
    for k in range(min(count, MOST_PRINTS)):
        begin = FIRST + k * (1 + MOST_VALUES)
        number, *values = integers[begin : begin + 1 + MOST_VALUES].tolist()
        _, message = message_of(number)
        real_values = floats[k * MOST_VALUES : (k + 1) * MOST_VALUES].tolist()
        print_line(*printed_values(message.parts, values, real_values))
    if count > MOST_PRINTS:
        print_line(f"(prints left out: {count - MOST_PRINTS:,}; a launch keeps {MOST_PRINTS:,})")
    if integers[FAILED]:
        program, message = message_of(int(integers[FAILED]))
        error = located_error(LOCATED_ERRORS[AssertionError], [(message.source, message.line)], message.parts[0])
        if message.source is not program.kernel.source:
            error.calls.append(f"in a launch of {program.kernel.name}")
        raise error


def printed_values(parts: tuple[Any, ...], integers: list[int], floats: list[float]) -> Iterator[Any]:
    """Yield the parts of a print; its k-th value is the k-th of the integers, or of the floats."""
    k = 0
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        value = floats[k] if part.kind == "f" else integers[k]
        yield bool(value) if part is boolean else part(value)
        k += 1
