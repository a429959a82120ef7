"""Edges that a tour must have, and edges that it must not: sets of neighbours per city, and what follows from them."""

from __future__ import annotations

from core.kernels.exact.city_sets import contains, first_cities, lowest, singleton
from core.lang import *


@bundle
class Edges:
    """Decisions about the edges of a tour of ``n`` cities.

    Attributes
    ----------
    included, excluded : Array, 32
        For each city its neighbours along edges that the tour must have, and along those that it must not.
    """

    n: i32
    included: Array[u32]
    excluded: Array[u32]


@function
def exclude(u: i32, v: i32, edges: Edges):
    edges.excluded[u] = edges.excluded[u] | singleton(v)
    edges.excluded[v] = edges.excluded[v] | singleton(u)


@function
def path_end(start: i32, before: i32, edges: Edges) -> u32:
    """Follow at most n included edges from ``start``, away from ``before``; return end << 8 | number of edges."""
    here = start
    last = before
    passed = 0
    while passed < edges.n:
        ahead = edges.included[here] & ~singleton(last)
        if ahead == 0:
            return u32(here << 8) | u32(passed)
        last = here
        here = lowest(ahead)
        passed += 1
    return u32(here << 8) | u32(passed)


@function
def include(u: i32, v: i32, edges: Edges) -> boolean:
    """Include an edge, and exclude the one that would close its path too early; False if that leaves no tour."""
    if contains(edges.included[u], v):
        return True
    if contains(edges.excluded[u], v) or popcount(edges.included[u]) > 1 or popcount(edges.included[v]) > 1:
        return False
    left = path_end(u, v, edges)
    right = path_end(v, u, edges)
    edges.included[u] = edges.included[u] | singleton(v)
    edges.included[v] = edges.included[v] | singleton(u)
    if i32(left >> 8) == v:
        return i32(left & 255) == edges.n - 1
    length = i32(left & 255) + i32(right & 255) + 1
    if length > 1 and length < edges.n - 1:
        exclude(i32(left >> 8), i32(right >> 8), edges)
    return True


@function
def consistent(edges: Edges) -> boolean:
    """Include and exclude all edges that follow from those decided; False if they leave no tour."""
    changed = True
    while changed:
        changed = False
        for v in range(edges.n):
            demanded = popcount(edges.included[v])
            free = first_cities(edges.n) & ~(singleton(v) | edges.excluded[v] | edges.included[v])
            if demanded > 2 or demanded + popcount(free) < 2:
                return False
            if demanded == 2:
                for w in set_bits(free):
                    changed = True
                    exclude(v, w, edges)
            elif demanded + popcount(free) == 2:
                for w in set_bits(free):
                    changed = True
                    possible = include(v, w, edges)
                    if not possible:
                        return False
    return True
