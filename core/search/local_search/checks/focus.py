"""Check of the constraints that a problem names for focused search, and of their repairs."""

from __future__ import annotations

from typing import NoReturn

from core.lang import Function
from core.problems.problem_errors import WrongState
from core.search.local_search.checks.executors import CheckExecutor

MOST_CONSTRAINTS = 64
"""Violated constraints that are looked at."""
MOST_REPAIRS = 65_535


def hold_focus(bench: CheckExecutor, size: int, where: str) -> None:
    """Hold the violated constraints to those that `begin` finds, and their repairs to the neighbours.

    Parameters
    ----------
    bench
        A walk.
    size
        Number of neighbours.
    where
        The beginning of a message.

    Raises
    ------
    WrongState
        Constraints differ or come twice, or a repair does not exist.

    """
    focus = bench.hooks.focus
    assert focus is not None
    count, listed = bench.constraints(MOST_CONSTRAINTS)
    begun, expected = bench.fresh().constraints(MOST_CONSTRAINTS)
    for constraint, repairs, largest in listed:
        if not 1 <= repairs <= MOST_REPAIRS:
            text = f"{repairs} repairs of constraint {constraint}, expected 1 to {MOST_REPAIRS}"
            refuse(bench, focus.repairs, f"{where}: {text}")
        if largest >= size:
            text = f"a repair of constraint {constraint} is neighbour {largest}, expected 0 to {size - 1}"
            refuse(bench, focus.repair, f"{where}: {text}")
    if count != begun:
        refuse(bench, focus.violated, f"{where}: {count} violated constraints, {begun} by those of begin")
    found = sorted(listed[:, 0].tolist())
    if len(set(found)) < len(found):
        refuse(bench, focus.violated_at, f"{where}: violated constraints {found}: expected different ones")
    if count <= MOST_CONSTRAINTS and found != sorted(expected[:, 0].tolist()):
        text = f"violated constraints {found}, {sorted(expected[:, 0].tolist())} by those of begin"
        refuse(bench, focus.violated_at, f"{where}: {text}")


def refuse(bench: CheckExecutor, function: Function, found: str) -> NoReturn:
    """Say what a function is wrong about."""
    parts = [f"{function.path}:{function.first_line}: {function.name}", bench.problem.name]
    parts += [f"evaluation {bench.evaluation_name}", bench.place]
    raise WrongState(f"{found} ({', '.join(parts)})")
