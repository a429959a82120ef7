"""The paper's mapping (`oconnell2014`, section IV): a launch per wave; finished cells go to the host.

The device keeps those waves that later ones read, and the host gets every cell: a wave is copied as soon as it is
computed, while the next ones are. So a solution is traced on the host, from the values themselves. Waves lie in rows of
one linear memory that are longer than any of them: every lane of every team has a place to read and to write.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.dp.waves import PackedChoices, Wave, Window, clear, wave_kernel
from core.search.dp.engine.host_memory import host_memory
from core.search.dp.engine.waves import MOST_CELLS, TEAM_SIZE, Waves, upload_problem_data
from core.search.protocol import CountCallback

MOST_IN_FLIGHT = 32
"""Most waves that may be on their way to the host beside those that are still read."""
MOST_BYTES_IN_FLIGHT = 64 << 20
"""Most bytes of them: of wide waves none has to wait longer than it takes to compute one."""
PROGRESS = 256
"""Waves between two reports of progress, or a hundredth of all if there are few."""


class WaveRing(NamedTuple):
    """Where waves lie on the device.

    Attributes
    ----------
    rows : int
        Waves that it holds; the wave after them takes the place of the first.
    border : int
        Cells of each row before number 0, never written and 0: the border of a table, and a whole team of cells, so
        that rows begin where a memory transaction does.
    lanes : int
        Cells from number 0 on, whole teams.

    """

    rows: int
    border: int
    lanes: int

    @property
    def stride(self) -> int:
        """Cells from one row to the next."""
        return self.border + self.lanes

    @property
    def cells(self) -> int:
        """Of all rows."""
        return self.rows * self.stride

    def row(self, wave: int) -> int:
        """The place of a wave's cell 0."""
        return wave % self.rows * self.stride + self.border


class CellWaves(Waves):
    """A recurrence over waves whose cells all go to the host; subclasses say what follows.

    ``lookback`` may be any number. ``cell`` is asked for whole teams: for numbers before the first of a wave and behind
    its last, whose values nobody reads, and it takes the same path for all. It may read the cell -1 of a wave, which is
    0, as everything is that no lane has written.
    """

    def lanes(self) -> int:
        """One more than the largest number of a cell."""
        return self.width()

    def begin(self, wave: int) -> int:
        """Cells of all waves before this one; those of all waves, if it is the one after the last."""
        return sum(self.cells(earlier) for earlier in range(wave))

    def lie(self, ring: WaveRing) -> None:
        """Make ``data`` for waves that lie like this."""


class HostCells:
    """All cells of a run on the host, wave after wave without a gap.

    Parameters
    ----------
    backend
        Where they come from.
    problem : CellWaves
    folder
        They go to a file there; by default to the host's memory.

    """

    def __init__(self, backend: Any, problem: CellWaves, folder: str | None) -> None:
        self.problem = problem
        count = problem.begin(problem.waves())
        self.memory = host_memory(backend, count, problem.value.dtype, "cells", folder)

    @property
    def streamed_bytes(self) -> int:
        """Bytes that leave the device during a run."""
        return int(self.memory.nbytes)

    def wave(self, wave: int) -> np.ndarray:
        """The cells of a wave, from its first number on."""
        begin = self.problem.begin(wave)
        return self.memory[begin : begin + self.problem.cells(wave)]

    def at(self, wave: int, number: int) -> int:
        """One cell."""
        return int(self.memory[self.problem.begin(wave) + number - self.problem.first(wave)])


class CellEngine:
    """Computes a problem wave by wave on one device, and sends its cells to the host.

    Parameters
    ----------
    backend, communicator
        Where it runs; several ranks are refused.
    problem : CellWaves
    folder
        See `HostCells`.
    team_size
        Lanes of a team; by default as many as `core.search.dp.engine.waves` takes.

    Attributes
    ----------
    cells : Cells or None
        What the latest run with cells brought to the host.

    Raises
    ------
    UserError
        More than one rank; waves that do not fit 32-bit indices or the device.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        problem: CellWaves,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        if communicator.size > 1:
            raise UserError(
                "--mapping published is one launch per wave on one device: expected --mapping native on several ranks"
            )
        self.backend, self.problem, self.folder = backend, problem, folder
        self.team_size = team_size or min(TEAM_SIZE, int(backend.capabilities.max_team_size))
        self.cells: HostCells | None = None
        self.ring = ring_for(problem, self.team_size)
        self._check(problem)
        self.kernel = wave_kernel(problem.cell)
        problem.lie(self.ring)
        try:
            self.window = backend.allocate(self.ring.cells, problem.value.dtype)
            self.data = upload_problem_data(backend, problem)
        except MemoryError as error:
            raise UserError(f"--mapping published: {self._needed()}: {error}") from error
        self.nothing = PackedChoices(backend.allocate(1, np.uint32), 0)

    def _needed(self) -> str:
        bytes_needed = self.ring.cells * self.problem.value.dtype.itemsize
        return f"{self.ring.rows} waves of {self.ring.lanes} cells need {bytes_needed} bytes of the device"

    def _check(self, problem: CellWaves) -> None:
        """Refuse what 32-bit indices do not reach, or the device has no room for."""
        if max(self.ring.cells, problem.waves() + self.ring.stride) > MOST_CELLS:
            raise UserError(
                f"--mapping published: {problem.waves()} waves, {self.ring.rows} of which have {self.ring.cells} cells "
                f"on the device: expected at most {MOST_CELLS} of both"
            )
        memory = self.backend.device.memory_bytes  # a simulator's is 0
        if memory and self.ring.cells * problem.value.dtype.itemsize > memory:
            raise UserError(f"--mapping published: {self._needed()}, and {memory} are there")

    def make_room(self) -> None:
        """Take the host's memory for all cells, or say that there is too little, before anything is computed."""
        if self.cells is None:
            self.cells = HostCells(self.backend, self.problem, self.folder)

    def run(self, keep: bool = True, progress: CountCallback | None = None) -> np.ndarray:
        """The last wave; with ``keep`` all cells are on the host then. ``progress(done, waves)`` counts launches."""
        if keep:
            self.make_room()
        problem, ring, waves = self.problem, self.ring, self.problem.waves()
        self.backend.launch(clear, self._teams(ring.cells), self.team_size, self.window, ring.cells)
        report_every = max(1, min(PROGRESS, waves // 100))
        on_the_way: deque[Callable[[], None]] = deque()
        for wave in range(waves):
            if len(on_the_way) == ring.rows:
                on_the_way.popleft()()  # the wave whose place this one takes is on the host
            self._launch(wave)
            if keep and self.cells is not None:
                to = self.cells.wave(wave)
                start = ring.row(wave) + problem.first(wave)
                on_the_way.append(self.backend.stream_out(self.window, start, to.size, to))
            if progress is not None and (wave + 1) % report_every == 0:
                progress(wave + 1, waves)
        for wait in on_the_way:
            wait()
        start = ring.row(waves - 1) + problem.first(waves - 1)
        return np.asarray(self.backend.read(self.window, start, problem.cells(waves - 1)))

    def _launch(self, wave: int) -> None:
        """Queue the whole teams that have a cell of a wave."""
        ring, team = self.ring, self.team_size
        first = self.problem.first(wave)
        begin = first // team * team
        count = -(-(first + self.problem.cells(wave)) // team) * team - begin
        here = Wave(wave, count, begin, ring.row(wave) + begin)
        window = Window(self.window, ring.row(wave - 1), ring.row(wave - 2))
        self.backend.launch(self.kernel, self._teams(count), team, here, window, self.nothing, 0, self.data)

    def _teams(self, cells: int) -> int:
        """Teams for so many cells: one for as many as it has lanes, or as many teams as the device runs at a time."""
        limits = self.backend.capabilities
        most = limits.compute_units * max(1, limits.lanes_resident // self.team_size)
        return int(max(1, min(most, cells // self.team_size)))


def ring_for(problem: CellWaves, team_size: int) -> WaveRing:
    """Rows for the waves that a wave reads, for itself, and for some that are on their way to the host."""
    lanes = -(-problem.lanes() // team_size) * team_size
    row_bytes = (team_size + lanes) * problem.value.dtype.itemsize
    waiting = min(MOST_IN_FLIGHT, MOST_BYTES_IN_FLIGHT // row_bytes)
    return WaveRing(problem.lookback + 1 + waiting, team_size, lanes)
