"""The paper's form of dynamic programming (`oconnell2014`, section IV): a launch computes a wave of cells.

Cells of a wave are neighbours in memory, and so are the accesses of neighbouring lanes. A row of the window is as long
as the widest wave, so that lanes at the ends take the same path.
"""

from __future__ import annotations

from functools import lru_cache

from core.lang import *

V = Generic("V")
D = Generic("D")
SPAN = 32
"""Number of neighbouring cells with choices in neighbouring words, which neighbouring lanes write."""


@bundle
class Window:
    """Cell k of the previous wave is ``cells[one + k]``, of the wave before that ``cells[two + k]``."""

    cells: Array[V]
    one: i32
    two: i32


@bundle
class Wave:
    """The wave ``number``: ``count`` cells with numbers from ``first`` on, in the window from ``begin`` on."""

    number: i32
    count: i32
    first: i32
    begin: i32


@bundle
class PackedChoices:
    """Choices, packed into words; the choices of a launch begin at the word ``begin``."""

    words: Array[u32]
    begin: i64


@kernel
def clear(cells: Array[V], count: i64):
    """Write 0 to the first ``count`` cells: the border of a table, and the padding that lanes read before it."""
    worker = team_rank() * team_size() + lane()
    for k in range(i64(worker), count, i64(team_count() * team_size())):
        cells[k] = V(0)


@lru_cache(maxsize=32)
def wave_kernel(cell: Function) -> Kernel:
    """Return the kernel that computes a wave of a problem, one for each function.

    Parameters
    ----------
    cell
        ``cell(wave, number, window, choice, data) -> V``; see `core.tables.engine.recurrences.Waves`.
    """

    @kernel
    def compute_wave(wave: Wave, window: Window, choices: PackedChoices, bits: Const[i32], data: D):
        """Compute the cells of a wave, and ``bits`` bits of choice of each.

        Word ``q * SPAN + r`` has the choices of cells ``(q * per + s) * SPAN + r``, with ``s`` from 0 to ``per`` - 1
        and ``per`` = 32 // ``bits``.
        """
        choice = local_array(1, u32)
        worker = team_rank() * team_size() + lane()
        workers = team_count() * team_size()
        if bits == 0:
            for k in range(worker, wave.count, workers):
                window.cells[wave.begin + k] = cell(wave.number, wave.first + k, window, choice, data)
        else:
            per = 32 // bits
            words = (wave.count + SPAN * per - 1) // (SPAN * per) * SPAN
            for w in range(worker, words, workers):
                packed = u32(0)
                base = w // SPAN * SPAN * per + w % SPAN
                for s in range(min(per, (wave.count - base + SPAN - 1) // SPAN)):
                    k = base + s * SPAN
                    choice[0] = u32(0)
                    window.cells[wave.begin + k] = cell(wave.number, wave.first + k, window, choice, data)
                    packed = packed | choice[0] << (s * bits)
                choices.words[choices.begin + w] = packed

    return compute_wave
