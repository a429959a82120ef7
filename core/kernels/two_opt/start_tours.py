"""Random start tours, one per climber: the generator of the paper's released program, and a counter-based one.

O'Neil, Tamir and Burtscher, "A parallel GPU version of the traveling salesman problem", PDPTA 2011 (`oneil2011`).
"""

from __future__ import annotations

from core.lang import (
    Array,
    Const,
    boolean,
    function,
    i32,
    kernel,
    lane,
    team_count,
    team_rank,
    team_size,
    u16,
    u32,
    u64,
)
from core.lang.library import random_below


@function
def swap_cities(tours: Array[u16], p: i32, q: i32):
    """Exchange two entries of an array of tours."""
    tours[p], tours[q] = tours[q], tours[p]


@kernel
def start_tours(tours: Array[u16], n: i32, climbers: i32, first: u64, seed: u64, counter_based: Const[boolean]):
    """Fill ``tours`` (climbers x n) with the start tours of climbers ``first``, ``first + 1`` ...

    Position 0 holds city 0, the others a shuffle of 1..n-1. The paper's generator is
    x <- (1103515245 x + 12345) mod 2^31 from x = climber, and entry p is exchanged with entry x mod (n-1); it ignores
    ``seed``. The counter-based one is Fisher and Yates' shuffle with Philox keyed by (seed; climber, position).
    """
    for c in range(team_rank() * team_size() + lane(), climbers, team_count() * team_size()):
        base = c * n
        for p in range(n):
            tours[base + p] = u16(p)
        climber = first + u64(c)
        if counter_based:
            for p in range(n - 1, 1, -1):
                swap_cities(tours, base + p, base + 1 + i32(random_below(u32(p), seed, climber, u32(p))))
        else:
            x = u32(climber & 0x7FFFFFFF)
            for p in range(1, n):
                x = (x * 1103515245 + 12345) & 0x7FFFFFFF
                swap_cities(tours, base + p, base + 1 + i32(x % u32(n - 1)))
