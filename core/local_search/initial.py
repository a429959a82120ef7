"""Start solutions given by the caller, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.errors import UserError
from core.local_search.kernels.moves import PERMUTATION

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from core.local_search.encodings import Encoding
    from core.local_search.problem import Problem


def start_solutions(problem: Problem, walks: int, initial: ArrayLike | None) -> np.ndarray | None:
    """Return the start solutions of all walks, shape (walks, n); None if there are none.

    ``initial`` is one solution, or one for each walk. Raises `UserError` for another shape, or invalid solutions.
    Permutations may count from 1.
    """
    if initial is None:
        return None
    encoding = problem.encoding
    if np.ndim(initial) < 2:
        return np.broadcast_to(checked_solution(problem, counted_from_zero(initial, encoding)), (walks, encoding.n))
    rows = counted_from_zero(initial, encoding)
    if rows.shape != (walks, encoding.n):
        raise UserError(
            f"start solutions of shape {rows.shape}: expected ({encoding.n},), or ({walks}, {encoding.n}) with one "
            "for each walk"
        )
    return np.array([checked_solution(problem, row) for row in rows])


def counted_from_zero(solutions: ArrayLike, encoding: Encoding) -> np.ndarray:
    """Return permutations of 1 to n as permutations of 0 to n - 1, and other solutions as they are."""
    array = np.asarray(solutions)
    is_order = encoding.code == PERMUTATION and array.dtype.kind in "iuf" and array.size > 0
    return array - 1 if is_order and array.min() == 1 and array.max() == encoding.n else array


def checked_solution(problem: Problem, solution: np.ndarray) -> np.ndarray:
    """Return a start solution, rounded to the problem's grid; raises `UserError` if it is none."""
    checked = problem.encoding.check(solution)
    return np.rint(checked * problem.grid) / problem.grid if problem.grid else checked
