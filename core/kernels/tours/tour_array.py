"""A tour as an array with the places of its cities, the queue of cities to look at, and the log of reversals.

Every 2-opt move is a reversal of the shorter of two paths. A log of the reversals undoes them.
"""

from __future__ import annotations

from core.lang import (
    Array,
    Const,
    Generic,
    Row,
    barrier,
    boolean,
    bundle,
    f64,
    function,
    i32,
    lane,
    sqrt,
    team_size,
    u32,
    u64,
)

D = Generic("D")

FOLLOWING, PRECEDING = 0, 1
"""Sides of a city in its tour."""
# The words of a walk's `line`: the first city that waits, the number of them, reversals made, and if they are logged.
HEAD, COUNT, LOGGED, LOGS = range(4)
LINE = 4
# The words of a walk's `control`: the length of its tour and of the best one, perturbations made, the one that found
# the best, and 1 if the best tour is the present one, which is copied to `best` only when the walk leaves it.
LENGTH, BEST_LENGTH, KICKS, BEST_AT, AT_BEST = range(5)
CONTROL = 5
# The words of a walk's `totals`.
DIGEST, EVALUATIONS = range(2)
TOTALS = 2
MOST_LOGGED = 1 << 10
"""Reversals that can be undone."""


@bundle
class CityLists:
    """An instance: distances from a table, or from coordinates by TSPLIB's EUC_2D.

    ``near[city * lists + k]`` is the k-th nearest other city, at distance ``near_distances[city * lists + k]``.
    """

    by_table: Const[boolean]
    table: Array[D]
    x: Array[f64]
    y: Array[f64]
    near: Array[i32]
    near_distances: Array[i32]
    lists: i32
    n: i32


@bundle
class TourWalk:
    """The state of one walk: ``tour[p]`` is the city at position p, ``place[city]`` is p.

    Of ``waiting`` a city's bit says if it is in the queue, ``log`` has first and last position of each reversal.
    """

    control: Array[i32] = Row(CONTROL)
    totals: Array[u64] = Row(TOTALS)
    number: Array[u64] = Row(1)
    line: Array[i32] = Row(LINE)
    tour: Array[i32] = Row("n")
    best: Array[i32] = Row("n")
    place: Array[i32] = Row("n")
    queue: Array[i32] = Row("n")
    waiting: Array[u32] = Row("words")
    log: Array[i32] = Row("logged")
    n: i32
    words: i32
    logged: i32


@function
def forward(p: i32, n: i32) -> i32:
    """Position p of the closed tour, p from 0 to 2n - 1."""
    return p - n if p >= n else p


@function
def backward(p: i32, n: i32) -> i32:
    """Position p of the closed tour, p from -n to n - 1."""
    return p + n if p < 0 else p


@function
def after(city: i32, one: TourWalk) -> i32:
    """The city that follows a city."""
    return one.tour[forward(one.place[city] + 1, one.n)]


@function
def before(city: i32, one: TourWalk) -> i32:
    """The city that precedes a city."""
    return one.tour[backward(one.place[city] - 1, one.n)]


@function
def beside(city: i32, side: i32, one: TourWalk) -> i32:
    """The neighbour of a city on one side."""
    found = after(city, one) if side == FOLLOWING else before(city, one)
    return found


@function
def distance(a: i32, b: i32, cities: CityLists) -> i32:
    """The distance of two cities."""
    if cities.by_table:
        return i32(cities.table[a * cities.n + b])
    dx = cities.x[a] - cities.x[b]
    dy = cities.y[a] - cities.y[b]
    return i32(sqrt(dx * dx + dy * dy) + 0.5)


@function
def enqueue(city: i32, one: TourWalk):
    """Put a city at the end of the queue, unless it waits there already."""
    bit = u32(1) << u32(city & 31)
    if one.waiting[city >> 5] & bit == 0:
        one.waiting[city >> 5] |= bit
        one.queue[forward(one.line[HEAD] + one.line[COUNT], one.n)] = city
        one.line[COUNT] += 1


@function
def dequeue(one: TourWalk):
    """Take the first city from the queue."""
    city = one.queue[one.line[HEAD]]
    one.waiting[city >> 5] &= ~(u32(1) << u32(city & 31))
    one.line[HEAD] = forward(one.line[HEAD] + 1, one.n)
    one.line[COUNT] -= 1


@function
def reverse_path(first: i32, last: i32, one: TourWalk):
    """Reverse the path between two positions, or the rest of the tour if that is shorter; all lanes share the work."""
    start, end = first, last
    length = backward(last - first, one.n) + 1
    if 2 * length > one.n:
        start, end = forward(last + 1, one.n), backward(first - 1, one.n)
        length = one.n - length
    for s in range(lane(), length >> 1, team_size()):
        low = forward(start + s, one.n)
        high = backward(end - s, one.n)
        here = one.tour[low]
        there = one.tour[high]
        one.tour[low] = there
        one.tour[high] = here
        one.place[there] = low
        one.place[here] = high
    barrier()


@function
def reconnect(a: i32, b: i32, c: i32, d: i32, one: TourWalk):
    """Replace edges (a, b) and (c, d) by (a, c) and (b, d).

    b follows a and d follows c, or b precedes a and d precedes c.
    """
    first, last = one.place[c], one.place[b]
    if after(a, one) == b:
        first, last = last, first
    logged = one.line[LOGGED]
    barrier()
    if lane() == 0:
        if one.line[LOGS] != 0 and logged < MOST_LOGGED:
            one.log[2 * logged] = first
            one.log[2 * logged + 1] = last
        one.line[LOGGED] = logged + 1
    reverse_path(first, last, one)


@function
def undo(one: TourWalk):
    """Undo all reversals of the log, the last one first."""
    logged = one.line[LOGGED]
    for k in range(logged):
        reverse_path(one.log[2 * (logged - 1 - k)], one.log[2 * (logged - 1 - k) + 1], one)
