"""Executors of single calls of a problem's functions."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TypeVar

import numpy as np

from core.lang import Kernel
from core.lang.bundles import RowArray, Rows, fields_of, row_sizes
from core.lang.named_arrays import size_of
from core.lang.types import Array, Generic
from core.local_search.checks.signatures import check_functions, check_neighbourhood
from core.local_search.encodings import Neighbourhood
from core.local_search.kernels.hook_checks import hook_check_kernels
from core.local_search.kernels.hooks import HALT, NO_KEY, TABU, Evaluation, Rules
from core.local_search.kernels.moves import MOVES, NEVER
from core.local_search.kernels.template import search_kernels
from core.local_search.kernels.walks import Move, Share, Walk, WalkLimits, WalkSettings, WalkStatus
from core.local_search.problem import Problem
from core.run.devices import ComputeDevice, DeviceArray

T = TypeVar("T")
Memory = np.ndarray | DeviceArray
PATTERNS = (0xA5, 0x5A)
"""Bytes of unwritten memory: elements that differ between two such memories are not written yet."""
TEAMS = 3
"""Teams that evaluate differences in parallel on a device."""


@lru_cache(maxsize=64)
def scan_kernel(functions: Evaluation, kind: Neighbourhood) -> Kernel:
    """Return the scan of a tabu search, which takes the neighbour that adds least as long as its memory is blank."""
    rules = Rules((kind.shape,), kind.change, MOVES, TABU, HALT, decode=kind.decode, apply=kind.apply)
    return search_kernels(functions, rules).scan


class CheckExecutor:
    """One evaluation of a neighbourhood, and the state of one walk for it.

    Parameters
    ----------
    name, evaluation_name
        Of the neighbourhood and the evaluation.
    lanes
        Lanes of a team.
    place
        Name of the place in messages.

    Attributes
    ----------
    solution, data
        The walk's solution, and the data of the functions, in memory of kernels.
    cost : int
        Cost of that solution, for comparison with `value`; set with each move.
    first_at_once, most_asked : int
        Number of differences in a first request (0 for all), and in one for a whole neighbourhood.
    """

    first_at_once = 0
    most_asked = 8192
    teams = TEAMS
    solution: Memory
    data: object
    cost = 0

    def __init__(self, problem: Problem, name: str, evaluation_name: str, lanes: int, place: str) -> None:
        self.problem, self.name = problem, name
        self.neighbourhood, self.evaluation = problem.neighbourhood(name), problem.evaluation(name, evaluation_name)
        self.functions = self.evaluation.for_kernels(name)
        self.kernels = hook_check_kernels(self.functions, self.neighbourhood.change, self.neighbourhood.apply)
        self.lanes = lanes
        self.place = place if lanes == 1 else f"{place} with {lanes} lanes"
        check_neighbourhood(problem.name, self.neighbourhood, problem.encoding.dtype)
        check_functions(problem.name, self.evaluation, problem.encoding.dtype)
        self.data = self.loaded(problem.with_room(self.evaluation.data, self.teams * lanes))

    # --- memory ---

    def array(self, host: np.ndarray) -> Memory:
        """Return a copy of a flat host array in memory of kernels."""
        raise NotImplementedError

    def host(self, array: Memory) -> np.ndarray:
        """Return the present content of an array."""
        raise NotImplementedError

    def to_read(self, host: np.ndarray) -> Memory:
        """Return a flat host array in memory of kernels that is never written."""
        return self.array(host)

    def loaded(self, data: T) -> T:
        """Return the bundle in memory of kernels, with unwritten rows."""
        bundle = self.emptied(data)
        for field, kind in fields_of(type(data)).items():
            if isinstance(kind, Array) and not isinstance(kind, RowArray):
                setattr(bundle, field, self.to_read(getattr(data, field)))
        return bundle

    def emptied(self, data: T, pattern: int = PATTERNS[0]) -> T:
        """Return the same bundle with other rows."""
        bundle, kinds = copy.copy(data), fields_of(type(data))
        for field, size in row_sizes(data).items():
            element = kinds[field].element
            dtype = np.dtype(self.problem.encoding.dtype if isinstance(element, Generic) else element.dtype)
            setattr(bundle, field, self.array(np.full(size * dtype.itemsize, pattern, np.uint8).view(dtype)))
        return bundle

    def rows(self) -> dict[str, np.ndarray]:
        """Return the walk's rows by name."""
        return {name: self.host(getattr(self.data, name)) for name in row_sizes(self.data)}

    def fresh(self, pattern: int = PATTERNS[0]) -> CheckExecutor:
        """Return another walk that begins at the same solution."""
        other = copy.copy(self)
        other.data = other.emptied(self.data, pattern)
        other.build(self.host(self.solution))
        return other

    def with_reads(self, reads: int | None = None) -> CheckExecutor:
        """Return the same walk for further requests after an error, with more reads, or any number of them."""
        return self

    # --- the problem's functions ---

    def start(self, kernel: Kernel, teams: int, arguments: tuple[object, ...]) -> None:
        """Run a kernel with these arguments."""
        raise NotImplementedError

    def launch(self, kernel: Kernel, teams: int, *arguments: object, writes: bool = True) -> None:
        """Run a kernel; ``arguments`` precede the solution. Without ``writes`` it should only read a walk's state."""
        self.start(kernel, teams, (*arguments, self.solution, self.data))

    def build(self, solution: np.ndarray) -> None:
        """Set the walk to a solution: (n,)."""
        self.solution = self.array(solution)
        if self.functions.begin is not None:
            self.launch(self.kernels.build, 1)

    def called(self, kernel: Kernel, moves: np.ndarray, *more: Memory, results: int = 1) -> np.ndarray:
        """Return the results of a kernel for some moves, a number for each: (count * ``results``,) int64."""
        array = self.array(np.zeros(len(moves) * results, np.int32))
        self.launch(kernel, self.teams, len(moves), *more, self.array(moves.reshape(-1)), array, writes=False)
        return self.host(array).astype(np.int64)

    def ask(self, moves: np.ndarray) -> np.ndarray:
        """Return the changes of moves by `delta`, or by `value` and the cost: (count, 3) -> (count,) int64."""
        changes = self.called(self.kernels.ask, moves)
        return np.where(changes == NEVER, NEVER, changes - self.cost) if self.functions.delta is None else changes

    def ask_quick(self, indices: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Return the same by `quick`, for neighbours known to `refresh`."""
        return self.called(self.kernels.ask_quick, moves, self.array(indices.astype(np.uint32)))

    def ask_parts(self, moves: np.ndarray) -> np.ndarray:
        """Return the same by `partial`, summed up."""
        return self.called(self.kernels.ask_parts, moves, results=self.lanes).reshape(-1, self.lanes).sum(axis=1)

    def refresh(self, first: int, end: int, changed: int, move: tuple[int, int, int]) -> None:
        """Prepare the evaluation of these neighbours by `refresh`, if the problem has it."""
        if self.functions.refresh is not None:
            self.launch(self.kernels.refresh, self.teams, Share(0, 1, first, end), changed, Move(*move))

    def make(self, move: tuple[int, int, int]) -> None:
        self.launch(self.kernels.make, 1, self.problem.encoding.n, Move(*move))

    def neighbour_by(self, move: tuple[int, int, int]) -> np.ndarray:
        """Return the neighbour to which a move leads, without making the move."""
        other = copy.copy(self)
        other.data = copy.copy(self.data)
        for field in row_sizes(self.data):
            setattr(other.data, field, self.array(self.host(getattr(self.data, field))))
        other.solution = self.array(self.host(self.solution))
        other.make(move)
        return other.host(other.solution)

    def chosen(self, size: int) -> int | None:
        """Return the index of the neighbour that a scan of ``size`` takes, or None; after a `refresh` of all."""
        keys = self.array(np.full(1, NO_KEY, np.uint64))
        encoding = self.problem.encoding
        walk = self.emptied(Walk(room=size, length=encoding.n, choices=encoding.choices), 0)
        status = np.zeros(size_of(WalkStatus), np.int32)
        status[[WalkStatus.cost, WalkStatus.best_cost]] = self.cost
        walk.solution, walk.status = self.solution, self.array(status)
        sizes, none = np.array([size, 0, 0], np.uint32), np.zeros(1, np.float32)
        run = WalkSettings(self.array(np.zeros(size_of(WalkLimits), np.int32)), self.array(sizes), self.array(none))
        kernel = scan_kernel(self.functions, self.neighbourhood)
        self.start(kernel, self.teams, (True, 0, 0, 1, keys, Rows(walk, 1), run, Rows(self.data, 1)))
        key = int(self.host(keys)[0])
        return None if key == NO_KEY else key & 0xFFFFFFFF


class DeviceExecutor(CheckExecutor):
    """An executor on a device; ``backend`` is a `backends.launch.Backend`."""

    def __init__(self, backend: ComputeDevice, problem: Problem, name: str, evaluation_name: str, lanes: int) -> None:
        self.backend = backend
        super().__init__(problem, name, evaluation_name, lanes, f"on {backend.name}")

    def array(self, host: np.ndarray) -> Memory:
        return self.backend.upload(np.ascontiguousarray(host))

    def host(self, array: Memory) -> np.ndarray:
        return self.backend.download(array)

    def start(self, kernel: Kernel, teams: int, arguments: tuple[object, ...]) -> None:
        self.backend.launch(kernel, teams, self.lanes, *arguments)
