"""Check of the constraints that a problem names for focused search, and of their repairs."""

from __future__ import annotations

from typing import NoReturn

from core.lang import Function
from core.problems.problem_errors import WrongState
from core.search.local_search.checks.executors import CheckExecutor

MOST_CONSTRAINTS = 64
"""Largest number of violated constraints to check."""
MOST_REPAIRS = 65_535


def check_focus(executor: CheckExecutor, size: int, where: str) -> None:
    """Compare the violated constraints with those that `begin` finds, and their repairs with the neighbours.

    ``size`` is the number of neighbours, ``where`` begins a message. Raises `WrongState` if constraints
    differ or come twice, or a repair does not exist.
    """
    focus = executor.hooks.focus
    assert focus is not None
    count, listed = executor.constraints(MOST_CONSTRAINTS)
    begun, expected = executor.fresh().constraints(MOST_CONSTRAINTS)
    for constraint, repairs, largest in listed:
        if not 1 <= repairs <= MOST_REPAIRS:
            text = f"{repairs} repairs of constraint {constraint}, expected 1 to {MOST_REPAIRS}"
            refuse(executor, focus.repairs, f"{where}: {text}")
        if largest >= size:
            text = f"a repair of constraint {constraint} is neighbour {largest}, expected 0 to {size - 1}"
            refuse(executor, focus.repair, f"{where}: {text}")
    if count != begun:
        refuse(executor, focus.violated, f"{where}: {count} violated constraints, {begun} by those of begin")
    constraints = sorted(listed[:, 0].tolist())
    if len(set(constraints)) < len(constraints):
        refuse(executor, focus.violated_at, f"{where}: violated constraints {constraints}: expected different ones")
    if count <= MOST_CONSTRAINTS and constraints != sorted(expected[:, 0].tolist()):
        text = f"violated constraints {constraints}, {sorted(expected[:, 0].tolist())} by those of begin"
        refuse(executor, focus.violated_at, f"{where}: {text}")


def refuse(executor: CheckExecutor, function: Function, fault: str) -> NoReturn:
    """Raise the error for a wrong function."""
    parts = [f"{function.path}:{function.first_line}: {function.name}", executor.problem.name]
    parts += [f"evaluation {executor.evaluation_name}", executor.place]
    raise WrongState(f"{fault} ({', '.join(parts)})")
