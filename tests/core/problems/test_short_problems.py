"""The problems that show how little a problem of one's own takes stay as short as that."""

import ast
from pathlib import Path

import pytest

PROBLEMS = Path(__file__).parents[3] / "core" / "problems"


def without_documentation(text):
    """The lines of a module without comments, docstrings and empty lines."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return [line for line in ast.unparse(tree).splitlines() if line]


@pytest.mark.parametrize("name", ["labs", "max_sat", "max_cut", "flow_shop", "linear_ordering"])
def test_a_problem_takes_less_than_80_lines(name):
    assert len(without_documentation((PROBLEMS / "more" / name / "problem.py").read_text())) < 80
