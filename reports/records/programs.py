"""Programs that a record measured: digests that distinguish records of other kernels from those of today's.

Kernels are made for a problem and its settings, so each has the digests of its functions: the kernel itself and all
that it calls. A change of a function, or of a constant or a bundle that it names, gives it another digest. Wording,
names of local variables and the file of a function do not count.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import CodeType
from typing import Any

from core.lang.digest import normal_form
from core.lang.source import Source, constant_text
from reports.records.environment import ROOT
from reports.records.files import Record

SUITE = "core"
"""Package of the kernels and functions that count; a user's own and those of the self-test do not."""
DIGITS = 6


def program_digests(kernels: Iterable[Source]) -> list[str]:
    """Return the digests of all functions of the suite's kernels, sorted."""
    reached, left = set[Source](), [one for one in kernels if _is_own(one)]
    while left:
        source = left.pop()
        if source not in reached:
            reached.add(source)
            code = source.python.__code__
            named = map(source.lookup, (*code.co_names, *code.co_freevars))
            left += [one for one in named if isinstance(one, Source)]
    return sorted({_digest_of(one.python.__code__, one.__module__) for one in reached if _is_own(one)})


def _is_own(source: Source) -> bool:
    return source.__module__.partition(".")[0] == SUITE


def is_stale(record: Record) -> bool:
    """True if a function of a record's kernels is none of today's, or if the record has no digests."""
    programs = record.details.get("programs")
    return programs is None or not todays_digests().issuperset(programs)


@functools.cache
def todays_digests() -> frozenset[str]:
    """Return the digests of all functions in the suite's modules with kernels."""
    digests = set()
    for path in (ROOT / SUITE).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "@kernel" in text or "@function" in text:
            scope = vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)))
            functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
            digests |= {_digest(ast.unparse(node), scope) for node in functions}
    return frozenset(digests)


@functools.cache
def _digest_of(code: CodeType, module: str) -> str:
    return _digest(textwrap.dedent(inspect.getsource(code)), vars(sys.modules[module]))


def _digest(text: str, scope: Mapping[str, Any]) -> str:
    """Digest of a function's text, and of the constants and bundles of its module that it names."""
    named = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    known = [f"{name} = {constant_text(scope[name])}" for name in sorted(named & scope.keys())]
    return hashlib.sha256("\n".join([normal_form(text), *known]).encode()).hexdigest()[:DIGITS]
