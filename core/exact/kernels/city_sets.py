"""Sets of up to 32 cities as bits of a word, and decisions about the edges of a tour as sets of neighbours."""

from __future__ import annotations

from core.lang import *

ROW = 32
"""Elements of a row of an array: one for each city that a word can hold."""


@function
def singleton(city: i32) -> u32:
    return u32(1) << u32(city)


@function
def first_cities(n: i32) -> u32:
    """Return the set of cities 0 to n - 1, with n from 1 to 32."""
    return u32(0xFFFFFFFF) >> u32(32 - n)


@function
def contains(cities: u32, city: i32) -> boolean:
    return (cities >> u32(city)) & 1 != 0


@function
def lowest(cities: u32) -> i32:
    """Return the smallest city of a set that is not empty."""
    return 31 - clz(cities & (0 - cities))


@function
def city_at(cities: u32, place: i32) -> i32:
    """Return the city of a set that has ``place`` smaller ones there."""
    for _ in range(place):
        cities = cities & (cities - 1)
    return lowest(cities)


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
