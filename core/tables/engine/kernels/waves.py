"""The paper's form of dynamic programming (`oconnell2014`, section IV): a launch computes a wave of cells.

Cells of a wave are neighbours in memory, and so are the accesses of neighbouring lanes. A row of the window is as long
as the widest wave, so that lanes at the ends take the same path.
"""

from __future__ import annotations

from functools import lru_cache

from core.lang import *

V = Generic("V")
D = Generic("D")


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
        ``cell(wave, number, window, data) -> V``; see `core.tables.engine.recurrences.Waves`.
    """

    @kernel
    def compute_wave(wave: Wave, window: Window, data: D):
        """Compute the cells of a wave."""
        workers = team_count() * team_size()
        for k in range(team_rank() * team_size() + lane(), wave.count, workers):
            window.cells[wave.begin + k] = cell(wave.number, wave.first + k, window, data)

    return compute_wave
