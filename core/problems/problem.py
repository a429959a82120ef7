"""A problem as local search sees it: its data, what a move costs, and a plain scorer. One file makes one."""

from __future__ import annotations

import copy
import hashlib
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from core.arguments import refuse, text
from core.errors import UserError
from core.kernels.local_search.hooks import Focus, Hooks
from core.kernels.local_search.moves import INSERT, REVERSE, SEGMENT
from core.lang import Function
from core.lang.bundle_forms import RowArray, fields_of, is_bundle, kind_text
from core.lang.bundles import row_sizes
from core.lang.digest import source_digest
from core.lang.types import BY_DTYPE, NUMBERS, PLACES, Array, Const, Generic, boolean, f32, f64, fits
from core.problems.encodings import NEIGHBOURHOODS, Encoding, Neighbourhood, neighbourhood
from core.problems.insertion import Insertion
from core.problems.problem_errors import ProblemError, WrongCost, WrongData


class Evaluation(NamedTuple):
    """Evaluation of neighbours; all evaluations of a problem give the same costs, with different speeds.

    The functions are those of `core.kernels.local_search.hooks.Hooks`. The rows of their bundle, from
    `Problem.data_for`, are the memory of a walk.

    Attributes
    ----------
    delta, quick, begin, update, move, refresh, partial, value, touches, touched
        There is `delta` or `value`.
    quick_for
        Neighbourhoods supported by `quick`; the others are evaluated by `delta`.
    work
        Approximate number of steps for a neighbour; devices share large evaluations among lanes.
    focus
        Constraints and their repairs, for focused search.
    touched_for
        Neighbourhoods with indices in `touched`; searches of the best of their neighbours keep all differences.
    """

    delta: Function | None = None
    quick: Function | None = None
    begin: Function | None = None
    update: Function | None = None
    move: Function | None = None
    refresh: Function | None = None
    partial: Function | None = None
    quick_for: tuple[str, ...] = ()
    work: int = 16
    value: Function | None = None
    touches: Function | None = None
    touched: Function | None = None
    touched_for: tuple[str, ...] = ()
    focus: Focus | None = None

    @property
    def functions(self) -> list[Function]:
        """Functions of the evaluation that are not None."""
        return [one for one in (*self, *(self.focus or ())) if isinstance(one, Function)]


class Problem:
    """Base class of problems.

    Parameters
    ----------
    name
        Of the instance.
    encoding
        `Bits(n)`, `Values(n, k)`, `Permutation(n)` or `Reals(n)`.
    data
        Data of the kernel functions: a `core.lang.bundle` of NumPy arrays and numbers, without rows, which are the
        memory of a walk. None if the class overrides `data_for`.

    Raises
    ------
    UserError
        The data are no bundle, or an array does not have its field's type.
    """

    delta: Function | None = None
    """Change of the cost by a move: see `core.kernels.local_search.hooks.Hooks`. None with `value` or `evaluations`."""
    value: Function | None = None
    """Cost of the neighbour after a move; with `delta`, a second evaluation that must agree with it."""
    neighbourhoods: tuple[str | Neighbourhood, ...] = ()
    """Neighbourhoods supported by `delta` and `value`, by name or user-defined; empty for all possible ones."""
    published: str | None = None
    """The evaluation that the paper's own mapping has (see `core.search.local_search.settings`); None: the first."""
    points = 0
    """Neighbours, where they are drawn at random."""
    remembered: tuple[str, ...] = ()
    """Rows of the data that do not follow from a walk's solution alone, so that a checkpoint has them too."""
    tenures: Mapping[str, tuple[int, int]] = {}
    """By neighbourhood, the tenure of tabu search and its largest random addition, in iterations.

    Both are reduced for instances with fewer neighbours. They follow from the size for neighbourhoods that are absent.
    """
    optimum: int | None = None
    set_digest = ""
    """The digest that a class has set; empty: none."""
    tested = False
    """True if the project's tests compare this class with `cost`: see `is_tested`."""

    def __init__(self, name: str, encoding: Encoding, data: Any) -> None:
        if not isinstance(encoding, Encoding):
            refuse("encoding", encoding, "Bits(n), Values(n, k), Permutation(n) or Reals(n)")
        self.name = text("name", name)
        self.encoding = encoding
        self.data = None if data is None else checked_data(name, data, self.delta or self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, n={self.encoding.n})"

    @property
    def is_tested(self) -> bool:
        """True if the project's tests cover this class, so that searches skip their check; not inherited."""
        return bool(vars(type(self)).get("tested", False))

    def cost(self, solution: np.ndarray, /) -> int:
        """Score a solution from scratch in plain NumPy; results of searches are checked by it."""
        raise WrongCost(
            f"{self.name}: {type(self).__name__} has no `cost`: expected def cost(self, solution), which returns "
            "the cost of a solution as an int, by plain NumPy"
        )

    def costs(self, solutions: np.ndarray, /) -> np.ndarray:
        """Return the costs of many solutions: (number of solutions, n) -> (number of solutions,) int64.

        A search scores all its start solutions by this. Override it if NumPy can score many solutions in one call,
        which takes a fraction of the time.
        """
        return np.array([self.cost(one) for one in solutions], np.int64)

    def tolerance(self) -> int:
        """Largest difference between a search's cost and `cost`: 0, unless `delta` rounds."""
        return 0

    def cost_range(self) -> tuple[int, int] | None:
        """Return the least and the largest cost of any solution, or bounds on them; None if unknown.

        Costs and differences of costs have 32 bits. A search refuses a problem with a larger range before it begins. If
        the range is unknown, it ends at the first cost of 2^30 or more.
        """
        return None

    @property
    def sha256(self) -> str:
        """Digest of the work without the name: `content_digest` of the data as they are now.

        A run takes it when it begins. A class may set it once, if its data cannot change.
        """
        return self.set_digest or content_digest(self)

    @sha256.setter
    def sha256(self, digest: str) -> None:
        self.set_digest = digest

    def start_heuristics(self) -> Mapping[str, Callable[[], np.ndarray]]:
        """Functions that construct a good start solution on the host, by name; none by default."""
        return {}

    def start_solution(self, name: str) -> np.ndarray:
        """Return the solution of the start heuristic of a name.

        Raises
        ------
        UserError
            The problem has no heuristic of that name, or it returns no solution.

        """
        offered = self.start_heuristics()
        if name not in offered:
            names = ", ".join(offered) or "none"
            raise UserError(f"{self.name}: start heuristic {name!r}: expected one of the problem's: {names}")
        return self.encoding.check(offered[name]())

    def insertion(self) -> Insertion | None:
        """Costs of inserting an element at every position of an order, for iterated greedy search; None: not known."""
        return None

    def neighbourhood_names(self) -> list[str]:
        """Return names of neighbourhoods: those listed by the class, or all of the encoding that its functions support.

        `delta` alone supports flips, exchanges and assignments, and `value` supports the moves of `moved`; but not
        2opt, which is a subset of reverse.
        """
        if self.neighbourhoods:
            return [one if isinstance(one, str) else one.name for one in self.neighbourhoods]
        fitting = [one for one in NEIGHBOURHOODS.values() if one.encoding == self.encoding.name]
        unknown = (REVERSE,) if self.value is not None else (REVERSE, INSERT, SEGMENT)
        return [one.name for one in fitting if one.change not in unknown]

    def neighbourhood(self, name: str) -> Neighbourhood:
        """Return the neighbourhood of a name, defined by the problem or its encoding.

        Raises `UserError` if it does not exist, or belongs to another encoding.
        """
        own = [one for one in self.neighbourhoods if isinstance(one, Neighbourhood) and one.name == name]
        return own[0] if own else neighbourhood(name, self.encoding)

    def evaluations(self, neighbourhood: str, /) -> dict[str, Evaluation]:
        """The evaluations of a neighbourhood by name, the preferred one first; by default of `delta` and of `value`."""
        if self.value is None:
            return {"delta": Evaluation(self.delta)}
        scored = {"value": Evaluation(value=self.value, work=self.encoding.n)}
        knows = bool(self.neighbourhoods) or self.neighbourhood(neighbourhood).change not in (INSERT, SEGMENT)
        return {"delta": Evaluation(self.delta), **scored} if self.delta is not None and knows else scored

    def data_for(self, evaluation: str, /) -> Any:
        """The bundle that an evaluation's functions read, by the evaluation's name; by default the problem's `data`."""
        return self.data

    def with_room(self, data: Any, lanes: int, /) -> Any:
        """Return the data of an evaluation, with memory for each of ``lanes`` simultaneous lanes."""
        return data

    def checked_data_for(self, evaluation: str) -> Any:
        """The same with flat arrays and plain numbers; raises `UserError` for what kernel functions could not read."""
        return checked_data(self.name, self.data_for(evaluation), self.delta or self.value)

    @staticmethod
    def hooks(evaluation: Evaluation, neighbourhood: str) -> Hooks:
        """Return the functions for kernels of a neighbourhood; `quick` only if the neighbourhood is supported."""
        is_quick = neighbourhood in evaluation.quick_for
        return Hooks(
            evaluation.delta,
            evaluation.quick if is_quick else None,
            evaluation.begin,
            evaluation.update,
            evaluation.move,
            evaluation.refresh if is_quick else None,
            evaluation.partial,
            evaluation.value,
            evaluation.touches if neighbourhood in evaluation.touched_for else None,
            evaluation.touched if neighbourhood in evaluation.touched_for else None,
            evaluation.focus,
        )


def checked_problem(problem: Any) -> Problem:
    """Return the problem itself, once it is made.

    Raises
    ------
    UserError
        Something else, or a class of problems in place of an object.
    ProblemError
        Its constructor has not called that of `Problem`.
    """
    if not isinstance(problem, Problem):
        made = f": {problem.__name__}(...)" if isinstance(problem, type) and issubclass(problem, Problem) else ""
        refuse("problem", problem, f"an object of a class of problems{made}")
    if not hasattr(problem, "encoding"):
        raise ProblemError(
            f"{type(problem).__name__}: its constructor ends without a name, an encoding and data: expected "
            "super().__init__(name, encoding, data) in it"
        )
    return problem


def checked_data(name: str, data: Any, reader: Function | None = None) -> Any:
    """Return the bundle with flat arrays and plain numbers; refuse data that kernel functions could not read.

    ``reader`` is one of these functions, if it is known: messages about arrays name it.

    Raises
    ------
    WrongData
        The data are no bundle, a value does not have or fit the type of its field, a bundle contains a bundle, or a row
        has no elements. One line names the field, the value found and the value expected.
    """
    if not is_bundle(type(data)):
        kind = type(data)
        found, advice = reprlib.repr(data), ""
        if kind.__module__ not in ("builtins", "numpy"):
            found, advice = f"an object of {kind.__name__}", f"; write @bundle above class {kind.__name__}"
        raise WrongData(f"{name}: data are {found}: expected a @bundle of arrays and numbers{advice}")
    checked = copy.copy(data)
    for field, kind in fields_of(type(data)).items():
        what, value = f"{name}: {type(data).__name__}.{field}", getattr(data, field)
        if is_bundle(kind):
            raise WrongData(f"{what} is a bundle: expected arrays and numbers; inherit from {kind.__name__} instead")
        if isinstance(kind, RowArray):
            if value is not None:
                raise WrongData(f"{what} is given: expected nothing, since rows are memory that every walk has")
            if isinstance(kind.element, Generic):
                raise WrongData(f"{what} is a row of any type {kind.element.name}: expected one type, such as i32")
        elif isinstance(kind, Array):
            setattr(checked, field, checked_array(f"{name}: data {field!r}", kind, value, reader))
        else:
            setattr(checked, field, checked_number(what, kind, value))
    for field, size in row_sizes(checked).items():
        if size < 1:
            raise WrongData(f"{name}: {type(data).__name__}.{field} is a row of {size} elements: expected 1 or more")
    return checked


def checked_array(what: str, kind: Array, value: Any, reader: Function | None = None) -> np.ndarray:
    """The array of a field, flat; ``what`` begins the message of a refusal, and ``reader`` is what would read it."""
    if not isinstance(value, np.ndarray):
        raise WrongData(f"{what} is {reprlib.repr(value)}: expected {kind_text(kind)}, a NumPy array")
    if isinstance(kind.element, Generic):
        if value.dtype not in BY_DTYPE:
            raise WrongData(f"{what} is an array of {value.dtype}: expected one of {', '.join(map(str, BY_DTYPE))}")
    elif value.dtype != kind.element.dtype:
        wanted, place, advice = "expected", "", f"use .astype(np.{kind.element.dtype})"
        if isinstance(reader, Function):
            wanted, place = f"{reader.name}() expects", f" ({reader.path}:{reader.first_line}: {reader.name})"
        if kind.element.kind in "iu" and value.dtype.kind in "iu" and value.size:
            least, most = int(value.min()), int(value.max())
            if least < kind.element.low or most > kind.element.high:
                advice = f"but values from {least} to {most} do not fit"
        raise WrongData(f"{what} is {value.dtype}: {wanted} {kind_text(kind)}, {advice}{place}")
    return np.ascontiguousarray(value).reshape(-1)


def checked_number(what: str, kind: Any, value: Any) -> bool | int | float:
    """Return the number of a field, as Python has it; ``what`` begins the message of a refusal."""
    if isinstance(value, np.ndarray):
        raise WrongData(f"{what} is an array of {value.dtype}: expected {kind_text(kind)}, a number")
    if not isinstance(value, NUMBERS):
        raise WrongData(f"{what} is {reprlib.repr(value)}: expected {kind_text(kind)}, a number")
    scalar = kind.scalar if isinstance(kind, Const) else kind
    if not isinstance(scalar, Generic) and not fits(scalar, value):
        raise WrongData(f"{what} is {reprlib.repr(value)}, which does not fit {kind_text(kind)}")
    plain: bool | int | float = value.item() if isinstance(value, np.generic) else value
    return bool(plain) if scalar is boolean else float(plain) if scalar in (f32, f64) else plain


def content_digest(problem: Problem) -> str:
    """SHA-256 of encoding, data and kernel functions, the same in every process and on every machine.

    Data count with their names, types, sizes and values, whatever the order of the fields and their class's name;
    functions with all that they call (see `core.lang.digest.source_digest`).
    """
    functions: list[Function] = []
    given: dict[str, Any] = {}
    own = ""
    for name in problem.neighbourhood_names():
        one = problem.neighbourhood(name)
        if one.own_size is not None:
            functions += one.functions
            own += f" {one.name} {one.change} {one.size(problem.encoding)}"
        for evaluation, its in problem.evaluations(name).items():
            functions += its.functions
            given[evaluation] = problem.checked_data_for(evaluation)
    said = f"{tuple(problem.encoding)} {problem.points}{own} {source_digest(functions)}"
    content = hashlib.sha256(said.encode())
    for evaluation, data in sorted(given.items()):
        for name, kind in sorted(fields_of(type(data)).items()):
            value = getattr(data, name)
            said = f"\n{evaluation}.{name} {kind_text(kind)} "
            if isinstance(value, np.ndarray):
                plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
                content.update(f"{said}{plain.dtype.str} {plain.size} ".encode())
                content.update(plain.tobytes())
            elif value is not None:
                content.update(f"{said}{float(value).hex() if isinstance(value, float) else int(value)}".encode())
            else:  # a row is memory, and no data
                content.update(said.encode())
    return content.hexdigest()


def checked_data_memory(name: str) -> str:
    """Return the name of the memory in which a problem's data lie; raises `UserError` if there is no such memory."""
    if name not in PLACES:
        raise UserError(f"data memory {name!r}: expected {', '.join(PLACES)}")
    return name
