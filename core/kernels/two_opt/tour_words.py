"""Tours in shared memory, one word a city: what the full scans of wide teams read of position p in one access.

Word p is city t_p | d(t_p-1, t_p) << 16. A tour has words 1 to n; word 0 is word n, and words beyond n are those from 1
on again, as far as a scan's window reaches. Distances have 16 bits.
"""

from __future__ import annotations

from core.lang import Const, function, i32, u32

FAR_BELOW = -(1 << 20)
"""Less than any gain."""
NO_KEY = u32(0xFFFFFFFF)
"""Above every move's key (`core.kernels.two_opt.climbs.move_key`)."""


@function
def city(word: u32) -> i32:
    """The city of a tour word."""
    return i32(word & 0xFFFF)


@function
def edge(word: u32) -> i32:
    """The length of the edge that leads to the city of a tour word."""
    return i32(word >> 16)


@function
def tour_word(here: i32, reach: i32) -> u32:
    """A tour word: a city, and the length of the edge that leads to it."""
    return u32(here) | (u32(reach) << 16)


@function
def wrapped(p: i32, n: Const[i32]) -> i32:
    """A position of the closed tour."""
    once = p - n if p >= n else p
    return once - n if once >= n else once
