"""The paper's form of dynamic programming (`oconnell2014`, section IV): one launch computes one wave of cells.

Cells of a wave lie side by side, so that neighbouring lanes read and write neighbouring memory, and a row of the window
is as long as the widest wave, so that no lane needs a path of its own at the ends.
"""

from __future__ import annotations

from typing import Any

from core.lang import (
    Array,
    Const,
    Generic,
    Pack,
    i32,
    kernel,
    lane,
    local_array,
    min,
    team_count,
    team_rank,
    team_size,
    u32,
)

V = Generic("V")
SPAN = 32
"""Neighbouring cells whose choices go to neighbouring words, so that neighbouring lanes write them."""


def wave_kernel(cell: Any, data: Pack) -> Any:
    """Make the kernel that computes a wave of a problem.

    Parameters
    ----------
    cell
        ``cell(wave, index, window, one, two, choice, ...data) -> V``; see `core.search.dp.waves.Waves`.
    data
        The names that ``cell`` may ask for.

    """

    @kernel(pack=data)
    def compute_wave(
        window: Array[V],
        kept: Array[u32],
        wave: i32,
        cells: i32,
        first: i32,
        here: i32,
        one: i32,
        two: i32,
        kept_here: i32,
        bits: Const[i32],
        *data,
    ):
        """Cells ``window[here + k]`` of a wave, and ``bits`` bits of choice of each packed into words of ``kept``.

        Word ``q * SPAN + r`` holds those of cells ``(q * per + s) * SPAN + r``, ``s`` from 0 to ``per`` - 1, where
        ``per`` is 32 // ``bits``. Cell k of the window has the number ``first + k``, and ``one`` and ``two`` are where
        the cells number 0 of the two waves before would be.
        """
        choice = local_array(1, u32)
        me = team_rank() * team_size() + lane()
        everyone = team_count() * team_size()
        if bits == 0:
            for k in range(me, cells, everyone):
                window[here + k] = cell(wave, first + k, window, one, two, choice, *data)
        else:
            per = 32 // bits
            words = (cells + SPAN * per - 1) // (SPAN * per) * SPAN
            for w in range(me, words, everyone):
                packed = u32(0)
                base = w // SPAN * SPAN * per + w % SPAN
                for s in range(min(per, (cells - base + SPAN - 1) // SPAN)):
                    k = base + s * SPAN
                    choice[0] = u32(0)
                    window[here + k] = cell(wave, first + k, window, one, two, choice, *data)
                    packed = packed | choice[0] << (s * bits)
                kept[kept_here + w] = packed

    return compute_wave
