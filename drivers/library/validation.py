"""Devices of this machine for checks of a user-defined problem: see `core.local_search.check`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from backends import NAMES, backend_class, create
from backends.device import Unavailable
from backends.launch import Backend
from core.arguments import checked_call, text
from core.local_search import Checked
from core.local_search import check as tried
from core.local_search.checks.validation import MOVES_CHECKED
from core.local_search.encodings import Neighbourhood
from core.local_search.problem import Problem, checked_problem


@contextlib.contextmanager
def open_usable_backends(names: tuple[str, ...] = NAMES) -> Iterator[list[Backend]]:
    """Make every backend that is usable here, and close them at the end.

    Without plain Python, which `check` runs in any case, and without backends that run another's programs on the same
    processors.
    """
    with contextlib.ExitStack() as stack:
        opened = []
        for name in names:
            kind = backend_class(name)
            if kind.is_reference or (kind.same_as and kind.same_as in names):
                continue
            with contextlib.suppress(Unavailable):
                opened.append(create(name))
                stack.callback(opened[-1].close)
        yield opened


@checked_call
def check(
    problem: Problem,
    *,
    backend: str | None = None,
    neighbourhood: str | Neighbourhood | None = None,
    evaluation: str | None = None,
    moves: int = MOVES_CHECKED,
    seed: int = 0,
) -> Checked:
    """Compare a problem's functions with its `cost`: in plain Python, and on every usable backend.

    Parameters
    ----------
    problem
        The problem; small instances take less time.
    backend
        The only backend besides plain Python.
    neighbourhood, evaluation
        Names to check, or a custom neighbourhood; by default all of the problem.
    moves
        Number of moves to try of each neighbourhood at its start solution, 1 or more.
    seed
        Seed of the solutions and of the moves.

    Returns
    -------
    Checked
        The checks made; prints as a table.

    Raises
    ------
    ProblemError
        The first error: `WrongDelta`, `WrongState`, `WrongCost`, ..., each with file and line.
    Unavailable
        The requested backend is missing.
    UserError
        An argument of another type, or a name that the problem does not have.
    """
    checked_problem(problem)
    if backend is not None:
        text("backend", backend, f"one of {', '.join(NAMES)}")
    with contextlib.ExitStack() as stack:
        if backend is None:
            opened = stack.enter_context(open_usable_backends())
        else:
            opened = [stack.enter_context(contextlib.closing(create(backend)))]
        return tried(problem, neighbourhood, evaluation, backends=opened, moves=moves, seed=seed)
