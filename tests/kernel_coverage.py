"""Coverage of the project's kernels by the reference interpreter; `make test` ends with it (``--kernel-coverage``).

A tracer, such as that of `coverage`, runs at every call in Python, and most calls of the interpreter are operators of
typed numbers: with it the tests of `core/kernels` took 3.4 times as long. So functions mark their lines here. Runs in
other processes (drivers, ranks) are not counted.
"""

import ast
from pathlib import Path

import pytest

from core.lang import reference_interpreter

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "core"
REACHED = "lines reached"  # a global of every function that marks its lines; no identifier has spaces
MOST_RANGES = 12


class KernelCoverage:
    """A plugin of pytest: marks lines in each process, merges the workers', and prints the table.

    `reached` has for every file with executed functions a 1 for each executed line.
    """

    def __init__(self):
        self.reached = {}

    def add_marks(self, source, definition):
        """Let a function under `FOLDER` mark its lines, for `core.lang.reference_interpreter.coverage_hook`."""
        path = Path(source.path).resolve()
        if not path.is_relative_to(FOLDER):
            return {}
        definition.body = marked(definition.body)
        name = str(path.relative_to(ROOT))
        if name not in self.reached:
            self.reached[name] = bytearray(path.read_bytes().count(b"\n") + 2)
        return {REACHED: self.reached[name]}

    def pytest_sessionstart(self):
        reference_interpreter.coverage_hook = self.add_marks

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[REACHED] = {name: list(lines) for name, lines in self.reached.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        for name, lines in getattr(node, "workeroutput", {}).get(REACHED, {}).items():
            flags = self.reached.setdefault(name, bytearray(len(lines)))
            flags[:] = bytes(map(max, flags, lines))

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("lines of kernels that the plain-Python run reached")
        for row in table({str(p.relative_to(ROOT)): lines_of_kernels(p.read_text()) for p in sources()}, self.reached):
            terminalreporter.write_line(row)


def sources():
    return sorted(FOLDER.rglob("*.py"))


def marked(statements):
    """The statements, each after one that marks its line."""
    marked_statements = []
    for statement in statements:
        for inner in ("body", "orelse"):
            if hasattr(statement, inner):
                setattr(statement, inner, marked(getattr(statement, inner)))
        place = ast.Subscript(ast.Name(REACHED, ast.Load()), ast.Constant(statement.lineno), ast.Store())
        marked_statements += [ast.copy_location(ast.Assign([place], ast.Constant(1)), statement), statement]
    return marked_statements


def lines_of_kernels(text):
    """First lines of all statements in a file's kernels and functions without docstrings, sorted."""
    numbers = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any(map(is_ours, node.decorator_list)):
            inside = [s for statement in node.body for s in ast.walk(statement) if isinstance(s, ast.stmt)]
            numbers |= {s.lineno for s in inside if not is_text(s)}
    return sorted(numbers)


def is_ours(decorator):
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(named, ast.Name) and named.id in ("kernel", "function")


def is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def table(lines, reached):
    """One row for each file with its fraction of reached lines and the other lines, and one for all.

    ``lines`` has all lines that count, by file, sorted; ``reached`` is as in `KernelCoverage`.
    """
    counts = {name: (sum(reached[name][n] for n in found) if name in reached else 0) for name, found in lines.items()}
    lines = {name: found for name, found in lines.items() if found}
    width = max(map(len, lines), default=0)
    for name, numbers in lines.items():
        missed = ranges(numbers, reached.get(name, bytearray(numbers[-1] + 1)))
        left_out = f", and {len(missed) - MOST_RANGES} more" if len(missed) > MOST_RANGES else ""
        gaps = f"  not {', '.join(missed[:MOST_RANGES])}{left_out}" if missed else ""
        yield f"{name:<{width}} {share(counts[name], len(numbers))}{gaps}"
    total = sum(map(len, lines.values()))
    yield f"{'all':<{width}} {share(sum(counts.values()), total)} of {total:,} lines"


def share(part, whole):
    """A percentage; 100 only if nothing is missing."""
    return f"{int(1000 * part / max(whole, 1)) / 10:5.1f} %"


def ranges(lines, reached):
    """Lines that were not reached as text, neighbours among all that count in one range."""
    joined = []
    for before, n in zip([0, *lines], lines, strict=False):
        if reached[n]:
            continue
        if joined and joined[-1][1] == before:
            joined[-1][1] = n
        else:
            joined.append([n, n])
    return [str(first) if first == last else f"{first}-{last}" for first, last in joined]
