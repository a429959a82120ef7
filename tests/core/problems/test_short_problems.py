"""The problems that show how little a problem of one's own takes stay as short as that."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

PROBLEMS = Path(__file__).parents[3] / "core" / "problems"
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(text):
    """Numbers of the lines that hold code: no docstring, no comment, not empty."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for one in tokens if one.type not in NO_CODE for line in range(one.start[0], one.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def test_documentation_is_no_code():
    text = '"""Of the\nmodule."""\n\n\n# why\ndef f(a):\n    """Of f."""\n    return (\n        a\n    )  # what\n'
    assert lines_of_code(text) == {6, 8, 9, 10}


@pytest.mark.parametrize("name", ["labs", "max_sat", "max_cut", "flow_shop", "linear_ordering"])
def test_a_problem_takes_less_than_80_lines(name):
    text = (PROBLEMS / f"{name}.py").read_text()
    assert len(lines_of_code(text)) < 80
