"""Sequential moves of two and three edges over neighbour lists, and descents by them.

Lin, "Computer solutions of the traveling salesman problem", Bell System Technical Journal 44, 1965; with lists and
don't-look bits as in Bentley, ORSA Journal on Computing 4(4), 1992. A move removes the edge from ``city`` to
``out``, joins ``city`` to a nearer city ``near``, removes an edge of ``near`` to ``end``, and closes the tour by
(``end``, ``out``); or it joins ``end`` to ``third``, removes (``third``, ``last``), and closes by (``last``, ``out``).
All segment insertions (Or-opt moves) are among them.
"""

from __future__ import annotations

from core.kernels.tours.tour_array import (
    COUNT,
    FOLLOWING,
    HEAD,
    LOGGED,
    LOGS,
    MOST_LOGGED,
    CityLists,
    TourWalk,
    after,
    backward,
    before,
    beside,
    dequeue,
    distance,
    enqueue,
    fill_queue,
    reconnect,
)
from core.lang import *

NO_MOVE = 0
MOST_LISTS = 16
"""Largest number of near cities of a city."""
# Kinds of moves: two edges, then three edges as in `make_move`.
TWO, PAST, BEYOND, TURNED, SWAPPED = range(5)


@function
def move_word(gain: i32, kind: i32, k: i32) -> u64:
    """Return a move's word; larger for a larger gain, then for a smaller kind, then for a nearer third city."""
    return (u64(gain) << 16) | u64(0xFFFF - (kind * MOST_LISTS + k))


@function
def from_out(city: i32, out: i32, side: i32, walk: TourWalk) -> i32:
    """Return the number of edges from ``out`` to a city, away from the removed edge."""
    steps = walk.place[city] - walk.place[out] if side == FOLLOWING else walk.place[out] - walk.place[city]
    return backward(steps, walk.n)


@function
def best_beyond(city: i32, out: i32, near: i32, gained: i32, side: i32, walk: TourWalk, cities: CityLists) -> u64:
    """Return the best move that removes the edge of ``near`` to its neighbour on ``side``; it may be a 2-opt move."""
    best = u64(NO_MOVE)
    end = beside(near, side, walk)
    if end != city:
        opened = gained + distance(near, end, cities)
        gain = opened - distance(end, out, cities)
        if gain > 0:
            best = move_word(gain, TWO, 0)
        border = from_out(near, out, side, walk)
        for k in range(cities.lists):
            rest = opened - cities.near_distances[end * cities.lists + k]
            if rest <= 0:
                break
            third = cities.near[end * cities.lists + k]
            if third != near and third != out:
                is_past = from_out(third, out, side, walk) < border
                last = beside(third, side if is_past else 1 - side, walk)
                if last != end:
                    gain = rest + distance(third, last, cities) - distance(last, out, cities)
                    if gain > 0:
                        best = max(best, move_word(gain, PAST if is_past else BEYOND, k))
    return best


@function
def best_within(city: i32, out: i32, near: i32, gained: i32, side: i32, walk: TourWalk, cities: CityLists) -> u64:
    """Return the best move that removes the other edge of ``near``, which makes a cycle that a third edge opens."""
    best = u64(NO_MOVE)
    end = beside(near, 1 - side, walk)
    opened = gained + distance(near, end, cities)
    border = from_out(near, out, side, walk)
    for k in range(cities.lists):
        rest = opened - cities.near_distances[end * cities.lists + k]
        if rest <= 0:
            break
        third = cities.near[end * cities.lists + k]
        if from_out(third, out, side, walk) > border:
            if third != city:
                last = beside(third, side, walk)
                gain = rest + distance(third, last, cities) - distance(last, out, cities)
                if gain > 0:
                    best = max(best, move_word(gain, TURNED, k))
            last = beside(third, 1 - side, walk)
            gain = rest + distance(third, last, cities) - distance(last, out, cities)
            if gain > 0:
                best = max(best, move_word(gain, SWAPPED, k))
    return best


@function
def best_pair(pair: i32, city: i32, walk: TourWalk, cities: CityLists) -> u64:
    """Return the best move of pair 2 k + side: join ``city`` to its k-th near city and remove its edge on ``side``."""
    best = u64(NO_MOVE)
    side = pair & 1
    out = beside(city, side, walk)
    near = cities.near[city * cities.lists + (pair >> 1)]
    gained = distance(city, out, cities) - cities.near_distances[city * cities.lists + (pair >> 1)]
    if gained > 0 and near != beside(city, 1 - side, walk):
        best = max(
            best_beyond(city, out, near, gained, side, walk, cities),
            best_within(city, out, near, gained, side, walk, cities),
        )
    return best


@function
def first_winning(city: i32, walk: TourWalk, cities: CityLists, winner: Array[u64]) -> u64:
    """Return the best move of the first pair that has a move; the lanes of a team share the pairs."""
    best = u64(NO_MOVE)
    longest = max(distance(city, after(city, walk), cities), distance(city, before(city, walk), cities))
    for pair in range(lane(), 2 * cities.lists, team_size()):
        if cities.near_distances[city * cities.lists + (pair >> 1)] >= longest:
            break
        move = best_pair(pair, city, walk, cities)
        if move != NO_MOVE:
            best = (u64(63 - pair) << 48) | move
            break
    if team_size() == 1:
        return best
    if lane() == 0:
        winner[0] = NO_MOVE
    barrier()
    if best != NO_MOVE:
        atomic_max(winner, 0, best)
    barrier()
    return winner[0]


@function
def make_move(move: u64, city: i32, walk: TourWalk, cities: CityLists):
    """Make a move, and put the ends of its edges into the queue."""
    pair = 63 - i32(move >> 48)
    key = 0xFFFF - i32(move & 0xFFFF)
    kind = key // MOST_LISTS
    side = pair & 1
    out = beside(city, side, walk)
    near = cities.near[city * cities.lists + (pair >> 1)]
    end = beside(near, side if kind <= BEYOND else 1 - side, walk)
    third = cities.near[end * cities.lists + key % MOST_LISTS]
    last = beside(third, side if kind == PAST or kind == TURNED else 1 - side, walk)
    barrier()
    if lane() == 0:
        enqueue(city, walk)
        enqueue(out, walk)
        enqueue(near, walk)
        enqueue(end, walk)
        if kind != TWO:
            enqueue(third, walk)
            enqueue(last, walk)
    if kind == TWO:
        reconnect(city, out, near, end, walk)
    elif kind == PAST:
        reconnect(third, last, city, out, walk)
        reconnect(third, city, end, near, walk)
    elif kind == BEYOND:
        reconnect(near, end, city, out, walk)
        reconnect(third, last, end, out, walk)
    elif kind == TURNED:
        reconnect(end, near, third, last, walk)
        reconnect(near, last, city, out, walk)
    else:
        reconnect(end, near, city, out, walk)
        reconnect(end, city, third, last, walk)
        reconnect(city, last, near, out, walk)


@function
def descend(walk: TourWalk, cities: CityLists, winner: Array[u64]) -> i32:
    """Make improving moves until the queue is empty or the log full; return the decrease of the tour's length."""
    decrease = 0
    while walk.line[COUNT] > 0 and (walk.line[LOGS] == 0 or walk.line[LOGGED] <= MOST_LOGGED - 3):
        city = walk.queue[walk.line[HEAD]]
        move = first_winning(city, walk, cities, winner)
        barrier()
        if move == NO_MOVE:
            if lane() == 0:
                dequeue(walk)
            barrier()
        else:
            make_move(move, city, walk, cities)
            decrease += i32((move >> 16) & 0x7FFFFFFF)
    return decrease


@kernel
def improve_given_tours(tours: Array[u16], count: i32, walks: Rows[TourWalk], cities: CityLists):
    """Replace each of ``count`` tours, such as those of ants, by a local optimum.

    Team t works in the memory of walk t. At first all cities are in the queue, in the order of the tour.
    """
    winner = shared_array(1, u64)
    walk = walks[team_rank()]
    for t in range(team_rank(), count, walks.count):
        for p in range(lane(), walk.n, team_size()):
            city = i32(tours[t * walk.n + p])
            walk.tour[p] = city
            walk.place[city] = p
            walk.queue[p] = city
        fill_queue(walk)
        barrier()
        descend(walk, cities, winner)
        barrier()
        for p in range(lane(), walk.n, team_size()):
            tours[t * walk.n + p] = u16(walk.tour[p])
        barrier()
