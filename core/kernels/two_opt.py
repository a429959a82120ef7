"""What all 2-opt climbers have in common: how a climb is counted, hashed and its tour handed out.

A move (i, j) with 0 <= i, i + 2 <= j < n reverses positions i+1..j and gains
e(i) + e(j) - d(t_i, t_j) - d(t_i+1, t_j+1), where e(p) is the length of the edge after position p. A step takes the
move of largest gain; ties go to the smallest i, then the smallest j, as in the scan of the released program.
"""

from __future__ import annotations

from core.lang import Array, atomic_add, atomic_min, function, u32, u64

MOST_CITIES = 46_340
"""The last of n * n distances has the index n * n - 1, which fits 31 bits up to here."""
STEPS, EVALUATIONS, DIGEST = 0, 1, 2
TOTALS = 3


@function
def scrambled(x: u64) -> u64:
    """A bijection on 64 bits that spreads every bit (the finalizer of SplitMix64)."""
    x = (x ^ (x >> 30)) * u64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> 27)) * u64(0x94D049BB133111EB)
    return x ^ (x >> 31)


@function
def finish_climb(climber: u64, first: u64, length: u32, steps: u32, best: Array[u64], totals: Array[u64]):
    """Enter one finished climb: the best (length, climber), the steps, and the digest of (climber, length, steps).

    The digest is a sum, so it does not depend on the order in which climbs finish.
    """
    atomic_min(best, 0, (u64(length) << 32) | (climber - first))
    atomic_add(totals, STEPS, u64(steps))
    atomic_add(
        totals, DIGEST, scrambled(scrambled(climber + u64(0x9E3779B97F4A7C15)) ^ (u64(length) << 32) ^ u64(steps))
    )


@function
def move_key(i: u32, j: u32) -> u32:
    """The order of moves of equal gain: smaller keys win."""
    return (i << 16) | j
