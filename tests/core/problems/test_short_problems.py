"""Problems that serve as examples stay short; further evaluations have modules of their own."""

import ast
from pathlib import Path

import pytest

PROBLEMS = Path(__file__).parents[3] / "core" / "problems"


def without_documentation(text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return [line for line in ast.unparse(tree).splitlines() if line]


@pytest.mark.parametrize(
    "modules",
    [
        ["labs/problem.py"],
        ["max_sat/problem.py"],
        ["max_cut/qubo.py", "max_cut/problem.py"],
        ["flow_shop/problem.py"],
        ["linear_ordering/problem.py"],
    ],
)
def test_a_problem_takes_less_than_90_lines(modules):
    paths = [PROBLEMS / "more" / module for module in modules]
    assert sum(len(without_documentation(path.read_text())) for path in paths) < 90
