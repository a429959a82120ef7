"""Edges that a tour must have, and edges that it must not: sets of neighbours per city, and what follows from them.

A city is a bit of a 32-bit word: up to 32 cities.
"""

from __future__ import annotations

from core.lang import Array, clz, function, i32, popcount, u32


@function
def lowest(cities: u32) -> i32:
    """The smallest city of a set that is not empty."""
    return 31 - clz(cities & (0 - cities))


@function
def exclude(u: i32, v: i32, excluded: Array[u32]):
    """Forbid an edge."""
    excluded[u] = excluded[u] | (u32(1) << u32(v))
    excluded[v] = excluded[v] | (u32(1) << u32(u))


@function
def path_end(start: i32, before: i32, n: i32, included: Array[u32]) -> u32:
    """Follow included edges from ``start``, away from ``before``: the end << 8 | the edges passed; at most n."""
    here = start
    last = before
    passed = 0
    while passed < n:
        ahead = included[here] & ~(u32(1) << u32(last))
        if ahead == 0:
            return u32(here << 8) | u32(passed)
        last = here
        here = lowest(ahead)
        passed += 1
    return u32(here << 8) | u32(passed)


@function
def include(u: i32, v: i32, n: i32, included: Array[u32], excluded: Array[u32]) -> i32:
    """Demand an edge, and forbid the one that would close its path too early; 0 if that leaves no tour."""
    if (included[u] >> u32(v)) & 1 != 0:
        return 1
    if (excluded[u] >> u32(v)) & 1 != 0 or popcount(included[u]) > 1 or popcount(included[v]) > 1:
        return 0
    left = path_end(u, v, n, included)
    right = path_end(v, u, n, included)
    included[u] = included[u] | (u32(1) << u32(v))
    included[v] = included[v] | (u32(1) << u32(u))
    if i32(left >> 8) == v:
        return 1 if i32(left & 255) == n - 1 else 0
    length = i32(left & 255) + i32(right & 255) + 1
    if length > 1 and length < n - 1:
        exclude(i32(left >> 8), i32(right >> 8), excluded)
    return 1


@function
def consistent(n: i32, included: Array[u32], excluded: Array[u32]) -> i32:
    """Draw all conclusions from the edges demanded and forbidden; 0 if they leave no tour."""
    everyone = u32(0xFFFFFFFF) >> u32(32 - n)
    changed = 1
    while changed != 0:
        changed = 0
        for v in range(n):
            others = everyone & ~(u32(1) << u32(v))
            demanded = popcount(included[v])
            if demanded > 2:
                return 0
            free = others & ~excluded[v] & ~included[v]
            if demanded == 2 and free != 0:
                changed = 1
                while free != 0:
                    exclude(v, lowest(free), excluded)
                    free = free & (free - 1)
            possible = demanded + popcount(free)
            if possible < 2:
                return 0
            if possible == 2 and free != 0:
                changed = 1
                while free != 0:
                    w = lowest(free)
                    free = free & (free - 1)
                    open = include(v, w, n, included, excluded)
                    if open == 0:
                        return 0
    return 1
