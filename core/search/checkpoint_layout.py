"""Layouts of checkpoints: a search declares each array of its state, and `check_layout` checks a state.

A layout is a generator. It yields one declaration after another, and may read an array of the state after it has
declared it: by then the array is checked, so that the size of one may follow from the content of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError

Checkpoint = dict[str, np.ndarray]
"""Arrays by name; a number is an array of shape ()."""
ANY = 2**63
"""Numbers of 64 bits with a sign are below this."""
ANY_WORD = 2**64 - 1
"""The largest word of 64 bits."""


class CheckpointArray(NamedTuple):
    """The declaration of one array.

    Attributes
    ----------
    name : str
    dtype
        Of NumPy; ``np.str_`` for a text.
    shape : tuple of int or None
        None: any number of rows or columns.
    ranges : sequence of (least, most)
        One for all elements, or one for each of the last axis' columns; none: every content is valid.
    rule : callable, optional
        Returns the fault of an array that has dtype, shape and ranges ("found ..., expected ..."), or None.

    """

    name: str
    dtype: Any
    shape: tuple[int | None, ...]
    ranges: Sequence[tuple[float, float]] = ()
    rule: Callable[[np.ndarray], str | None] | None = None

    def fault(self, found: np.ndarray | None) -> str | None:
        """Return the first fault of an array, or None."""
        if found is None:
            return f"found none, expected {self.kind}"
        fits = found.dtype.kind == "U" if self.dtype is np.str_ else found.dtype == np.dtype(self.dtype)
        lengths = zip(found.shape, self.shape, strict=False)
        if not fits or found.ndim != len(self.shape) or any(wanted not in (None, size) for size, wanted in lengths):
            return f"found {found.dtype} of shape {shape_text(found.shape)}, expected {self.kind}"
        for column, (least, most) in enumerate(self.ranges):
            numbers = found.reshape(-1) if len(self.ranges) == 1 else found[..., column].reshape(-1)
            # Reductions first: a layer of Held and Karp's table takes gigabytes.
            if numbers.size and not (numbers.min() >= least and numbers.max() <= most):
                wrong = numbers[~((numbers >= least) & (numbers <= most))]
                where = "" if len(self.ranges) == 1 else f" in column {column}"
                return f"found {wrong[0].item()}{where}, expected {least} to {most}"
        return self.rule(found) if self.rule is not None else None

    @property
    def kind(self) -> str:
        """Dtype and shape as text."""
        return f"{'a text' if self.dtype is np.str_ else np.dtype(self.dtype)} of shape {shape_text(self.shape)}"


CheckpointLayout = Callable[[Checkpoint], Iterable[CheckpointArray]]
"""From a state to the declarations of its arrays."""


def shape_text(shape: Sequence[int | None]) -> str:
    """Return a shape as text: (3, any)."""
    return f"({', '.join('any' if size is None else str(size) for size in shape)})"


def check_layout(state: Checkpoint, layout: CheckpointLayout, source: str) -> Checkpoint:
    """Return the state if every array is as declared and no other array is there.

    Parameters
    ----------
    state
        Without its seconds, which belong to the checkpointer.
    layout
        Of the search that resumes from it.
    source
        The file, for the message.

    Raises
    ------
    UserError
        Names the source, the array, what was found and what was expected.

    """
    declared = set()
    for array in layout(state):
        declared.add(array.name)
        fault = array.fault(state.get(array.name))
        if fault is not None:
            raise UserError(f"{source}: array {array.name!r}: {fault}")
    for name, found in state.items():
        if name not in declared:
            kind = f"{found.dtype} of shape {shape_text(found.shape)}"
            raise UserError(f"{source}: array {name!r}: found {kind}, expected no such array")
    return state


# --- rules ---


def permutation_fault(rows: np.ndarray) -> str | None:
    """Return the fault of rows that are not permutations of 0, 1, 2, ..., or None."""
    rows = rows.reshape(-1, rows.shape[-1])
    wrong = np.flatnonzero((np.sort(rows, axis=1) != np.arange(rows.shape[1])).any(axis=1))
    return f"found row {wrong[0]} of other numbers, expected 0 to {rows.shape[1] - 1} once each" if wrong.size else None


def ascending_fault(numbers: np.ndarray) -> str | None:
    """Return the fault of numbers that do not ascend, or None."""
    wrong = np.flatnonzero(np.diff(numbers) <= 0)
    if not wrong.size:
        return None
    before, after = (numbers[wrong[0] + k].item() for k in (0, 1))
    return f"found {after} after {before}, expected ascending numbers"


def interval_array(
    name: str, first: int, end: int, rule: Callable[[np.ndarray], str | None] | None = None
) -> CheckpointArray:
    """Declare `core.search.intervals.Intervals` of the items from ``first`` to ``end - 1``, as their `array` is."""
    return CheckpointArray(
        name,
        np.int64,
        (None, 2),
        [(first, end)],
        lambda pairs: ascending_fault(pairs.reshape(-1)) or (rule and rule(pairs)),
    )


def history_array(name: str, steps: int, evaluations: int, seconds: float, cost: int | None) -> CheckpointArray:
    """Declare the rows of a history that has come this far, and to this cost; None: to none."""

    def to_the_best(rows: np.ndarray) -> str | None:
        return history_fault(rows[:, 3], cost)

    return CheckpointArray(
        name, np.float64, (None, 4), [(0, steps), (0, evaluations), (0, seconds), (-ANY, ANY)], to_the_best
    )


def history_fault(costs: np.ndarray, best: int | None) -> str | None:
    """Return the fault of costs that do not descend to the best one, or None."""
    last = costs[-1].item() if len(costs) else None
    if last != best:
        return f"found {last} as the last cost, expected {best}"
    return "found a cost that is no improvement, expected descending costs" if (np.diff(costs) >= 0).any() else None
