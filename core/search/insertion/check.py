"""Comparison of a problem's costs of insertions with its scorer: in plain Python, and on devices."""

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
from core.problems.problem_errors import PROBLEM_ERRORS, ProblemError, WrongDelta, WrongLanes
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

    Raises
    ------
    UserError
        It has none, is no problem of orders, or offers something else.
    KernelError
        The function has other parameters.

    """
    found = problem.insertion() if problem.encoding.name == "permutation" else None
    if found is None:
        raise UserError(
            f"{problem.name}: iterated greedy search needs the costs of insertions of a permutation: expected a "
            f"method `insertion` of {type(problem).__name__}"
        )
    if not isinstance(found, Insertion):
        raise UserError(f"{problem.name}: `insertion` returns {found!r}: expected an Insertion")
    given = found._replace(data=checked_data(problem.name, found.data, found.costs))
    check_insertion(problem.name, given)
    return given


def check_insertions(problem: Problem, backends: Sequence[Any] = (), seed: int = 0) -> int:
    """Remove elements of a random order, insert them again, and compare the costs of all orders with `Problem.costs`.

    Parameters
    ----------
    problem
        A problem with costs of insertions.
    backends
        Devices to try besides plain Python.
    seed
        Of the order, the elements and the positions.

    Returns
    -------
    int
        Number of orders that were compared.

    Raises
    ------
    WrongDelta
        A change is wrong.
    WrongLanes
        It is right with one lane, and wrong with several.
    ProblemError
        Plain Python found a wrong subscript, number or write.

    """
    insertion, compared, left = checked_insertion(problem), 0, [READS]
    for where, lanes, changes in executors(problem, insertion, backends, left):
        random = np.random.default_rng(seed)
        orders, claimed = [], []
        with contextlib.suppress(ReadLimitReached):
            for order, cost in rebuilt(problem.encoding.n, changes, random):
                orders.append(order)
                claimed.append(cost)
        if not orders:
            continue
        added, said = np.diff(problem.costs(np.array(orders)), prepend=0)[1:], np.diff(claimed)
        compared += len(orders)
        for k in np.flatnonzero(added != said)[:1]:
            place = f"{insertion.costs.path}:{insertion.costs.first_line}: {insertion.costs.name}"
            raise (WrongDelta if lanes == 1 else WrongLanes)(
                f"{problem.name}: the costs of insertions say that {orders[k + 1].tolist()} costs {said[k]} more than "
                f"{orders[k].tolist()}, but cost says {added[k]} ({place}, {where})"
            )
    return compared


def executors(
    problem: Problem, insertion: Insertion, backends: Sequence[Any], left: list[int]
) -> Iterator[tuple[str, int, Changes]]:
    """Yield places with their numbers of lanes, and the function that evaluates insertions there."""
    for lanes, reverse in ((1, False), (LANES, False), (LANES, True)):
        where = f"in plain Python with {lanes} {'lane' if lanes == 1 else 'lanes'}"
        run = partial(plain_changes, problem.name, insertion, lanes, reverse, left)
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
            found = changes(order, int(element))
            if len(order) == n - 1:
                yield from ((np.insert(order, p, element), cost + int(found[p])) for p in range(n))
                break
            p = int(random.integers(len(order) + 1))
            order, cost = np.insert(order, p, element), cost + int(found[p])


def plain_changes(
    name: str, insertion: Insertion, lanes: int, reverse: bool, left: list[int], order: np.ndarray, element: int
) -> np.ndarray:
    """Evaluate insertions in plain Python, which checks subscripts and overflow."""
    data = with_rows(insertion.data)
    found = np.zeros(len(order) + 1, np.int32)
    kernel = insertion_check_kernel(insertion.costs)
    try:
        run_plainly(kernel, 1, lanes, (read_only(order), len(order), element, found, data), reverse, left)
    except INTERPRETER_ERRORS as error:
        where = f"{name}, costs of insertions, in plain Python with {lanes} lanes"
        raise located_error(error, insertion.costs, [insertion.costs], where) from error
    return found


def device_changes(backend: Any, insertion: Insertion, lanes: int, order: np.ndarray, element: int) -> np.ndarray:
    """Evaluate insertions on a device."""
    given = backend.upload(order if len(order) else np.zeros(1, np.int32))
    found = backend.allocate(len(order) + 1, np.int32)
    kernel = insertion_check_kernel(insertion.costs)
    backend.launch(kernel, 1, lanes, given, len(order), element, found, backend.load(insertion.data))
    changes: np.ndarray = backend.download(found)
    return changes


def with_rows(data: Any) -> Any:
    """Return the bundle with read-only arrays, and rows of arbitrary content."""
    found, sizes = copy.copy(data), row_sizes(data)
    for name, kind in fields_of(type(data)).items():
        if isinstance(kind, RowArray):
            setattr(found, name, np.full(sizes[name], 77, kind.element.dtype))
        elif isinstance(kind, Array):
            setattr(found, name, read_only(getattr(data, name)))
    return found


def check_on_first_rank(ranks: Any, problem: Problem) -> None:
    """Check in plain Python on the first rank; every rank raises its error."""
    wrong = ("", "")
    if ranks.rank == 0:
        try:
            check_insertions(problem)
        except UserError as error:
            wrong = type(error).__name__, str(error)
    kind, text = ranks.bcast(wrong)
    if text:
        raise PROBLEM_ERRORS.get(kind, ProblemError)(text)
