"""Check of the neighbours that a problem lists as touched by a move: none of another difference may be left out."""

from __future__ import annotations

import numpy as np

from core.problems.problem_errors import WrongState
from core.search.local_search.checks.executors import CheckExecutor
from core.search.local_search.checks.move_sequences import MoveSequence, move_text


class TouchedCheck:
    """The differences of all neighbours before a move, to be compared with those after it.

    Parameters
    ----------
    course, bench
        Move sequence and executor of the same neighbourhood.
    solution
        The solution before the move.

    """

    def __init__(self, course: MoveSequence, bench: CheckExecutor, solution: np.ndarray) -> None:
        self.course, self.bench = course, bench
        self.indices = np.arange(course.size)
        self.said = bench.ask(course.listed(self.indices, solution))

    @staticmethod
    def is_possible(course: MoveSequence, bench: CheckExecutor) -> bool:
        """Return True if the problem lists touched neighbours, and the executor can try all of them."""
        return bench.hooks.touched is not None and course.size <= bench.most_asked

    def hold(self, solution: np.ndarray, cost: int, move: tuple[int, int, int], where: str, source: str) -> None:
        """Compare the differences after the move, by which the walk came to ``solution``.

        Raises
        ------
        WrongState
            A neighbour is left out, listed twice, or does not exist. The line begins with ``where`` and ends with
            ``source``.

        """
        course, bench = self.course, self.bench
        bench.cost = cost
        listed = bench.touched(move, course.size)
        if listed is None:
            return
        if len(np.unique(listed)) < len(listed) or (listed >= course.size).any():
            found = f"touched lists {listed[:8].tolist()}{' ...' * (len(listed) > 8)}: expected different neighbours"
            raise WrongState(f"{where}: {found}, 0 to {course.size - 1} ({source})")
        moves = course.listed(self.indices, solution)
        said = bench.ask(moves)
        must = said != self.said
        must |= (moves == np.array(move)).all(axis=1)
        must[listed] = False
        if must.any():
            x = int(np.argmax(must))
            found = f"added {self.said[x]} before and adds {said[x]} after it, and touched does not list it"
            raise WrongState(f"{where}: neighbour {x} of {move_text(moves[x])} {found} ({source})")
