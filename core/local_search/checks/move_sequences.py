"""Move sequences from a random solution, rescored once for all evaluations and devices.

At each point of a sequence some moves are rescored by `Problem.cost`, and one of them leads to the next point. All
checks of a problem's functions use the same sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.errors import UserError
from core.local_search.checks.cost import CheckedScorer, random_solution
from core.local_search.checks.problem_errors import WrongState
from core.local_search.encodings import make_neighbours
from core.local_search.kernels import moves as kinds

if TYPE_CHECKING:
    from core.local_search.checks.executors import CheckExecutor

WINDOW = 32
"""Neighbours of consecutive indices for which `quick` is kept up to date, at most."""
UNKNOWN, A_MOVE, NO_MOVE = -1, 0, 1


@dataclass(eq=False)
class SequencePoint:
    """A point of a move sequence.

    Attributes
    ----------
    indices : ndarray, shape (count,), int64
        Indices of neighbours; the first ``of_window`` belong to the sequence's window.
    moves : ndarray, shape (count, 3), int32
    added : ndarray, shape (count,), int64
        Change of cost by each, if ``rescored``.
    claims : ndarray, shape (count,), int8
        True if the first executor reported that it is no move (`core.local_search.kernels.moves.NEVER`).
    candidates : ndarray, int64
        Indices of moves that all checks use, in the order of choice for the next point.
    mover : CheckExecutor or None
        Makes its neighbours, if NumPy cannot make the move; it has the solution.
    where : str
        Place in messages, as text after the seed; empty for a point of the walk.
    next_move : int or None
        The move to the next point.
    """

    solution: np.ndarray
    indices: np.ndarray
    of_window: int
    moves: np.ndarray
    cost: int
    mover: CheckExecutor | None = None
    where: str = ""
    next_move: int | None = None

    def __post_init__(self) -> None:
        count = len(self.indices)
        self.added, self.rescored = np.zeros(count, np.int64), np.zeros(count, bool)
        self.claims = np.full(count, UNKNOWN, np.int8)
        self.candidates = np.arange(0)

    def picked(self, few: int | None) -> np.ndarray:
        """Return the positions of all its moves, or of a few: half from the window, with its ends."""
        if few is None or few >= len(self.indices):
            return np.arange(len(self.indices))
        half = min(max(1, few // 2), self.of_window)
        of_window = np.linspace(self.of_window - 1, 0, half).astype(np.int64)
        return np.concatenate([of_window, np.arange(self.of_window, len(self.indices))[: few - half]])


class MoveSequence:
    """One sequence of moves through a problem's solutions.

    Parameters
    ----------
    name
        Of the neighbourhood.
    seed
        Of the first solution, and of the moves.
    first, later, few
        Numbers of moves rescored at the first point, and at the others; number of moves that all checks use.
    mover
        Makes an executor, if NumPy cannot make the move. `point` raises `WrongState` if the problem's `move` makes an
        invalid solution.
    """

    def __init__(
        self,
        scorer: CheckedScorer,
        name: str,
        seed: int,
        first: int,
        later: int,
        few: int,
        mover: Callable[[], CheckExecutor] | None = None,
    ) -> None:
        self.scorer, self.problem, self.seed = scorer, scorer.problem, seed
        encoding = self.problem.encoding
        self.neighbourhood = self.problem.neighbourhood(name)
        self.size = self.neighbourhood.size(encoding, self.problem.points)
        self.first, self.later, self.few = first, later, few
        self.random = np.random.default_rng(seed)
        self.start = random_solution(encoding, self.random)
        wide = max(1, min(WINDOW, first // 2, self.size))
        begin = int(self.random.integers(max(1, self.size - wide + 1)))
        self.window = range(begin, begin + wide)
        self.points: list[SequencePoint] = []
        self.make_mover = mover if self.neighbourhood.change == kinds.OWN else None
        self.mover = self.make_mover() if self.make_mover is not None else None

    def point(self, number: int) -> SequencePoint:
        """Return the point after ``number`` moves; earlier points have been reached."""
        if number == len(self.points):
            self.points.append(self.next_point())
        return self.points[number]

    def next_point(self) -> SequencePoint:
        """Return the first point, or that to which the last one's move leads."""
        solution, many, indices = self.start, self.first, np.array(self.window)
        if self.points:
            solution, many = self.next_solution(), self.later
            indices = np.sort(self.random.choice(indices, min(len(indices), max(1, many // 2)), replace=False))
        elif self.mover is not None:
            self.mover.build(solution)
        of_window, others = len(indices), self.random.integers(self.size, size=max(0, many - len(indices)))
        indices = np.concatenate([indices, others])
        moves, cost = self.listed(indices, solution), self.scorer.cost(solution)
        point = SequencePoint(solution, indices, of_window, moves, cost, self.mover)
        point.candidates = self.random.permutation(point.picked(self.few))
        if self.mover is not None:  # its solution is not stored elsewhere
            self.rescore(point, point.picked(None))
        return point

    def point_at(self, solution: np.ndarray, indices: np.ndarray, where: str = "") -> SequencePoint:
        """Return a point outside of the sequence, for neighbours of these indices."""
        listed = np.sort(indices)
        moves = self.listed(listed, solution)[np.searchsorted(listed, indices)]
        mover = self.make_mover() if self.make_mover is not None else None
        if mover is not None:
            mover.build(solution)
        return SequencePoint(solution, indices, 0, moves, self.scorer.cost(solution), mover, where)

    def next_solution(self) -> np.ndarray:
        """Return the solution to which the last point's move leads."""
        last = self.points[-1]
        assert last.next_move is not None
        if self.mover is None:
            return self.neighbours(last, last.moves[last.next_move : last.next_move + 1])[0]
        move = move_tuple(last.moves[last.next_move])
        solution = self.mover.neighbour_by(move)
        try:
            self.problem.encoding.check(solution)
        except UserError as error:
            message = str(error).replace("a start solution", "a solution")
            text = f"{self.neighbourhood.name} {move_text(move)} from seed {self.seed}"
            raise WrongState(f"{self.problem.name}: {text}: its own move leads to {message}") from error
        self.mover.make(move)
        return solution

    def choose(self, number: int) -> tuple[int, int, int] | None:
        """Return the move to the next point after its candidates have been checked; None if none of them is a move."""
        point = self.points[number]
        possible = point.candidates[point.claims[point.candidates] == A_MOVE]
        if not len(possible):
            return None
        point.next_move = int(possible[0])
        return move_tuple(point.moves[point.next_move])

    def listed(self, indices: np.ndarray, solution: np.ndarray) -> np.ndarray:
        """Return the moves (i, j, k) of neighbours of a solution: (count, 3) int32."""
        encoding, rows = self.problem.encoding, [np.empty((0, 3), np.int32)]
        runs = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1) if len(indices) else []
        for run in runs:
            rows.append(self.neighbourhood.listed(int(run[0]), int(run[-1]) + 1, encoding, solution))
        return np.concatenate(rows)

    def neighbours(self, point: SequencePoint, moves: np.ndarray) -> np.ndarray:
        """Return the neighbours by moves from a point: (count, n)."""
        if point.mover is not None:
            return np.array([point.mover.neighbour_by(move_tuple(move)) for move in moves])
        solutions = np.empty((len(moves), len(point.solution)), point.solution.dtype)
        make_neighbours(self.neighbourhood.change, moves, point.solution, solutions)
        return solutions

    def rescore(self, point: SequencePoint, picks: np.ndarray) -> None:
        """Score the changes of cost by some moves of a point."""
        unscored = picks[~point.rescored[picks]]
        if len(unscored):
            point.added[unscored] = self.added(point, point.moves[unscored])
            point.rescored[unscored] = True

    def added(self, point: SequencePoint, moves: np.ndarray) -> np.ndarray:
        """Return the changes of cost by moves from a point: (count,) int64."""
        solutions, scorer = self.neighbours(point, moves), self.scorer
        costs = scorer.costs(solutions) if len(moves) > 1 else np.array([scorer.cost(each) for each in solutions])
        return costs - point.cost


def move_tuple(move: Iterable[int]) -> tuple[int, int, int]:
    """Return a move as Python's integers."""
    i, j, k = (int(x) for x in move)
    return i, j, k


def move_text(move: Iterable[int]) -> str:
    """Return a move as text, such as (3, 17)."""
    return f"({', '.join(str(int(x)) for x in move if x >= 0)})"
