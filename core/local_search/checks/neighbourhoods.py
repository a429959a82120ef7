"""Checks of a custom neighbourhood: its size, and the range of every index i, j and k of its moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import UserError
from core.lang import Function
from core.local_search.kernels import moves

MOST_NEIGHBOURS = 2**32 - 1
LEAST_I32, MOST_I32 = -(2**31), 2**31 - 1


def move_bounds(change: int, n: int, choices: int) -> np.ndarray:
    """Return the least and the largest i, j and k with which a change stays within a solution, shape (2, 3).

    ``change`` is one of `core.local_search.kernels.moves`; for `OWN` all numbers are allowed, since the user's function
    interprets them. ``n`` is the number of elements, ``choices`` that of their values.
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

    ``first`` is the number of the first listed move; ``listed`` has shape (count, 3), ``limits`` are those of
    `move_bounds`.
    """
    wrong = np.argwhere((listed < limits[0]) | (listed > limits[1]))
    if not len(wrong):
        return
    row, column = wrong[0].tolist()
    value, place = int(listed[row, column]), "ijk"[column]
    source = f"no function of `decode` returns {place}"
    if column < len(decode):
        source = f"{decode[column].path}:{decode[column].first_line}: {decode[column].name}"
    raise UserError(
        f"neighbourhood {name}: move {first + row} has {place} = {value}: expected {limits[0, column]} to "
        f"{limits[1, column]} ({source})"
    )


def custom_neighbourhood_size(name: str, size: Callable[[Any], object], encoding: Any) -> int:
    """Call the `size` of a custom neighbourhood.

    Raises `UserError`, with the function and its line, if it raises an exception or returns no integer from 1 on.
    """
    code = getattr(size, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}: {size.__name__}" if code else repr(size)
    try:
        count = size(encoding)
    except Exception as error:
        inner = error.__traceback__.tb_next if error.__traceback__ else None
        if inner is not None and code is not None and inner.tb_frame.f_code is code:
            place = f"{code.co_filename}:{inner.tb_lineno}: {size.__name__}"
        raise UserError(f"neighbourhood {name}: `size` raised {type(error).__name__}: {error} ({place})") from error
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_NEIGHBOURS:
        subject = f"{name} on {encoding.n} elements has {count!r} neighbours"
        raise UserError(f"{subject}: expected an integer from 1 to {MOST_NEIGHBOURS} ({place})")
    return int(count)
