"""A backend is added by one file and a line: nobody outside `backends` compares with a backend's name."""

import ast
from pathlib import Path

import pytest

import backends

ROOT = Path(__file__).parents[1]
ASKING = ("core", "cluster", "reports", "drivers")


def names_in(node: ast.AST, constants: dict[str, set[str]]) -> set[str]:
    """The backends' names among the texts of an expression, and of the module's constants that it uses."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and part.value in backends.NAMES:
            found.add(part.value)
        elif isinstance(part, ast.Name):
            found |= constants.get(part.id, set())
    return found


def compared(source: str) -> list[tuple[int, str]]:
    """The lines of a module on which something is compared with a backend's name, and the name."""
    tree = ast.parse(source)
    constants = {
        target.id: names_in(statement.value, {})
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        sides: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            # What is looked up in a mapping or called with a name is compared as what comes out.
            sides = [side for side in [node.left, *node.comparators] if not isinstance(side, ast.Call | ast.Subscript)]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        found += [(node.lineno, name) for side in sides for name in sorted(names_in(side, constants))]
    return found


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('if name == "cuda":\n    pass', [(1, "cuda")]),
        ('BASE = "cpu"\nz = record.backend in (BASE, "x")', [(2, "cpu")]),
        ('match name:\n    case "opencl":\n        pass', [(2, "opencl")]),
        ('create("cpu")\nenvironment["python"] == 3\nkind == "gpu"', []),
    ],
)
def test_a_comparison_is_found_wherever_the_name_stands(source, lines):
    assert compared(source) == lines


# Records of version 1 said no more than a name; what the names stood for is a table of that version alone.
HISTORY = "reports/version_1.py"


def test_nobody_outside_backends_compares_with_a_backends_name():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for package in ASKING
        for path in sorted((ROOT / package).rglob("*.py"))
        if str(path.relative_to(ROOT)) != HISTORY
        for line, name in compared(path.read_text())
    ]
    assert not wrong
