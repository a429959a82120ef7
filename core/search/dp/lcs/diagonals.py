"""Longest common subsequence by the paper's own mapping (`oconnell2014`, section IV.C): a launch for each diagonal.

Every cell goes to the host (`core.search.dp.engine.cells`). There the subsequence is traced by the suite's rules for
ties, so it is the one that the suite's own kernels find.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from core.kernels.dp.diagonals import PaddedStrings, common_length
from core.lang import i32
from core.search.checkpoint import Checkpointer
from core.search.dp.engine.cells import CellEngine, HostCells, WaveRing
from core.search.dp.engine.diagonals import LaneDiagonals
from core.search.dp.engine.pauses import refuse_checkpoints
from core.search.dp.lcs.search import FIRST_ROWS, CommonSubsequence, check_letters
from core.search.protocol import Callback, ProgressMonitor, table_monitor
from core.search.stop import Stop

ABOVE, BESIDE = 256, 257
"""Letters of the padding, which are equal to no letter and not to each other."""


class LcsDiagonals(LaneDiagonals):
    """Equation 2: longest common subsequences of all prefixes, with a lane for each letter of the shorter string."""

    value = i32
    lookback = 2
    cell = common_length

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.across, self.down = (a, b) if a.size < b.size else (b, a)
        self.columns, self.rows = self.across.size, self.down.size

    def lie(self, ring: WaveRing) -> None:
        """Pad the strings: lanes read letters before they are in the table and after they have left it."""
        across = np.full(ring.lanes, BESIDE, np.uint16)
        across[: self.columns] = self.across
        start = ring.lanes - 1
        down = np.full(start + self.waves(), ABOVE, np.uint16)
        down[start : start + self.rows] = self.down
        self.data = PaddedStrings(across, down, start)


class LcsByDiagonals:
    """A longest common subsequence; see `core.search.dp.lcs.search.LongestCommonSubsequence`, whose answer is the same.

    Parameters
    ----------
    backend, communicator, folder, team_size
        See `core.search.dp.engine.cells.CellEngine`, which refuses several ranks.
    a, b : 1-D, u8

    """

    work_unit = "cells"

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        a: np.ndarray,
        b: np.ndarray,
        *,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        check_letters(a.size, b.size)
        self.backend, self.communicator, self.a, self.b = backend, communicator, a, b
        self.work = a.size * b.size
        self.engine: CellEngine | None = None
        if self.work:
            self.engine = CellEngine(backend, communicator, LcsDiagonals(a, b), folder, team_size)

    def make_room(self) -> None:
        """See `CellEngine.make_room`."""
        if self.engine is not None:
            self.engine.make_room()

    def warm_up(self, trace: bool = True) -> None:
        """Compile everything, by a run of the first letters; the time counts as the backend's compilation."""
        began = time.perf_counter()
        LcsByDiagonals(self.backend, self.communicator, self.a[:FIRST_ROWS], self.b[:FIRST_ROWS]).run(trace=False)
        self.backend.synchronize()
        self.backend.timings.reset()
        self.backend.timings.compile_s = time.perf_counter() - began

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
        trace: bool = True,
    ) -> CommonSubsequence:
        """Compute the length and, with ``trace``, a subsequence from the cells on the host.

        See `LongestCommonSubsequence.run`; the only rank has nobody to meet, and no state is kept.
        """
        refuse_checkpoints(checkpointer, "--mapping published", "--mapping native")
        monitor = table_monitor(stop, history, callback, "a longest common subsequence")
        found = self._common(trace, monitor)
        monitor.tell_all(found.length, self.work)
        return found

    def _common(self, trace: bool, monitor: ProgressMonitor) -> CommonSubsequence:
        if self.engine is None:
            return CommonSubsequence(0, np.empty((0, 2), np.int64) if trace else None, "nothing to do", 0, 0)
        length = int(self.engine.run(trace, monitor.counts(self.work))[-1])
        cells = self.engine.cells
        if not trace or cells is None:
            return CommonSubsequence(length, None, "by diagonals", self.work, 0)
        return CommonSubsequence(
            length, self._pairs(cells), "by diagonals, cells on the host", self.work, cells.streamed_bytes
        )

    def _pairs(self, cells: HostCells) -> np.ndarray:
        """Matched positions: left where that keeps the length, else up, else both."""
        lane_is_b = self.b.size <= self.a.size

        def length_of(i: int, j: int) -> int:
            return cells.at(i + j - 2, (j if lane_is_b else i) - 1) if i and j else 0

        i, j, found = self.a.size, self.b.size, []
        here = length_of(i, j)
        while here:
            if length_of(i, j - 1) == here:
                j -= 1
            elif length_of(i - 1, j) == here:
                i -= 1
            else:
                i, j, here = i - 1, j - 1, here - 1
                found.append((i, j))
        return np.array(found[::-1], np.int64).reshape(-1, 2)
