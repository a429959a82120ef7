"""Start solutions of local search: a start heuristic, `--initial FILE`, or arrays from Python."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from core.arguments import path, refuse
from core.errors import UserError
from drivers.options.values import ValueType

if TYPE_CHECKING:
    from core.problems.problem import Problem


class InitialSolutions:
    """Start solutions that compare by a digest, as values of options do.

    Parameters
    ----------
    solutions : ndarray, shape (n,) or (walks, n)
        One solution, or one for each walk.
    heuristic : str
        Name of the problem's heuristic that made them, or empty.
    """

    def __init__(self, solutions: np.ndarray, heuristic: str = "") -> None:
        self.solutions, self.heuristic = solutions, heuristic
        self.digest = hashlib.sha256(f"{solutions.shape} {solutions.tolist()}".encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InitialSolutions) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return self.heuristic or self.digest


def check_initial(name: str, value: Any) -> str | InitialSolutions:
    if isinstance(value, (str, os.PathLike)):
        return path(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        refuse(name, value, "a solution, or one for each walk")
    return InitialSolutions(array)


INITIAL = ValueType("a heuristic, a file", check_initial)


def start_solutions(name: str, problem: Problem) -> InitialSolutions:
    """Return the start solutions of a problem's heuristic, or those in the file of this name.

    Raises `UserError` if there is neither, or the file has a wrong line.
    """
    offered = problem.start_heuristics()
    if name in offered:
        return InitialSolutions(problem.start_solution(name), name)
    if not os.path.exists(name):
        expected = " or ".join(filter(None, [", ".join(offered), "a file of integers"]))
        raise UserError(f"--initial {name}: no such file: expected {expected}")
    return read_solutions(name, problem.encoding.n)


def read_solutions(file: str, size: int) -> InitialSolutions:
    """Read start solutions from a file of integers: one, or one in each line.

    ``size`` is the number of elements of a solution. Raises `UserError` with file and line.
    """
    from core.problems.instances.files import read_text

    rows = []
    for number, line in enumerate(read_text(file, "a file of integers").splitlines(), 1):
        row = []
        for word in line.split():
            try:
                row.append(int(word))
            except ValueError:
                raise UserError(f"{file}:{number}: found {word!r}, expected integers") from None
        rows.append((number, row))
    if sum(len(row) for _, row in rows) == size:
        return InitialSolutions(np.array([one for _, row in rows for one in row]))
    rows = [(number, row) for number, row in rows if row]
    for number, row in rows:
        if len(row) != size:
            raise UserError(f"{file}:{number}: found {len(row)} integers, expected the {size} of a solution")
    if not rows:
        raise UserError(f"{file}: found no integers, expected the {size} of a solution")
    return InitialSolutions(np.array([row for _, row in rows]))
