"""Tables of cells that follow from the cells above, left and above left, computed in two forms.

By diagonals, one launch each, as in the paper (`oconnell2014`), or by tiles: strings, sequences and time series are
usually of this kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.dp.grid import Frontier, Tiling, grid_cell, tile_kernel
from core.kernels.dp.waves import PackedChoices
from core.lang import i32
from core.search.dp.engine.decisions import DecisionRows, decision_room
from core.search.dp.engine.waves import MOST_CELLS, WaveDecisions, WaveEngine, Waves, upload_problem_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.search.protocol import CountCallback

TILINGS = ("tiles", "none")


class Grid:
    """A table of rows 0 to ``rows`` and columns 0 to ``columns``; subclasses say what follows.

    Attributes
    ----------
    value
        The language's type of a cell.
    choices : 0, 1 or 2
        Bits of choice kept of a cell; 0 if nothing is traced.
    rows, columns
        The last row and the last column; both at least 1.
    data
        What the functions read: an instance of a class of yours that is a `core.lang.bundle`, with arrays of NumPy's.
    step
        A `core.lang.function`: ``step(i: i32, j: i32, near: Near, choice: Array[u32], data: YourData) -> V`` from the
        cells (i - 1, j - 1), (i - 1, j) and (i, j - 1), which are ``near.corner``, ``near.up`` and ``near.left``
        (`core.kernels.dp.grid.Near`); i and j are at least 1. The choice is left in ``choice[0]``.
    border
        The same for row 0 and column 0, which nothing comes before: ``border(i: i32, j: i32, data: YourData) -> V``.

    """

    value: Any = i32
    choices = 0
    rows: int
    columns: int
    data: Any
    step: Any
    border: Any

    def edge(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The values of ``border``, by NumPy, for cells of row 0 or column 0."""
        raise NotImplementedError


class GridResult(NamedTuple):
    """The value of the last cell; what was chosen at (i, j), if it was kept; bytes that left the device."""

    value: int
    choice: Callable[[int, int], int] | None
    streamed_bytes: int


class GridEngine:
    """Computes a table on one device.

    Parameters
    ----------
    backend, communicator
        Where it runs; several ranks are refused.
    grid
        What is computed.
    tiling
        ``tiles``, or ``none``: one launch per diagonal.
    room, folder
        See `core.search.dp.engine.decisions.DecisionRows`.
    shape
        Lanes of a team, bands of so many rows in a tile, and a tile's columns, in place of those chosen.

    Raises
    ------
    UserError
        Several ranks; a table that is too long for 32-bit indices; data that are no bundle.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        grid: Grid,
        tiling: str = "tiles",
        room: int | None = None,
        folder: str | None = None,
        shape: tuple[int, int, int] | None = None,
    ) -> None:
        if communicator.size > 1:
            raise UserError(f"--tiling {tiling} computes a table on one device; use --tiling auto with several ranks")
        self.backend, self.grid, self.room, self.folder = backend, grid, room, folder
        self.engine: WaveEngine | None = None
        if tiling == "none":
            self.engine = WaveEngine(backend, communicator, GridDiagonals(grid), room, folder)
            return
        self.tiles = (
            GridTiles(grid.rows, grid.columns, *shape) if shape else self._fitting(decision_room(backend, room))
        )
        self.tiles.check()
        self.kernel = tile_kernel(grid.step)
        self.data = upload_problem_data(backend, grid)

    def _fitting(self, room: int) -> GridTiles:
        """Tiles as large as is good for the device, or smaller if two diagonals of choices would not fit the room."""
        grid, limits = self.grid, self.backend.capabilities
        lanes, bands, wide = (min(64, limits.max_team_size), 1, 256) if limits.lanes_resident > 1 else (1, 128, 1024)
        bands, wide = min(bands, grid.rows), min(wide, grid.columns)
        while True:
            tiles = GridTiles(grid.rows, grid.columns, lanes, bands, wide)
            if grid.choices == 0 or 8 * tiles.kept_words(grid.choices) <= room or (bands, wide) == (1, 1):
                return tiles
            bands, wide = (bands // 2, wide) if bands > 1 else (1, wide // 2)

    def run(self, trace: bool = True, progress: CountCallback | None = None) -> GridResult:
        """Compute the table; ``progress(done, waves)`` is told from time to time."""
        if self.engine is None:
            return self._by_tiles(self.grid.choices if trace else 0, progress)
        found = self.engine.run(trace, progress)
        diagonals = self.engine.problem
        if found.decisions is None or not isinstance(diagonals, GridDiagonals):
            return GridResult(int(found.last[0]), None, 0)
        choice = diagonals.choice(found.decisions)
        return GridResult(int(found.last[0]), choice, found.decisions.rows.streamed_bytes)

    def _by_tiles(self, bits: int, progress: CountCallback | None) -> GridResult:
        backend, grid, tiles = self.backend, self.grid, self.tiles
        dtype = grid.value.dtype
        i, j = np.arange(grid.rows + 1), np.arange(grid.columns + 1)
        below, beside = grid.edge(np.zeros_like(j), j), grid.edge(i, np.zeros_like(i))
        left = grid.edge(np.zeros(tiles.across, np.int64), np.arange(tiles.across)[::-1] * tiles.wide)
        top = grid.edge(np.arange(1, tiles.down) * tiles.tall, np.zeros(tiles.down - 1, np.int64))
        borders = below, beside, np.concatenate([left, top])
        frontier = backend.load(Frontier(*(np.asarray(v, dtype) for v in borders)))
        tiling = Tiling(grid.rows, grid.columns, tiles.bands, tiles.wide)
        rows = DecisionRows(backend, tiles.waves, tiles.kept_words(bits), self.room, self.folder) if bits else None
        nothing = backend.allocate(1, np.uint32)
        for wave in range(tiles.waves):
            kept = PackedChoices(*(rows.place(wave) if rows else (nothing, 0)))
            backend.launch(
                self.kernel, tiles.count(wave), tiles.lanes,
                frontier, tiling, kept, wave, tiles.first(wave), bits, self.data,
            )  # fmt: skip
            if rows:
                rows.close_row(wave)
            if progress is not None and (wave + 1) % 64 == 0:
                progress(wave + 1, tiles.waves)
        value = int(backend.read(frontier.beside, grid.rows, 1)[0])
        if rows is None:
            return GridResult(value, None, 0)
        return GridResult(value, tiles.choice(rows, bits), rows.streamed_bytes)


class GridTiles:
    """Where tiles lie, and where the choices of a cell are kept."""

    def __init__(self, rows: int, columns: int, lanes: int, bands: int, wide: int) -> None:
        self.lanes, self.bands, self.wide = lanes, bands, wide
        self.tall = lanes * bands
        self.across, self.down = -(-columns // wide), -(-rows // self.tall)
        self.waves = self.across + self.down - 1

    def check(self) -> None:
        """Raise `UserError` if a place in a tile at the table's end does not fit 31 bits."""
        end = max(self.down * self.tall, self.across * self.wide)
        if end >= MOST_CELLS:
            raise UserError(f"--tiling tiles: {end} rows or columns in whole tiles: expected less than {MOST_CELLS}")

    def first(self, wave: int) -> int:
        """The uppermost tile row of a diagonal of tiles."""
        return max(0, wave - self.across + 1)

    def count(self, wave: int) -> int:
        """Tiles of a diagonal."""
        return min(wave, self.down - 1) - self.first(wave) + 1

    def kept_words(self, bits: int) -> int:
        """Words that a diagonal of tiles keeps."""
        return min(self.across, self.down) * self.tall * -(-self.wide // (32 // bits))

    def choice(self, rows: DecisionRows, bits: int) -> Callable[[int, int], int]:
        """What was chosen at (i, j); best asked from the last cell to the first."""
        per = 32 // bits
        latest: dict[int, np.ndarray] = {}

        def at(i: int, j: int) -> int:
            (down, y), (across, x) = divmod(i - 1, self.tall), divmod(j - 1, self.wide)
            wave = down + across
            if wave not in latest:
                latest.clear()
                latest[wave] = rows.row(wave)
            line = (down - self.first(wave)) * self.bands + y // self.lanes
            word = (line * -(-self.wide // per) + x // per) * self.lanes + y % self.lanes
            return int(latest[wave][word]) >> x % per * bits & (1 << bits) - 1

        return at


class GridDiagonals(Waves):
    """A table by diagonals i + j; a cell's number is its i."""

    lookback = 2

    def __init__(self, grid: Grid) -> None:
        self.rows, self.columns, self.data = grid.rows, grid.columns, grid.data
        self.value, self.choices = grid.value, grid.choices
        self.cell = grid_cell(grid.step, grid.border)

    def waves(self) -> int:
        """Diagonals 0 to rows + columns."""
        return self.rows + self.columns + 1

    def first(self, wave: int) -> int:
        """The smallest i of a diagonal."""
        return max(0, wave - self.columns)

    def cells(self, wave: int) -> int:
        """Cells of a diagonal."""
        return min(wave, self.rows) - self.first(wave) + 1

    def width(self) -> int:
        """Cells of the longest diagonal."""
        return min(self.rows, self.columns) + 1

    def choice(self, decisions: WaveDecisions) -> Callable[[int, int], int]:
        """What was chosen at (i, j)."""
        return lambda i, j: decisions.at(i + j, i - self.first(i + j))
