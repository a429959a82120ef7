"""Validation of a problem's kernel functions against its `cost`, in plain Python and on devices.

`check` is for user-defined problems. A search calls `check_first_moves` once for a new problem. Devices also check
whole neighbourhoods of two solutions (`whole_neighbourhoods`).
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from core.arguments import integer, refuse
from core.errors import LaunchRefused, TeamTooLarge
from core.local_search.checks.cost import SCORED, CheckedScorer, check_costs
from core.local_search.checks.evaluation import EvaluationCheck
from core.local_search.checks.executors import CheckExecutor, DeviceExecutor
from core.local_search.checks.interpreter import InterpreterExecutor, ReadLimitReached
from core.local_search.checks.move_sequences import MoveSequence, SequencePoint
from core.local_search.checks.problem_errors import WrongChoice, WrongDelta, WrongLanes, WrongState
from core.local_search.checks.whole_neighbourhoods import sweep_neighbourhoods
from core.local_search.encodings import Neighbourhood
from core.local_search.kernels.moves import OWN, start_solutions
from core.local_search.kernels.walks import Walk
from core.local_search.problem import Problem, checked_problem, content_digest
from core.run.devices import ComputeDevice

PLAIN = "plain Python"
LANES = 3
"""Lanes of a team in plain Python."""
MOVES_CHECKED, MOVES_CHECKED_LATER, FEW = 256, 16, 6
"""Moves to try at a start solution and after each move; largest number of them in plain Python."""
OWN_MOVES_CHECKED, OWN_MOVES_CHECKED_LATER = 16, 2
"""The same if plain Python makes every neighbour, since only the problem's own `move` can."""
MOVES_MADE = 24
"""Moves that are made one after the other."""
FULL_CHECKS_AFTER = (0, 3, MOVES_MADE)
"""Numbers of moves after which all differences of a small neighbourhood and all rows are checked."""
READS, SECONDS = 240_000, 2.0
"""Limits for all interpreter runs of a check: elements read, and seconds of the processor."""
WHOLE_TIME = 64
"""Fewest moves for all of these reads, and for checks of whole neighbourhoods."""
WHOLE, SCORING_SECONDS = 10_000, 5.0
"""Neighbours that are tried of a random solution, and of one near a local optimum; and the processor seconds in which
`cost` scores them, of all neighbourhoods together."""
TOO_SLOW = (
    "plain Python is too slow for this instance, so subscripts and overflow were not checked: check a smaller one too"
)
WIDE_TEAMS = (1, 32, 256)
SEVERAL_LANES = "with one lane it is right: do lanes share the work out, is a barrier() or an atomic missing?"
FIRST_MOVES, FIRST_WORK, FIRST_READS = 6, 20_000, 5_000
"""Limits of a search's check of a new problem, in some 30 ms: number of moves, `Evaluation.work` (but two moves at
least), and number of elements read."""
seen: dict[tuple[str, str, str], str] = {}
"""Digests of problems, neighbourhoods and evaluations of which this process has tried the first moves, and a note on
each check that was cut short."""


class CheckedMoves(NamedTuple):
    """Number of moves of an evaluation of a neighbourhood that were tried in one place.

    ``moves`` counts those from all solutions together, ``swept`` different neighbours of one solution among them, and
    ``size`` all neighbours of a solution.
    """

    neighbourhood: str
    evaluation: str
    place: str
    moves: int
    swept: int
    size: int


class Checked(NamedTuple):
    """Successful checks of `check`; prints as a table.

    ``costs`` are the least and the largest one. ``notes`` are omitted checks, and unusual behaviour that was shown
    to be no error.
    """

    problem: str
    tried: list[CheckedMoves]
    costs: tuple[int, int]
    notes: list[str]
    seconds: float

    @property
    def moves(self) -> int:
        return sum(row.moves for row in self.tried)

    def __str__(self) -> str:
        places = list(dict.fromkeys(row.place for row in self.tried))
        lines = [["neighbourhood", "evaluation", *places, "of one solution"]]
        for names in dict.fromkeys((row.neighbourhood, row.evaluation) for row in self.tried):
            rows = [row for row in self.tried if (row.neighbourhood, row.evaluation) == names]
            moves = [[row.moves for row in rows if row.place == place] for place in places]
            swept, size = max((row.swept, row.size) for row in rows)
            cells = [f"{sum(counts):,}" if counts else "" for counts in moves]
            lines.append([*names, *cells, f"{swept:,} of {size:,}"])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = []
        for line in lines:
            cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
            labels = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
            table.append("  ".join([*labels, *cells[2:]]))
        costs = f"costs from {self.costs[0]:,} to {self.costs[1]:,}"
        heading = f"{self.problem}: {self.moves:,} moves tried, all right; {costs}; {self.seconds:.1f} s"
        return "\n".join([heading, *table, *(f"note: {note}" for note in self.notes)])


def check(
    problem: Problem,
    neighbourhood: str | Neighbourhood | None = None,
    evaluation: str | None = None,
    *,
    backends: Sequence[ComputeDevice] = (),
    moves: int = MOVES_CHECKED,
    seed: int = 0,
) -> Checked:
    """Check moves of a problem in plain Python and on devices, and rescore each neighbour by `Problem.cost`.

    Checked are `cost`, then `delta` and the other functions of an evaluation: `begin`, `update`, `move`, `refresh`,
    `quick` and `partial`, from a random solution and after each of two dozen moves; that rows are kept right, and that
    of equal neighbours a scan takes the first. Plain Python checks subscripts and overflow too; lanes run in either
    order there, and teams have several sizes on devices that have lanes. It reads a bounded number of elements: of a
    small instance it sees more. Devices also try all neighbours of the random solution, and all of one near a local
    optimum: up to 10,000 of each, a sample of more, and as many as `costs` scores in a few seconds.
    `CheckedMoves.swept` counts them.

    Parameters
    ----------
    problem
        The problem.
    neighbourhood, evaluation
        Names, or a user-defined neighbourhood; by default all of the problem.
    backends
        Backends (`backends.launch.Backend`); reference interpreters are ignored.
    moves
        Number of moves to try of each neighbourhood at its start solution, 1 or more. Below 64 plain Python has less
        time too, and at most this number of neighbours is checked instead of all.
    seed
        Of the solutions and of the moves.

    Raises
    ------
    ProblemError
        The first error, as one of its classes (`core.local_search.checks.problem_errors`). One line names function,
        file, move, the value found and the value expected.
    KernelError
        A function that is not in the language, or has other parameters than it should.
    UserError
        An argument of another type, or a neighbourhood or evaluation that the problem does not have.
    """
    began = time.perf_counter()
    checked_problem(problem)
    moves, seed = integer("moves", moves, 1), integer("seed", seed, 0)
    evaluation_names = evaluations_of(problem, neighbourhood, evaluation)
    scorer = check_costs(problem, seed)
    tried: list[CheckedMoves] = []
    notes: list[str] = []
    part = min(1.0, moves / WHOLE_TIME) / (3 * sum(map(len, evaluation_names.values())))
    devices = [backend for backend in backends if not backend.is_reference]
    for backend in devices:
        check_starts(backend, scorer, seed)
    right_names: dict[tuple[str, object], str] = {}
    for name, evaluations in evaluation_names.items():
        first, later = MOVES_CHECKED, MOVES_CHECKED_LATER
        if problem.neighbourhood(name).change == OWN:
            first, later = OWN_MOVES_CHECKED, OWN_MOVES_CHECKED_LATER
        mover = partial(InterpreterExecutor, problem, name, evaluations[0])
        sequence = MoveSequence(scorer, name, seed, min(first, moves), min(later, moves), FEW, mover)
        most = WHOLE if moves >= WHOLE_TIME else moves
        whole = functools.cache(partial(sweep_neighbourhoods, sequence, most, SCORING_SECONDS / len(evaluation_names)))
        for evaluation_name in evaluations:
            function = problem.evaluations(name)[evaluation_name].main
            for place, executors in executors_of(problem, name, evaluation_name, part, devices):
                right = right_names.get((evaluation_name, function), "")
                points = list if place == PLAIN and devices else whole
                is_first = evaluation_name == evaluations[0]
                count, swept, remarks = check_evaluation(sequence, executors, is_first, right, points)
                tried.append(CheckedMoves(name, evaluation_name, place, count, swept, sequence.size))
                if place == PLAIN and count == 0 < sequence.size:
                    remarks = [*remarks, TOO_SLOW]
                notes += [note for note in remarks if note not in notes]
            right_names[evaluation_name, function] = name
    return Checked(problem.name, tried, scorer.extremes or (0, 0), notes, time.perf_counter() - began)


def evaluations_of(
    problem: Problem, neighbourhood: str | Neighbourhood | None, evaluation: str | None
) -> dict[str, list[str]]:
    """Return the names of the evaluations to try, by the names of the neighbourhoods.

    Raises `UserError` if the problem has no such neighbourhood or evaluation.
    """
    if neighbourhood is not None and not isinstance(neighbourhood, (str, Neighbourhood)):
        refuse("neighbourhood", neighbourhood, f"one of {', '.join(problem.neighbourhood_names())}")
    neighbourhood_name = neighbourhood.name if isinstance(neighbourhood, Neighbourhood) else neighbourhood
    names = {}
    for name in problem.neighbourhood_names() if neighbourhood_name is None else [neighbourhood_name]:
        problem.neighbourhood(name)
        known = list(problem.evaluations(name))
        if evaluation is not None and evaluation not in known:
            refuse("evaluation", evaluation, f"one of {', '.join(known)}")
        names[name] = known if evaluation is None else [evaluation]
    return names


def executors_of(
    problem: Problem, name: str, evaluation_name: str, part: float, devices: Sequence[ComputeDevice]
) -> Iterator[tuple[str, list[Callable[[], CheckExecutor]]]]:
    """Yield each place of an evaluation's checks with functions that make its executors; the first has one-lane teams.

    ``part`` is the fraction of the limits for each run in plain Python.
    """
    plain = partial(InterpreterExecutor, problem, name, evaluation_name)
    orders = [(1, False), (LANES, False), (LANES, True)]
    yield PLAIN, [partial(plain, lanes, reverse, [int(READS * part)], SECONDS * part) for lanes, reverse in orders]
    functions = problem.evaluations(name)[evaluation_name].for_kernels(name)
    for backend in devices:
        sizes = [size for size in WIDE_TEAMS if size <= backend.capabilities.max_team_size]
        if not any((functions.begin, functions.update, functions.move, functions.refresh, functions.partial)):
            sizes = sizes[1:2] or sizes  # one lane calls `delta`: the size of its team decides nothing
        yield backend.name, [partial(DeviceExecutor, backend, problem, name, evaluation_name, size) for size in sizes]


def check_evaluation(
    sequence: MoveSequence,
    executors: list[Callable[[], CheckExecutor]],
    is_first: bool,
    right: str,
    whole: Callable[[], list[SequencePoint]] = list,
) -> tuple[int, int, list[str]]:
    """Check an evaluation by each executor along a sequence, and by the first one at some other points.

    Return the number of differences that were tried, that of different neighbours of one solution, and notes. Raises
    `WrongLanes` for an error with several lanes that one lane does not have.
    """
    count = most = 0
    notes: list[str] = []
    for make in executors:
        executor = make()
        is_plain = isinstance(executor, InterpreterExecutor)
        chooses = is_first or executor.functions.quick is not None  # requested by a scan itself
        samples = FULL_CHECKS_AFTER[1:] if is_plain else FULL_CHECKS_AFTER
        trial = EvaluationCheck(sequence, executor, not is_plain, chooses, right)
        try:
            trial.run(MOVES_MADE, samples)
        except (ReadLimitReached, TeamTooLarge):
            pass
        except LaunchRefused as error:
            notes.append(f"not tried: {error}")
            continue
        except (WrongDelta, WrongState, WrongChoice) as error:
            one_lane = executors[0]().with_reads(READS)
            if executor.lanes == 1 or one_lane.lanes > 1:
                raise
            with contextlib.suppress(ReadLimitReached):
                again = EvaluationCheck(sequence, one_lane, not is_plain, chooses, right)
                again.run(trial.moves_made, samples)  # raises errors that one lane has too
                raise WrongLanes(f"{error}; {SEVERAL_LANES}") from error
            raise
        count += trial.tried
        notes += trial.notes
    for point in whole() if count else ():
        trial = EvaluationCheck(sequence, executors[0](), right=right)
        with contextlib.suppress(ReadLimitReached):
            trial.sweep(point)
        count, most = count + trial.tried, max(most, trial.tried)
    return count, most, notes


def check_starts(backend: ComputeDevice, scorer: CheckedScorer, seed: int) -> None:
    """Check the random solutions from which a device's walks begin, and score them."""
    encoding = scorer.problem.encoding
    walks = backend.rows(Walk(room=1, length=encoding.n, choices=encoding.choices), SCORED, S=encoding.dtype)
    backend.write(walks.number, np.arange(SCORED, dtype=np.uint64))
    backend.launch(start_solutions, 1, 1, encoding.code, walks, seed)
    solutions = backend.download(walks.solution).reshape(SCORED, encoding.n)
    for solution in solutions:
        encoding.check(solution)
    scorer.costs(solutions)


# --- before a search ---


def check_first_moves(problem: Problem, names: list[str], evaluation_name: str) -> list[str]:
    """Try a few moves of each neighbourhood, once in a process for problems of equal content.

    Return a note on each check that was cut short, because it would take long.
    """
    keys = [(content_digest(problem), name, evaluation_name) for name in names]
    for key in keys:
        name = key[1]
        if key in seen:
            continue
        moves = max(2, min(FIRST_MOVES, FIRST_WORK // problem.evaluations(name)[evaluation_name].work))
        reads = [FIRST_READS]
        executor = InterpreterExecutor(problem, name, evaluation_name, LANES, reads=reads)
        mover = partial(InterpreterExecutor, problem, name, evaluation_name, reads=reads)
        sequence = MoveSequence(CheckedScorer(problem), name, 0, moves, moves, moves, mover)
        trial, note = EvaluationCheck(sequence, executor), ""
        try:
            trial.run(1)
        except ReadLimitReached:
            note = (
                f"evaluation {evaluation_name} of {name}: the check before the search was cut short by time at move "
                f"{trial.tried + 1}: expected the whole one, by --check or ok.check(problem, neighbourhood={name!r}, "
                f"evaluation={evaluation_name!r})"
            )
        seen[key] = note
    return [seen[key] for key in keys if seen[key]]
