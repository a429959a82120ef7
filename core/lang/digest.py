"""A digest of what functions of the kernel language say: the same in every process, on every machine and Python.

`core.lang.source.Source.identity` names code by its place, which is enough while a job runs. What outlives a job (a
record, a launch shape that was found) needs to know whether the code itself is the same.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from types import CodeType

from core.lang.bundles import RowsOf, is_bundle, kind_text
from core.lang.source import Source, constant_text
from core.lang.types import Generic

DOCSTRING = -1
"""Token kind of a docstring; Python has no such kind."""


def source_digest(sources: Iterable[Source]) -> str:
    """SHA-256 of functions, of all that they call, and of the constants that they read.

    Comments, docstrings, blank lines and the place in a file do not count; neither does the order of ``sources``.
    """
    described = {_described(source, {}) for source in sources}
    return hashlib.sha256("\n".join(sorted(described)).encode()).hexdigest()


def _described(source: Source, numbers: dict[Source, int]) -> str:
    """Return the function's tokens and the meaning of each name; a repeated name is only its number."""
    if source in numbers:
        return f"function {numbers[source]}"
    numbers[source] = len(numbers)
    code = source.python.__code__
    try:
        said = _words(code)
    except OSError:
        source.refuse(None, "its source text cannot be found; define it in a file")
    kinds = (kind.bundle if isinstance(kind, RowsOf) else kind for kind in source.signature.values())
    meanings = sorted({kind_text(kind) for kind in kinds if is_bundle(kind)})
    for name in sorted({*code.co_names, *code.co_freevars}):
        value = source.lookup(name)
        if isinstance(value, Source):
            meanings.append(f"{name}: {_described(value, numbers)}")
        elif isinstance(value, Generic):
            meanings.append(f"{name}: any type {value.name}")
        elif (value is not None or source.has(name)) and (text := constant_text(value)) is not None:
            meanings.append(f"{name} = {text}")
    return f"{said} [{'; '.join(meanings)}]"


@functools.cache
def _words(code: CodeType) -> str:
    """Return the tokens of a function as text."""
    import inspect
    import textwrap

    return source_words(textwrap.dedent(inspect.getsource(code)))


def source_words(text: str) -> str:
    """Return the tokens of a function or a module without comments, docstrings and blank lines.

    Syntax trees are not used, since their printed form depends on Python's version. An f-string is one token, as it is
    before Python 3.12.
    """
    import io
    import tokenize

    lines = text.splitlines(keepends=True)
    begins, ends = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)
    depth, start = 0, (0, 0)
    words = []
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == begins:
            start = token.start if depth == 0 else start
            depth += 1
        depth -= token.type == ends
        if depth > 0:
            continue
        if token.type == ends:
            words.append(_text_between(lines, start, token.end))
            before = tokenize.STRING
            continue
        if token.type in (tokenize.COMMENT, tokenize.NL):
            continue
        # A string that is a statement: of a module, a function, a class, or below the name that it describes.
        if token.type == tokenize.STRING and before in (None, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
            before = DOCSTRING
            continue
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
            if before != DOCSTRING:
                words.append(tokenize.tok_name[token.type])
        else:
            words.append(token.string)
        before = token.type
    return " ".join(words)


def _text_between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text from one place to another; a place is a line, from 1, and a column, from 0."""
    inside = lines[start[0] - 1 : end[0]]
    inside[-1] = inside[-1][: end[1]]
    inside[0] = inside[0][start[1] :]
    return "".join(inside)
