"""The generic engine of the paper (`oconnell2014`): any recurrence with cells in waves.

A problem says what a wave is and how a cell follows from earlier waves. The engine keeps a window of the waves that
are still read, launches one kernel per wave, and keeps the choices from which a solution is traced, packed, on the
device or (`core.search.dp.engine.decisions`) on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.dp.waves import SPAN, PackedChoices, Wave, Window, wave_kernel
from core.lang import i32
from core.lang.bundles import is_bundle, placed
from core.search.dp.engine.decisions import DecisionRows

if TYPE_CHECKING:
    from collections.abc import Callable

TEAM_SIZE = 128
MOST_CELLS = 2**31 - 1


class Waves:
    """A recurrence over waves; subclasses say what follows.

    Attributes
    ----------
    value
        The language's type of a cell.
    lookback : 1 or 2
        How many earlier waves a cell reads.
    choices : 0, 1 or 2
        Bits of choice kept of a cell; 0 if nothing is traced.
    data
        What ``cell`` reads: an instance of a class of yours that is a `core.lang.bundle`, with arrays of NumPy's.
    cell
        A `core.lang.function`: ``cell(wave: i32, number: i32, window: Window, choice: Array[u32], data: YourData)
        -> V``. Cell number k of the wave before is ``window.cells[window.one + k]``, and of the one before that
        ``window.cells[window.two + k]``; they hold nothing at waves 0 and 1. The choice is left in ``choice[0]``.

    """

    value: Any = i32
    lookback = 1
    choices = 0
    data: Any
    cell: Any

    def waves(self) -> int:
        """How many waves there are."""
        raise NotImplementedError

    def cells(self, wave: int) -> int:
        """How many cells a wave has; at least one."""
        raise NotImplementedError

    def first(self, wave: int) -> int:
        """The number of a wave's first cell; asked for the two waves before the first one too."""
        return 0

    def width(self) -> int:
        """Cells of the widest wave."""
        return max(self.cells(wave) for wave in range(self.waves()))


class WaveDecisions:
    """The choices of all cells of a run, read on the host."""

    def __init__(self, rows: DecisionRows, bits: int) -> None:
        self.rows, self.bits = rows, bits
        self._row: tuple[int, Any] = (-1, None)

    def at(self, wave: int, index: int) -> int:
        """The choice of one cell; waves are best visited from the last to the first."""
        if self._row[0] != wave:
            self._row = wave, self.rows.row(wave)
        block, column = divmod(index, SPAN)
        word, shift = divmod(block, 32 // self.bits)
        return int(self._row[1][word * SPAN + column]) >> shift * self.bits & (1 << self.bits) - 1


class WaveResult(NamedTuple):
    """The values of the last wave, and the choices of all cells if they were kept."""

    last: np.ndarray
    decisions: WaveDecisions | None


class WaveEngine:
    """Computes a problem wave by wave on one device.

    Parameters
    ----------
    backend, communicator
        Where it runs; a launch per wave over several ranks would wait for the network at each, so they are refused.
    problem
        What is computed.
    room, folder
        See `core.search.dp.engine.decisions.DecisionRows`.

    Raises
    ------
    UserError
        More than one rank; more waves, or more cells in a few of them, than 32-bit indices reach; data that are no
        bundle.

    """

    def __init__(
        self, backend: Any, communicator: Any, problem: Waves, room: int | None = None, folder: str | None = None
    ) -> None:
        if communicator.size > 1:
            raise UserError("--tiling none is one launch per wave on one device; use --tiling auto with several ranks")
        self.backend, self.problem = backend, problem
        self.room, self.folder = room, folder
        if problem.waves() > MOST_CELLS:
            raise UserError(f"--tiling none: {problem.waves()} waves: expected at most {MOST_CELLS}")
        self.width = problem.width()
        self.depth = problem.lookback + 1
        if self.width * self.depth > MOST_CELLS:
            raise UserError(
                f"--tiling none: waves of {self.width} cells; {self.depth} of them may have {MOST_CELLS} cells together"
            )
        self.kernel = wave_kernel(problem.cell)
        self.window = backend.allocate(self.width * self.depth, problem.value.dtype)
        self.data = upload_problem_data(backend, problem)
        self.nothing = backend.allocate(1, np.uint32)
        self.rows: DecisionRows | None = None

    def run(self, trace: bool = True, progress: Callable[[int, int], None] | None = None) -> WaveResult:
        """Compute all waves; ``progress(done, waves)`` is told from time to time."""
        problem, backend = self.problem, self.backend
        waves = problem.waves()
        bits = problem.choices if trace else 0
        if bits:
            self.rows = DecisionRows(backend, waves, self.words(self.width), self.room, self.folder)
        most = backend.capabilities.compute_units * max(1, backend.capabilities.lanes_resident // self.team_size())
        for wave in range(waves):
            cells = problem.cells(wave)
            kept = PackedChoices(*(self.rows.place(wave) if self.rows is not None and bits else (self.nothing, 0)))
            here, one, two = ((wave + self.depth - k) % self.depth * self.width for k in range(3))
            first, one, two = problem.first(wave), one - problem.first(wave - 1), two - problem.first(wave - 2)
            if first + cells > MOST_CELLS:
                raise UserError(f"--tiling none: cell {first + cells} of wave {wave}: expected at most {MOST_CELLS}")
            work = self.words(cells) if bits else cells
            teams = max(1, min(most, -(-work // self.team_size())))
            backend.launch(
                self.kernel, teams, self.team_size(),
                Wave(wave, cells, first, here), Window(self.window, one, two), kept, bits, self.data,
            )  # fmt: skip
            if self.rows is not None and bits:
                self.rows.close_row(wave)
            if progress is not None and (wave + 1) % 256 == 0:
                progress(wave + 1, waves)
        start = (waves - 1) % self.depth * self.width
        last = backend.read(self.window, start, problem.cells(waves - 1))
        return WaveResult(last, WaveDecisions(self.rows, bits) if self.rows is not None and bits else None)

    def restate(self, problem: Waves) -> None:
        """Take another problem with the same function, whose waves are no wider."""
        self.problem, self.data = problem, upload_problem_data(self.backend, problem)

    def words(self, cells: int) -> int:
        """Words that hold the choices of so many cells."""
        block = SPAN * (32 // self.problem.choices)
        return -(-cells // block) * SPAN

    def team_size(self) -> int:
        """Lanes of a team."""
        return min(TEAM_SIZE, int(self.backend.capabilities.max_team_size))


def upload_problem_data(backend: Any, problem: Any) -> Any:
    """The data of a `Waves` or a `core.search.dp.engine.grid.Grid` on a device, which only reads them."""
    if not is_bundle(type(problem.data)):
        raise UserError(
            f"{type(problem).__name__}: its data are a {type(problem.data).__name__}: expected an instance of a class "
            "that is a @bundle"
        )
    return placed(backend.load(problem.data), "readonly")
