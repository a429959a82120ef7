"""Sets of up to 32 cities: a city is a bit of a 32-bit word."""

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
