"""The state of a local search, by walk, and how walks go on from it on whatever ranks and backend there are.

What a problem keeps of a walk's solution (differences, tables) is no part of it: `begin` makes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels import walks
from core.lang.bundles import row_sizes
from core.search.local_search.history import Recorder, states_together
from core.search.local_search.outcome import Outcome
from core.search.states import State

FIELDS = ("control", "totals", "heat", "memory", "solution", "best", "home")
"""Those of a `Walk` that a state has, a row for each walk."""
DONE = "done"
FOUND = "walks before "


def state_of(search: Any, done: int, recorder: Recorder | None) -> State | None:
    """The state of all walks of all ranks after so many iterations, on the first rank; all call this."""
    mine = {**(recorder.state() if recorder is not None else {}), **{name: rows_of(search, name) for name in FIELDS}}
    every = search.communicator.gather(mine) if search.level == "algorithm" else [mine]
    if search.communicator.rank or every is None:
        return None
    state = {name: np.concatenate([one[name] for one in every]) for name in FIELDS}
    if recorder is not None:
        state |= states_together(every)
    return {**state, DONE: np.array(done)}


def go_on(search: Any, state: State, recorder: Recorder | None) -> int:
    """Let this rank's walks, which have begun, stand where the state has them; returns the iterations they have made.

    Raises
    ------
    UserError
        The state is one of other walks.

    """
    first, end = (search.first_walk, search.end_walk) if search.level == "algorithm" else (0, 1)
    rows = {name: checked(search, state, name, first, end) for name in FIELDS}
    search.write_rows(search.walkers.solution, rows["solution"])
    search.launch_begin()
    # The next iteration finds what `begin` has made, not what an earlier one has left.
    rows["control"][:, walks.CHANGED] = walks.EVERYTHING
    for name in FIELDS:
        search.write_rows(getattr(search.walkers, name), rows[name])
    if recorder is not None:
        recorder.begin_at(state, first, end)
    return int(state[DONE])


def rows_of(search: Any, name: str) -> np.ndarray:
    """Return one field of this rank's walks, shape (walks, elements): elements as declared, since walks may be 0."""
    elements = row_sizes(search.walkers.bundle)[name]
    return np.array(search.rows_of(getattr(search.walkers, name), elements))


def checked(search: Any, state: State, name: str, first: int, end: int) -> np.ndarray:
    """The rows of some walks in one field, if they fit this search."""
    here = rows_of(search, name)
    rows = state[name][first:end]
    if rows.dtype != here.dtype or rows.shape != here.shape:
        raise UserError(
            f"{search.problem.name}: the state has {rows.dtype} rows of shape {rows.shape} for walks {first} to "
            f"{end - 1}, {name}: expected {here.dtype} of {here.shape}"
        )
    return rows.copy()


def with_found(state: State | None, found: Sequence[Outcome]) -> State | None:
    """The state of a walk, and what those found that were made before it, one after another."""
    if state is None or not found:
        return state
    numbers = [one[:6] for one in found]
    # A digest has 64 bits, and a cost may be negative.
    kept = np.array([[number % 2**64 for number in row] for row in numbers], np.uint64)
    return {**state, FOUND + "numbers": kept, FOUND + "solutions": np.stack([one.solution for one in found])}


def found_in(state: State | None) -> list[Outcome]:
    """What walks found that were made before the one of a state."""
    if state is None or FOUND + "numbers" not in state:
        return []
    found = []
    for row, solution in zip(state[FOUND + "numbers"], state[FOUND + "solutions"], strict=True):
        cost = int(row[:1].view(np.int64)[0])
        walk, found_at, iterations, evaluations, digest = (int(number) for number in row[1:])
        found.append(Outcome(cost, walk, found_at, iterations, evaluations, digest, solution))
    return found
