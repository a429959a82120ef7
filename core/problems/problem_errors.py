"""Errors of a user-defined problem, one class for each cause."""

# ruff: noqa: N818  (what is wrong is a good name for an error)

from __future__ import annotations

from core.errors import UserError


class ProblemError(UserError):
    """A problem's functions leave their arrays or 32 bits, or do not say what its `cost` says."""


class WrongData(ProblemError):
    """Data that kernel functions cannot read: an array of another type, a number that does not fit its field."""


class WrongCost(ProblemError):
    """`cost` gives no integer, changes its solution, contradicts itself, `costs` or `cost_range`."""


class WrongDelta(ProblemError):
    """A function says that a move adds something else than `cost` says."""


class WrongState(ProblemError):
    """After a move the solution, or what a walk keeps in its rows, is not what it should be."""


class WrongSubscript(ProblemError):
    """A function reads or writes outside of an array."""


class WrongNumber(ProblemError):
    """A number leaves its type, or something is divided by zero."""


class WrongWrite(ProblemError):
    """A function writes where it should only read."""


class WrongLanes(ProblemError):
    """Lanes depend on the order in which they run, do not share their work out, or do not all meet at a barrier."""


class WrongChoice(ProblemError):
    """A scan takes another neighbour than the first of those that add least."""


PROBLEM_ERRORS: dict[str, type[ProblemError]] = {one.__name__: one for one in ProblemError.__subclasses__()}
"""Errors by name, so that a rank can report its error to others."""
