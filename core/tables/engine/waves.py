"""The generic engine of the paper (`oconnell2014`): any recurrence with cells in waves, or in tiles of a `Grid`.

`PackedWaves` launches each wave, keeps a window of the waves that are still read, and packs choices for a trace.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from core.errors import NoRoom, UserError
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import CountCallback
from core.tables.engine.decisions import DecisionRows
from core.tables.engine.kernels.waves import SPAN, PackedChoices, Wave, Window, wave_kernel
from core.tables.engine.published import PublishedWaves
from core.tables.engine.recurrences import MOST_CELLS, TEAM_SIZE, Grid, WaveResult, Waves, upload_problem_data
from core.tables.engine.tiles import GridTiles

ProblemT = TypeVar("ProblemT", bound=Waves | Grid)


class PackedWaves:
    """Window, choices and launches of a problem; the parameters are those of `WaveEngine`."""

    report_every = 256

    def __init__(
        self,
        backend: ComputeDevice,
        problem: Waves,
        room: int | None,
        folder: str | None,
        shape: tuple[int, ...] | None,
    ) -> None:
        self.backend, self.problem, self.room, self.folder = backend, problem, room, folder
        self.team_size = shape[0] if shape else min(TEAM_SIZE, int(backend.capabilities.max_team_size))
        self.width, self.depth = problem.width(), problem.lookback + 1
        if problem.waves() > MOST_CELLS:
            raise NoRoom(f"{problem.waves()} waves: expected at most {MOST_CELLS}")
        if self.width * self.depth > MOST_CELLS:
            raise NoRoom(f"waves of {self.width} cells; {self.depth} of them may have {MOST_CELLS} cells together")
        self.kernel = wave_kernel(problem.cell)
        self.window = backend.allocate(self.width * self.depth, problem.value.dtype)
        self.data = upload_problem_data(backend, problem)
        self.nothing = backend.allocate(1, np.uint32)
        self.bits = 0
        self.rows: DecisionRows | None = None

    @property
    def launches(self) -> int:
        return self.problem.waves()

    def begin(self, trace: bool) -> None:
        self.bits = self.problem.choices if trace else 0
        if self.bits:
            self.rows = DecisionRows(self.backend, self.launches, self.words(self.width), self.room, self.folder)

    def launch(self, wave: int) -> None:
        problem, capabilities, bits = self.problem, self.backend.capabilities, self.bits
        cells = problem.cells(wave)
        choices = PackedChoices(*(self.rows.place(wave) if self.rows is not None and bits else (self.nothing, 0)))
        target, previous, earlier = ((wave + self.depth - k) % self.depth * self.width for k in range(3))
        first = problem.first(wave)
        window = Window(self.window, previous - problem.first(wave - 1), earlier - problem.first(wave - 2))
        if first + cells > MOST_CELLS:
            raise NoRoom(f"cell {first + cells} of wave {wave}: expected at most {MOST_CELLS}")
        most_teams = capabilities.compute_units * max(1, capabilities.lanes_resident // self.team_size)
        teams = max(1, min(most_teams, -(-(self.words(cells) if bits else cells) // self.team_size)))
        self.backend.launch(
            self.kernel, teams, self.team_size,
            Wave(wave, cells, first, target), window, choices, bits, self.data,
        )  # fmt: skip
        if self.rows is not None and bits:
            self.rows.close_row(wave)

    def result(self) -> WaveResult:
        problem, last_wave = self.problem, self.launches - 1
        values = self.backend.read(self.window, last_wave % self.depth * self.width, problem.cells(last_wave))
        if self.rows is None or not self.bits:
            return WaveResult(values)
        rows, bits = self.rows, self.bits

        def choice(wave: int, index: int) -> int:
            block, column = divmod(index, SPAN)
            word, shift = divmod(block, 32 // bits)
            return int(rows.row(wave)[word * SPAN + column]) >> shift * bits & (1 << bits) - 1

        return WaveResult(values, choice, streamed_bytes=rows.streamed_bytes)

    def words(self, cells: int) -> int:
        block = SPAN * (32 // self.problem.choices)
        return -(-cells // block) * SPAN


class WaveEngine(Generic[ProblemT]):
    """Computes a problem wave by wave on one device.

    Parameters
    ----------
    backend, communicator
        Device and ranks. A launch per wave over several ranks would wait for the network at each, so they are refused.
    mapping : {"native", "published"}
        ``native``: a launch per diagonal of tiles of a `Grid` (`core.tables.engine.tiles`), else per wave, with
        choices packed. ``published``: the paper's, a launch per wave, and all cells go to the host
        (`core.tables.engine.published`); not for a `Grid`.
    room, folder
        See `core.tables.engine.decisions.DecisionRows`. With the published mapping cells go to the folder.
    shape
        Lanes of a team; of tiles also bands of as many rows in a tile, and a tile's columns.

    Raises
    ------
    UserError
        More than one rank; more waves, or more cells in a few of them, than fit 32-bit indices or the device; data
        that are no bundle.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        problem: ProblemT,
        mapping: str = "native",
        room: int | None = None,
        folder: str | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        if communicator.size > 1:
            raise UserError(
                f"--mapping {mapping} computes a table on one device here: found {communicator.size} ranks, expected 1"
            )
        self.problem = problem
        self.mapping: PackedWaves | GridTiles | PublishedWaves
        if isinstance(problem, Grid):
            self.mapping = GridTiles(backend, problem, room, folder, shape)
        elif mapping == "published":
            self.mapping = PublishedWaves(backend, problem, folder, shape)
        else:
            self.mapping = PackedWaves(backend, problem, room, folder, shape)

    def make_room(self) -> None:
        if isinstance(self.mapping, PublishedWaves):
            self.mapping.make_room()

    def run(self, trace: bool = True, progress: CountCallback | None = None) -> WaveResult:
        """Compute all waves; ``progress(done, launches)`` is called from time to time."""
        mapping = self.mapping
        mapping.begin(trace)
        for number in range(mapping.launches):
            mapping.launch(number)
            if progress is not None and (number + 1) % mapping.report_every == 0:
                progress(number + 1, mapping.launches)
        return mapping.result()
