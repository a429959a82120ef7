"""The result of a run of the wave engine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.search.dp.engine.host_memory import host_memory
from core.search.dp.engine.recurrences import Waves


class HostCells:
    """All cells of a run on the host, wave after wave without a gap; in a file if a folder is given."""

    def __init__(self, backend: Any, problem: Waves, folder: str | None) -> None:
        self.problem = problem
        count = problem.begin(problem.waves())
        self.memory = host_memory(backend, count, problem.value.dtype, "cells", folder)

    def wave(self, wave: int) -> np.ndarray:
        begin = self.problem.begin(wave)
        return self.memory[begin : begin + self.problem.cells(wave)]

    def at(self, wave: int, number: int) -> int:
        return int(self.memory[self.problem.begin(wave) + number - self.problem.first(wave)])


class WaveResult(NamedTuple):
    """The result of a run of a `core.search.dp.engine.waves.WaveEngine`.

    Attributes
    ----------
    last : ndarray
        Values of the last wave; of tiles the last cell alone.
    choice : callable or None
        ``choice(wave, index)``, of a `Grid` ``choice(i, j)``: the choice of a cell. Ask from the last wave to the
        first. None: not kept.
    cells : HostCells or None
        All cells, with the published mapping.
    streamed_bytes : int
        Bytes that left the device.

    """

    last: np.ndarray
    choice: Any = None
    cells: HostCells | None = None
    streamed_bytes: int = 0

    @property
    def value(self) -> int:
        return int(self.last[-1])
