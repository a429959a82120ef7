"""Tables by diagonals as in the paper's own mapping (`oconnell2014`, section IV.C): a launch for each diagonal."""

from __future__ import annotations

from core.search.dp.engine.cells import CellWaves


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
