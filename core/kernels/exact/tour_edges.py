"""Decisions about the edges of a tour, as sets of neighbours of each city, and conclusions from them."""

from __future__ import annotations

from core.kernels.exact.city_sets import contains, first_cities, lowest, singleton
from core.lang import *


@bundle
class Edges:
    """Decisions about the edges of a tour of ``n`` cities.

    Attributes
    ----------
    included, excluded : Array, 32
        For each city its neighbours along edges that the tour must have, and along edges that it must not have.
    """

    n: i32
    included: Array[u32]
    excluded: Array[u32]


@function
def exclude(u: i32, v: i32, edges: Edges):
    edges.excluded[u] = edges.excluded[u] | singleton(v)
    edges.excluded[v] = edges.excluded[v] | singleton(u)


@function
def path_end(start: i32, away_from: i32, edges: Edges) -> u32:
    """Follow at most n included edges from ``start``, away from ``away_from``; return end << 8 | number of edges."""
    city = start
    previous = away_from
    count = 0
    while count < edges.n:
        following = edges.included[city] & ~singleton(previous)
        if following == 0:
            return u32(city << 8) | u32(count)
        previous = city
        city = lowest(following)
        count += 1
    return u32(city << 8) | u32(count)


@function
def include(u: i32, v: i32, edges: Edges) -> boolean:
    """Include an edge, and exclude the edge that would close its path too early; return False if no tour is left."""
    if contains(edges.included[u], v):
        return True
    if contains(edges.excluded[u], v) or popcount(edges.included[u]) > 1 or popcount(edges.included[v]) > 1:
        return False
    path_from_u = path_end(u, v, edges)
    path_from_v = path_end(v, u, edges)
    edges.included[u] = edges.included[u] | singleton(v)
    edges.included[v] = edges.included[v] | singleton(u)
    if i32(path_from_u >> 8) == v:
        return i32(path_from_u & 255) == edges.n - 1
    length = i32(path_from_u & 255) + i32(path_from_v & 255) + 1
    if length > 1 and length < edges.n - 1:
        exclude(i32(path_from_u >> 8), i32(path_from_v >> 8), edges)
    return True


@function
def consistent(edges: Edges) -> boolean:
    """Include and exclude all edges that follow from the decisions; return False if no tour is left."""
    changed = True
    while changed:
        changed = False
        for v in range(edges.n):
            included_count = popcount(edges.included[v])
            free = first_cities(edges.n) & ~(singleton(v) | edges.excluded[v] | edges.included[v])
            if included_count > 2 or included_count + popcount(free) < 2:
                return False
            if included_count == 2:
                for w in set_bits(free):
                    changed = True
                    exclude(v, w, edges)
            elif included_count + popcount(free) == 2:
                for w in set_bits(free):
                    changed = True
                    possible = include(v, w, edges)
                    if not possible:
                        return False
    return True
