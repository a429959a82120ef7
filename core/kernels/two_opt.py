"""What all 2-opt climbers have in common: how a climb is counted, hashed and its tour handed out.

A move (i, j) with 0 <= i, i + 2 <= j < n reverses positions i+1..j and gains
e(i) + e(j) - d(t_i, t_j) - d(t_i+1, t_j+1), where e(p) is the length of the edge after position p. A step takes the
move of largest gain; ties go to the smallest i, then the smallest j, as in the scan of the released program.
"""

from __future__ import annotations

from core.lang import (
    Array,
    Const,
    Generic,
    atomic_add,
    atomic_min,
    barrier,
    function,
    i32,
    lane,
    team_size,
    u16,
    u32,
    u64,
)

T = Generic("T")

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


@function
def move_word(gain: i32, key: u32) -> u64:
    """A move in one word, the better the larger; 0 is no move."""
    return (u64(gain) << 32) | u64(~key)


@function
def gain_of(move: u64) -> i32:
    """The gain of a move's word."""
    return i32(move >> 32)


@function
def key_of(move: u64) -> u32:
    """The key of a move's word."""
    return ~u32(move)


@function
def next_climber(ticket: Array[u32], turn: Array[u32], length: Array[u32]) -> u32:
    """The climber that this team takes next; all lanes call it."""
    if lane() == 0:
        turn[0] = atomic_add(ticket, 0, u32(1))
        length[0] = u32(0)
    barrier()
    return turn[0]


@function
def reverse(sequence: Array[T], first: i32, last: i32):
    """Turn round what lies from ``first`` to ``last``; all lanes of the team share the work."""
    for s in range(lane(), (last - first + 1) >> 1, team_size()):
        sequence[first + s], sequence[last - s] = sequence[last - s], sequence[first + s]


@function
def hand_out(climber: u32, tour: Array[T], edge: Array[i32], n: Const[i32], tours: Array[u16], length: Array[u32]):
    """Write a finished tour back, and add up its edges."""
    base = i32(climber) * n
    part = u32(0)
    for p in range(lane(), n, team_size()):
        part += u32(edge[p])
        tours[base + p] = u16(tour[p])
    atomic_add(length, 0, part)
    barrier()
