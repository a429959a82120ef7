"""Whether a problem's kernel functions say what its `cost` says: some moves, tried on the plain-Python run.

That run checks every subscript, every overflow and every barrier, which devices do not. `check` is for a test of your
own problem; a search calls `first_moves` once for a problem that is new to it.
"""

from __future__ import annotations

import contextlib
import copy
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from core.errors import UserError
from core.kernels import moves as kinds
from core.kernels.move_trials import Trials, trial_kernels
from core.kernels.walks import EVERYTHING, ONE_MOVE, Move, Share
from core.lang.bundles import Row, fields_of, row_sizes, unbundled
from core.lang.intrinsics import poisoned
from core.lang.types import BY_DTYPE, Array, Generic
from core.problems.encodings import Encoding, Neighbourhood
from core.problems.problem import Problem, content_digest
from core.problems.signatures import check_functions

LANES = 3
SCORED = 3
"""Solutions that are scored together and one by one."""
FIRST_MOVES, FIRST_WORK, FIRST_READS = 6, 20_000, 5_000
"""What a search tries of a problem that is new to it, in some 30 ms: at most so many moves, so much `Evaluation.work`
(though two moves at least), and so many elements read."""
REALS_GRID = 2**24
WRITTEN = (
    "it writes where it should only read: data are for reading, a walk's state are rows, evaluating changes nothing"
)
seen: set[tuple[str, str, str]] = set()
"""Digests of problems, neighbourhoods and evaluations of which this process has tried the first moves."""


class ProblemError(UserError):
    """A problem's kernel functions leave their arrays or 32 bits, or do not say what its `cost` says."""


def check(
    problem: Problem, neighbourhood: str | None = None, evaluation: str | None = None, *, moves: int = 16, seed: int = 0
) -> None:
    """Try moves of a problem on the plain-Python run and rescore each neighbour by `Problem.cost`.

    Tried are `delta`, and what else the evaluation has: `begin`, `update`, `move`, `refresh`, `quick` and `partial`,
    with one lane and with several, which run in either order, from a random solution and again after a move. Use small
    instances: plain Python takes some microseconds for each operation.

    Parameters
    ----------
    problem
        The problem.
    neighbourhood, evaluation
        Names; by default all that the problem knows.
    moves
        Moves to try of each.
    seed
        Of the solution and of the moves.

    Raises
    ------
    ProblemError
        A difference that is not that of rescoring, an index outside of an array, an overflow, or lanes that depend on
        their order; or `Problem.costs` that are not those of `Problem.cost`. One line says which function, which move,
        what was found and what was expected.

    """
    check_costs(problem, seed)
    for name in [neighbourhood] if neighbourhood else problem.neighbourhood_names():
        for evaluation_name in [evaluation] if evaluation else problem.evaluations(name):
            kernels = kernels_of(problem, name, evaluation_name)
            for lanes, reverse in ((1, False), (LANES, False), (LANES, True)):
                Trial(problem, name, evaluation_name, kernels, seed, lanes, reverse).run(moves)


def check_costs(problem: Problem, seed: int) -> None:
    """Hold `Problem.costs` to `Problem.cost`, for some random solutions."""
    random = np.random.default_rng(seed)
    solutions = np.array([random_solution(problem.encoding, random) for _ in range(SCORED)])
    for one, cost in zip(solutions, problem.costs(solutions).tolist(), strict=True):
        expected = int(problem.cost(one))
        if cost != expected:
            raise ProblemError(
                f"{problem.name}: `costs` says {cost} of a solution: expected {expected}, as `cost` says"
            )


def first_moves(problem: Problem, name: str, evaluation_name: str) -> None:
    """Try a few moves, once in a process for problems of equal content, and end quietly where that would take long."""
    key = (content_digest(problem), name, evaluation_name)
    if key in seen:
        return
    moves = max(2, min(FIRST_MOVES, FIRST_WORK // problem.evaluations(name)[evaluation_name].work))
    with contextlib.suppress(EnoughReads):
        kernels = kernels_of(problem, name, evaluation_name)
        Trial(problem, name, evaluation_name, kernels, most_reads=FIRST_READS).run(moves)
    seen.add(key)


def first_moves_together(communicator: Any, problem: Problem, names: list[str], evaluation_name: str) -> None:
    """Let the first rank try the first moves, and raise what it finds on every rank; all ranks call this."""
    wrong = ""
    if communicator.rank == 0:
        try:
            for name in names:
                first_moves(problem, name, evaluation_name)
        except UserError as error:
            wrong = str(error)
    wrong = communicator.bcast(wrong)
    if wrong:
        raise ProblemError(wrong)


class EnoughReads(Exception):  # noqa: N818
    """As many elements were read as a `Trial` may read."""


class Metered(np.ndarray):
    """An array that counts down how often it, or a view of it, is read."""

    left: list[int]

    def __array_finalize__(self, source: Any) -> None:
        self.left = getattr(source, "left", [0])

    def __getitem__(self, key: Any) -> Any:
        self.left[0] -= 1
        if self.left[0] < 0:
            raise EnoughReads
        return super().__getitem__(key)


def kernels_of(problem: Problem, name: str, evaluation_name: str) -> Trials:
    """The kernels that try an evaluation of a neighbourhood."""
    hooks = problem.hooks(problem.evaluations(name)[evaluation_name], name)
    one = problem.neighbourhood(name)
    return trial_kernels(hooks, one.change, one.apply)


def read_only(array: np.ndarray) -> np.ndarray:
    """The same memory, to which nobody writes."""
    same = array.view()
    same.flags.writeable = False
    return same


def metered(array: np.ndarray, left: list[int]) -> Metered:
    """The same memory, whose reads count down ``left[0]`` to the `EnoughReads` that ends them."""
    same: Metered = array.view(Metered)
    same.left = left
    return same


def of_arrays(data: Any, change: Callable[[np.ndarray], np.ndarray], rows_only: bool = False) -> Any:
    """The bundle with every array, or every row, as ``change`` makes it."""
    changed = copy.copy(data)
    for name, kind in fields_of(type(data)).items():
        if isinstance(kind, Row if rows_only else Array):
            setattr(changed, name, change(getattr(data, name)))
    return changed


def with_rows(data: Any) -> Any:
    """The bundle with memory for one walk, in a pattern that shows what is read before it was written."""
    filled = copy.copy(data)
    sizes = row_sizes(data)
    for name, kind in fields_of(type(data)).items():
        if isinstance(kind, Row):
            setattr(filled, name, poisoned(sizes[name], kind.element))
        elif isinstance(kind, Array):
            setattr(filled, name, read_only(getattr(data, name)))
    return filled


class Trial:
    """One evaluation of a neighbourhood on the plain-Python run, from one random solution.

    Parameters
    ----------
    problem, name, evaluation_name
        The problem, a neighbourhood's name and an evaluation's.
    kernels
        See `kernels_of`.
    seed
        Of the solution and the moves.
    lanes, reverse
        Of the team, and whether they run from last to first.
    most_reads
        Elements that kernels may read before `EnoughReads` ends the trial.

    """

    def __init__(
        self,
        problem: Problem,
        name: str,
        evaluation_name: str,
        kernels: Trials,
        seed: int = 0,
        lanes: int = LANES,
        reverse: bool = False,
        most_reads: int | None = None,
    ) -> None:
        self.problem = problem
        self.one: Neighbourhood = problem.neighbourhood(name)
        self.evaluation_name = evaluation_name
        self.lanes, self.reverse = lanes, reverse
        self.random = np.random.default_rng(seed)
        self.evaluation = problem.evaluations(name)[evaluation_name]
        self.hooks = problem.hooks(self.evaluation, name)
        self.kernels = kernels
        self.left = [most_reads] if most_reads is not None else None
        given = problem.checked_data_for(evaluation_name)
        check_functions(problem.name, self.evaluation, problem.encoding.dtype, type(given))
        self.data = with_rows(given)
        self.solution = random_solution(problem.encoding, self.random)
        self.made = 0

    def run(self, moves: int) -> None:
        """Try half of the moves at the start, make one, and try the others; a solution without neighbours has none."""
        size = self.one.size(self.problem.encoding, self.problem.points)
        if size < 1:
            return
        self.launch(self.kernels.build)
        changed = (EVERYTHING, 0, 0, -1)
        count = max(1, moves // 2)
        first = int(self.random.integers(max(1, size - count + 1)))
        window = np.arange(first, min(first + count, size))
        for _ in range(2):
            others = self.random.integers(size, size=count // 2)
            asked = self.listed(np.concatenate([window, others]))
            allowed = asked[self.compare(asked, window, changed) != kinds.NEVER]
            if not len(allowed):
                return
            i, j, k = (int(x) for x in self.random.choice(allowed))
            expected = neighbour(self.one.change, self.solution, i, j, k)
            self.launch(self.kernels.make, len(self.solution), Move(i, j, k))
            self.made += 1
            if expected is not None and not np.array_equal(expected, self.solution):
                self.refuse("move", (i, j, k), f"leads to {self.solution.tolist()}", f"{expected.tolist()}")
            changed = (ONE_MOVE, i, j, k)

    def listed(self, indices: np.ndarray) -> np.ndarray:
        """The moves (i, j, k) of neighbours at the present solution: (count, 3) int32."""
        encoding = self.problem.encoding
        rows = [self.one.listed(int(index), int(index) + 1, encoding, self.solution) for index in indices]
        return np.concatenate(rows)

    def compare(self, asked: np.ndarray, window: np.ndarray, changed: tuple[int, int, int, int]) -> np.ndarray:
        """Return what moves add, after holding all that say so to the scorer; `quick` is asked for ``window``."""
        differences = np.empty(len(asked), np.int32)
        cost = int(self.problem.cost(self.solution)) if self.hooks.delta is None else 0  # which `value` is less
        for place, move in enumerate(asked.tolist()):  # one by one, so that some are rescored before reads run out
            self.launch(self.kernels.ask, 1, asked[place], differences[place : place + 1], writes=False)
            if differences[place] != kinds.NEVER:
                differences[place] -= cost
            self.confirm(move, int(differences[place]))
        if self.hooks.quick is not None:
            first, end = int(window[0]), int(window[-1]) + 1
            self.launch(self.kernels.refresh, Share(0, 1, first, end), changed[0], Move(*changed[1:]))
            quick = np.empty(len(window), np.int32)
            listed = asked[: len(window)].reshape(-1)
            self.launch(self.kernels.ask_quick, first, len(window), listed, quick, writes=False)
            self.agree("quick", asked, quick, differences[: len(window)])
        if self.hooks.partial is not None:
            parts = np.empty(len(asked) * self.lanes, np.int32)
            self.launch(self.kernels.ask_parts, len(asked), asked.reshape(-1), parts, writes=False)
            self.agree("partial", asked, parts.reshape(-1, self.lanes).sum(axis=1), differences)
        return differences

    def agree(self, function: str, asked: np.ndarray, claimed: np.ndarray, differences: np.ndarray) -> None:
        """Hold what another function says to `delta`, which it equals exactly."""
        for move, one, expected in zip(asked.tolist(), claimed.tolist(), differences.tolist(), strict=False):
            if one != expected:
                self.refuse(function, move, f"says that it adds {one}", f"{expected}, as `delta` says")

    def confirm(self, move: list[int], claimed: int) -> None:
        """Hold a difference to the scorer's; a move that is none leads nowhere."""
        if claimed == kinds.NEVER:
            return
        other = neighbour(self.one.change, self.solution, *move)
        if other is None:
            other = self.moved(move)
        expected = int(self.problem.cost(other)) - int(self.problem.cost(self.solution))
        if abs(claimed - expected) > 2 * self.problem.tolerance():
            role = "value" if self.hooks.delta is None else "delta"
            self.refuse(role, move, f"says that it adds {claimed}", f"{expected}, as `cost` says")

    def moved(self, move: list[int]) -> np.ndarray:
        """The solution to which the problem's own `move` leads; all stays as it was."""
        data, solution = self.data, self.solution
        self.data, self.solution = of_arrays(data, np.copy, rows_only=True), solution.copy()
        self.launch(self.kernels.make, len(solution), Move(*move))
        other, self.data, self.solution = self.solution, data, solution
        return other

    def launch(self, kernel: Any, *given: Any, writes: bool = True) -> None:
        """Run one of the kernels in one team; ``given`` stands before the solution.

        ``writes`` says whether it may write to the solution and a walk's state; nothing may write to the data.
        """
        from core.lang import oracle

        data, solution = self.data, self.solution
        if not writes:
            data, solution = of_arrays(data, read_only), read_only(solution)
        if self.left is not None:
            left = self.left
            data, solution = of_arrays(data, lambda one: metered(one, left)), metered(solution, left)
        kinds, values, types = unbundled(kernel, (*given, solution, data))
        for key, kind in kinds.items():
            if isinstance(kind, Array) and isinstance(kind.element, Generic):
                types[kind.element.name] = BY_DTYPE[values[key].dtype]
        try:
            oracle.run(kernel.specialise({}, self.lanes, types), 1, list(values.values()), self.reverse)
        except EnoughReads:
            raise
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, RuntimeError) as error:
            self.refuse_error(error)

    # --- refusals ---

    @property
    def where(self) -> str:
        """Neighbourhood, evaluation and moves made, in words."""
        after = f", after {self.made} move{'s' * (self.made > 1)}" if self.made else ""
        return f"{self.one.name}, evaluation {self.evaluation_name}{after}"

    def refuse(self, function: str, move: Any, found: str, expected: str) -> NoReturn:
        """Say what a function does and what it should."""
        source = getattr(self.evaluation, function) or self.evaluation.functions[0]
        named = ", ".join(str(x) for x in move if x >= 0)
        raise ProblemError(
            f"{source.path}:{source.first_line}: {source.name}: `{function}` of {self.problem.name} for move ({named}) "
            f"of {self.where} {found}: expected {expected}"
        )

    def refuse_error(self, error: Exception) -> NoReturn:
        """Say where in the problem's functions the plain-Python run met an error."""
        frames = traceback.extract_tb(error.__traceback__)
        own = {one.path for one in (*self.evaluation.functions, *self.one.functions)}
        ours = [frame for frame in frames if frame.filename in own]
        place = f"{ours[-1].filename}:{ours[-1].lineno}: {ours[-1].name}" if ours else self.evaluation.functions[0].name
        what = WRITTEN if "read-only" in str(error) else str(error.__cause__ or error)  # the cause names no place again
        raise ProblemError(f"{place}: {what} ({self.problem.name}, {self.where})") from error


def random_solution(encoding: Encoding, random: np.random.Generator) -> np.ndarray:
    """A solution of an encoding: (n,), of its dtype; real numbers are multiples of 2^-24."""
    if encoding.code == kinds.PERMUTATION:
        return random.permutation(encoding.n).astype(encoding.dtype)
    if encoding.code == kinds.REALS:
        return (random.integers(-REALS_GRID, REALS_GRID + 1, encoding.n) / REALS_GRID).astype(encoding.dtype)
    return random.integers(0, encoding.choices, encoding.n).astype(encoding.dtype)


def neighbour(change: int, solution: np.ndarray, i: int, j: int, k: int) -> np.ndarray | None:
    """The neighbour to which a move leads, by NumPy; None where only the problem's own `move` knows."""
    if change == kinds.OWN:
        return None
    other = solution.copy()
    if change == kinds.FLIP:
        flips = [p for p in (i, j, k) if p >= 0]
        other[flips] = 1 - other[flips]
    elif change == kinds.ASSIGN:
        other[i] = j
    elif change == kinds.REVERSE:
        other[i + 1 : j + 1] = solution[i + 1 : j + 1][::-1]
    elif change == kinds.SEGMENT:
        other[i : j + 1] = solution[i : j + 1][::-1]
    elif change == kinds.INSERT:
        other = np.insert(np.delete(solution, i), j, solution[i])
    elif k < 0:
        other[[i, j]] = solution[[j, i]]
    else:
        other[[i, j, k]] = solution[[j, k, i]]
    return other
