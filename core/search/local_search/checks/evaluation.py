"""One evaluation on one bench along a course: what it says of moves, what it keeps, and what a scan takes."""

from __future__ import annotations

import contextlib
from typing import Any, NoReturn

import numpy as np

from core.kernels.local_search.moves import FLIP, NEVER
from core.kernels.local_search.walks import EVERYTHING, ONE_MOVE
from core.lang.bundles import row_sizes
from core.problems.problem_errors import ProblemError, WrongChoice, WrongDelta, WrongState
from core.search.local_search.checks.executors import PATTERNS, CheckExecutor
from core.search.local_search.checks.focus import hold_focus
from core.search.local_search.checks.interpreter import ReadLimitReached
from core.search.local_search.checks.move_sequences import (
    A_MOVE,
    NO_MOVE,
    UNKNOWN,
    MoveSequence,
    SequencePoint,
    move_text,
    move_tuple,
)
from core.search.local_search.checks.touched import TouchedCheck

ENOUGH_FOR_A_CAUSE, READS_FOR_A_CAUSE = 24, 200_000
"""Moves that are asked for to find out why one is wrong, and elements that plain Python may read meanwhile."""


class EvaluationCheck:
    """Check of one evaluation by one executor along a move sequence.

    Parameters
    ----------
    course, bench
        Move sequence and executor of the same neighbourhood.
    whole
        True to check all moves of each point, not only the candidates.
    chooses
        True to check the choice of a scan, which is another kernel to compile.
    right : str
        Names of neighbourhoods for which the same function was right, as text; may be empty.

    Attributes
    ----------
    tried : int
        Number of differences compared with `cost`.
    notes : list of str
        Unusual behaviour that was shown to be no error.

    """

    def __init__(
        self, course: MoveSequence, bench: CheckExecutor, whole: bool = True, chooses: bool = True, right: str = ""
    ) -> None:
        self.course, self.bench, self.chooses, self.right = course, bench, chooses, right
        self.few = None if whole else course.few
        self.hooks = bench.hooks
        self.role = "delta" if self.hooks.delta is not None else "value"
        self.made = 0
        self.where = ""
        self.tried = 0
        self.notes: list[str] = []

    def run(self, moves: int, samples: tuple[int, ...] = ()) -> None:
        """Check neighbours and make moves in turn, up to ``moves`` moves; a solution without neighbours has none.

        ``samples`` lists the numbers of moves after which rows and a scan's choice are checked too.
        """
        if self.course.size < 1:
            return
        station = self.course.station(0)
        self.bench.build(station.solution)
        changed = (EVERYTHING, 0, 0, -1)
        while True:
            picks = station.picked(self.few)
            self.compare(station, picks, changed, self.course.window)
            if self.made in samples:
                self.hold_rows(station)
                if self.hooks.focus is not None:
                    where = f"{self.course.one.name} from seed {self.course.seed}{self.after}"
                    hold_focus(self.bench, self.course.size, where)
                if self.chooses:
                    self.hold_choice(station)
            move = self.course.choose(self.made) if self.made < moves else None
            if move is None:
                return
            touched = None
            if self.made + 1 in samples and TouchedCheck.is_possible(self.course, self.bench):
                touched = TouchedCheck(self.course, self.bench, station.solution)
            self.bench.make(move)
            self.made += 1
            station = self.course.station(self.made)
            self.hold_solution(station.solution, move)
            if touched is not None:
                touched.hold(station.solution, station.cost, move, self.moved(move), self.source("touched"))
            changed = (ONE_MOVE, *move)

    def sweep(self, station: SequencePoint) -> None:
        """Try all rescored neighbours of a station beside the walk."""
        self.where = station.where
        self.bench.build(station.solution)
        picks = np.flatnonzero(station.rescored)
        window = range(self.course.size) if len(picks) == self.course.size else None
        self.compare(station, picks, (EVERYTHING, 0, 0, -1), window)

    # --- differences ---

    def compare(
        self, station: SequencePoint, picks: np.ndarray, changed: tuple[int, int, int, int], window: range | None
    ) -> None:
        """Hold all that say what moves add to the scorer; `quick` is asked for those of the window.

        Without a window, functions that need `refresh` are not tried: it prepares consecutive neighbours.
        """
        self.bench.cost = station.cost
        bench, step = self.bench, (self.bench.first_at_once if self.made == 0 else 0) or max(1, len(picks))
        said = np.empty(len(picks), np.int64)
        for first in range(0, len(picks), step):
            some = picks[first : first + step]
            self.course.rescore(station, some)
            said[first : first + step] = bench.ask(station.moves[some])
            self.hold(station, some, said[first : first + step])
            self.tried += len(some)
        if self.hooks.quick is not None and window is not None:
            inside = (station.indices[picks] >= window.start) & (station.indices[picks] < window.stop)
            some = picks[inside]
            bench.refresh(window.start, window.stop, changed[0], changed[1:])
            moves = station.moves[some]
            self.agree("quick", moves, bench.ask_quick(station.indices[some], moves), said[inside])
        if self.hooks.partial is not None and (window is not None or self.hooks.refresh is None):
            self.agree("partial", station.moves[picks], bench.ask_parts(station.moves[picks]), said)

    def hold(self, station: SequencePoint, some: np.ndarray, said: np.ndarray) -> None:
        """Hold what `delta` says of some moves to the scorer; what is no move for one evaluation is none for all."""
        claims = np.where(said == NEVER, NO_MOVE, A_MOVE)
        earlier = station.claims[some]
        station.claims[some] = np.where(earlier == UNKNOWN, claims, earlier)
        off = np.abs(said - station.added[some]) > self.course.scorer.tolerance
        wrong = np.where(claims == NO_MOVE, earlier == A_MOVE, off | (earlier == NO_MOVE))
        if wrong.any():
            x = int(np.argmax(wrong))
            self.refuse_delta(station, int(some[x]), int(said[x]))

    def refuse_delta(self, station: SequencePoint, x: int, said: int) -> NoReturn:
        """Raise an error with the values of `delta` and `cost` for a move, and the probable wrong function."""
        move = station.moves[x]
        expected = NEVER if station.claims[x] == NO_MOVE else int(station.added[x])
        whole = station.cost if self.role == "value" else 0  # `value` returns this instead of the change by a move
        found = f"{self.role} says {number_text(said, whole)}, cost says {number_text(expected, whole)}"
        if expected == NEVER:
            found = f"{self.role} says {number_text(said, whole)}, though it says NEVER (no move) elsewhere"
        if self.made and (self.hooks.update or self.hooks.move or self.hooks.begin):
            fresh = self.bench.at_leisure().fresh()
            again = int(fresh.ask(move[None])[0])
            if again != said and abs(again - expected) <= self.course.scorer.tolerance:
                rows = self.difference_of_rows(fresh, True) or self.difference_of_rows(fresh, False)
                self.refuse_state(f"{self.moved(move)}: {rows}; {found}")
        begin = self.hooks.begin
        also = f"begin {begin.path}:{begin.first_line}" if begin is not None else ""
        cause = self.likely_cause(station, x)
        raise WrongDelta(f"{self.moved(move)}: {found}{cause} ({self.source(self.role, also)})")

    def likely_cause(self, station: SequencePoint, x: int) -> str:
        """Explain the numbers of some tried moves, a wrong one among them; empty if nothing explains them all."""
        picks = station.picked(ENOUGH_FOR_A_CAUSE)
        if x not in picks:
            picks[-1] = x
        with contextlib.suppress(ReadLimitReached, ProblemError):
            self.course.rescore(station, picks)
            said, moves = self.bench.at_leisure(READS_FOR_A_CAUSE).ask(station.moves[picks]), station.moves[picks]
            picks, moves, said = picks[said != NEVER], moves[said != NEVER], said[said != NEVER]
            found = likely_cause(said, station.added[picks], station.cost, self.other_changes(station, moves))
            if not found and self.right and (said != station.added[picks]).all():
                found = f"all {len(said)} tried are wrong, while moves of {self.right} were right"
            return f"; {found}" if found else ""
        return ""

    def other_changes(self, station: SequencePoint, moves: np.ndarray) -> dict[str, np.ndarray]:
        """Return changes that a wrong `delta` may return for single flips: by `cost`, of moves with several flips."""
        if self.course.one.change != FLIP or not len(moves) or moves[0, 1] < 0:
            return {}
        added = self.course.added
        parts = [added(station, with_only(moves, place)) for place in range(3) if moves[0, place] >= 0]
        found = {
            "the sum over the changed elements, each as if the others stayed": sum(parts[1:], parts[0]),
            "that of the first element alone: is move.j forgotten?": parts[0],
        }
        if len(parts) > 2:
            two = moves.copy()
            two[:, 2] = -1
            found["that of the first two elements alone: is move.k forgotten?"] = added(station, two)
        return found

    def agree(self, role: str, moves: np.ndarray, said: np.ndarray, expected: np.ndarray) -> None:
        """Hold what another function says to `delta`, which it equals exactly."""
        wrong = np.flatnonzero(said != expected)
        if not len(wrong):
            return
        x = int(wrong[0])
        found = f"{role} says {number_text(said[x])}, {self.role} says {number_text(expected[x])}"
        refresh = self.hooks.refresh
        also = f"refresh {refresh.path}:{refresh.first_line}" if role == "quick" and refresh else ""
        raise WrongDelta(f"{self.moved(moves[x])}: {found} ({self.source(role, also)})")

    # --- state ---

    def hold_solution(self, expected: np.ndarray, move: tuple[int, int, int]) -> None:
        """Hold the solution behind a move to where the move leads."""
        found = self.bench.host(self.bench.solution)
        wrong = np.flatnonzero(found != expected)
        if len(wrong):
            p = int(wrong[0])
            self.made -= 1
            text = f"{self.moved(move)}: the move leaves {found[p]} at {p} of the solution, expected {expected[p]}"
            raise WrongState(f"{text} ({self.source(self.mover)})")

    @property
    def mover(self) -> str:
        """Return the function that updates or makes moves, the probable cause of a wrong state."""
        roles = [one for one in ("update", "move") if getattr(self.hooks, one) is not None]
        return (roles or ["apply" if self.course.one.apply is not None else "begin"])[0]

    def refuse_state(self, found: str) -> NoReturn:
        """Say that what a walk keeps is wrong."""
        others = {one: getattr(self.hooks, one) for one in ("move", "begin") if one != self.mover}
        also = ", ".join(f"{one} {its.path}:{its.first_line}" for one, its in others.items() if its is not None)
        missing = "" if self.hooks.update or self.hooks.move else "; nothing follows a move: is update missing?"
        raise WrongState(f"{found}{missing} ({self.source(self.mover, also)})")

    def difference_of_rows(self, fresh: CheckExecutor, decided: bool) -> str:
        """Describe a row that differs from ``fresh``, the result of `begin`; empty if none does.

        ``decided`` excludes elements that `begin` does not write, or does not always write alike.
        """
        kept, begun, other = self.bench.rows(), fresh.rows(), fresh.fresh(PATTERNS[1]).rows()
        for name, row in kept.items():
            places = unequal(row, begun[name])
            if decided:
                places = places[~unequal_bits(begun[name], other[name])[places]]
            if len(places):
                p = int(places[0])
                return f"row '{name}' holds {row[p]} at {p}, begin gives {begun[name][p]}"
        return ""

    def hold_rows(self, station: SequencePoint) -> None:
        """Compare a walk's rows with those of a new `begin`, if they decide the change by a move.

        Elements not written by `begin` may have any value. Rows may differ and be right, such as lists in another
        order: all differences decide, or as many as the executor allows. If only the problem's `move` makes the
        neighbours, they may depend on the rows, such as a counter: it is left out.
        """
        if not self.made or not row_sizes(self.bench.data) or self.course.mover is not None:
            return
        fresh = self.bench.fresh()
        found = self.difference_of_rows(fresh, True)
        if not found:
            return
        indices = np.arange(self.course.size)
        if self.course.size > self.bench.most_asked:
            indices = np.random.default_rng(self.course.seed).integers(self.course.size, size=self.bench.most_asked)
        moves = self.course.listed(indices, station.solution)
        kept, begun = self.bench.ask(moves), fresh.ask(moves)
        wrong = np.flatnonzero(np.abs(kept - begun) > self.course.scorer.tolerance)
        if len(wrong):
            x = int(wrong[0])
            expected = int(self.course.added(station, moves[x : x + 1])[0])
            by_begin = abs(int(kept[x]) - expected) <= self.course.scorer.tolerance
            said = (
                f"delta says {number_text((begun if by_begin else kept)[x])}{' by that of begin' if by_begin else ''}"
            )
            self.refuse_state(f"{self.moved(moves[x])}: {found}; {said}, cost says {expected}")
        where = f"{self.course.one.name}, evaluation {self.bench.evaluation_name}, {self.bench.place}"
        self.notes.append(f"{found} after {self.made} moves ({where}); none of {len(moves)} moves adds anything else")

    # --- choice ---

    def hold_choice(self, station: SequencePoint) -> None:
        """Hold what a scan takes to the first of the least differences; of small neighbourhoods."""
        size = self.course.size
        if size > self.bench.most_asked:
            return
        moves = self.course.listed(np.arange(size), station.solution)
        walk = self.bench.fresh()  # `refresh` may write its tables for all neighbours
        said = walk.ask(moves)
        walk.refresh(0, size, EVERYTHING, (0, 0, -1))
        if self.hooks.quick is not None:
            self.agree("quick", moves, walk.ask_quick(np.arange(size), moves), said)
        taken = walk.chosen(size)
        least = int(np.argmin(said))
        expected = None if said[least] == NEVER else least
        if taken != expected:
            words = [f"neighbour {x} of {move_text(moves[x])}" if x is not None else "none" for x in (taken, expected)]
            where = f"{self.course.one.name} from seed {self.course.seed}{self.after}"
            raise WrongChoice(f"{where}: a scan takes {words[0]}, expected {words[1]}, the first of those that add "
                              f"least ({self.source(self.role)})")  # fmt: skip

    # --- words ---

    @property
    def after(self) -> str:
        """Place of the walk, as text that follows the seed."""
        return f", after {self.made} move{'s' * (self.made > 1)}" if self.made else self.where

    def moved(self, move: Any) -> str:
        """The beginning of a message about a move: which, and from where."""
        return f"{self.course.one.name} {move_text(move_tuple(move))} from seed {self.course.seed}{self.after}"

    def source(self, role: str, also: str = "") -> str:
        """The end of a message: file, line and name of a function, and where it ran."""
        own = self.course.one.apply if role == "apply" else getattr(self.hooks, role)
        function = own or getattr(self.hooks, self.role)
        parts = [f"{function.path}:{function.first_line}: {function.name}", also, self.course.problem.name]
        parts += [f"evaluation {self.bench.evaluation_name}", self.bench.place]
        return ", ".join(one for one in parts if one)


def with_only(moves: np.ndarray, place: int) -> np.ndarray:
    """Moves that change one of the elements only: (count, 3)."""
    found = np.full_like(moves, -1)
    found[:, 0] = moves[:, place]
    return found


def unequal_bits(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return True where two arrays have different bits."""
    found: np.ndarray = one.view(f"u{one.itemsize}") != other.view(f"u{other.itemsize}")
    return found


def unequal(kept: np.ndarray, begun: np.ndarray) -> np.ndarray:
    """Places where what is kept is not what was begun; sums of floating point round differently in another order."""
    if kept.dtype.kind == "f":
        largest = float(np.nanmax(np.abs(begun[np.isfinite(begun)]), initial=0.0))
        return np.flatnonzero(~np.isclose(kept, begun, rtol=1e-3, atol=1e-5 * largest, equal_nan=True))
    return np.flatnonzero(kept != begun)


def number_text(said: Any, whole: int = 0) -> str:
    """A difference, and what it differs from, or that a move is none."""
    return "NEVER (no move)" if said == NEVER else str(int(said) + whole)


FEWEST = 4
"""Differences that show anything."""
FACTORS = (2, 3, 4)


def likely_cause(said: np.ndarray, added: np.ndarray, cost: int, others: dict[str, np.ndarray]) -> str:
    """Name a common mistake that explains every difference.

    Parameters
    ----------
    said, added : ndarray, shape (count,), int64
        Changes of some moves by `delta` and by `cost`.
    cost
        Cost of the solution before the moves.
    others : dict of str to ndarray, shape (count,)
        Changes of cost by other moves, with their descriptions.

    Returns
    -------
    Description of the cause; empty if unknown.

    """
    if len(said) < FEWEST or len(np.unique(added)) < 2:
        return ""
    every = f"every one of {len(said)} tried"
    if (said == -added).all():
        return f"{every} has the opposite sign: is it the present cost less the neighbour's?"
    if cost and (said == added + cost).all():
        return f"{every} is the neighbour's whole cost: subtract the present one"
    if not said.any():
        return f"{every} adds 0: is the move left out?"
    for words, their in others.items():
        if (said == their).all():
            return f"{every} is {words}"
    off = np.unique(said - added)
    if len(off) == 1:
        return f"{every} is {abs(int(off[0]))} too {'large' if off[0] > 0 else 'small'}"
    for factor in FACTORS:
        if (said == factor * added).all():
            return f"{every} is {factor} times what cost says: is something counted {factor} times?"
        if (factor * said == added).all():
            return f"{every} is a {['half', 'third', 'quarter'][factor - 2]} of what cost says"
    return ""
