"""Dynamic programming over a table: a cell follows from its neighbours above, left and above left.

A team computes a tile of rows and columns, and a launch a diagonal of tiles. Inside a tile, the lanes of a team compute
neighbouring rows as a wave over the columns, each lane a step behind the lane above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from core.lang import *
from core.tables.engine.kernels.waves import PackedChoices

if TYPE_CHECKING:
    V: TypeAlias = Any
else:
    V = Generic("V")
D = Generic("D")


@bundle
class Near:
    """The neighbours (i - 1, j - 1), (i - 1, j) and (i, j - 1) of the cell (i, j)."""

    corner: V
    up: V
    left: V


@bundle
class Frontier:
    """Border values of finished tiles, read by the tiles below and to the right.

    Attributes
    ----------
    below : Array, columns + 1
        The lowest known value of each column; initially the border's first row.
    right : Array, rows + 1
        The rightmost known value of each row; initially the border's first column.
    corners : Array, tiles across + tiles down
        The value above and left of the next tile in each descending diagonal of tiles.
    """

    below: Array[V]
    right: Array[V]
    corners: Array[V]


@bundle
class Tiling:
    """A table of ``rows`` and ``columns`` in tiles of ``bands`` * team_size() rows and ``wide`` columns."""

    rows: i32
    columns: i32
    bands: i32
    wide: i32


@function
def keep(choice: u32, c: i32, last_column: i32, packed: u32, line: i64, words: Array[u32], bits: Const[i32]) -> u32:
    """Pack the choice of column c of a lane's line; store a word that is full or ends the line.

    The words of a line begin at ``line``; the words of a team's lanes alternate. Return the word in progress.
    """
    per = 32 // bits
    packed = packed | choice << (c % per * bits)
    if c % per == per - 1 or c == last_column:
        words[line + c // per * team_size()] = packed
        packed = u32(0)
    return packed


@lru_cache(maxsize=32)
def tile_kernel(step: Function) -> Kernel:
    """Make the kernel of a diagonal of tiles; ``step`` is that of `core.tables.engine.recurrences.Grid`."""

    @kernel
    def grid_tile(
        frontier: Frontier, tiling: Tiling, choices: PackedChoices, wave: i32, first: i32, bits: Const[i32], data: D
    ):  # fmt: skip
        """Compute the diagonal ``wave`` of tiles: each team computes the tile in row ``first`` + team of tiles.

        Choices of ``bits`` bits are stored by tile, band, word of neighbouring columns, and lane.
        """
        passing = shared_array(2 * team_size(), V)
        entering = shared_array(1, V)
        choice = local_array(1, u32)
        across = (tiling.columns + tiling.wide - 1) // tiling.wide
        tile_row = first + team_rank()
        left_end = (wave - tile_row) * tiling.wide
        width = min(tiling.wide, tiling.columns - left_end)
        diagonal = tile_row - (wave - tile_row) + across - 1
        above = frontier.corners[diagonal]
        for band in range(tiling.bands):
            i = (tile_row * tiling.bands + band) * team_size() + lane() + 1
            is_inside = i <= tiling.rows
            left = frontier.right[min(i, tiling.rows)]
            corner = above if lane() == 0 else frontier.right[min(i, tiling.rows + 1) - 1]
            if lane() == team_size() - 1:
                entering[0] = left
            packed = u32(0)
            barrier()
            above = entering[0]
            for turn in range(width + team_size() - 1):
                c = turn - lane()
                if is_inside and c >= 0 and c < width:
                    j = left_end + c + 1
                    up = frontier.below[j] if lane() == 0 else passing[(turn & 1) * team_size() + lane() - 1]
                    choice[0] = u32(0)
                    left = step(i, j, Near(corner, up, left), choice, data)
                    corner = up
                    passing[(turn + 1 & 1) * team_size() + lane()] = left
                    if lane() == team_size() - 1:
                        frontier.below[j] = left
                    if bits > 0:
                        words = (tiling.wide + 32 // bits - 1) // (32 // bits)
                        line = (i64(team_rank()) * tiling.bands + band) * words * team_size() + lane()
                        packed = keep(choice[0], c, width - 1, packed, choices.begin + line, choices.words, bits)
                barrier()
            if is_inside:
                frontier.right[i] = left
            barrier()
        if lane() == team_size() - 1:
            frontier.corners[diagonal] = frontier.right[min((tile_row + 1) * tiling.bands * team_size(), tiling.rows)]

    return grid_tile
