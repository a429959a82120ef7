"""Comparison of a problem's costs of insertions with its scorer, in plain Python and on devices."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.insertion.checks import insertion_check_kernel
from core.lang.bundles import RowArray, fields_of, row_sizes
from core.lang.types import Array
from core.problems.insertion import Insertion, check_insertion
from core.problems.problem import Problem, checked_data
from core.problems.problem_errors import WrongDelta, WrongLanes
from core.search.local_search.checks.interpreter import (
    INTERPRETER_ERRORS,
    ReadLimitReached,
    located_error,
    read_only,
    run_plainly,
)

REMOVED = 3
"""Elements that are removed and inserted again."""
REBUILT = 2
"""Sequences in which they are inserted."""
LANES = 3
READS = 240_000
"""Elements that plain Python reads in a check."""

Changes = Callable[[np.ndarray, int], np.ndarray]
"""Changes of the cost of an order by an element at every position."""


def checked_insertion(problem: Problem) -> Insertion:
    """Return the problem's costs of insertions, with checked data.

    Raises `UserError` if it has none, is no problem of orders, or offers something else, and `KernelError` if the
    function has other parameters.
    """
    insertion = problem.insertion() if problem.encoding.name == "permutation" else None
    if insertion is None:
        raise UserError(
            f"{problem.name}: iterated greedy search needs the costs of insertions of a permutation: expected a "
            f"method `insertion` of {type(problem).__name__}"
        )
    if not isinstance(insertion, Insertion):
        raise UserError(f"{problem.name}: `insertion` returns {insertion!r}: expected an Insertion")
    insertion = insertion._replace(data=checked_data(problem.name, insertion.data, insertion.costs))
    check_insertion(problem.name, insertion)
    return insertion


def check_insertions(problem: Problem, backends: Sequence[Any] = (), seed: int = 0) -> int:
    """Remove elements of a random order, insert them again, and compare the costs of all orders with `Problem.costs`.

    Return the number of compared orders. ``backends`` are devices to try besides plain Python.

    Raises
    ------
    WrongDelta
        A change is wrong.
    WrongLanes
        It is right with one lane, and wrong with several.
    ProblemError
        Plain Python found a wrong subscript, number or write.
    """
    insertion, compared, reads = checked_insertion(problem), 0, [READS]
    for where, lanes, evaluate in executors(problem, insertion, backends, reads):
        random = np.random.default_rng(seed)
        orders, claimed = [], []
        with contextlib.suppress(ReadLimitReached):
            for order, cost in rebuilt(problem.encoding.n, evaluate, random):
                orders.append(order)
                claimed.append(cost)
        if not orders:
            continue
        added, changes = np.diff(problem.costs(np.array(orders)), prepend=0)[1:], np.diff(claimed)
        compared += len(orders)
        for k in np.flatnonzero(added != changes)[:1]:
            place = f"{insertion.costs.path}:{insertion.costs.first_line}: {insertion.costs.name}"
            raise (WrongDelta if lanes == 1 else WrongLanes)(
                f"{problem.name}: the costs of insertions say that {orders[k + 1].tolist()} costs {changes[k]} more "
                f"than {orders[k].tolist()}, but cost says {added[k]} ({place}, {where})"
            )
    return compared


def executors(
    problem: Problem, insertion: Insertion, backends: Sequence[Any], reads: list[int]
) -> Iterator[tuple[str, int, Changes]]:
    """Yield a description of each place with its number of lanes, and the function that evaluates insertions there."""
    for lanes, reverse in ((1, False), (LANES, False), (LANES, True)):
        where = f"in plain Python with {lanes} {'lane' if lanes == 1 else 'lanes'}"
        run = partial(plain_changes, problem.name, insertion, lanes, reverse, reads)
        yield where + (", which run from last to first" if reverse else ""), lanes, run
    for backend in backends:
        if not backend.is_reference:
            for lanes in (size for size in (1, 32) if size <= backend.capabilities.max_team_size):
                yield f"on {backend.name} with {lanes} lanes", lanes, partial(device_changes, backend, insertion, lanes)


def rebuilt(n: int, changes: Changes, random: np.random.Generator) -> Iterator[tuple[np.ndarray, int]]:
    """Yield complete orders that were rebuilt from fewer elements, with their costs up to a constant."""
    start = random.permutation(n).astype(np.int32)
    removed, rest = start[:REMOVED], start[REMOVED:]
    for _ in range(REBUILT):
        order, cost = rest, 0
        for element in random.permutation(removed):
            added = changes(order, int(element))
            if len(order) == n - 1:
                yield from ((np.insert(order, p, element), cost + int(added[p])) for p in range(n))
                break
            p = int(random.integers(len(order) + 1))
            order, cost = np.insert(order, p, element), cost + int(added[p])


def plain_changes(
    name: str, insertion: Insertion, lanes: int, reverse: bool, reads: list[int], order: np.ndarray, element: int
) -> np.ndarray:
    """Evaluate insertions in plain Python, which checks subscripts and overflow."""
    data = with_rows(insertion.data)
    changes = np.zeros(len(order) + 1, np.int32)
    kernel = insertion_check_kernel(insertion.costs)
    try:
        run_plainly(kernel, 1, lanes, (read_only(order), len(order), element, changes, data), reverse, reads)
    except INTERPRETER_ERRORS as error:
        where = f"{name}, costs of insertions, in plain Python with {lanes} lanes"
        raise located_error(error, insertion.costs, [insertion.costs], where) from error
    return changes


def device_changes(backend: Any, insertion: Insertion, lanes: int, order: np.ndarray, element: int) -> np.ndarray:
    """Evaluate insertions on a device."""
    elements = backend.upload(order if len(order) else np.zeros(1, np.int32))
    results = backend.allocate(len(order) + 1, np.int32)
    kernel = insertion_check_kernel(insertion.costs)
    backend.launch(kernel, 1, lanes, elements, len(order), element, results, backend.load(insertion.data))
    changes: np.ndarray = backend.download(results)
    return changes


def with_rows(data: Any) -> Any:
    """Return the bundle with read-only arrays, and rows of arbitrary content."""
    bundle, sizes = copy.copy(data), row_sizes(data)
    for name, kind in fields_of(type(data)).items():
        if isinstance(kind, RowArray):
            setattr(bundle, name, np.full(sizes[name], 77, kind.element.dtype))
        elif isinstance(kind, Array):
            setattr(bundle, name, read_only(getattr(data, name)))
    return bundle
