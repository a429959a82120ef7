"""Check of the neighbours that a problem lists as touched by a move: none with another difference may be missing."""

from __future__ import annotations

import numpy as np

from core.problems.problem_errors import WrongState
from core.search.local_search.checks.executors import CheckExecutor
from core.search.local_search.checks.move_sequences import MoveSequence, move_text


class TouchedCheck:
    """Differences of all neighbours before a move, for comparison with those after it.

    ``sequence`` and ``executor`` have the same neighbourhood; ``solution`` is the one before the move.
    """

    def __init__(self, sequence: MoveSequence, executor: CheckExecutor, solution: np.ndarray) -> None:
        self.sequence, self.executor = sequence, executor
        self.indices = np.arange(sequence.size)
        self.before = executor.ask(sequence.listed(self.indices, solution))

    @staticmethod
    def is_possible(sequence: MoveSequence, executor: CheckExecutor) -> bool:
        """Return True if the problem lists touched neighbours, and the executor can try all of them."""
        return executor.hooks.touched is not None and sequence.size <= executor.most_asked

    def check(self, solution: np.ndarray, cost: int, move: tuple[int, int, int], where: str, source: str) -> None:
        """Compare the differences after the move, by which the walk reached ``solution``.

        Raises `WrongState` if a neighbour is missing, listed twice, or does not exist. The line begins with ``where``
        and ends with ``source``.
        """
        sequence, executor = self.sequence, self.executor
        executor.cost = cost
        listed = executor.touched(move, sequence.size)
        if listed is None:
            return
        if len(np.unique(listed)) < len(listed) or (listed >= sequence.size).any():
            fault = f"touched lists {listed[:8].tolist()}{' ...' * (len(listed) > 8)}: expected different neighbours"
            raise WrongState(f"{where}: {fault}, 0 to {sequence.size - 1} ({source})")
        moves = sequence.listed(self.indices, solution)
        after = executor.ask(moves)
        is_missing = after != self.before
        is_missing |= (moves == np.array(move)).all(axis=1)
        is_missing[listed] = False
        if is_missing.any():
            x = int(np.argmax(is_missing))
            fault = f"added {self.before[x]} before and adds {after[x]} after it, and touched does not list it"
            raise WrongState(f"{where}: neighbour {x} of {move_text(moves[x])} {fault} ({source})")
