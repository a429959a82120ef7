"""Checks of a custom neighbourhood: its size, and the range of every place i, j and k of its moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.local_search import moves
from core.lang import Function

MOST_NEIGHBOURS = 2**32 - 1
LEAST_I32, MOST_I32 = -(2**31), 2**31 - 1


def move_bounds(change: int, n: int, choices: int) -> np.ndarray:
    """Return the least and the largest i, j and k with which a change stays within a solution.

    Parameters
    ----------
    change
        Of `core.kernels.local_search.moves`; the places of `OWN` mean what the user's function makes of them, so all
        are allowed.
    n, choices
        Elements of a solution, and values of an element.
    """
    place, maybe, any_number = (0, n - 1), (-1, n - 1), (LEAST_I32, MOST_I32)
    allowed = {
        moves.FLIP: (place, maybe, maybe),
        moves.EXCHANGE: (place, place, maybe),
        moves.ASSIGN: (place, (0, choices - 1), any_number),
        moves.INSERT: (place, place, any_number),
        moves.SEGMENT: (place, place, any_number),
    }.get(change, (any_number,) * 3)
    return np.array(allowed, np.int32).T


def check_listed_moves(
    name: str, decode: Sequence[Function], first: int, listed: np.ndarray, limits: np.ndarray
) -> None:
    """Refuse listed moves that would read or write beyond a solution.

    Parameters
    ----------
    name, decode
        Of the neighbourhood.
    first
        Number of the first listed move.
    listed : ndarray, shape (count, 3)
    limits : ndarray, shape (2, 3)
        As `move_bounds` returns them.
    """
    wrong = np.argwhere((listed < limits[0]) | (listed > limits[1]))
    if not len(wrong):
        return
    row, column = wrong[0].tolist()
    found, place = int(listed[row, column]), "ijk"[column]
    own = decode[column] if column < len(decode) else None
    source = f"{own.path}:{own.first_line}: {own.name}" if own else f"no function of `decode` returns {place}"
    raise UserError(
        f"neighbourhood {name}: move {first + row} has {place} = {found}: expected {limits[0, column]} to "
        f"{limits[1, column]} ({source})"
    )


def custom_neighbourhood_size(name: str, size: Callable[[Any], Any], encoding: Any) -> int:
    """Call a neighbourhood's own `size`.

    Raises `UserError`, with the function and its line, if it ends in an exception or returns no whole number of
    neighbours from 1 on.
    """
    code = getattr(size, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}: {size.__name__}" if code else repr(size)
    try:
        found = size(encoding)
    except Exception as error:
        inner = error.__traceback__.tb_next if error.__traceback__ else None
        if inner is not None and code is not None and inner.tb_frame.f_code is code:
            place = f"{code.co_filename}:{inner.tb_lineno}: {size.__name__}"
        raise UserError(f"neighbourhood {name}: `size` raised {type(error).__name__}: {error} ({place})") from error
    if not isinstance(found, (int, np.integer)) or not 1 <= found <= MOST_NEIGHBOURS:
        what = f"{name} on {encoding.n} elements has {found!r} neighbours"
        raise UserError(f"{what}: expected an integer from 1 to {MOST_NEIGHBOURS} ({place})")
    return int(found)
