"""A launch per diagonal of tiles of a `Grid`: many cells per launch."""

from __future__ import annotations

import numpy as np

from core.errors import NoRoom
from core.run.devices import ComputeDevice, DeviceLimits
from core.tables.engine.decisions import DecisionRows, decision_room
from core.tables.engine.kernels.grid import Frontier, Tiling, tile_kernel
from core.tables.engine.kernels.waves import PackedChoices
from core.tables.engine.recurrences import MOST_CELLS, Grid, WaveResult, upload_problem_data


class TileShape:
    """Tiles of a table, and places of the choices of a cell."""

    def __init__(self, rows: int, columns: int, lanes: int, bands: int, width: int) -> None:
        self.lanes, self.bands, self.wide = lanes, bands, width
        self.tall = lanes * bands
        self.across, self.down = -(-columns // width), -(-rows // self.tall)
        self.waves = self.across + self.down - 1
        end = max(self.down * self.tall, self.across * width)
        if end >= MOST_CELLS:
            raise NoRoom(f"{end} rows or columns in whole tiles: expected less than {MOST_CELLS}")

    @classmethod
    def fitting(cls, grid: Grid, limits: DeviceLimits, room: int) -> TileShape:
        """Return tiles of the device's best size, or smaller ones so that two diagonals fit ``room`` bytes."""
        lanes, bands, columns = (min(64, limits.max_team_size), 1, 256) if limits.lanes_resident > 1 else (1, 128, 1024)
        bands, columns = min(bands, grid.rows), min(columns, grid.columns)
        while True:
            tiles = cls(grid.rows, grid.columns, lanes, bands, columns)
            if grid.choices == 0 or 8 * tiles.kept_words(grid.choices) <= room or (bands, columns) == (1, 1):
                return tiles
            bands, columns = (bands // 2, columns) if bands > 1 else (1, columns // 2)

    def first(self, wave: int) -> int:
        return max(0, wave - self.across + 1)

    def count(self, wave: int) -> int:
        return min(wave, self.down - 1) - self.first(wave) + 1

    def kept_words(self, bits: int) -> int:
        return min(self.across, self.down) * self.tall * -(-self.wide // (32 // bits))

    def choice(self, rows: DecisionRows, bits: int, i: int, j: int) -> int:
        per_word = 32 // bits
        (down, y), (across, x) = divmod(i - 1, self.tall), divmod(j - 1, self.wide)
        wave = down + across
        line = (down - self.first(wave)) * self.bands + y // self.lanes
        word = (line * -(-self.wide // per_word) + x // per_word) * self.lanes + y % self.lanes
        return int(rows.row(wave)[word]) >> x % per_word * bits & (1 << bits) - 1


class GridTiles:
    """Frontier, choices and launches of a grid; the parameters are those of `WaveEngine`."""

    report_every = 64

    def __init__(
        self, backend: ComputeDevice, grid: Grid, room: int | None, folder: str | None, shape: tuple[int, ...] | None
    ) -> None:
        self.backend, self.room, self.folder = backend, room, folder
        self.problem = grid
        if shape:
            self.tiles = TileShape(grid.rows, grid.columns, *shape)
        else:
            self.tiles = TileShape.fitting(grid, backend.capabilities, decision_room(backend, room))
        self.launches = self.tiles.waves
        self.kernel = tile_kernel(grid.step)
        self.data = upload_problem_data(backend, grid)
        self.tiling = Tiling(grid.rows, grid.columns, self.tiles.bands, self.tiles.wide)
        self.nothing = backend.allocate(1, np.uint32)
        self.bits = 0
        self.rows: DecisionRows | None = None

    def begin(self, trace: bool) -> None:
        grid, tiles = self.problem, self.tiles
        i, j = np.arange(grid.rows + 1), np.arange(grid.columns + 1)
        below, right_of = grid.edge(np.zeros_like(j), j), grid.edge(i, np.zeros_like(i))
        left = grid.edge(np.zeros(tiles.across, np.int64), np.arange(tiles.across)[::-1] * tiles.wide)
        top = grid.edge(np.arange(1, tiles.down) * tiles.tall, np.zeros(tiles.down - 1, np.int64))
        borders = below, right_of, np.concatenate([left, top])
        self.frontier = self.backend.load(Frontier(*(np.asarray(v, grid.value.dtype) for v in borders)))
        self.bits, self.rows = grid.choices if trace else 0, None
        if self.bits:
            self.rows = DecisionRows(self.backend, tiles.waves, tiles.kept_words(self.bits), self.room, self.folder)

    def launch(self, wave: int) -> None:
        tiles = self.tiles
        choices = PackedChoices(*(self.rows.place(wave) if self.rows else (self.nothing, 0)))
        self.backend.launch(
            self.kernel, tiles.count(wave), tiles.lanes,
            self.frontier, self.tiling, choices, wave, tiles.first(wave), self.bits, self.data,
        )  # fmt: skip
        if self.rows:
            self.rows.close_row(wave)

    def result(self) -> WaveResult:
        rows, bits, tiles = self.rows, self.bits, self.tiles
        values = self.backend.read(self.frontier.right, self.problem.rows, 1)
        if rows is None:
            return WaveResult(values)
        return WaveResult(values, lambda i, j: tiles.choice(rows, bits, i, j), streamed_bytes=rows.streamed_bytes)
