"""Names the tests that a change reaches: `make test-changed` runs them, without those of slower tiers.

A module reaches what it imports, and what a text of it names: `"drivers.ppp"` is a program that a test starts,
`"docs/kernels.md"` a file that it reads. A test also reaches the `conftest.py` of its folders.

    python -m tests.changed [REVISION]    what differs from REVISION (HEAD), files that git does not know included
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def changed(revision: str) -> set[str]:
    return {*git("diff", "--name-only", revision), *git("ls-files", "--others", "--exclude-standard")}


@cache
def known() -> frozenset[str]:
    """All files of the checkout, including those that a change removed."""
    return frozenset(
        [*git("ls-files"), *git("ls-files", "--others", "--exclude-standard"), *git("diff", "--name-only", "HEAD")]
    )


@cache
def at_the_top() -> frozenset[str]:
    """Files of no folder, such as the Makefile: texts name them within sentences and paths."""
    return frozenset(one for one in known() if "/" not in one)


def files_of(name: str) -> Iterator[str]:
    parts = name.split(".")
    for k in range(1, len(parts) + 1):
        path = "/".join(parts[:k])
        yield from {f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py"} & known()


@cache
def reached(file: str) -> frozenset[str]:
    if not file.endswith(".py") or not (ROOT / file).exists():
        return frozenset()
    mentioned: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{file}:{node.lineno}: a relative import, expected the module's whole name")
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            names = [node.value] if "." in node.value and " " not in node.value else []
            mentioned |= {one for one in at_the_top() if one in node.value} | ({node.value} & known())
        else:
            continue
        mentioned.update(one for name in names for one in files_of(name))
    if file.startswith("tests/"):
        mentioned |= {f"{folder}/conftest.py" for folder in map(str, Path(file).parents)} & known()
    return frozenset(mentioned - {file})


def reached_by(starts: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    left = list(starts)
    while left:
        file = left.pop()
        if file not in seen:
            seen.add(file)
            left.extend(reached(file) - seen)
    return seen


def tests_of(files: set[str]) -> list[str]:
    """Test modules that reach one of these files, a module beside a data file, or the tests of a page."""
    if not files:
        return []
    files = files | {module for file in files for module in beside(file)}
    modules = [one for one in sorted(known()) if one.rpartition("/")[2].startswith("test_") and (ROOT / one).exists()]
    return [module for module in modules if reached_by([module]) & files]


def beside(file: str) -> set[str]:
    """Modules of the nearest folder that has some: they may read this data file."""
    if file.endswith(".py"):
        return set()
    if file.endswith(".md"):
        return {one for one in known() if one.startswith("tests/docs/")}
    folders = [f"{folder}/" for folder in map(str, Path(file).parents) if folder != "."]
    neighbours = ({one for one in known() if one.endswith(".py") and one.startswith(folder)} for folder in folders)
    return next(filter(None, neighbours), set())


if __name__ == "__main__":
    print("\n".join(tests_of(changed(*(sys.argv[1:] or ["HEAD"])))))
