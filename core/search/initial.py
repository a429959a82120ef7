"""Start solutions given by the caller, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from core.problems.problem import Problem


def start_solutions(problem: Problem, walks: int, initial: ArrayLike | str | None) -> np.ndarray | None:
    """Return the start solutions of all walks, shape (walks, n); None if there are none.

    ``initial`` is one solution, one for each walk, or the name of a start heuristic of the problem. Raises `UserError`
    for another shape, invalid solutions, or an unknown heuristic.
    """
    if initial is None:
        return None
    encoding = problem.encoding
    if isinstance(initial, str):
        initial = problem.start_solution(initial)
    if np.ndim(initial) < 2:
        return np.broadcast_to(encoding.check(initial), (walks, encoding.n))
    rows = np.asarray(initial)
    if rows.shape != (walks, encoding.n):
        raise UserError(
            f"start solutions of shape {rows.shape}: expected ({encoding.n},), or ({walks}, {encoding.n}) with one "
            "for each walk"
        )
    return np.array([encoding.check(row) for row in rows])
