"""2-opt with neighbour lists and a queue of cities: a local search for tours that are already good.

Bentley, "Fast algorithms for geometric traveling salesman problems", ORSA Journal on Computing 4(4), 1992: a move can
only gain if it joins a city to one that is nearer than its tour neighbour. Cities with the same tour neighbours as at
their last check need no other one (don't-look bits). Here the first `BATCH` cities of the queue are checked together,
and the best of their moves is made, so that the outcome does not depend on the number of lanes.
"""

from __future__ import annotations

from core.hill_climbing.kernels.climb_states import ArrayTour, city_at, distance
from core.hill_climbing.kernels.climbs import (
    NO_MOVE,
    Climbs,
    CurrentClimb,
    best_of_team,
    climb_function,
    key_of,
    move_word,
)
from core.lang import *

D = Generic("D")
NEAR = 16
"""Nearest cities of a city, to which moves can join it."""
BATCH = 8
"""Cities of the queue that are checked together."""
HEAD, COUNT = 0, 1
FOLLOWING, PRECEDING = 0, 1
"""Sides of a position: a move replaces the edges on the same side of two cities."""


@bundle
class Queue:
    """Ring buffer of cities to check: ``line[COUNT]`` cities, the first at ``cities[line[HEAD]]``.

    ``waiting`` has a bit for each city, set while the city is in the queue.
    """

    cities: Array[u16]
    waiting: Array[u32]
    line: Array[i32]


@bundle
class QueueClimb(ArrayTour):
    """State of a team: ``place[city]`` is a city's position."""

    near_cities: Array[u16]
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
def neighbour_at(p: i32, side: Const[i32], state: QueueClimb) -> i32:
    """Return the city after a position, or before it."""
    return i32(state.tour[forward(p + 1, state.n) if side == FOLLOWING else backward(p - 1, state.n)])


@function
def enqueue(city: i32, n: Const[i32], queue: Queue):
    """Put a city at the end of the queue, unless the queue has it."""
    bit = u32(1) << u32(city & 31)
    if queue.waiting[city >> 5] & bit == 0:
        queue.waiting[city >> 5] |= bit
        queue.cities[forward(queue.line[HEAD] + queue.line[COUNT], n)] = u16(city)
        queue.line[COUNT] += 1


@function
def dequeue(count: i32, n: Const[i32], queue: Queue):
    """Remove the first ``count`` cities from the queue."""
    head = queue.line[HEAD]
    for k in range(count):
        city = i32(queue.cities[forward(head + k, n)])
        queue.waiting[city >> 5] &= ~(u32(1) << u32(city & 31))
    queue.line[HEAD] = forward(head + count, n)
    queue.line[COUNT] -= count


@function
def load(climber: u32, climbs: Climbs, state: QueueClimb):
    """Load a start tour, and put all cities into the queue in its order."""
    begin = i32(climber) * state.n
    for p in range(lane(), state.n, team_size()):
        state.tour[p] = climbs.tours[begin + p]
        state.queue.cities[p] = climbs.tours[begin + p]
        state.place[climbs.tours[begin + p]] = u16(p)
    for k in range(lane(), (state.n + 31) // 32, team_size()):
        state.queue.waiting[k] = 0xFFFFFFFF
    if lane() == 0:
        state.queue.line[HEAD] = 0
        state.queue.line[COUNT] = state.n
    barrier()


@function
def waiting_city(x: i32, state: QueueClimb) -> i32:
    """Return the city of pair ``x`` of a city and a near one; the first `NEAR` pairs have the first queued city."""
    return i32(state.queue.cities[forward(state.queue.line[HEAD] + x // NEAR, state.n)])


@function
def best_of_lane(count: i32, state: QueueClimb) -> u64:
    """Return the best move of this lane's pairs of the first ``count`` cities; its key is pair * 2 + side."""
    best = NO_MOVE
    for x in range(lane(), count * NEAR, team_size()):
        city = waiting_city(x, state)
        other = i32(state.near_cities[city * NEAR + x % NEAR])
        if other != city:
            p = i32(state.place[city])
            q = i32(state.place[other])
            joined = distance(city, other, state)
            for side in unroll(2):
                next_city = neighbour_at(p, side, state)
                next_other = neighbour_at(q, side, state)
                gain = distance(city, next_city, state) - joined
                if gain > 0:
                    gain += distance(other, next_other, state) - distance(next_city, next_other, state)
                    if gain > 0:
                        best = max(best, move_word(gain, u32(2 * x + side)))
    return best


@function
def scan(last: u64, state: QueueClimb) -> u64:
    """Return the best move of the first batch of cities that has one; batches without a move leave the queue."""
    while state.queue.line[COUNT] > 0:
        count = min(BATCH, state.queue.line[COUNT])
        if lane() == 0:
            state.winner[0] = NO_MOVE
        barrier()
        move = best_of_team(best_of_lane(count, state), state.winner)
        if move != NO_MOVE:
            return move
        barrier()
        if lane() == 0:
            dequeue(count, state.n, state.queue)
        barrier()
    return NO_MOVE


@function
def apply(move: u64, state: QueueClimb):
    """Make a move, and put the ends of its edges into the queue."""
    x = i32(key_of(move) >> 1)
    side = i32(key_of(move) & 1)
    city = waiting_city(x, state)
    other = i32(state.near_cities[city * NEAR + x % NEAR])
    # Remove edges (a, a + 1) and (b, b + 1): reverse a + 1 .. b, or the rest of the tour if it is shorter.
    a = backward(i32(state.place[city]) - side, state.n)
    b = backward(i32(state.place[other]) - side, state.n)
    from_a = i32(state.tour[a])
    after_a = neighbour_at(a, FOLLOWING, state)
    from_b = i32(state.tour[b])
    after_b = neighbour_at(b, FOLLOWING, state)
    first, last = forward(a + 1, state.n), b
    length = backward(b - a, state.n)
    if 2 * length > state.n:
        first, last = forward(b + 1, state.n), a
        length = state.n - length
    barrier()
    for s in range(lane(), length >> 1, team_size()):
        low = forward(first + s, state.n)
        high = backward(last - s, state.n)
        low_city = state.tour[low]
        high_city = state.tour[high]
        state.tour[low] = u16(high_city)
        state.tour[high] = u16(low_city)
        state.place[high_city] = u16(low)
        state.place[low_city] = u16(high)
    if lane() == 0:
        enqueue(from_a, state.n, state.queue)
        enqueue(after_a, state.n, state.queue)
        enqueue(from_b, state.n, state.queue)
        enqueue(after_b, state.n, state.queue)
    barrier()


climb = climb_function(load, scan, apply, city_at)


@kernel
def climb_queue(climbs: Climbs, distances: Array[D], near_cities: Array[u16]):
    """Climb from each of ``climbs.tours`` until the queue is empty; a team climbs one tour at a time.

    A move puts the ends of its edges into the queue, not the cities between them, although it reverses their path. So
    a tour can still have an improving move: some 2 % of the tours of 60 cities have, as a check of all cities shows.

    Parameters
    ----------
    climbs
        See `core.hill_climbing.kernels.climbs`.
    distances : Array, n * n
    near_cities : Array, n * NEAR
        For each city others by ascending distance, padded with the city itself.
    """
    queue = Queue(shared_array(climbs.n, u16), shared_array((climbs.n + 31) // 32, u32), shared_array(2, i32))
    tour = shared_array(climbs.n, u16)
    place = shared_array(climbs.n, u16)
    state = QueueClimb(climbs.n, distances, tour, near_cities, place, queue, shared_array(1, u64))
    current = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    climb(climbs, state, current)
