"""A problem of local search: its data, the cost of a move, and a plain scorer. One file makes one."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from core.arguments import checked_class, refuse, text
from core.errors import shown
from core.lang import Function
from core.lang.bundle_forms import RowArray, fields_of, is_bundle, kind_text
from core.lang.bundles import row_sizes, sizes_of_rows
from core.lang.digest import source_digest
from core.lang.types import BY_DTYPE, NUMBERS, Array, Const, Generic, boolean, f32, f64, fits
from core.local_search.checks.problem_errors import ProblemError, WrongCost, WrongData
from core.local_search.encodings import NEIGHBOURHOODS, Encoding, Neighbourhood, neighbourhood
from core.local_search.kernels.hooks import Evaluation
from core.local_search.kernels.moves import INSERT, REVERSE, SEGMENT, TRIPLES

Data = TypeVar("Data")
checked_class(Evaluation)


@checked_class
class Problem:
    """Base class of problems.

    Parameters
    ----------
    name
        Name of the instance.
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
    """Change of the cost by a move: see `Evaluation`. None with `value` or `evaluations`."""
    value: Function | None = None
    """Cost of the neighbour after a move; with `delta`, a second evaluation that must agree with it."""
    neighbourhoods: tuple[str | Neighbourhood, ...] = ()
    """Neighbourhoods supported by `delta` and `value`, by name or user-defined; empty for all possible ones."""
    published: str | None = None
    """Evaluation of the paper's mapping (see `core.local_search.settings`); None: the first."""
    points = 0
    """Number of neighbours if they are drawn at random."""
    grid = 0
    """Start solutions of reals are rounded to multiples of 1 / ``grid``; 0: they are taken as they are."""
    remembered: tuple[str, ...] = ()
    """Rows of the data that do not follow from a walk's solution alone, so that checkpoints include them."""
    optimum: int | None = None
    set_digest = ""
    """Digest set by a class; empty: none."""
    tested = False
    """True if the project's tests compare this class with `cost`: see `is_tested`."""

    def __init__(self, name: str, encoding: Encoding, data: object) -> None:
        if not isinstance(encoding, Encoding):
            refuse("encoding", encoding, "Bits(n), Values(n, k), Permutation(n) or Reals(n)")
        self.name = text("name", name)
        self.encoding = encoding
        self.data = None if data is None else checked_data(name, data, self.delta or self.value)

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        if "__init__" in vars(cls):
            checked_class(cls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, n={self.encoding.n})"

    @property
    def is_tested(self) -> bool:
        """True if the project's tests cover this class, so that searches skip their check; not inherited."""
        return bool(vars(type(self)).get("tested", False))

    def cost(self, solution: np.ndarray, /) -> int:
        """Return the cost of a solution, computed from scratch in plain NumPy; it checks the results of searches."""
        raise WrongCost(
            f"{self.name}: {type(self).__name__} has no `cost`: expected def cost(self, solution), which returns "
            "the cost of a solution as an int, by plain NumPy"
        )

    def costs(self, solutions: np.ndarray, /) -> np.ndarray:
        """Return the costs of many solutions: (number of solutions, n) -> (number of solutions,) int64.

        A search scores its start solutions by this. Override it if NumPy can score many in one call, which is much
        faster.
        """
        return np.array([self.cost(solution) for solution in solutions], np.int64)

    def tolerance(self) -> int:
        """Return the largest difference between a search's cost and `cost`: 0, unless `delta` rounds."""
        return 0

    def cost_range(self) -> tuple[int, int] | None:
        """Return the least and the largest cost of any solution, or bounds on them; None if unknown.

        Costs and differences of costs have 32 bits. A search refuses a problem with a larger range. If the range is
        unknown, it stops at the first cost of 2^30 or more.
        """
        return None

    @property
    def sha256(self) -> str:
        """Digest of the work without the name: `content_digest` of the present data.

        A class may set it once, if its data cannot change.
        """
        return self.set_digest or content_digest(self)

    @sha256.setter
    def sha256(self, digest: str) -> None:
        self.set_digest = digest

    def neighbourhood_names(self) -> list[str]:
        """Return names of neighbourhoods: those listed by the class, or all of the encoding that its functions support.

        `delta` alone supports flips and exchanges of at most two elements, and assignments. `value` supports the moves
        of `moved`; but not 2opt, which is a subset of reverse.
        """
        if self.neighbourhoods:
            return [each if isinstance(each, str) else each.name for each in self.neighbourhoods]
        fitting = [each for each in NEIGHBOURHOODS.values() if each.encoding == self.encoding.name]
        if self.value is None and self.delta is not None:
            return [each.name for each in fitting if has_places(each)]
        unknown = (REVERSE,) if self.value is not None else (REVERSE, INSERT, SEGMENT)
        return [each.name for each in fitting if each.change not in unknown]

    def neighbourhood(self, name: str) -> Neighbourhood:
        """Return a neighbourhood of the problem or its encoding by name; raises `UserError` if there is none."""
        custom = [each for each in self.neighbourhoods if isinstance(each, Neighbourhood) and each.name == name]
        return custom[0] if custom else neighbourhood(name, self.encoding)

    def evaluations(self, neighbourhood: str, /) -> dict[str, Evaluation]:
        """Return a neighbourhood's evaluations by name, the preferred one first; by default of `delta` and `value`."""
        if self.value is None:
            return {"delta": Evaluation(self.delta)}
        scored = {"value": Evaluation(value=self.value, work=self.encoding.n)}
        knows = bool(self.neighbourhoods) or has_places(self.neighbourhood(neighbourhood))
        return {"delta": Evaluation(self.delta), **scored} if self.delta is not None and knows else scored

    def data_for(self, evaluation: str, /) -> object:
        """Return the bundle that an evaluation's functions read, by the evaluation's name; by default `data`."""
        return self.data

    def with_room(self, data: object, lanes: int, /) -> object:
        """Return the data of an evaluation, with memory for each of ``lanes`` simultaneous lanes."""
        return data

    def evaluation(self, neighbourhood: str, name: str) -> Evaluation:
        """Return one of a neighbourhood's evaluations with its name, and its data as flat arrays and plain numbers.

        Raises `UserError` for data that kernels could not read.
        """
        data = checked_data(self.name, self.data_for(name), self.delta or self.value)
        return replace(self.evaluations(neighbourhood)[name], name=name, data=data)


def has_places(neighbourhood: Neighbourhood) -> bool:
    """Return True if a move changes only the elements `i` and `j`, so that a `delta` without a list may know it."""
    return neighbourhood.shape != TRIPLES and neighbourhood.change not in (REVERSE, INSERT, SEGMENT)


def checked_problem(problem: object) -> Problem:
    """Return the problem.

    Raises `UserError` for anything but an object of a subclass of `Problem`, `ProblemError` if its constructor has not
    called that of `Problem`.
    """
    if not isinstance(problem, Problem):
        advice = f": {problem.__name__}(...)" if isinstance(problem, type) and issubclass(problem, Problem) else ""
        refuse("problem", problem, f"an object of a class of problems{advice}")
    if not hasattr(problem, "encoding"):
        raise ProblemError(
            f"{type(problem).__name__}: its constructor ends without a name, an encoding and data: expected "
            "super().__init__(name, encoding, data) in it"
        )
    return problem


def checked_data(name: str, data: Data, reader: Function | None = None) -> Data:
    """Return the bundle with flat arrays and plain numbers.

    ``reader`` is a function that reads the data: messages about arrays name it. Raises `WrongData` if the data are no
    bundle, a value does not have or fit its field's type, a bundle contains a bundle, or a row has no elements.
    """
    cls: type = type(data)
    if not is_bundle(cls):
        description, advice = shown(data), ""
        if cls.__module__ not in ("builtins", "numpy"):
            description, advice = f"an object of {cls.__name__}", f"; write @bundle above class {cls.__name__}"
        raise WrongData(f"{name}: data are {description}: expected a @bundle of arrays and numbers{advice}")
    checked = copy.copy(data)
    for field, kind in fields_of(cls).items():
        subject, value = f"{name}: {cls.__name__}.{field}", getattr(data, field)
        if is_bundle(kind):
            raise WrongData(f"{subject} is a bundle: expected arrays and numbers; inherit from {kind.__name__} instead")
        if isinstance(kind, RowArray):
            if value is not None:
                raise WrongData(f"{subject} is given: expected nothing, since rows are memory that every walk has")
            if isinstance(kind.element, Generic):
                raise WrongData(f"{subject} is a row of any type {kind.element.name}: expected one type, such as i32")
        elif isinstance(kind, Array):
            setattr(checked, field, checked_array(f"{name}: data {field!r}", kind, value, reader))
        else:
            setattr(checked, field, checked_number(subject, kind, value))
    for field, size in row_sizes(checked).items() if sizes_of_rows(cls) else ():
        if size < 1:
            raise WrongData(f"{name}: {cls.__name__}.{field} is a row of {size} elements: expected 1 or more")
    return checked


def checked_array(subject: str, kind: Array, value: object, reader: Function | None = None) -> np.ndarray:
    """Return the array of a field, flat; ``subject`` begins an error message, and ``reader`` reads the array."""
    if not isinstance(value, np.ndarray):
        raise WrongData(f"{subject} is {shown(value)}: expected {kind_text(kind)}, a NumPy array")
    if isinstance(kind.element, Generic):
        if value.dtype not in BY_DTYPE:
            raise WrongData(f"{subject} is an array of {value.dtype}: expected one of {', '.join(map(str, BY_DTYPE))}")
    elif value.dtype != kind.element.dtype:
        expects, place, advice = "expected", "", f"use .astype(np.{kind.element.dtype})"
        if isinstance(reader, Function):
            expects, place = f"{reader.name}() expects", f" ({reader.path}:{reader.first_line}: {reader.name})"
        if kind.element.kind in "iu" and value.dtype.kind in "iu" and value.size:
            least, most = int(value.min()), int(value.max())
            if least < kind.element.low or most > kind.element.high:
                advice = f"but values from {least} to {most} do not fit"
        raise WrongData(f"{subject} is {value.dtype}: {expects} {kind_text(kind)}, {advice}{place}")
    return np.ascontiguousarray(value).reshape(-1)


def checked_number(subject: str, kind: type[Any], value: object) -> bool | int | float:
    """Return the number of a field as Python's; ``subject`` begins an error message."""
    if isinstance(value, np.ndarray):
        raise WrongData(f"{subject} is an array of {value.dtype}: expected {kind_text(kind)}, a number")
    if not isinstance(value, NUMBERS):
        raise WrongData(f"{subject} is {shown(value)}: expected {kind_text(kind)}, a number")
    scalar = kind.scalar if isinstance(kind, Const) else kind
    if not isinstance(scalar, Generic) and not fits(scalar, value):
        raise WrongData(f"{subject} is {shown(value)}, which does not fit {kind_text(kind)}")
    plain: bool | int | float = value.item() if isinstance(value, np.generic) else value
    return bool(plain) if scalar is boolean else float(plain) if scalar in (f32, f64) else plain


def content_digest(problem: Problem) -> str:
    """SHA-256 of encoding, data and kernel functions, the same in every process and on every machine.

    Data count by names, types, sizes and values, not by the order of the fields or the name of their class; functions
    with all that they call (see `core.lang.digest.source_digest`).
    """
    functions: list[Function] = []
    bundles: dict[str, object] = {}
    custom = ""
    for name in problem.neighbourhood_names():
        neighbourhood = problem.neighbourhood(name)
        if neighbourhood.own_size is not None:
            functions += neighbourhood.functions
            custom += f" {neighbourhood.name} {neighbourhood.change} {neighbourhood.size(problem.encoding)}"
        for evaluation in problem.evaluations(name):
            known = problem.evaluation(name, evaluation)
            functions += known.functions
            bundles[evaluation] = known.data
    head = f"{tuple(problem.encoding)} {problem.points}{custom} {source_digest(functions)}"
    content = hashlib.sha256(head.encode())
    for evaluation, data in sorted(bundles.items()):
        for name, kind in sorted(fields_of(type(data)).items()):
            value = getattr(data, name)
            head = f"\n{evaluation}.{name} {kind_text(kind)} "
            if isinstance(value, np.ndarray):
                plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
                content.update(f"{head}{plain.dtype.str} {plain.size} ".encode())
                content.update(plain.tobytes())
            elif value is not None:
                content.update(f"{head}{float(value).hex() if isinstance(value, float) else int(value)}".encode())
            else:  # a row is memory, and no data
                content.update(head.encode())
    return content.hexdigest()
