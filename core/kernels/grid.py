"""Dynamic programming over a table whose cells follow from their neighbours above, to the left and between the two.

`grid_cell` is the paper's form (`oconnell2014`): a diagonal of the table per launch. `grid_tile` does many cells per
launch: teams work on tiles of rows and columns, and the tiles of one diagonal of tiles run side by side. Inside a tile,
the lanes of a team stand on neighbouring rows and run through the columns as a wave, each a step behind the one above.
"""

from __future__ import annotations

from typing import Any

from core.lang import (
    Array,
    Const,
    Generic,
    Pack,
    barrier,
    function,
    i32,
    i64,
    kernel,
    lane,
    local_array,
    min,
    shared_array,
    team_rank,
    team_size,
    u32,
)

V = Generic("V")


def grid_cell(step: Any, border: Any, data: Pack) -> Any:
    """Make the function that `core.search.dp.waves` needs, for waves that are diagonals i + j of a table, by i.

    Parameters
    ----------
    step, border
        See `core.search.dp.grid.Grid`.
    data
        The names that both may ask for.

    """

    @function(pack=data)
    def cell(wave: i32, i: i32, window: Array[V], one: i32, two: i32, choice: Array[u32], *data) -> V:
        j = wave - i
        if i == 0 or j == 0:
            return border(i, j, *data)
        before = one + i
        return step(i, j, window[two + i - 1], window[before - 1], window[before], choice, *data)

    return cell


def tile_kernel(step: Any, data: Pack) -> Any:
    """Make the kernel that computes a diagonal of tiles; the arguments are as in `grid_cell`."""

    @kernel(pack=data)
    def grid_tile(
        below: Array[V],
        beside: Array[V],
        corners: Array[V],
        kept: Array[u32],
        kept_here: i64,
        wave: i32,
        first: i32,
        rows: i32,
        columns: i32,
        bands: i32,
        wide: i32,
        bits: Const[i32],
        *data,
    ):
        """Tiles (first + team, wave - first - team) of ``bands`` * team_size() rows and ``wide`` columns.

        Parameters
        ----------
        below : Array, columns + 1
            The lowest value that is known of each column; the border's first row at first.
        beside : Array, rows + 1
            The rightmost value that is known of each row; the border's first column at first.
        corners : Array, tiles across + tiles down
            The value above and to the left of the next tile of each descending diagonal of tiles.
        kept : Array
            Choices of ``bits`` bits: tile, band, word of neighbouring columns, lane.

        """
        passing = shared_array(2 * team_size(), V)
        entering = shared_array(1, V)
        choice = local_array(1, u32)
        across = (columns + wide - 1) // wide
        tile_row = first + team_rank()
        tile_column = wave - tile_row
        left_end = tile_column * wide
        here = min(wide, columns - left_end)
        diagonal = tile_row - tile_column + across - 1
        above = corners[diagonal]
        for band in range(bands):
            i = (tile_row * bands + band) * team_size() + lane() + 1
            inside = i <= rows
            left = beside[min(i, rows)]
            corner = above if lane() == 0 else beside[min(i, rows + 1) - 1]
            if lane() == team_size() - 1:
                entering[0] = left
            packed = u32(0)
            barrier()
            above = entering[0]
            for turn in range(here + team_size() - 1):
                c = turn - lane()
                if inside and c >= 0 and c < here:
                    j = left_end + c + 1
                    up = below[j] if lane() == 0 else passing[(turn & 1) * team_size() + lane() - 1]
                    choice[0] = u32(0)
                    left = step(i, j, corner, up, left, choice, *data)
                    corner = up
                    passing[(turn + 1 & 1) * team_size() + lane()] = left
                    if lane() == team_size() - 1:
                        below[j] = left
                    if bits > 0:
                        per = 32 // bits
                        packed = packed | choice[0] << (c % per * bits)
                        if c % per == per - 1 or c == here - 1:
                            words = (wide + per - 1) // per
                            number = (i64(team_rank()) * bands + band) * words + c // per
                            kept[kept_here + number * team_size() + lane()] = packed
                            packed = u32(0)
                barrier()
            if inside:
                beside[i] = left
            barrier()
        if lane() == team_size() - 1:
            corners[diagonal] = beside[min((tile_row + 1) * bands * team_size(), rows)]

    return grid_tile
