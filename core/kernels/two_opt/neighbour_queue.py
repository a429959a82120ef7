"""2-opt by neighbour lists and a queue of cities: a local search for tours that are already good.

Bentley, "Fast algorithms for geometric traveling salesman problems", ORSA Journal on Computing 4(4), 1992: a move can
only win if it joins a city to a nearer one than its tour neighbour, and cities with unchanged surroundings need no
second check (don't-look bits). Here the first `BATCH` cities of the queue are checked together, and the best of their
moves is made, so that the outcome does not depend on the number of lanes.
"""

from __future__ import annotations

from core.kernels.two_opt.climbs import NO_MOVE, Climbs, CurrentClimb, best_of_team, climb_function, key_of, move_word
from core.lang import *

D = Generic("D")
NEAR = 16
"""Neighbours of a city that moves may join it to."""
BATCH = 8
HEAD, COUNT = 0, 1
FOLLOWING, PRECEDING = 0, 1
"""Sides of a position: a move replaces the edges on the same side of two cities."""


@bundle
class Queue:
    """Cities that wait to be looked at: ``line[COUNT]`` of them, the first at ``cities[line[HEAD]]``, round the end.

    Of ``waiting`` the city's bit tells whether it is among them.
    """

    cities: Array[u16]
    waiting: Array[u32]
    line: Array[i32]


@bundle
class QueueClimb:
    """An instance, and the tour that a team climbs: ``tour[p]`` is the city at position p, ``place[city]`` is p."""

    n: Const[i32]
    distances: Array[D]
    near_cities: Array[u16]
    tour: Array[u16]
    place: Array[u16]
    queue: Queue
    winner: Array[u64]


@function
def forward(p: i32, n: Const[i32]) -> i32:
    """Return position p of the closed tour, for p from 0 to 2n - 1."""
    return p - n if p >= n else p


@function
def backward(p: i32, n: Const[i32]) -> i32:
    """Return position p of the closed tour, for p from -n to n - 1."""
    return p + n if p < 0 else p


@function
def city_beside(p: i32, side: Const[i32], one: QueueClimb) -> i32:
    """Return the city after a position, or before it."""
    return i32(one.tour[forward(p + 1, one.n) if side == FOLLOWING else backward(p - 1, one.n)])


@function
def distance(a: i32, b: i32, one: QueueClimb) -> i32:
    return i32(one.distances[a * one.n + b])


@function
def enqueue(city: i32, n: Const[i32], queue: Queue):
    """Put a city at the end of the queue, unless it waits there already."""
    bit = u32(1) << u32(city & 31)
    if queue.waiting[city >> 5] & bit == 0:
        queue.waiting[city >> 5] |= bit
        queue.cities[forward(queue.line[HEAD] + queue.line[COUNT], n)] = u16(city)
        queue.line[COUNT] += 1


@function
def dequeue(count: i32, n: Const[i32], queue: Queue):
    """Take the first cities from the queue."""
    head = queue.line[HEAD]
    for k in range(count):
        city = i32(queue.cities[forward(head + k, n)])
        queue.waiting[city >> 5] &= ~(u32(1) << u32(city & 31))
    queue.line[HEAD] = forward(head + count, n)
    queue.line[COUNT] -= count


@function
def load(climber: u32, climbs: Climbs, one: QueueClimb):
    """Load a start tour; all cities wait in its order."""
    begin = i32(climber) * one.n
    for p in range(lane(), one.n, team_size()):
        one.tour[p] = climbs.tours[begin + p]
        one.queue.cities[p] = climbs.tours[begin + p]
        one.place[climbs.tours[begin + p]] = u16(p)
    for k in range(lane(), (one.n + 31) // 32, team_size()):
        one.queue.waiting[k] = 0xFFFFFFFF
    if lane() == 0:
        one.queue.line[HEAD] = 0
        one.queue.line[COUNT] = one.n
    barrier()


@function
def waiting_city(x: i32, one: QueueClimb) -> i32:
    """Return the city of move pair ``x`` of the batch; the first `NEAR` pairs have the first queued city."""
    return i32(one.queue.cities[forward(one.queue.line[HEAD] + x // NEAR, one.n)])


@function
def best_of_lane(looked: i32, one: QueueClimb) -> u64:
    """Return the best of this lane's share of the moves of the first ``looked`` cities; its key is pair * 2 + side."""
    best = NO_MOVE
    for x in range(lane(), looked * NEAR, team_size()):
        city = waiting_city(x, one)
        other = i32(one.near_cities[city * NEAR + x % NEAR])
        if other != city:
            p = i32(one.place[city])
            q = i32(one.place[other])
            joined = distance(city, other, one)
            for side in unroll(2):
                beside = city_beside(p, side, one)
                beyond = city_beside(q, side, one)
                gain = distance(city, beside, one) - joined
                if gain > 0:
                    gain += distance(other, beyond, one) - distance(beside, beyond, one)
                    if gain > 0:
                        best = max(best, move_word(gain, u32(2 * x + side)))
    return best


@function
def scan(last: u64, one: QueueClimb) -> u64:
    """Return the best move of the first cities in the queue that have one; cities without leave the queue."""
    while one.queue.line[COUNT] > 0:
        looked = min(BATCH, one.queue.line[COUNT])
        if lane() == 0:
            one.winner[0] = NO_MOVE
        barrier()
        move = best_of_team(best_of_lane(looked, one), one.winner)
        if move != NO_MOVE:
            return move
        barrier()
        if lane() == 0:
            dequeue(looked, one.n, one.queue)
        barrier()
    return NO_MOVE


@function
def apply(move: u64, one: QueueClimb):
    """Make a move, and let the ends of its edges wait for another look."""
    x = i32(key_of(move) >> 1)
    side = i32(key_of(move) & 1)
    city = waiting_city(x, one)
    other = i32(one.near_cities[city * NEAR + x % NEAR])
    # Edges (a, a + 1) and (b, b + 1) go; a + 1 .. b is reversed, or all the rest if that is less.
    a = backward(i32(one.place[city]) - side, one.n)
    b = backward(i32(one.place[other]) - side, one.n)
    from_a = i32(one.tour[a])
    after_a = city_beside(a, FOLLOWING, one)
    from_b = i32(one.tour[b])
    after_b = city_beside(b, FOLLOWING, one)
    first, last = forward(a + 1, one.n), b
    length = backward(b - a, one.n)
    if 2 * length > one.n:
        first, last = forward(b + 1, one.n), a
        length = one.n - length
    barrier()
    for s in range(lane(), length >> 1, team_size()):
        low = forward(first + s, one.n)
        high = backward(last - s, one.n)
        here = one.tour[low]
        there = one.tour[high]
        one.tour[low] = u16(there)
        one.tour[high] = u16(here)
        one.place[there] = u16(low)
        one.place[here] = u16(high)
    if lane() == 0:
        enqueue(from_a, one.n, one.queue)
        enqueue(after_a, one.n, one.queue)
        enqueue(from_b, one.n, one.queue)
        enqueue(after_b, one.n, one.queue)
    barrier()


@function
def city_at(p: i32, one: QueueClimb) -> i32:
    return i32(one.tour[p])


climb = climb_function(load, scan, apply, city_at)


@kernel
def climb_queue(climbs: Climbs, distances: Array[D], near_cities: Array[u16]):
    """Climb from each of ``climbs.tours`` until the queue is empty; a team climbs one tour at a time.

    A move puts the ends of its edges into the queue, not the cities between them, although it turns their path. So a
    winning move can be left: in some 2 % of the tours of 60 cities, as looking at all cities again shows.

    Parameters
    ----------
    near_cities
        For each city others by ascending distance; filled up with the city itself.
    """
    queue = Queue(shared_array(climbs.n, u16), shared_array((climbs.n + 31) // 32, u32), shared_array(2, i32))
    tour = shared_array(climbs.n, u16)
    place = shared_array(climbs.n, u16)
    one = QueueClimb(climbs.n, distances, near_cities, tour, place, queue, shared_array(1, u64))
    turn = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    climb(climbs, one, turn)
