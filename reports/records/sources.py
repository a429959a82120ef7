"""Sources measured by a record: a digest that distinguishes records of other kernels from current ones."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.lang.digest import normal_form
from reports.records.environment import ROOT
from reports.records.files import Record
from reports.toml_file import DataFile

MEASURED = ("core.kernels", "core.search")
"""Packages in the digest: kernels, and the searches that launch them."""
FOLLOWED = (*MEASURED, "drivers.workload.local_search")
"""Packages in which a program's imports are followed."""
PROGRAMS = ("drivers", "drivers/more")
DIGITS = 16
UNCHANGED = Path("reports", "gallery", "sources.toml")
"""File of changes of the sources that reach no recorded run, in a checkout."""


class SourceChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of a workload's sources that reaches no recorded run: the digests before and after, and the reason."""

    workload: str
    before: str
    after: str
    why: str


@functools.cache
def sources_digest(workload: str, root: Path = ROOT) -> str | None:
    """Return a digest of the kernels and the search of a workload; None for an unknown workload.

    It covers the modules of `MEASURED` that the workload's program imports, directly or through others, in
    their normal form (`core.lang.digest.normal_form`): comments, docstrings and names of local variables do not count.
    """
    left = [path for folder in PROGRAMS if (path := root / folder / f"{workload}.py").exists()]
    if not left:
        return None
    reached: set[Path] = set()
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


@functools.cache
def harmless_changes(root: Path = ROOT) -> tuple[SourceChange, ...]:
    """Return the changes that reach no recorded run; none outside a checkout. Raises `UserError` for a wrong file."""
    path = root / UNCHANGED
    if not path.exists():
        return ()
    file = DataFile(path)
    return tuple(file.part(list[SourceChange], file.content.get("changes", []), "changes"))


def equal_digests(workload: str, digest: str, root: Path = ROOT) -> set[str]:
    """Return a digest of sources, and earlier ones that only harmless changes lead from."""
    equal = {digest}
    while before := {
        change.before
        for change in harmless_changes(root)
        if change.workload == workload and change.after in equal and change.before not in equal
    }:
        equal |= before
    return equal


def is_stale(record: Record) -> bool:
    """True if the kernels or the search of a record changed since, or if it has no digest."""
    today = sources_digest(record.workload)
    return today is not None and record.details.get("sources") not in equal_digests(record.workload, today)


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
