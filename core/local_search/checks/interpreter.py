"""The reference interpreter as an executor: it checks subscripts, overflow and barriers, which devices do not."""

from __future__ import annotations

import copy
import math
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from core.lang import Kernel
from core.lang.bundles import fields_of, unbundled
from core.lang.types import BY_DTYPE, Array, Const, Generic
from core.local_search.checks.executors import CheckExecutor, Memory, T
from core.local_search.checks.problem_errors import ProblemError, WrongLanes, WrongNumber, WrongSubscript, WrongWrite
from core.local_search.problem import Problem

WRITTEN = (
    "it writes where it should only read: data are for reading, a walk's state are rows, evaluating changes nothing"
)


INTERPRETER_ERRORS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, RuntimeError)
"""Errors of a problem's functions in plain Python."""


class ReadLimitReached(Exception):  # noqa: N818
    """An `InterpreterExecutor` has used up its reads or its time."""


class MeteredArray(np.ndarray):
    """An array that counts the reads of itself and its views."""

    reads: list[int]

    def __array_finalize__(self, source: np.ndarray | None) -> None:
        self.reads = getattr(source, "reads", [0])

    def __getitem__(self, key: Any) -> Any:
        self.reads[0] -= 1
        if self.reads[0] < 0:
            raise ReadLimitReached
        return super().__getitem__(key)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the same memory as a read-only array."""
    same = array.view()
    same.flags.writeable = False
    return same


def map_arrays(data: T, change: Callable[[np.ndarray], np.ndarray]) -> T:
    """Return the bundle with every array, rows included, changed by a function."""
    changed = copy.copy(data)
    for name, kind in fields_of(type(data)).items():
        if isinstance(kind, Array):
            setattr(changed, name, change(getattr(data, name)))
    return changed


class InterpreterExecutor(CheckExecutor):
    """An executor on the reference interpreter, in one team.

    Parameters
    ----------
    problem, name, evaluation_name, lanes
        See `CheckExecutor`.
    reverse
        True to run lanes from last to first.
    reads
        One element: the number of elements that kernels may read before `ReadLimitReached` ends the check.
    seconds
        Processor time after which no further kernel runs: some functions compute much and read little.
    """

    first_at_once = 1  # so that some are rescored before the reads run out
    most_asked = 64
    teams = 1

    def __init__(
        self,
        problem: Problem,
        name: str,
        evaluation_name: str,
        lanes: int = 1,
        reverse: bool = False,
        reads: list[int] | None = None,
        seconds: float = math.inf,
    ) -> None:
        super().__init__(problem, name, evaluation_name, lanes, "in plain Python")
        self.reverse, self.reads = reverse, reads
        self.end = time.process_time() + seconds
        self.place += ", which run from last to first" if reverse else ""

    def array(self, host: np.ndarray) -> Memory:
        return host.copy()

    def to_read(self, host: np.ndarray) -> Memory:
        return read_only(host)

    def host(self, array: Memory) -> np.ndarray:
        return np.array(array)

    def with_reads(self, reads: int | None = None) -> InterpreterExecutor:
        """Return the same walk with another number of reads, and no clock."""
        other = copy.copy(self)
        other.reads, other.end = None if reads is None else [reads], math.inf
        return other

    def launch(self, kernel: Kernel, teams: int, *arguments: object, writes: bool = True) -> None:
        """Run a kernel; ``arguments`` precede the solution. Without ``writes`` the state of a walk is read-only."""
        data, solution = self.data, self.solution
        if not writes:
            data, solution = map_arrays(data, read_only), read_only(np.asarray(solution))
        self.start(kernel, teams, (*arguments, solution, data))

    def start(self, kernel: Kernel, teams: int, arguments: tuple[object, ...]) -> None:
        """Run a kernel with these arguments, if there is time left."""
        from core.lang import reference_interpreter

        if time.process_time() > self.end:
            raise ReadLimitReached
        try:
            kinds, values, types = unbundled(kernel, arguments)
            constants = {key: values.pop(key) for key, kind in kinds.items() if isinstance(kind, Const)}
            for key, kind in kinds.items():
                if isinstance(kind, Array):
                    if isinstance(kind.element, Generic):
                        types[kind.element.name] = BY_DTYPE[values[key].dtype]
                    if self.reads is not None:
                        values[key] = values[key].view(MeteredArray)
                        values[key].reads = self.reads
            program = kernel.specialise(constants, self.lanes, types)
            reference_interpreter.run(program, teams, list(values.values()), self.reverse)
        except INTERPRETER_ERRORS as error:
            raise self.problem_error(error) from error

    def problem_error(self, error: Exception) -> ProblemError:
        """Return the problem's error for one of the interpreter, with its place in the problem's functions."""
        main, functions = self.evaluation.main, [*self.evaluation.functions, *self.neighbourhood.functions]
        assert main is not None
        own = {function.path for function in functions}
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
        place = f"{main.path}:{main.first_line}: {main.name}"
        if ours:
            place = f"{ours[-1].filename}:{ours[-1].lineno}: {ours[-1].name}"
        kind = error_class(error)
        what = WRITTEN if kind is WrongWrite else str(error.__cause__ or error)  # the cause names no place again
        where = f"{self.problem.name}, {self.name}, evaluation {self.evaluation.name}, {self.place}"
        return kind(f"{place}: {what} ({where})")


def error_class(error: Exception) -> type[ProblemError]:
    """Return the class of the problem's error for one of the interpreter."""
    if "read-only" in str(error):
        return WrongWrite
    kinds = {LookupError: WrongSubscript, ArithmeticError: WrongNumber, RuntimeError: WrongLanes}
    return next((kind for base, kind in kinds.items() if isinstance(error, base)), ProblemError)
