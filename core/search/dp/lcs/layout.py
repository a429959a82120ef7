"""Launch shape and layout of a table of the longest common subsequence."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.kernels.dp.lcs import COLUMNS, ROWS, Pipeline

LAUNCHES_PER_STRIP = 8
"""Of cores, for each strip of all ranks: the wave comes to the next one in such a part of the time of one."""
SIZE_OF_LAUNCH = 64 << 20
"""Bytes of kept bits that one launch should not exceed by much."""


class LcsLaunchShape(NamedTuple):
    """Columns on a device: lanes of a team, words of a lane, teams, steps of a launch."""

    lanes: int
    words: int
    strips: int
    steps: int

    @property
    def delay(self) -> int:
        """Launches by which a strip starts after the one to its left."""
        return 1 + -(-(self.lanes - 1) // self.steps)

    def launches(self, batches: int, strip: int) -> int:
        """Launches until a strip has done ``batches`` batches."""
        return -(-(batches + self.lanes - 1) // self.steps) + self.delay * strip

    @property
    def launch_words(self) -> int:
        return self.strips * self.steps * self.words * ROWS * self.lanes

    @property
    def strip_columns(self) -> int:
        return self.lanes * self.words * COLUMNS


def shape_for(
    capabilities: Any, words: int, batches: int, room: int | None = None, strips: int | None = None, ranks: int = 1
) -> LcsLaunchShape:
    """Choose a shape for a number of words of columns and batches of rows.

    The bits of all rows may take ``room`` bytes of the device; None: they are not kept. There are at least ``strips``
    strips, if there are as many words, and ``ranks`` such tables side by side.
    """
    if capabilities.lanes_resident > 1:
        lanes = min(32, capabilities.max_team_size)
        if strips is not None:
            lanes = max(1, min(lanes, words // strips))
        shape = LcsLaunchShape(lanes, 1, -(-words // lanes), max(1, lanes // 4))
        if room is not None and 16 * shape.launch_words > room:
            lanes = min(lanes, words)
            steps = max(1, min(shape.steps, room // (16 * ROWS * -(-words // lanes) * lanes)))
            shape = LcsLaunchShape(lanes, 1, -(-words // lanes), steps)
        return shape
    strips = min(words, max(capabilities.compute_units, strips or 1))
    each = -(-words // strips)
    steps = -(-batches // (LAUNCHES_PER_STRIP * strips * ranks))
    if room is not None:
        steps = min(steps, min(SIZE_OF_LAUNCH, room // 4) // (8 * ROWS * each * strips))
    return LcsLaunchShape(1, each, -(-words // each), max(1, steps))


class LcsTableLayout(NamedTuple):
    """Order of work on the rows and columns of a table.

    ``reach`` and ``slope`` end strips above the last row (see `core.kernels.dp.lcs.Pipeline`); None: they all have it.
    """

    shape: LcsLaunchShape
    batches: int
    reach: int | None = None
    slope: int = 0

    def batches_of(self, strip: int) -> int:
        """Number of its batches that a strip computes."""
        reach = self.batches if self.reach is None else self.reach
        return min(max(reach - strip * self.slope, 0), self.batches)

    @property
    def launches(self) -> int:
        last = self.shape.strips - 1
        if self.slope == 0 or self.batches_of(last) == self.batches:
            return self.shape.launches(self.batches_of(0), last) if self.batches_of(0) else 0
        ends = ((self.batches_of(strip), strip) for strip in range(self.shape.strips))
        return max((self.shape.launches(end, strip) for end, strip in ends if end), default=0)

    @property
    def pipeline(self) -> Pipeline:
        shape, reach = self.shape, self.batches if self.reach is None else self.reach
        return Pipeline(
            self.batches, shape.steps, shape.delay, shape.words, shape.lanes, shape.strips, reach, self.slope
        )  # fmt: skip

    @property
    def kept_bytes(self) -> int:
        return self.launches * self.shape.launch_words * 8

    def fits_launches(self, room: int) -> bool:
        """Return True if the bits of two launches fit ``room`` bytes, or there is one launch."""
        return 16 * self.shape.launch_words <= room or self.launches == 1


def layout_for(
    capabilities: Any,
    rows: int,
    columns: int,
    *,
    room: int | None = None,
    strips: int | None = None,
    ranks: int = 1,
    shape: LcsLaunchShape | None = None,
) -> LcsTableLayout:
    """Lay out a table of at least one row; all but ``shape`` is for `shape_for`, unless a shape is given."""
    words, batches = max(1, -(-columns // COLUMNS)), -(-rows // ROWS)
    return LcsTableLayout(shape or shape_for(capabilities, words, batches, room, strips, ranks), batches)
