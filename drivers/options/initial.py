"""Start solutions of local search: `--initial FILE`, or arrays from Python."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from core.errors import UserError
from core.local_search.initial import counted_from_zero
from drivers.cli.messages import print_note
from drivers.options.values import ArrayValue, path_or_array

if TYPE_CHECKING:
    from core.local_search.problem import Problem

INITIAL = path_or_array("a file", "a solution, or one for each walk", (1, 2))
TOUR_FILE = re.compile(r"^\s*(TYPE|DIMENSION|TOUR_SECTION)\b", re.MULTILINE)
"""Keys of TSPLIB's tour files."""


def start_solutions(initial: str | ArrayValue, problem: Problem) -> ArrayValue:
    """Return start solutions from Python, or those in the file of this name.

    Raises `UserError` if there is no such file, or it has a wrong line.
    """
    if not isinstance(initial, str):
        return ArrayValue(counted_from_zero(initial.values, problem.encoding))
    if not os.path.exists(initial):
        raise UserError(f"--initial {initial}: no such file: expected a file of solutions")
    return ArrayValue(read_solutions(initial, problem))


def read_solutions(file: str, problem: Problem) -> np.ndarray:
    """Read start solutions: shape (n,), or (walks, n) of a file with one in each of several lines.

    A file has numbers between white space or commas, or is a tour file of TSPLIB or a solution file of QAPLIB: n, the
    cost, and the permutation or its inverse. Elements of permutations count from 0 if there is a 0, else from 1. Raises
    `UserError` with file and line.
    """
    from core.instances.errors import InstanceError
    from core.instances.files import read_text
    from core.instances.tokens import quoted, rows_of
    from core.tours import tour_files

    encoding, n = problem.encoding, problem.encoding.n
    is_order, is_real = encoding.name == "permutation", encoding.name == "reals"
    text = read_text(file, "a file of solutions")
    if is_order and TOUR_FILE.search(text):
        return tour_files.read(file, n)
    rows = [[(line, word, number(word)) for word in words] for line, words in rows_of(text.replace(",", " "))]
    words = [word for row in rows for word in row]
    has_cost = is_order and len(words) > 2 and words[0][2] == len(words) - 2 != n - 2
    if has_cost or len(words) == n:
        rows = [words[2 * has_cost :]]
    first = int(is_order and all(value for row in rows for _, _, value in row))
    low, high, kind = (-1, 1, "a number") if is_real else (first, first + encoding.choices - 1, "an integer")
    for row in rows or [[]]:
        lines: dict[float, int] = {}
        if len(row) != n:
            raise InstanceError(file, row[0][0] if row else None, f"{len(row)} numbers", f"the {n} of a solution")
        for line, word, value in row:
            if not low <= value <= high or not (is_real or value.is_integer()):
                raise InstanceError(file, line, f"element {quoted(word)}", f"{kind} from {low} to {high}")
            if is_order and value in lines:
                raise InstanceError(file, line, f"element {word} again, as on line {lines[value]}", "it once")
            lines[value] = line
    solutions = np.array([[value for *_, value in row] for row in rows], float if is_real else int) - first
    if has_cost:
        costs: dict[float, np.ndarray] = {problem.cost(one): one for one in (np.argsort(solutions[0]), solutions[0])}
        if words[1][2] not in costs:
            note_other_cost(file, words[1][1], problem.cost(solutions[0]))
        return costs.get(words[1][2], solutions[0])
    return solutions[0] if len(rows) == 1 else solutions


def number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


@cache
def note_other_cost(file: str, stated: str, cost: int) -> None:
    """Print once that a file states another cost than that of its solution."""
    print_note(f"{file}: found cost {stated}, the solution has cost {cost}")
