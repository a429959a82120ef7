"""Sources measured by a record: a digest that distinguishes records of other kernels from current ones."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from core.lang.digest import normal_form
from reports.records.environment import ROOT
from reports.records.files import Record

MEASURED = ("core.kernels", "core.search")
"""Packages in the digest: kernels, and the searches that launch them."""
FOLLOWED = (*MEASURED, "drivers.workload.local_search")
"""Packages in which a program's imports are followed."""
DIGITS = 16


@functools.cache
def sources_digest(workload: str, root: Path = ROOT) -> str | None:
    """Return a digest of the kernels and the search of a workload; None for an unknown workload.

    It covers the modules of `MEASURED` that the workload's program imports, directly or through others, in
    their normal form (`core.lang.digest.normal_form`): comments, docstrings and names of local variables do not count.
    """
    program = root / "drivers" / f"{workload}.py"
    if not program.exists():
        return None
    left, reached = [program], set[Path]()
    while left:
        path = left.pop()
        if path not in reached:
            reached.add(path)
            left += imported_files(path, root)
    measured = tuple(root.joinpath(*package.split(".")) for package in MEASURED)
    counted = sorted(path for path in reached if any(path.is_relative_to(folder) for folder in measured))
    texts = [
        f"{path.relative_to(root).as_posix()}\n{normal_form(path.read_text(encoding='utf-8'))}" for path in counted
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:DIGITS]


def is_stale(record: Record) -> bool:
    """True if the kernels or the search of a record changed since, or if it has no digest."""
    today = sources_digest(record.workload)
    return today is not None and record.details.get("sources") != today


def imported_files(path: Path, root: Path) -> Iterator[Path]:
    """Yield the files of the modules of `FOLLOWED` that a file imports, in its functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if any(f"{name}.".startswith(f"{package}.") for package in FOLLOWED):
                place = root.joinpath(*name.split("."))
                yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.exists())
