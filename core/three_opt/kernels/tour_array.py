"""A tour as an array with the places of its cities, a queue of cities to check, and a log of reversals.

Every 2-opt move is a reversal of the shorter of two paths. The log serves to undo them.
"""

from __future__ import annotations

from core.lang import *

D = Generic("D")

FOLLOWING, PRECEDING = 0, 1
"""Sides of a city in its tour."""
MOST_LOGGED = 1 << 10
"""Reversals that can be undone."""
FIXED = -(1 << 28)
"""Length of a fixed edge: no move that removes it gains anything."""


class TourLine(NamedArray):
    """Queue and log of a walk."""

    head: i32
    """Index of the queue's first city."""
    count: i32
    """Cities in the queue."""
    logged: i32
    """Reversals made."""
    logs: i32
    """1 if reversals are logged."""


class TourControl(NamedArray):
    """Status of a walk; `core.three_opt.search` reads it."""

    length: i32
    """Length of the present tour."""
    best_length: i32
    """Length of the best tour."""
    kicks: i32
    """Number of perturbations made."""
    best_at: i32
    """Number of perturbations up to the best tour."""
    at_best: i32
    """1 if the present tour is the best one, which is copied to `TourWalk.best` only when the walk leaves it."""


class TourTotals(NamedArray):
    """Totals of a walk."""

    digest: u64
    """Digest of the walk's moves."""
    evaluations: u64
    """Perturbations of a tour in windows (`core.three_opt.windows`)."""


@bundle
class CityLists:
    """An instance with distances from a table, or from coordinates by TSPLIB's EUC_2D.

    ``near[city * lists + k]`` is the k-th nearest other city, at distance ``near_distances[city * lists + k]``. With
    ``has_fixed`` distances are from coordinates, and ``n`` is the number of cities with a fixed edge: cities 2i and
    2i + 1 are joined by one.
    """

    by_table: Const[boolean]
    table: Array[D]
    x: Array[f64]
    y: Array[f64]
    near: Array[i32]
    near_distances: Array[i32]
    lists: i32
    n: i32
    has_fixed: Const[boolean]


@bundle
class TourWalk:
    """State of a walk: ``tour[p]`` is the city at position p, ``place[city]`` is p.

    ``waiting`` has a bit for each city, set while the city is in the queue. ``log`` has the first and the last position
    of each reversal.
    """

    control: TourControl = Row()
    totals: TourTotals = Row()
    number: Array[u64] = Row(1)
    line: TourLine = Row()
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
    """Return position p of the closed tour, for p from 0 to 2n - 1."""
    return p - n if p >= n else p


@function
def backward(p: i32, n: i32) -> i32:
    """Return position p of the closed tour, for p from -n to n - 1."""
    return p + n if p < 0 else p


@function
def after(city: i32, walk: TourWalk) -> i32:
    return walk.tour[forward(walk.place[city] + 1, walk.n)]


@function
def before(city: i32, walk: TourWalk) -> i32:
    return walk.tour[backward(walk.place[city] - 1, walk.n)]


@function
def adjacent(city: i32, side: i32, walk: TourWalk) -> i32:
    neighbour = after(city, walk) if side == FOLLOWING else before(city, walk)
    return neighbour


@function
def distance(a: i32, b: i32, cities: CityLists) -> i32:
    if cities.has_fixed:
        if (a ^ b) == 1 and a < cities.n:
            return FIXED
    if cities.by_table:
        return i32(cities.table[a * cities.n + b])
    dx = cities.x[a] - cities.x[b]
    dy = cities.y[a] - cities.y[b]
    return i32(sqrt(dx * dx + dy * dy) + 0.5)


@function
def enqueue(city: i32, walk: TourWalk):
    """Put a city at the end of the queue, unless the queue has it."""
    bit = u32(1) << u32(city & 31)
    if walk.waiting[city >> 5] & bit == 0:
        walk.waiting[city >> 5] |= bit
        walk.queue[forward(walk.line.head + walk.line.count, walk.n)] = city
        walk.line.count += 1


@function
def dequeue(walk: TourWalk):
    """Remove the first city from the queue."""
    city = walk.queue[walk.line.head]
    walk.waiting[city >> 5] &= ~(u32(1) << u32(city & 31))
    walk.line.head = forward(walk.line.head + 1, walk.n)
    walk.line.count -= 1


@function
def fill_queue(walk: TourWalk):
    """Put all cities into the queue, in the order of its array, and switch the log off."""
    for k in range(lane(), walk.words, team_size()):
        walk.waiting[k] = 0xFFFFFFFF
    if lane() == 0:
        walk.line.head = 0
        walk.line.count = walk.n
        walk.line.logged = 0
        walk.line.logs = 0


@function
def exchange(low: i32, high: i32, walk: TourWalk):
    low_city = walk.tour[low]
    high_city = walk.tour[high]
    walk.tour[low] = high_city
    walk.tour[high] = low_city
    walk.place[high_city] = low
    walk.place[low_city] = high


@function
def reverse_path(first: i32, last: i32, walk: TourWalk):
    """Reverse the path between two positions, or the rest of the tour if it is shorter; all lanes share the work."""
    start, end = first, last
    length = backward(last - first, walk.n) + 1
    if 2 * length > walk.n:
        start, end = forward(last + 1, walk.n), backward(first - 1, walk.n)
        length = walk.n - length
    if start <= end:
        for s in range(lane(), length >> 1, team_size()):
            exchange(start + s, end - s, walk)
    else:
        for s in range(lane(), length >> 1, team_size()):
            exchange(forward(start + s, walk.n), backward(end - s, walk.n), walk)
    barrier()


@function
def reconnect(a: i32, b: i32, c: i32, d: i32, walk: TourWalk):
    """Replace edges (a, b) and (c, d) by (a, c) and (b, d).

    b follows a and d follows c, or b precedes a and d precedes c.
    """
    first, last = walk.place[c], walk.place[b]
    if after(a, walk) == b:
        first, last = last, first
    logged = walk.line.logged
    barrier()
    if lane() == 0:
        if walk.line.logs != 0 and logged < MOST_LOGGED:
            walk.log[2 * logged] = first
            walk.log[2 * logged + 1] = last
        walk.line.logged = logged + 1
    reverse_path(first, last, walk)


@function
def undo(walk: TourWalk):
    """Undo all reversals of the log, the last one first."""
    logged = walk.line.logged
    for k in range(logged):
        reverse_path(walk.log[2 * (logged - 1 - k)], walk.log[2 * (logged - 1 - k) + 1], walk)


@function
def restore(walk: TourWalk):
    """Undo all reversals of the log, and empty the queue."""
    barrier()
    undo(walk)
    if lane() == 0:
        while walk.line.count > 0:
            dequeue(walk)
    barrier()
