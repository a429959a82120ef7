"""Recurrences by waves: classes from which a problem derives, and their results."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.lang import Function, i32
from core.lang.bundles import is_bundle, placed
from core.lang.types import Scalar
from core.run.devices import ComputeDevice
from core.tables.engine.decisions import host_memory

TEAM_SIZE = 128
MOST_CELLS = 2**31 - 1

MOST_IN_FLIGHT = 32
"""Most waves in transit to the host, besides those that are still read."""
MOST_BYTES_IN_FLIGHT = 64 << 20
"""Most bytes of waves in transit: with wide waves, copying takes no longer than computing."""


class WaveRing(NamedTuple):
    """Places of waves on the device: a ring of ``rows``.

    A row has ``border`` cells before number 0, always 0: the border of a table, and a whole team of cells, so that rows
    begin at a memory transaction. From number 0 on it has ``lanes`` cells, whole teams.
    """

    rows: int
    border: int
    lanes: int

    @property
    def stride(self) -> int:
        return self.border + self.lanes

    @property
    def cells(self) -> int:
        return self.rows * self.stride

    def row(self, wave: int) -> int:
        return wave % self.rows * self.stride + self.border

    @classmethod
    def of(cls, problem: Waves, team_size: int) -> WaveRing:
        """Return rows for a wave, for those that it reads, and for some in transit to the host."""
        lanes = -(-problem.numbers() // team_size) * team_size
        row_bytes = (team_size + lanes) * problem.value.dtype.itemsize
        waiting = min(MOST_IN_FLIGHT, MOST_BYTES_IN_FLIGHT // row_bytes)
        return cls(problem.lookback + 1 + waiting, team_size, lanes)


class Waves:
    """A recurrence over waves; subclasses define the cells.

    Attributes
    ----------
    value
        The language's type of a cell.
    lookback
        Number of earlier waves that a cell reads.
    data
        The data of ``cell``: an instance of a class of yours that is a `core.lang.bundle`, with arrays of NumPy's.
    data_memory
        Memory of these arrays: a place of `core.lang.types.PLACES` but ``shared``.
    cell
        A `core.lang.function`: ``cell(wave: i32, number: i32, window: Window, data: YourData) -> V``. Cell number k of
        the wave before is ``window.cells[window.one + k]``, and of the one before that ``window.cells[window.two +
        k]``; they hold nothing at waves 0 and 1. Whole teams are computed: also numbers before the first of a wave and
        after its last; their values are not used. The cell -1 of a wave is 0, like all memory that no lane has written.
    """

    value: Scalar = i32
    lookback = 1
    data: object
    data_memory = "readonly"
    cell: Function

    def waves(self) -> int:
        raise NotImplementedError

    def cells(self, wave: int) -> int:
        """Return the number of cells of a wave, at least one."""
        raise NotImplementedError

    def first(self, wave: int) -> int:
        """Return the number of a wave's first cell; defined for the two waves before the first one too."""
        return 0

    def width(self) -> int:
        return max(self.cells(wave) for wave in range(self.waves()))

    def numbers(self) -> int:
        """Return the largest number of a cell plus 1."""
        return self.width()

    def begin(self, wave: int) -> int:
        """Return the number of cells of all waves before this one, which may be the one after the last."""
        return sum(self.cells(earlier) for earlier in range(wave))

    def lie(self, ring: WaveRing) -> None:
        """Make ``data`` for this ring of waves."""


class AnsweringWaves(Waves):
    """Waves with a best value and a solution, which follow from the last wave and from the cells on the host."""

    def answer(self, result: WaveResult) -> TableAnswer:
        """Return the value and, if cells were kept, a solution."""
        raise NotImplementedError

    def work(self) -> int:
        """Return the units of work of a run, by default cells."""
        return self.begin(self.waves())


class Diagonals(AnsweringWaves):
    """A table by diagonals, a lane for each cell of one side: lane k is at place wave - k of the other side."""

    def sides(self) -> tuple[int, int]:
        raise NotImplementedError

    def waves(self) -> int:
        return sum(self.sides()) - 1

    def first(self, wave: int) -> int:
        return max(0, wave - self.sides()[1] + 1)

    def cells(self, wave: int) -> int:
        return min(wave, self.sides()[0] - 1) - self.first(wave) + 1

    def width(self) -> int:
        return min(self.sides())

    def numbers(self) -> int:
        return self.sides()[0]

    def begin(self, wave: int) -> int:
        short, long = sorted(self.sides())
        remaining = short + long - 1 - wave
        if wave > long:
            return short * long - remaining * (remaining + 1) // 2
        growing = min(wave, short)
        return growing * (growing + 1) // 2 + (wave - growing) * short


class Grid:
    """A table of rows 0 to ``rows`` and columns 0 to ``columns``; subclasses define the cells.

    Strings, sequences and time series usually have such tables: a cell follows from those above, left and above left.

    Attributes
    ----------
    value
        The language's type of a cell.
    choices : 0, 1 or 2
        Bits of choice kept of a cell; 0 if nothing is traced.
    rows, columns
        The last row and the last column; both at least 1.
    data
        The data of the functions: an instance of a class of yours that is a `core.lang.bundle`, with arrays of NumPy's.
    step
        A `core.lang.function`: ``step(i: i32, j: i32, near: Near, choice: Array[u32], data: YourData) -> V`` from the
        cells (i - 1, j - 1), (i - 1, j) and (i, j - 1), which are ``near.corner``, ``near.up`` and ``near.left``
        (`core.tables.engine.kernels.grid.Near`); i and j are at least 1. The choice is left in ``choice[0]``.
    """

    value: Scalar = i32
    choices = 0
    data: object
    data_memory = "readonly"
    rows: int
    columns: int
    step: Function

    def edge(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the values of cells (i, j) of row 0 or column 0, by NumPy."""
        raise NotImplementedError


def upload_problem_data(backend: ComputeDevice, problem: Waves | Grid) -> object:
    if not is_bundle(type(problem.data)):
        raise UserError(
            f"{type(problem).__name__}: its data are a {type(problem.data).__name__}: expected an instance of a class "
            "that is a @bundle"
        )
    return placed(backend.load(problem.data), problem.data_memory)


class TableAnswer(NamedTuple):
    """Best value of a table, a solution that has it if traced, and the bytes that left the device for the host.

    ``method`` names the algorithm in messages.
    """

    value: int
    solution: np.ndarray | None = None
    streamed_bytes: int = 0
    method: str = ""


class HostCells:
    """All cells of a run on the host, wave after wave; in a file if a folder is given."""

    def __init__(self, backend: ComputeDevice, problem: Waves, folder: str | None) -> None:
        self.problem = problem
        self.memory = host_memory(backend, problem.begin(problem.waves()), problem.value.dtype, "cells", folder)

    def wave(self, wave: int) -> np.ndarray:
        begin = self.problem.begin(wave)
        return self.memory[begin : begin + self.problem.cells(wave)]

    def at(self, wave: int, number: int) -> int:
        return int(self.memory[self.problem.begin(wave) + number - self.problem.first(wave)])


class WaveResult(NamedTuple):
    """Values of the last wave (of tiles the last cell alone), and the choices and cells that were kept.

    ``choice(i, j)`` returns the choice of a cell of a `Grid`; call it from the last wave to the first. `Waves` keep
    ``cells``.
    """

    last: np.ndarray
    choice: Any = None
    cells: HostCells | None = None
    streamed_bytes: int = 0

    @property
    def value(self) -> int:
        return int(self.last[-1])
