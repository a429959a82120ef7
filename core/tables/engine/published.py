"""The paper's mapping (`oconnell2014`, section IV): a launch per wave; finished cells go to the host.

The device keeps the waves that later ones read. The host gets every cell, copied while the next waves are computed, and
traces a solution from the values. Waves are rows of one linear memory; a row is longer than any wave, so every lane of
every team can read and write.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from core.errors import NoRoom
from core.run.devices import ComputeDevice
from core.tables.engine.kernels.waves import Wave, Window, clear, wave_kernel
from core.tables.engine.recurrences import (
    MOST_CELLS,
    TEAM_SIZE,
    HostCells,
    WaveResult,
    WaveRing,
    Waves,
    upload_problem_data,
)

PROGRESS = 256
"""Waves between two reports of progress, or a hundredth of all if there are few."""


class PublishedWaves:
    """Ring, host memory and launches of a problem; the parameters are those of `WaveEngine`."""

    def __init__(
        self, backend: ComputeDevice, problem: Waves, folder: str | None, shape: tuple[int, ...] | None
    ) -> None:
        self.backend, self.problem, self.folder = backend, problem, folder
        self.team_size = shape[0] if shape else min(TEAM_SIZE, int(backend.capabilities.max_team_size))
        self.launches = problem.waves()
        self.report_every = max(1, min(PROGRESS, self.launches // 100))
        self.ring = WaveRing.of(problem, self.team_size)
        self._check()
        self.kernel = wave_kernel(problem.cell)
        problem.lie(self.ring)
        try:
            self.window = backend.allocate(self.ring.cells, problem.value.dtype)
            self.data = upload_problem_data(backend, problem)
        except MemoryError as error:
            raise NoRoom(f"--mapping published: {self._needed()}: {error}") from error
        self.cells: HostCells | None = None
        self.keeps = False
        self.copies: deque[Callable[[], None]] = deque()

    def _needed(self) -> str:
        bytes_needed = self.ring.cells * self.problem.value.dtype.itemsize
        return f"{self.ring.rows} waves of {self.ring.lanes} cells need {bytes_needed} bytes of the device"

    def _check(self) -> None:
        cells, memory = self.ring.cells, self.backend.device.memory_bytes  # a simulator's is 0
        if max(cells, self.launches + self.ring.stride) > MOST_CELLS:
            raise NoRoom(
                f"--mapping published: {self.launches} waves, {self.ring.rows} of which have {cells} cells "
                f"on the device: expected at most {MOST_CELLS} of both"
            )
        if memory and cells * self.problem.value.dtype.itemsize > memory:
            raise NoRoom(f"--mapping published: {self._needed()}, and {memory} are there")

    def make_room(self) -> None:
        if self.cells is None:
            self.cells = HostCells(self.backend, self.problem, self.folder)

    def begin(self, trace: bool) -> None:
        self.keeps = trace
        if trace:
            self.make_room()
        self.backend.launch(clear, self._teams(self.ring.cells), self.team_size, self.window, self.ring.cells)

    def launch(self, wave: int) -> None:
        problem, ring, team = self.problem, self.ring, self.team_size
        if len(self.copies) == ring.rows:
            self.copies.popleft()()  # the earlier wave in this place has been copied to the host
        first = problem.first(wave)
        begin = first // team * team
        count = -(-(first + problem.cells(wave)) // team) * team - begin
        target = Wave(wave, count, begin, ring.row(wave) + begin)
        window = Window(self.window, ring.row(wave - 1), ring.row(wave - 2))
        self.backend.launch(self.kernel, self._teams(count), team, target, window, self.data)
        if self.keeps and self.cells is not None:
            copy = self.cells.wave(wave)
            self.copies.append(self.backend.stream_out(self.window, ring.row(wave) + first, copy.size, copy))

    def result(self) -> WaveResult:
        while self.copies:
            self.copies.popleft()()
        wave = self.launches - 1
        start = self.ring.row(wave) + self.problem.first(wave)
        values = np.asarray(self.backend.read(self.window, start, self.problem.cells(wave)))
        if not self.keeps or self.cells is None:
            return WaveResult(values)
        return WaveResult(values, cells=self.cells, streamed_bytes=int(self.cells.memory.nbytes))

    def _teams(self, cells: int) -> int:
        """Return the number of teams for these cells, at most the number that the device runs at a time."""
        capabilities = self.backend.capabilities
        most_teams = capabilities.compute_units * max(1, capabilities.lanes_resident // self.team_size)
        return int(max(1, min(most_teams, cells // self.team_size)))
