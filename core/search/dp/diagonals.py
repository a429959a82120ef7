"""Two tables by the paper's own mapping (`oconnell2014`, section IV.C): common subsequences and the knapsack problem.

A launch computes a diagonal, and every cell goes to the host (`core.search.dp.engine.cells`), where the solution is
traced by the suite's rules for ties: so it is the one that the suite's own kernels find.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from core.kernels.dp.diagonals import ItemColumns, PaddedStrings, common_length, packed_value
from core.lang import i32, u32, u64
from core.problems.tables.knapsack import Knapsack
from core.search.checkpoint import Checkpointer
from core.search.dp.engine.cells import CellEngine, CellWaves, HostCells, WaveRing
from core.search.dp.engine.pauses import refuse_checkpoints
from core.search.dp.knapsack.search import Selection, make_selection
from core.search.dp.lcs.search import FIRST_ROWS, CommonSubsequence, check_letters
from core.search.protocol import Callback, ProgressMonitor, table_monitor
from core.search.stop import Stop

ABOVE, BESIDE = 256, 257
"""Letters of the padding, which are equal to no letter and not to each other."""


class LaneDiagonals(CellWaves):
    """A table of ``columns``, a lane for each, and ``rows`` that they go through: lane k is in row wave - k."""

    columns: int
    rows: int

    def waves(self) -> int:
        """All diagonals."""
        return self.columns + self.rows - 1

    def first(self, wave: int) -> int:
        """The first lane in the table."""
        return max(0, wave - self.rows + 1)

    def cells(self, wave: int) -> int:
        """Lanes in the table."""
        return min(wave, self.columns - 1) - self.first(wave) + 1

    def width(self) -> int:
        """Of the longest diagonal."""
        return min(self.columns, self.rows)

    def lanes(self) -> int:
        """One for each column."""
        return self.columns

    def begin(self, wave: int) -> int:
        """Cells of the diagonals before this one: they grow, stay as long as the shorter side, and shrink."""
        short, long = sorted((self.columns, self.rows))
        left = short + long - 1 - wave
        if wave > long:
            return short * long - left * (left + 1) // 2
        growing = min(wave, short)
        return growing * (growing + 1) // 2 + (wave - growing) * short


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
        keeper: Checkpointer | None = None,
        trace: bool = True,
    ) -> CommonSubsequence:
        """Compute the length and, with ``trace``, a subsequence from the cells on the host.

        See `LongestCommonSubsequence.run`; the only rank has nobody to meet, and no state is kept.
        """
        refuse_checkpoints(keeper, "--mapping published", "--mapping native")
        watch = table_monitor(stop, history, callback, "a longest common subsequence")
        found = self._common(trace, watch)
        watch.tell_all(found.length, self.work)
        return found

    def _common(self, trace: bool, watch: ProgressMonitor) -> CommonSubsequence:
        if self.engine is None:
            return CommonSubsequence(0, np.empty((0, 2), np.int64) if trace else None, "nothing to do", 0, 0)
        length = int(self.engine.run(trace, watch.counts(self.work))[-1])
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


class KnapsackDiagonals(LaneDiagonals):
    """Equation 4: the best values of the first items within all capacities, with a lane for each item.

    Items come in the suite's order, by weight and then by number, of which its rule for ties speaks. Those that do not
    fit, or are worth nothing, change no cell.

    Parameters
    ----------
    instance : Knapsack
    value_type
        ``u32`` or ``u64``.

    """

    cell = packed_value

    def __init__(self, instance: Knapsack, value_type: Any) -> None:
        self.value = value_type
        self.order = np.argsort(instance.weights, kind="stable")
        fits = instance.weights[self.order] <= instance.capacity
        self.weights = np.where(fits, instance.weights[self.order], 0).astype(np.int64)
        self.values = np.where(fits, instance.values[self.order], 0)
        self.columns, self.rows = instance.n, instance.capacity + 1
        self.lookback = 1 + int(self.weights.max())

    def lie(self, ring: WaveRing) -> None:
        """Place the items, and what lies how far before what they follow from."""
        weights, values = np.zeros(ring.lanes, np.int32), np.zeros(ring.lanes, self.value.dtype)
        weights[: self.columns], values[: self.columns] = self.weights, self.values
        self.data = ItemColumns(weights, values, weights * np.int32(ring.stride), ring.cells)


class KnapsackByDiagonals:
    """The 0-1 knapsack problem; see `core.search.dp.knapsack.search.KnapsackSearch`, whose answer is the same.

    The diagonal of an item i and a capacity j follows from those before it back to j minus the heaviest weight, so the
    device keeps one more than that weight; the paper keeps all "until the halfway point".

    Parameters
    ----------
    backend, communicator, folder, team_size
        See `core.search.dp.engine.cells.CellEngine`, which refuses several ranks.
    instance : Knapsack

    """

    work_unit = "cells"

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        instance: Knapsack,
        *,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        self.backend, self.communicator, self.instance, self.team_size = backend, communicator, instance, team_size
        self.items = np.arange(instance.n)
        self.work = instance.n * (instance.capacity + 1)
        self.problem = KnapsackDiagonals(instance, u32 if instance.upper_bound() < 2**32 else u64)
        self.engine = CellEngine(backend, communicator, self.problem, folder, team_size)

    def make_room(self) -> None:
        """See `CellEngine.make_room`."""
        self.engine.make_room()

    def warm_up(self) -> None:
        """Compile everything, by a run with one item; the time counts as the backend's compilation."""
        few = KnapsackDiagonals(Knapsack("one item", np.ones(1, int), np.ones(1, int), 1), self.problem.value)
        with self.backend.warming_up():
            CellEngine(self.backend, self.communicator, few, team_size=self.team_size).run(keep=False)

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        keeper: Checkpointer | None = None,
        trace: bool = True,
    ) -> Selection:
        """Find the largest value, and with ``trace`` a selection that has it, from the cells on the host.

        See `KnapsackSearch.run`; its steps are diagonals, the only rank has nobody to meet, and no state is kept.
        """
        refuse_checkpoints(keeper, "--mapping published", "--mapping native")
        watch = table_monitor(stop, history, callback, "the knapsack problem's table")
        value = int(self.engine.run(trace, watch.counts(self.work))[-1])
        watch.tell_all(value, self.work)
        cells = self.engine.cells
        if not trace or cells is None:
            return make_selection(self.instance, value, None, cells=self.work)
        chosen = self._chosen(cells)
        return make_selection(self.instance, value, chosen, cells=self.work, streamed_bytes=cells.streamed_bytes)

    def _chosen(self, cells: HostCells) -> np.ndarray:
        """The selection: of the last item first, each is taken where that is worth more than leaving it."""
        chosen = np.zeros(self.instance.n, bool)
        left = self.instance.capacity
        for k in reversed(range(len(self.items))):
            without = cells.at(k - 1 + left, k - 1) if k else 0
            if cells.at(k + left, k) > without:
                chosen[self.problem.order[k]] = True
                left -= int(self.problem.weights[k])
        return chosen
