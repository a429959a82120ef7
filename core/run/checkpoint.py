"""Checkpoints of searches: data from which another process resumes, and their schedule.

A checkpoint depends on no backend and no number of ranks: it has the state of each walk, item or row, and a search
recomputes the rest. If a `Checkpointer` reports between launches that a checkpoint is due, all ranks synchronise, and
the first one assembles and stores it. A search gets a checkpoint only in exchange for its layout.

A layout is a generator of declarations. It may read an array of the checkpoint after declaring it: by then the array is
checked, so the size of one array may follow from the content of another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from core.errors import UserError, warn_caller
from core.ranks import Ranks

Checkpoint = dict[str, np.ndarray]
"""Arrays by name; a number is an array of shape ()."""
ANY = 2**63
"""Numbers of 64 bits with a sign are below this."""
ANY_WORD = 2**64 - 1
"""The largest word of 64 bits."""


class CheckpointArray(NamedTuple):
    """Declaration of one array.

    Attributes
    ----------
    dtype
        Of NumPy; ``np.str_`` for a text.
    shape
        Shape; None means any number of rows or columns.
    ranges
        Least and largest value, of all elements or of each column of the last axis; empty: every content is valid.
    rule
        Returns the fault of an array that has dtype, shape and ranges ("found ..., expected ..."), or None.
    """

    name: str
    dtype: np.dtype | type[np.generic] | str
    shape: tuple[int | None, ...]
    ranges: Sequence[tuple[float, float]] = ()
    rule: Callable[[np.ndarray], str | None] | None = None

    def fault(self, array: np.ndarray | None) -> str | None:
        """Return the first fault of an array, or None."""
        if array is None:
            return f"found none, expected {self.kind}"
        fits = array.dtype.kind == "U" if self.dtype is np.str_ else array.dtype == np.dtype(self.dtype)
        lengths = zip(array.shape, self.shape, strict=False)
        if not fits or array.ndim != len(self.shape) or any(wanted not in (None, size) for size, wanted in lengths):
            return f"found {array.dtype} of shape {shape_text(array.shape)}, expected {self.kind}"
        for column, (least, most) in enumerate(self.ranges):
            numbers = array.reshape(-1) if len(self.ranges) == 1 else array[..., column].reshape(-1)
            # Reductions first: a layer of Held and Karp's table takes gigabytes.
            if numbers.size and not (numbers.min() >= least and numbers.max() <= most):
                wrong = numbers[~((numbers >= least) & (numbers <= most))]
                where = "" if len(self.ranges) == 1 else f" in column {column}"
                return f"found {wrong[0].item()}{where}, expected {least} to {most}"
        return self.rule(array) if self.rule is not None else None

    @property
    def kind(self) -> str:
        return f"{'a text' if self.dtype is np.str_ else np.dtype(self.dtype)} of shape {shape_text(self.shape)}"


CheckpointLayout = Callable[[Checkpoint], Iterable[CheckpointArray]]
"""From a checkpoint to the declarations of its arrays."""


def shape_text(shape: Sequence[int | None]) -> str:
    return f"({', '.join('any' if size is None else str(size) for size in shape)})"


def check_layout(state: Checkpoint, layout: CheckpointLayout, source: str) -> Checkpoint:
    """Return the checkpoint if it has the arrays of a layout and no others.

    Raises `UserError` with the name of its file, ``source``. Its seconds belong to the checkpointer and are not in
    ``state``.
    """
    declared = set()
    for declaration in layout(state):
        declared.add(declaration.name)
        fault = declaration.fault(state.get(declaration.name))
        if fault is not None:
            raise UserError(f"{source}: array {declaration.name!r}: {fault}")
    for name, array in state.items():
        if name not in declared:
            kind = f"{array.dtype} of shape {shape_text(array.shape)}"
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


# --- arrays of several searches ---


def interval_array(
    name: str, first: int, end: int, rule: Callable[[np.ndarray], str | None] | None = None
) -> CheckpointArray:
    """Declare the array of `core.run.partition.Intervals` of the items ``first`` to ``end - 1``."""

    def fault(pairs: np.ndarray) -> str | None:
        return ascending_fault(pairs.reshape(-1)) or (rule and rule(pairs))

    return CheckpointArray(name, np.int64, (None, 2), [(first, end)], fault)


def history_array(name: str, steps: int, evaluations: int, seconds: float, cost: int | None) -> CheckpointArray:
    """Declare the rows of a history up to these numbers of steps, evaluations and seconds, with this last cost.

    ``cost`` is None for a history without rows.
    """
    ranges = [(0, steps), (0, evaluations), (0, seconds), (-ANY, ANY)]
    return CheckpointArray(name, np.float64, (None, 4), ranges, lambda rows: history_fault(rows[:, 3], cost))


def history_fault(costs: np.ndarray, best: int | None) -> str | None:
    """Return the fault of costs that do not descend to the best one, or None."""
    last = costs[-1].item() if len(costs) else None
    if last != best:
        return f"found {last} as the last cost, expected {best}"
    return "found a cost that is no improvement, expected descending costs" if (np.diff(costs) >= 0).any() else None


CHECKPOINT_INTERVAL_S = 60.0
"""Seconds between checkpoints."""
HOLD_EVERY_S, HOLD_RATIO = 1.0, 20.0
"""Seconds between checkpoints held by all ranks, and their least ratio to the time of writing one."""
TERMINATED = 143
"""The exit code of a process that SIGTERM has ended, as shells count: 128 + 15."""
SECONDS = "seconds"
MOST_SECONDS = 1e10  # three centuries


class Terminated(SystemExit):
    """End of a run by a signal, with exit code `TERMINATED`; its checkpoint is stored."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


class Checkpointer:
    """Writes the checkpoints of one run; every rank has one.

    Parameters
    ----------
    write
        Stores a checkpoint permanently in place of the previous one; called on the first rank. May raise OSError or
        UserError. None to store none.
    earlier
        Checkpoint from which the run resumes, the same on all ranks; None for a new run. Raises `UserError` if it has
        no run time.
    every_s
        Seconds between checkpoints.
    hold
        Called with every checkpoint on every rank, so that other ranks can resume after a loss. None if ranks hold no
        checkpoints.
    source
        File of ``earlier``, for messages.

    Attributes
    ----------
    asked : bool
        True if a signal asks this process to end, which it does after the next checkpoint.
    before_s : float
        Run time in seconds at the checkpoint from which the run resumes.
    """

    def __init__(
        self,
        write: Callable[[Checkpoint], None] | None,
        earlier: Checkpoint | None = None,
        every_s: float = CHECKPOINT_INTERVAL_S,
        hold: Callable[[Checkpoint], None] | None = None,
        source: str = "the state of the search",
    ) -> None:
        self.write = write
        self.every_s = every_s
        self.hold = hold
        self.asked = False
        self.source = source
        self.earlier: Checkpoint | None = None
        self.before_s = 0.0
        self.written_at = self.held_at = self.began = time.perf_counter()
        self.hold_every_s = HOLD_EVERY_S
        if earlier is not None:
            # Other arrays are checked by `take`.
            seconds = {name: array for name, array in earlier.items() if name == SECONDS}
            declared = CheckpointArray(SECONDS, np.float64, (), [(0, MOST_SECONDS)])
            self.before_s = float(check_layout(seconds, lambda _: [declared], source)[SECONDS])
            self.earlier = {name: array for name, array in earlier.items() if name != SECONDS}
            self.began = time.perf_counter() - self.before_s

    def take(self, layout: CheckpointLayout) -> Checkpoint | None:
        """Return the checkpoint from which the run resumes, on the first call; None afterwards and for a new run.

        Raises `UserError` if it does not have the layout; all ranks have the same checkpoint and raise the same error.
        """
        earlier, self.earlier = self.earlier, None
        return None if earlier is None else check_layout(earlier, layout, self.source)

    def is_due(self) -> bool:
        """Return True if this rank needs a checkpoint: if one rank does, all synchronise and call `keep`."""
        is_old = self.hold is not None and time.perf_counter() - self.held_at >= self.hold_every_s
        return self.asked or is_old or self.is_due_for_good()

    def is_due_for_good(self) -> bool:
        """Return True if a file is requested and its checkpoint is too old."""
        return self.write is not None and time.perf_counter() - self.written_at >= self.every_s

    def keep(self, ranks: Ranks, state: Checkpoint | None) -> None:
        """Store the first rank's checkpoint; all ranks call this together.

        An error of the disk does not end the run: the previous checkpoint remains, with a warning. Raises `Terminated`
        on all ranks if one was asked to end, or the error if the checkpoint could not be stored.
        """
        began = time.perf_counter()
        if state is not None:
            state = {**state, SECONDS: np.array(began - self.began)}
        if self.hold is not None:
            state = ranks.bcast(state)
            assert state is not None
            self.hold(state)
            self.held_at = time.perf_counter()
            self.hold_every_s = max(HOLD_EVERY_S, HOLD_RATIO * (self.held_at - began))
        asked, due = ranks.sum(np.array([self.asked, self.is_due_for_good()], np.int64))
        refused: Exception | None = None
        write = self.write
        if (asked or due) and write is not None:
            try:
                ranks.on_first(lambda: write(state or {}))
            except (OSError, UserError) as error:
                refused = error
            self.written_at = time.perf_counter()
        if asked:
            raise refused or Terminated()
        if refused is not None and ranks.rank == 0:
            warn_caller(f"{refused}: no state is kept, the run continues")
