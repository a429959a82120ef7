"""The four encodings of `luong2013` (section 4) and the neighbourhoods that each has, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from core.arguments import checked_call, choice, integer, refuse, text
from core.errors import UserError, did_you_mean, shown
from core.lang import Function
from core.local_search.checks.neighbourhoods import check_listed_moves, custom_neighbourhood_size, move_bounds
from core.local_search.kernels import moves
from core.local_search.kernels.neighbour_functions import listing_kernel

MOST_CHOICES = 2**31 - 1
element_count = partial(integer, "number of elements n", least=1, most=65_535)


class Encoding(NamedTuple):
    """Representation of a solution: ``n`` elements, each with ``choices`` values if given.

    Make one with `Bits`, `Values`, `Permutation` or `Reals`.
    """

    name: str
    code: int
    n: int
    choices: int
    dtype: str

    @property
    def interval(self) -> tuple[int, int]:
        """The least and the largest value of an element."""
        return (-1, 1) if self.code == moves.REALS else (0, self.choices - 1)

    def check(self, solution: object) -> np.ndarray:
        """Return a start solution as an array of ``dtype``.

        Raises `UserError` for another size, elements that are no numbers of the encoding, or a permutation that repeats
        one.
        """
        try:
            array = np.asarray(solution)
        except (TypeError, ValueError):
            array = np.asarray(None)
        if array.dtype.kind not in "biuf":
            raise UserError(f"a start solution that is {shown(solution)}: expected {self.n} numbers")
        if array.shape != (self.n,):
            raise UserError(f"a start solution of shape {array.shape}: expected ({self.n},)")
        low, high = self.interval
        for place in np.flatnonzero(~((array >= low) & (array <= high)))[:1].tolist():
            raise UserError(f"a start solution with {array[place]} at {place}: expected {low} to {high}")
        original, array = array, array.astype(self.dtype)
        for place in np.flatnonzero((self.code != moves.REALS) & (original != array))[:1].tolist():
            raise UserError(f"a start solution with {original[place]} at {place}: expected integers")
        if self.code == moves.PERMUTATION and np.unique(array).size < self.n:
            twice = int(np.bincount(array).argmax())
            raise UserError(f"a start solution that has {twice} twice: expected a permutation of 0 to {high}")
        return array


@checked_call
def Bits(n: int) -> Encoding:  # noqa: N802
    """Encoding of a vector of ``n`` bits."""
    return Encoding("bits", moves.BITS, element_count(n), 2, "int32")


@checked_call
def Values(n: int, choices: int) -> Encoding:  # noqa: N802
    """Encoding of a vector of ``n`` values from 0 to ``choices - 1``."""
    return Encoding("values", moves.VALUES, element_count(n), integer("choices", choices, 2, MOST_CHOICES), "int32")


@checked_call
def Permutation(n: int) -> Encoding:  # noqa: N802
    """Encoding of an order of 0 to ``n - 1``."""
    return Encoding("permutation", moves.PERMUTATION, element_count(n), element_count(n), "int32")


@checked_call
def Reals(n: int, dtype: str = "float32") -> Encoding:  # noqa: N802
    """Encoding of a vector of ``n`` real numbers in [-1, 1]."""
    return Encoding("reals", moves.REALS, element_count(n), 1, choice("dtype", dtype, ("float32", "float64")))


class Neighbourhood(NamedTuple):
    """Neighbourhood of a solution; `Neighbourhood.custom` makes a user-defined one.

    Attributes
    ----------
    name
        Name in `--neighbourhood`.
    encoding
        Name of its encoding; empty if any problem may list it.
    shape, change
        See `core.local_search.kernels.moves`.
    attributes
        True if a tabu search can forbid removed attributes, not only the move itself.
    own_size, decode, apply
        See `custom`.
    """

    name: str
    encoding: str
    shape: int
    change: int
    attributes: bool = True
    own_size: Callable[[Encoding], int] | None = None
    decode: tuple[Function, ...] = ()
    apply: Function | None = None

    @classmethod
    @checked_call
    def custom(
        cls, name: str, size: Callable[[Encoding], int], decode: Function | tuple[Function, ...], apply: Function | str
    ) -> Neighbourhood:
        """Make a user-defined neighbourhood, which a problem lists in its `Problem.neighbourhoods`.

        Parameters
        ----------
        name
            As `--neighbourhood` takes it.
        size
            From the encoding to the number of neighbours, an integer from 1 to 2^32 - 1; they have indices from 0 on.
        decode
            Up to three functions that compute a neighbour's i, j and k from its index and the preceding ones:
            ``first(index: u32, n: i32) -> i32``, ``second(index: u32, i: i32, n: i32) -> i32`` and ``third(index: u32,
            i: i32, j: i32, n: i32) -> i32``; a solution has n elements. With a named change all i, j and k are checked
            before a search begins: i and j are places from 0 to n - 1, and k, and the j of a flip, may be -1 for none;
            the j of an assignment is a value.
        apply
            ``apply(solution: Array[i32], move: Move, n: i32)``, which makes the move. All lanes of a team call it
            between two barriers: share elements out by ``lane()`` and ``team_size()``, or let lane 0 do it all. Or the
            name of an existing change: ``flip``, ``exchange``, ``assign``, ``insert`` or ``reverse``.

        Raises
        ------
        UserError
            The name exists or is invalid, there is no function or too many, or the change is unknown.
        """
        text("name", name)
        if not callable(size):
            refuse("size", size, "a function from the encoding to the number of neighbours")
        decode = decode if isinstance(decode, tuple) else (decode,)
        if name in NEIGHBOURHOODS or not name.isidentifier():
            reason = "is taken" if name in NEIGHBOURHOODS else "is no identifier"
            raise UserError(f"custom neighbourhood {name!r}: the name {reason}: expected another")
        if not 1 <= len(decode) <= 3 or not all(isinstance(function, Function) for function in decode):
            raise UserError(f"neighbourhood {name}: `decode` is {decode!r}: expected one @function to three")
        if isinstance(apply, Function):
            return cls(name, "", moves.CUSTOM, moves.OWN, False, size, decode, apply)
        if apply not in CHANGES:
            raise UserError(f"neighbourhood {name}: `apply` is {apply!r}: expected a @function or {', '.join(CHANGES)}")
        return cls(name, "", moves.CUSTOM, CHANGES[apply], False, size, decode)

    def __repr__(self) -> str:
        if self.own_size is None:
            return f"Neighbourhood({self.name!r})"
        return f"Neighbourhood.custom({self.name!r}, functions={[function.name for function in self.functions]})"

    @property
    def functions(self) -> list[Function]:
        return [*self.decode, *([self.apply] if self.apply is not None else [])]

    def size(self, encoding: Encoding, points: int = 0) -> int:
        """Return the number of neighbours of a solution; ``points`` if they are drawn at random."""
        n = encoding.n
        if self.own_size is not None:
            return custom_neighbourhood_size(self.name, self.own_size, encoding)
        if self.change == moves.OWN:
            return points
        return {
            moves.SINGLES: n,
            moves.PAIRS: n * (n - 1) // 2,
            moves.TRIPLES: n * (n - 1) * (n - 2) // 6,
            moves.CHOICES: n * (encoding.choices - 1),
            moves.INSERTIONS: (n - 1) ** 2,
        }[self.shape]

    def memory(self, encoding: Encoding, size: int, kind: int) -> int:
        """Return the number of words in which a tabu search remembers moves or attributes."""
        if kind == moves.MOVES:
            return size
        return encoding.n * (1 if self.change == moves.FLIP else encoding.choices)

    def listed(self, first: int, end: int, encoding: Encoding, solution: np.ndarray) -> np.ndarray:
        """List neighbours ``first`` to ``end - 1``: see `list_moves`.

        Raises `UserError` if a move of a custom neighbourhood leads out of a solution.
        """
        if self.shape != moves.CUSTOM:
            return list_moves(self.shape, first, end, encoding.n, encoding.choices, solution)
        from core.lang import reference_interpreter

        listed = np.empty((end - first, 3), np.int32)
        program = listing_kernel(self.decode).specialise({}, 1)
        reference_interpreter.run(program, 1, [first, end - first, encoding.n, listed.reshape(-1)])
        limits = move_bounds(self.change, encoding.n, encoding.choices)
        check_listed_moves(self.name, self.decode, first, listed, limits)
        return listed


CHANGES = {
    "flip": moves.FLIP,
    "exchange": moves.EXCHANGE,
    "assign": moves.ASSIGN,
    "insert": moves.INSERT,
    "reverse": moves.SEGMENT,
}
"""Changes that a user-defined neighbourhood can name instead of a function."""
NEIGHBOURHOODS = {
    one.name: one
    for one in (
        Neighbourhood("flip1", "bits", moves.SINGLES, moves.FLIP),
        Neighbourhood("flip2", "bits", moves.PAIRS, moves.FLIP),
        Neighbourhood("flip3", "bits", moves.TRIPLES, moves.FLIP),
        Neighbourhood("exchange2", "permutation", moves.PAIRS, moves.EXCHANGE),
        Neighbourhood("exchange3", "permutation", moves.TRIPLES, moves.EXCHANGE),
        Neighbourhood("insert", "permutation", moves.INSERTIONS, moves.INSERT),
        Neighbourhood("reverse", "permutation", moves.PAIRS, moves.SEGMENT, attributes=False),
        Neighbourhood("2opt", "permutation", moves.PAIRS, moves.REVERSE, attributes=False),
        Neighbourhood("assign", "values", moves.CHOICES, moves.ASSIGN),
        Neighbourhood("crowns", "reals", moves.SINGLES, moves.OWN, attributes=False),
    )
}


def neighbourhood(name: str, encoding: Encoding) -> Neighbourhood:
    """Return a neighbourhood by name; raises `UserError` if there is none, or it belongs to another encoding."""
    fitting = [each.name for each in NEIGHBOURHOODS.values() if each.encoding == encoding.name]
    if name not in fitting:
        found = f"neighbourhood {shown(name)}{did_you_mean(name, fitting)}"
        raise UserError(f"{found} for a {encoding.name} encoding: expected {', '.join(fitting)}")
    return NEIGHBOURHOODS[name]


def list_moves(shape: int, first: int, end: int, n: int, choices: int, solution: np.ndarray) -> np.ndarray:
    """List neighbours ``first`` to ``end - 1`` in NumPy.

    Returns (i, j, k) of each, -1 if unused, as int32 of shape (end - first, 3).
    """
    index = np.arange(first, end, dtype=np.int64)
    listed = np.full((len(index), 3), -1, np.int64)
    if shape == moves.CHOICES:
        listed[:, 0], value = np.divmod(index, choices - 1)
        listed[:, 1] = value + (value >= solution[listed[:, 0]])
    elif shape == moves.SINGLES:
        listed[:, 0] = index
    elif shape == moves.INSERTIONS:
        row, column = np.divmod(index, max(1, n - 1))
        listed[:, 0] = np.where(column >= row, row, row + 1)
        listed[:, 1] = np.where(column >= row, column + 1, column)
    else:
        base = np.zeros(len(index), np.int64)
        if shape == moves.TRIPLES:
            tails = np.arange(n - 1, 1, -1, dtype=np.int64)
            ends = np.cumsum(tails * (tails - 1) // 2)
            listed[:, 0] = np.searchsorted(ends, index, "right")
            index = index - np.concatenate([[0], ends])[listed[:, 0]]
            base = listed[:, 0] + 1
        # Pairs of the elements from `base` on, counted as offsets in the rows of all n elements.
        ends = np.cumsum(np.arange(n - 1, 0, -1, dtype=np.int64))
        skipped = np.concatenate([[0], ends])[base]
        row = np.searchsorted(ends, index + skipped, "right")
        column = row + 1 + index + skipped - np.concatenate([[0], ends])[row]
        place = 1 if shape == moves.TRIPLES else 0
        listed[:, place], listed[:, place + 1] = row, column
    return listed.astype(np.int32)


def make_neighbours(change: int, listed: np.ndarray, solution: np.ndarray, out: np.ndarray) -> None:
    """Make the neighbours of listed moves in NumPy.

    ``change`` is one of `core.local_search.kernels.moves` but not `OWN`; ``listed`` are moves of `list_moves`, shape
    (count, 3), from ``solution``, shape (n,). ``out``, shape (count, n), takes the neighbours.
    """
    out[:] = solution
    rows, (i, j, k) = np.arange(len(listed)), listed.T
    if change == moves.FLIP:
        for place in (i, j, k):
            used = place >= 0
            out[rows[used], place[used]] = 1 - solution[place[used]]
    elif change == moves.ASSIGN:
        out[rows, i] = j
    elif change == moves.EXCHANGE:
        last = np.where(k < 0, j, k)
        out[rows, i] = solution[j]
        out[rows, j] = solution[last]
        out[rows, last] = solution[i]
    elif change == moves.INSERT:
        p, i, j = np.arange(len(solution)), i[:, None], j[:, None]
        shifted = p + ((i <= p) & (p < j)) - ((j < p) & (p <= i))
        out[:] = solution[np.where(p == j, i, shifted)]
    else:
        p, first, last = np.arange(len(solution)), (i + (change == moves.REVERSE))[:, None], j[:, None]
        out[:] = solution[np.where((first <= p) & (p <= last), first + last - p, p)]
