"""Check of one evaluation by one executor along a move sequence: differences, state, and the choice of a scan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import NoReturn

import numpy as np

from core.lang.bundles import row_sizes
from core.local_search.checks.executors import PATTERNS, CheckExecutor
from core.local_search.checks.interpreter import ReadLimitReached
from core.local_search.checks.move_sequences import (
    A_MOVE,
    NO_MOVE,
    UNKNOWN,
    MoveSequence,
    SequencePoint,
    move_text,
    move_tuple,
)
from core.local_search.checks.problem_errors import ProblemError, WrongChoice, WrongDelta, WrongState
from core.local_search.kernels.moves import FLIP, NEVER
from core.local_search.kernels.walks import EVERYTHING, ONE_MOVE

ENOUGH_FOR_A_CAUSE, READS_FOR_A_CAUSE = 24, 200_000
"""Moves that are evaluated to find the cause of a wrong one, and elements that plain Python may read for them."""


class EvaluationCheck:
    """Check of one evaluation by one executor along a move sequence.

    Parameters
    ----------
    sequence, executor
        Move sequence and executor of the same neighbourhood.
    whole
        True to check all moves of each point, not only the candidates.
    chooses
        True to check the choice of a scan, which is another kernel to compile.
    right
        Names of neighbourhoods for which the same function was right, as text; may be empty.

    Attributes
    ----------
    tried : int
        Number of differences compared with `cost`.
    notes : list of str
        Unusual behaviour that was shown to be no error.
    """

    def __init__(
        self, sequence: MoveSequence, executor: CheckExecutor, whole: bool = True, chooses: bool = True, right: str = ""
    ) -> None:
        self.sequence, self.executor, self.chooses, self.right = sequence, executor, chooses, right
        self.name = sequence.neighbourhood.name
        self.few = None if whole else sequence.few
        self.functions = executor.functions
        self.role = "delta" if self.functions.delta is not None else "value"
        self.moves_made = 0
        self.where = ""
        self.tried = 0
        self.notes: list[str] = []

    def run(self, moves: int, samples: tuple[int, ...] = ()) -> None:
        """Check neighbours and make moves in turn, up to ``moves`` moves; a solution without neighbours has none.

        ``samples`` lists the numbers of moves after which rows and a scan's choice are checked too.
        """
        if self.sequence.size < 1:
            return
        point = self.sequence.point(0)
        self.executor.build(point.solution)
        changed = (EVERYTHING, 0, 0, -1)
        while True:
            self.compare(point, point.picked(self.few), changed, self.sequence.window)
            if self.moves_made in samples:
                self.check_rows(point)
                if self.chooses:
                    self.check_choice(point)
            move = self.sequence.choose(self.moves_made) if self.moves_made < moves else None
            if move is None:
                return
            self.executor.make(move)
            self.moves_made += 1
            point = self.sequence.point(self.moves_made)
            self.check_solution(point.solution, move)
            changed = (ONE_MOVE, *move)

    def sweep(self, point: SequencePoint) -> None:
        """Check all rescored neighbours of a point outside of the sequence."""
        self.where = point.where
        self.executor.build(point.solution)
        picks = np.flatnonzero(point.rescored)
        window = range(self.sequence.size) if len(picks) == self.sequence.size else None
        self.compare(point, picks, (EVERYTHING, 0, 0, -1), window)

    # --- differences ---

    def compare(
        self, point: SequencePoint, picks: np.ndarray, changed: tuple[int, int, int, int], window: range | None
    ) -> None:
        """Compare the results of all functions for some moves; `quick` is called for those of the window.

        Without a window, functions that need `refresh` are not tried: it prepares consecutive neighbours.
        """
        executor = self.executor
        executor.cost = point.cost
        step = (executor.first_at_once if self.moves_made == 0 else 0) or max(1, len(picks))
        changes = np.empty(len(picks), np.int64)
        for first in range(0, len(picks), step):
            some = picks[first : first + step]
            self.sequence.rescore(point, some)
            changes[first : first + step] = executor.ask(point.moves[some])
            self.check_differences(point, some, changes[first : first + step])
            self.tried += len(some)
        if self.functions.quick is not None and window is not None:
            inside = (point.indices[picks] >= window.start) & (point.indices[picks] < window.stop)
            some = picks[inside]
            executor.refresh(window.start, window.stop, changed[0], changed[1:])
            moves = point.moves[some]
            self.agree("quick", moves, executor.ask_quick(point.indices[some], moves), changes[inside])
        if self.functions.partial is not None and (window is not None or self.functions.refresh is None):
            self.agree("partial", point.moves[picks], executor.ask_parts(point.moves[picks]), changes)

    def check_differences(self, point: SequencePoint, picks: np.ndarray, changes: np.ndarray) -> None:
        """Compare the results of `delta` with the scorer's. A move that one evaluation rejects must be none for all."""
        claims = np.where(changes == NEVER, NO_MOVE, A_MOVE)
        earlier = point.claims[picks]
        point.claims[picks] = np.where(earlier == UNKNOWN, claims, earlier)
        off = np.abs(changes - point.added[picks]) > self.sequence.scorer.tolerance
        wrong = np.where(claims == NO_MOVE, earlier == A_MOVE, off | (earlier == NO_MOVE))
        if wrong.any():
            x = int(np.argmax(wrong))
            self.refuse_delta(point, int(picks[x]), int(changes[x]))

    def refuse_delta(self, point: SequencePoint, x: int, change: int) -> NoReturn:
        """Raise an error with the values of `delta` and `cost` for a move, and the probable wrong function."""
        move = point.moves[x]
        expected = NEVER if point.claims[x] == NO_MOVE else int(point.added[x])
        whole = point.cost if self.role == "value" else 0  # `value` returns this instead of the change by a move
        fault = f"{self.role} says {number_text(change, whole)}, cost says {number_text(expected, whole)}"
        if expected == NEVER:
            fault = f"{self.role} says {number_text(change, whole)}, though it says NEVER (no move) elsewhere"
        if self.moves_made and (self.functions.update or self.functions.move or self.functions.begin):
            fresh = self.executor.with_reads().fresh()
            again = int(fresh.ask(move[None])[0])
            if again != change and abs(again - expected) <= self.sequence.scorer.tolerance:
                rows = self.difference_of_rows(fresh, True) or self.difference_of_rows(fresh, False)
                self.refuse_state(f"{self.moved(move)}: {rows}; {fault}")
        begin = self.functions.begin
        also = f"begin {begin.path}:{begin.first_line}" if begin is not None else ""
        cause = self.likely_cause(point, x)
        raise WrongDelta(f"{self.moved(move)}: {fault}{cause} ({self.source(self.role, also)})")

    def likely_cause(self, point: SequencePoint, x: int) -> str:
        """Explain the numbers of some tried moves, a wrong one among them; empty if nothing explains them all."""
        picks = point.picked(ENOUGH_FOR_A_CAUSE)
        if x not in picks:
            picks[-1] = x
        with contextlib.suppress(ReadLimitReached, ProblemError):
            self.sequence.rescore(point, picks)
            changes, moves = self.executor.with_reads(READS_FOR_A_CAUSE).ask(point.moves[picks]), point.moves[picks]
            picks, moves, changes = picks[changes != NEVER], moves[changes != NEVER], changes[changes != NEVER]
            cause = likely_cause(changes, point.added[picks], point.cost, self.other_changes(point, moves))
            if not cause and self.right and (changes != point.added[picks]).all():
                cause = f"all {len(changes)} tried are wrong, while moves of {self.right} were right"
            return f"; {cause}" if cause else ""
        return ""

    def other_changes(self, point: SequencePoint, moves: np.ndarray) -> dict[str, np.ndarray]:
        """Return changes that a wrong `delta` may return for single flips: by `cost`, of moves with several flips."""
        if self.sequence.neighbourhood.change != FLIP or not len(moves) or moves[0, 1] < 0:
            return {}
        added = self.sequence.added
        parts = [added(point, with_only(moves, place)) for place in range(3) if moves[0, place] >= 0]
        others = {
            "the sum over the changed elements, each as if the others stayed": sum(parts[1:], parts[0]),
            "that of the first element alone: is move.j forgotten?": parts[0],
        }
        if len(parts) > 2:
            two = moves.copy()
            two[:, 2] = -1
            others["that of the first two elements alone: is move.k forgotten?"] = added(point, two)
        return others

    def agree(self, role: str, moves: np.ndarray, changes: np.ndarray, expected: np.ndarray) -> None:
        """Compare the results of another function with those of `delta`, which must be equal."""
        wrong = np.flatnonzero(changes != expected)
        if not len(wrong):
            return
        x = int(wrong[0])
        fault = f"{role} says {number_text(changes[x])}, {self.role} says {number_text(expected[x])}"
        refresh = self.functions.refresh
        also = f"refresh {refresh.path}:{refresh.first_line}" if role == "quick" and refresh else ""
        raise WrongDelta(f"{self.moved(moves[x])}: {fault} ({self.source(role, also)})")

    # --- state ---

    def check_solution(self, expected: np.ndarray, move: tuple[int, int, int]) -> None:
        """Compare the solution after a move with the expected one."""
        solution = self.executor.host(self.executor.solution)
        wrong = np.flatnonzero(solution != expected)
        if len(wrong):
            p = int(wrong[0])
            self.moves_made -= 1
            text = f"{self.moved(move)}: the move leaves {solution[p]} at {p} of the solution, expected {expected[p]}"
            raise WrongState(f"{text} ({self.source(self.mover)})")

    @property
    def mover(self) -> str:
        """Name of the function that updates or makes moves, the probable cause of a wrong state."""
        roles = [role for role in ("update", "move") if getattr(self.functions, role) is not None]
        return (roles or ["apply" if self.sequence.neighbourhood.apply is not None else "begin"])[0]

    def refuse_state(self, fault: str) -> NoReturn:
        """Raise the error for wrong rows or a wrong solution."""
        others = {role: getattr(self.functions, role) for role in ("move", "begin") if role != self.mover}
        also = ", ".join(f"{role} {hook.path}:{hook.first_line}" for role, hook in others.items() if hook is not None)
        missing = "" if self.functions.update or self.functions.move else "; nothing follows a move: is update missing?"
        raise WrongState(f"{fault}{missing} ({self.source(self.mover, also)})")

    def difference_of_rows(self, fresh: CheckExecutor, decided: bool) -> str:
        """Describe a row that differs from ``fresh``, the result of `begin`; empty if none does.

        ``decided`` excludes elements that `begin` does not write, or does not always write alike.
        """
        rows, begun, other = self.executor.rows(), fresh.rows(), fresh.fresh(PATTERNS[1]).rows()
        for name, row in rows.items():
            places = unequal(row, begun[name])
            if decided:
                bits = f"u{row.itemsize}"
                places = places[begun[name].view(bits)[places] == other[name].view(bits)[places]]
            if len(places):
                p = int(places[0])
                return f"row '{name}' holds {row[p]} at {p}, begin gives {begun[name][p]}"
        return ""

    def check_rows(self, point: SequencePoint) -> None:
        """Compare a walk's rows with those of a new `begin`, if they decide the change by a move.

        Elements not written by `begin` may have any value. Rows may differ and be right, such as lists in another
        order: all differences decide, or as many as the executor allows. If only the problem's `move` makes the
        neighbours, they may depend on the rows, such as a counter: it is left out.
        """
        if not self.moves_made or not row_sizes(self.executor.data) or self.sequence.mover is not None:
            return
        fresh = self.executor.fresh()
        difference = self.difference_of_rows(fresh, True)
        if not difference:
            return
        size, most = self.sequence.size, self.executor.most_asked
        indices = np.arange(size)
        if size > most:
            indices = np.random.default_rng(self.sequence.seed).integers(size, size=most)
        moves = self.sequence.listed(indices, point.solution)
        changes, fresh_changes = self.executor.ask(moves), fresh.ask(moves)
        wrong = np.flatnonzero(np.abs(changes - fresh_changes) > self.sequence.scorer.tolerance)
        if len(wrong):
            x = int(wrong[0])
            expected = int(self.sequence.added(point, moves[x : x + 1])[0])
            by_begin = abs(int(changes[x]) - expected) <= self.sequence.scorer.tolerance
            claim = f"{number_text(fresh_changes[x])} by that of begin" if by_begin else number_text(changes[x])
            self.refuse_state(f"{self.moved(moves[x])}: {difference}; delta says {claim}, cost says {expected}")
        where = f"{self.name}, evaluation {self.executor.evaluation.name}, {self.executor.place}"
        self.notes.append(
            f"{difference} after {self.moves_made} moves ({where}); none of {len(moves)} moves adds anything else"
        )

    # --- choice ---

    def check_choice(self, point: SequencePoint) -> None:
        """Compare the choice of a scan with the first of the least differences, in small neighbourhoods."""
        size = self.sequence.size
        if size > self.executor.most_asked:
            return
        moves = self.sequence.listed(np.arange(size), point.solution)
        walk = self.executor.fresh()  # `refresh` may write its tables for all neighbours
        changes = walk.ask(moves)
        walk.refresh(0, size, EVERYTHING, (0, 0, -1))
        if self.functions.quick is not None:
            self.agree("quick", moves, walk.ask_quick(np.arange(size), moves), changes)
        chosen = walk.chosen(size)
        least = int(np.argmin(changes))
        expected = None if changes[least] == NEVER else least
        if chosen != expected:
            texts = [f"neighbour {x} of {move_text(moves[x])}" if x is not None else "none" for x in (chosen, expected)]
            raise WrongChoice(
                f"{self.name} {self.origin}: a scan takes {texts[0]}, expected {texts[1]}, the first of those that add "
                f"least ({self.source(self.role)})"
            )

    # --- words ---

    @property
    def origin(self) -> str:
        """Seed of the walk, and number of moves made."""
        after = f", after {self.moves_made} move{'s' * (self.moves_made > 1)}" if self.moves_made else self.where
        return f"from seed {self.sequence.seed}{after}"

    def moved(self, move: Iterable[int]) -> str:
        """Return the beginning of a message about a move: neighbourhood, move and origin."""
        return f"{self.name} {move_text(move_tuple(move))} {self.origin}"

    def source(self, role: str, also: str = "") -> str:
        """Return the end of a message: file, line and name of a function, and its executor."""
        own = self.sequence.neighbourhood.apply if role == "apply" else getattr(self.functions, role)
        function = own or getattr(self.functions, self.role)
        parts = [f"{function.path}:{function.first_line}: {function.name}", also, self.sequence.problem.name]
        parts += [f"evaluation {self.executor.evaluation.name}", self.executor.place]
        return ", ".join(text for text in parts if text)


def with_only(moves: np.ndarray, place: int) -> np.ndarray:
    """Return moves that change one of the elements only: (count, 3)."""
    single = np.full_like(moves, -1)
    single[:, 0] = moves[:, place]
    return single


def unequal(row: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the places of unequal elements; sums of floating point may round differently in another order."""
    if row.dtype.kind == "f":
        largest = float(np.nanmax(np.abs(expected[np.isfinite(expected)]), initial=0.0))
        return np.flatnonzero(~np.isclose(row, expected, rtol=1e-3, atol=1e-5 * largest, equal_nan=True))
    return np.flatnonzero(row != expected)


def number_text(change: int, whole: int = 0) -> str:
    """Return a change plus ``whole`` as text, or that a move is none."""
    return "NEVER (no move)" if change == NEVER else str(int(change) + whole)


FEWEST = 4
"""Differences that show anything."""


def likely_cause(changes: np.ndarray, added: np.ndarray, cost: int, others: dict[str, np.ndarray]) -> str:
    """Name a common error that explains every difference; return an empty text if there is none.

    Parameters
    ----------
    changes, added : ndarray, shape (count,), int64
        Changes of some moves by `delta` and by `cost`.
    cost
        Cost of the solution before the moves.
    others : dict of str to ndarray, shape (count,)
        Changes of cost by other moves, with their descriptions.
    """
    if len(changes) < FEWEST or len(np.unique(added)) < 2:
        return ""
    off = changes - added
    size = f"{abs(int(off[0]))} too {'large' if off[0] > 0 else 'small'}"
    explanations = [
        (changes == -added, "has the opposite sign: is it the present cost less the neighbour's?"),
        (cost != 0 and off == cost, "is the neighbour's whole cost: subtract the present one"),
        (changes == 0, "adds 0: is the move left out?"),
        *((changes == other, f"is {text}") for text, other in others.items()),
        (off == off[0], f"is {size}"),
    ]
    for factor, part in ((2, "half"), (3, "third"), (4, "quarter")):
        text = f"is {factor} times what cost says: is something counted {factor} times?"
        explanations += [
            (changes == factor * added, text),
            (factor * changes == added, f"is a {part} of what cost says"),
        ]
    return next((f"every one of {len(changes)} tried {text}" for holds, text in explanations if np.all(holds)), "")
