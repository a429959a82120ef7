"""Validation of a problem's kernel functions against its `cost`, in plain Python and on devices.

`check` is for user-defined problems. A search calls `check_first_moves` once for a new problem.
Devices also check whole neighbourhoods of two solutions, a random one and one near a local optimum, to include
rare moves.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.arguments import integer, refuse
from core.errors import LaunchRefused, TeamTooLarge, UserError
from core.kernels.local_search.moves import OWN, start_solutions
from core.kernels.local_search.walks import Walk
from core.problems.encodings import Neighbourhood
from core.problems.problem import Problem, checked_problem, content_digest
from core.problems.problem_errors import PROBLEM_ERRORS, ProblemError, WrongChoice, WrongDelta, WrongLanes, WrongState
from core.search.local_search.checks.cost import SCORED, CheckedScorer, check_costs
from core.search.local_search.checks.evaluation import EvaluationCheck
from core.search.local_search.checks.executors import CheckExecutor, DeviceExecutor
from core.search.local_search.checks.interpreter import InterpreterExecutor, ReadLimitReached
from core.search.local_search.checks.move_sequences import MoveSequence, SequencePoint

BLOCK = 16
"""Neighbours of consecutive indices in a sample: they are listed together."""
STEPS, SAMPLE = 64, 256
"""Steps of the descent at most, and neighbours from which each step takes the best."""
OWN_STEPS, OWN_SAMPLE = 8, 16
"""The same where plain Python makes every neighbour."""
ROWS, CHUNK = 256, 1 << 20
"""Neighbours that are made and scored between two looks at the clock, and their elements, at most."""
NEAR_OPTIMUM = ", near a local optimum"


def sweep_neighbourhoods(course: MoveSequence, most: int, seconds: float) -> list[SequencePoint]:
    """Make a station at the course's first solution, and one where a descent from there ends.

    Parameters
    ----------
    course
        Course of the neighbourhood.
    most
        Number of neighbours to try at each; a larger neighbourhood is sampled.
    seconds
        Processor seconds for the scorer. Neighbours that are not rescored by then are not tried.

    """
    if course.size < 1:
        return []
    random = np.random.default_rng([course.seed, most])
    first = score_neighbours(course, course.start, "", most, random, time.process_time() + seconds / 2)
    end = time.process_time() + seconds / 2
    return [first, score_neighbours(course, descend(course, random, end), NEAR_OPTIMUM, most, random, end)]


def score_neighbours(
    course: MoveSequence, solution: np.ndarray, where: str, most: int, random: np.random.Generator, end: float
) -> SequencePoint:
    """Stand at a solution and rescore its neighbours, in a random order, until the processor's clock shows ``end``."""
    station = course.stand(solution, random.permutation(sample_indices(course.size, most, random)), where)
    step = OWN_SAMPLE if station.mover is not None else max(1, min(ROWS, CHUNK // course.problem.encoding.n))
    for first in range(0, len(station.indices), step):
        if time.process_time() > end:
            break
        course.rescore(station, np.arange(first, min(first + step, len(station.indices))))
    return station


def descend(course: MoveSequence, random: np.random.Generator, end: float) -> np.ndarray:
    """Descend by the best of some neighbours at each step; return the solution where none of them is better."""
    solution = course.start
    steps, sample = (OWN_STEPS, OWN_SAMPLE) if course.make_mover is not None else (STEPS, SAMPLE)
    for _ in range(steps):
        if time.process_time() > end:
            break
        station = course.stand(solution, sample_indices(course.size, sample, random))
        added = course.added(station, station.moves)
        best = int(np.argmin(added))
        if added[best] >= 0:
            break
        solution = course.neighbours(station, station.moves[best : best + 1])[0]
    return solution


def sample_indices(size: int, most: int, random: np.random.Generator) -> np.ndarray:
    """All indices of a neighbourhood in their order, or those of some blocks: (at most ``most``,) int64."""
    if size <= most:
        return np.arange(size)
    wide = min(BLOCK, most)
    blocks = np.sort(random.choice(size // wide, most // wide, replace=False))
    offset = random.integers(size % wide + 1)
    return (offset + wide * blocks[:, None] + np.arange(wide)).reshape(-1)


PLAIN = "plain Python"
LANES = 3
"""Of a team on the plain-Python run."""
MOVES_CHECKED, MOVES_CHECKED_LATER, FEW = 256, 16, 6
"""Moves to try at a start solution and after each move; on the plain-Python run at most so few."""
OWN_MOVES_CHECKED, OWN_MOVES_CHECKED_LATER = 16, 2
"""The same where plain Python makes every neighbour, since only the problem's own `move` knows it."""
MOVES_MADE = 24
"""Moves that are made one after the other."""
FULL_CHECKS_AFTER = (0, 3, MOVES_MADE)
"""After how many of them all differences of a small neighbourhood and all rows are looked at."""
READS, SECONDS = 240_000, 2.0
"""Limits for all interpreter runs of a check: elements read, and seconds of the processor."""
WHOLE_TIME = 64
"""Moves for which plain Python has all of that, and from which on whole neighbourhoods are tried."""
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
seen: set[tuple[str, str, str]] = set()
"""Digests of problems, neighbourhoods and evaluations of which this process has tried the first moves."""


class CheckedMoves(NamedTuple):
    """Moves of an evaluation of a neighbourhood that were tried in one place.

    Attributes
    ----------
    neighbourhood, evaluation, place : str
    moves : int
        Number of moves, from all solutions together.
    swept : int
        Number of different neighbours of one solution among them.
    size : int
        Number of neighbours that a solution has.

    """

    neighbourhood: str
    evaluation: str
    place: str
    moves: int
    swept: int
    size: int


class Checked(NamedTuple):
    """Successful checks of `check`; prints as a table.

    Attributes
    ----------
    problem : str
        Its name.
    tried : list of Tried
    costs : tuple of int
        The least and the largest cost met.
    notes : list of str
        Omitted checks, and unusual behaviour that was shown to be no error.
    seconds : float

    """

    problem: str
    tried: list[CheckedMoves]
    costs: tuple[int, int]
    notes: list[str]
    seconds: float

    @property
    def moves(self) -> int:
        """All moves that were tried."""
        return sum(one.moves for one in self.tried)

    def __str__(self) -> str:
        places = list(dict.fromkeys(one.place for one in self.tried))
        found: dict[tuple[str, str], dict[str, int]] = {}
        for one in self.tried:
            row = found.setdefault((one.neighbourhood, one.evaluation), {})
            row[one.place] = row.get(one.place, 0) + one.moves
        most = {(one.neighbourhood, one.evaluation): (0, 0) for one in self.tried}
        for one in self.tried:
            names = one.neighbourhood, one.evaluation
            most[names] = max(most[names], (one.swept, one.size))
        lines = [["neighbourhood", "evaluation", *places, "of one solution"]]
        for names, row in found.items():
            cells = [f"{row[place]:,}" if place in row else "" for place in places]
            lines.append([*names, *cells, f"{most[names][0]:,} of {most[names][1]:,}"])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = []
        for line in lines:
            cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
            left = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
            table.append("  ".join([*left, *cells[2:]]))
        costs = f"costs from {self.costs[0]:,} to {self.costs[1]:,}"
        said = f"{self.problem}: {self.moves:,} moves tried, all right; {costs}; {self.seconds:.1f} s"
        return "\n".join([said, *table, *(f"note: {note}" for note in self.notes)])


def check(
    problem: Problem,
    neighbourhood: str | Neighbourhood | None = None,
    evaluation: str | None = None,
    *,
    backends: Sequence[Any] = (),
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
    `CheckedMoves.swept` counts them. Costs of insertions are checked too, if the problem offers them.

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
        The first error, as one of its classes (`core.problems.problem_errors`). One line names function, file, move,
        the value found and the value expected.
    KernelError
        A function that is not in the language, or has other parameters than it should.
    UserError
        An argument of another type, or a neighbourhood or evaluation that the problem does not have.

    """
    began = time.perf_counter()
    checked_problem(problem)
    moves, seed = integer("moves", moves, 1), integer("seed", seed, 0)
    ways = evaluations_of(problem, neighbourhood, evaluation)
    scorer = check_costs(problem, seed)
    tried: list[CheckedMoves] = []
    notes: list[str] = []
    part = min(1.0, moves / WHOLE_TIME) / (3 * sum(map(len, ways.values())))
    devices = [backend for backend in backends if not backend.is_reference]
    for backend in devices:
        check_starts(backend, scorer, seed)
    right: dict[tuple[str, object], str] = {}
    for name, evaluations in ways.items():
        course = move_sequence_of(scorer, name, evaluations[0], moves, seed)
        most = WHOLE if moves >= WHOLE_TIME else moves
        whole = functools.cache(partial(sweep_neighbourhoods, course, most, SCORING_SECONDS / len(ways)))
        for one in evaluations:
            way = problem.evaluations(name)[one]
            function = way.delta or way.value
            for place, benches in executors_of(problem, name, one, part, devices):
                known = right.get((one, function), "")
                beside = list if place == PLAIN and devices else whole
                count, swept, said = check_evaluation(course, benches, one == evaluations[0], known, beside)
                tried.append(CheckedMoves(name, one, place, count, swept, course.size))
                if place == PLAIN and count == 0 < course.size:
                    said = [*said, TOO_SLOW]
                notes += [note for note in said if note not in notes]
            right[one, function] = name
    if neighbourhood is None and evaluation is None and problem.insertion() is not None:
        from core.search.insertion.check import check_insertions

        notes.append(f"{check_insertions(problem, devices, seed):,} orders rebuilt by insertions, all right")
    return Checked(problem.name, tried, scorer.costs_met or (0, 0), notes, time.perf_counter() - began)


def evaluations_of(
    problem: Problem, neighbourhood: str | Neighbourhood | None, evaluation: str | None
) -> dict[str, list[str]]:
    """The names of the evaluations to try, by the names of the neighbourhoods.

    Raises
    ------
    UserError
        The problem has no such neighbourhood or evaluation.

    """
    if neighbourhood is not None and not isinstance(neighbourhood, (str, Neighbourhood)):
        refuse("neighbourhood", neighbourhood, f"one of {', '.join(problem.neighbourhood_names())}")
    given = neighbourhood.name if isinstance(neighbourhood, Neighbourhood) else neighbourhood
    ways = {}
    for name in problem.neighbourhood_names() if given is None else [given]:
        problem.neighbourhood(name)
        known = list(problem.evaluations(name))
        if evaluation is not None and evaluation not in known:
            refuse("evaluation", evaluation, f"one of {', '.join(known)}")
        ways[name] = known if evaluation is None else [evaluation]
    return ways


def move_sequence_of(scorer: CheckedScorer, name: str, evaluation_name: str, moves: int, seed: int) -> MoveSequence:
    """The course that all evaluations of a neighbourhood take."""
    first, later = MOVES_CHECKED, MOVES_CHECKED_LATER
    if scorer.problem.neighbourhood(name).change == OWN:
        first, later = OWN_MOVES_CHECKED, OWN_MOVES_CHECKED_LATER
    mover = partial(InterpreterExecutor, scorer.problem, name, evaluation_name)
    return MoveSequence(scorer, name, seed, min(first, moves), min(later, moves), FEW, mover)


def executors_of(
    problem: Problem, name: str, evaluation_name: str, part: float, devices: list[Any]
) -> Iterator[tuple[str, list[Callable[[], CheckExecutor]]]]:
    """Yield each place of an evaluation's checks with functions that make its executors; the first has one-lane teams.

    ``part`` is the fraction of the limits for each run in plain Python.
    """
    plain = partial(InterpreterExecutor, problem, name, evaluation_name)
    ways = [(1, False), (LANES, False), (LANES, True)]
    yield PLAIN, [partial(plain, lanes, reverse, [int(READS * part)], SECONDS * part) for lanes, reverse in ways]
    hooks = problem.hooks(problem.evaluations(name)[evaluation_name], name)
    for backend in devices:
        most = backend.capabilities.max_team_size
        together = any((hooks.begin, hooks.update, hooks.move, hooks.refresh, hooks.partial))
        sizes = [size for size in WIDE_TEAMS if size <= most]
        if not together:  # one lane alone calls `delta`: the size of its team decides nothing
            sizes = sizes[1:2] or sizes
        yield backend.name, [partial(DeviceExecutor, backend, problem, name, evaluation_name, size) for size in sizes]


def check_evaluation(
    course: MoveSequence,
    benches: list[Callable[[], CheckExecutor]],
    is_first: bool,
    right: str,
    whole: Callable[[], list[SequencePoint]] = list,
) -> tuple[int, int, list[str]]:
    """Let each bench take the course, and the first one try the neighbours of some stations beside it.

    Returns
    -------
    The number of differences that were tried, that of different neighbours of one solution, and what is to be noted.

    Raises
    ------
    WrongLanes
        Something is wrong with several lanes that is right with one.

    """
    count = most = 0
    notes: list[str] = []
    for make in benches:
        bench = make()
        is_plain = isinstance(bench, InterpreterExecutor)
        chooses = is_first or bench.hooks.quick is not None  # requested by a scan itself
        samples = FULL_CHECKS_AFTER[1:] if is_plain else FULL_CHECKS_AFTER
        trial = EvaluationCheck(course, bench, not is_plain, chooses, right)
        try:
            trial.run(MOVES_MADE, samples)
        except (ReadLimitReached, TeamTooLarge):
            pass
        except LaunchRefused as error:
            notes.append(f"not tried: {error}")
            continue
        except (WrongDelta, WrongState, WrongChoice) as error:
            alone = benches[0]().at_leisure(READS)
            if bench.lanes == 1 or alone.lanes > 1:
                raise
            with contextlib.suppress(ReadLimitReached):
                EvaluationCheck(course, alone, not is_plain, chooses, right).run(
                    trial.made, samples
                )  # raises what is wrong there
                raise WrongLanes(f"{error}; {SEVERAL_LANES}") from error
            raise
        count += trial.tried
        notes += trial.notes
    for station in whole() if count else ():
        trial = EvaluationCheck(course, benches[0](), right=right)
        with contextlib.suppress(ReadLimitReached):
            trial.sweep(station)
        count, most = count + trial.tried, max(most, trial.tried)
    return count, most, notes


def check_starts(backend: Any, scorer: CheckedScorer, seed: int) -> None:
    """Hold the random solutions from which a device's walks begin to the encoding, and score them."""
    encoding = scorer.problem.encoding
    given = Walk(room=1, length=encoding.n, choices=encoding.choices)
    walks = backend.rows(given, SCORED, S=encoding.dtype)
    backend.write(walks.number, np.arange(SCORED, dtype=np.uint64))
    backend.launch(start_solutions, 1, 1, encoding.code, walks, seed)
    found = backend.download(walks.solution).reshape(SCORED, encoding.n)
    for solution in found:
        encoding.check(solution)
    scorer.costs(found)


# --- before a search ---


def check_first_moves(problem: Problem, name: str, evaluation_name: str) -> None:
    """Try a few moves, once in a process for problems of equal content, and end quietly where that would take long."""
    key = (content_digest(problem), name, evaluation_name)
    if key in seen:
        return
    moves = max(2, min(FIRST_MOVES, FIRST_WORK // problem.evaluations(name)[evaluation_name].work))
    left = [FIRST_READS]
    with contextlib.suppress(ReadLimitReached):
        bench = InterpreterExecutor(problem, name, evaluation_name, LANES, left=left)
        mover = partial(InterpreterExecutor, problem, name, evaluation_name, left=left)
        EvaluationCheck(MoveSequence(CheckedScorer(problem), name, 0, moves, moves, moves, mover), bench).run(1)
    seen.add(key)


def check_on_first_rank(communicator: Any, problem: Problem, names: list[str], evaluation_name: str) -> None:
    """Let the first rank try the first moves, and raise what it finds on every rank; all ranks call this."""
    wrong = ("", "")
    if communicator.rank == 0:
        try:
            for name in names:
                check_first_moves(problem, name, evaluation_name)
        except UserError as error:
            wrong = type(error).__name__, str(error)
    kind, text = communicator.bcast(wrong)
    if text:
        raise PROBLEM_ERRORS.get(kind, ProblemError)(text)
