"""Errors of a user-defined problem, one class for each cause."""

# ruff: noqa: N818  (what is wrong is a good name for an error)

from __future__ import annotations

from core.errors import UserError


class ProblemError(UserError):
    """A problem's functions leave their arrays or 32 bits, or contradict its `cost`."""


class WrongData(ProblemError):
    """Data that kernel functions cannot read: an array of another type, a number that does not fit its field."""


class WrongCost(ProblemError):
    """`cost` returns no integer, changes its solution, or contradicts itself, `costs` or `cost_range`."""


class WrongDelta(ProblemError):
    """A function gives another change of the cost than `cost`."""


class WrongState(ProblemError):
    """After a move the solution, or a walk's row, has a wrong value."""


class WrongSubscript(ProblemError):
    """A function reads or writes outside of an array."""


class WrongNumber(ProblemError):
    """A number leaves its type, or a division is by zero."""


class WrongWrite(ProblemError):
    """A function writes to an array that it should only read."""


class WrongLanes(ProblemError):
    """Results depend on the order of lanes, lanes do not share work, or not all reach a barrier."""


class WrongChoice(ProblemError):
    """A scan takes another neighbour than the first of those that add least."""
