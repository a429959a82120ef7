"""Sequential moves of two and three edges over neighbour lists, and the descent by them.

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
    reconnect,
)
from core.lang import *

NO_MOVE = 0
MOST_LISTS = 16
"""Neighbours of a city at most."""
# The kinds of moves, as in `second_edges`.
TWO, PAST, BEYOND, TURNED, SWAPPED = range(5)


@function
def move_word(gain: i32, kind: i32, k: i32) -> u64:
    """A move as a word: of two the larger one has the larger gain, then the smaller kind and the nearer third city."""
    return (u64(gain) << 16) | u64(0xFFFF - (kind * MOST_LISTS + k))


@function
def from_out(city: i32, out: i32, side: i32, one: TourWalk) -> i32:
    """Position of a city counted from ``out`` away from the removed edge, from 0 to n - 1."""
    steps = one.place[city] - one.place[out] if side == FOLLOWING else one.place[out] - one.place[city]
    return backward(steps, one.n)


@function
def best_beyond(city: i32, out: i32, near: i32, gained: i32, side: i32, one: TourWalk, cities: CityLists) -> u64:
    """The best move in which ``near`` loses its edge to the next city on ``side``; a 2-opt move is one of them."""
    best = u64(NO_MOVE)
    end = beside(near, side, one)
    if end != city:
        opened = gained + distance(near, end, cities)
        gain = opened - distance(end, out, cities)
        if gain > 0:
            best = move_word(gain, TWO, 0)
        border = from_out(near, out, side, one)
        for k in range(cities.lists):
            rest = opened - cities.near_distances[end * cities.lists + k]
            if rest <= 0:
                break
            third = cities.near[end * cities.lists + k]
            if third != near and third != out:
                is_past = from_out(third, out, side, one) < border
                last = beside(third, side if is_past else 1 - side, one)
                if last != end:
                    gain = rest + distance(third, last, cities) - distance(last, out, cities)
                    if gain > 0:
                        best = max(best, move_word(gain, PAST if is_past else BEYOND, k))
    return best


@function
def best_within(city: i32, out: i32, near: i32, gained: i32, side: i32, one: TourWalk, cities: CityLists) -> u64:
    """The best move in which ``near`` loses its other edge, which leaves a cycle that a third edge opens."""
    best = u64(NO_MOVE)
    end = beside(near, 1 - side, one)
    opened = gained + distance(near, end, cities)
    border = from_out(near, out, side, one)
    for k in range(cities.lists):
        rest = opened - cities.near_distances[end * cities.lists + k]
        if rest <= 0:
            break
        third = cities.near[end * cities.lists + k]
        if from_out(third, out, side, one) > border:
            if third != city:
                last = beside(third, side, one)
                gain = rest + distance(third, last, cities) - distance(last, out, cities)
                if gain > 0:
                    best = max(best, move_word(gain, TURNED, k))
            last = beside(third, 1 - side, one)
            gain = rest + distance(third, last, cities) - distance(last, out, cities)
            if gain > 0:
                best = max(best, move_word(gain, SWAPPED, k))
    return best


@function
def best_pair(pair: i32, city: i32, one: TourWalk, cities: CityLists) -> u64:
    """The best move that joins ``city`` to one of its list and removes its edge on one side: pair = 2 k + side."""
    best = u64(NO_MOVE)
    side = pair & 1
    out = beside(city, side, one)
    near = cities.near[city * cities.lists + (pair >> 1)]
    gained = distance(city, out, cities) - cities.near_distances[city * cities.lists + (pair >> 1)]
    if gained > 0 and near != beside(city, 1 - side, one):
        best = max(
            best_beyond(city, out, near, gained, side, one, cities),
            best_within(city, out, near, gained, side, one, cities),
        )
    return best


@function
def first_winning(city: i32, one: TourWalk, cities: CityLists, winner: Array[u64]) -> u64:
    """The best move of the first pair that has one; the lanes of a team share the pairs."""
    mine = u64(NO_MOVE)
    longest = max(distance(city, after(city, one), cities), distance(city, before(city, one), cities))
    for pair in range(lane(), 2 * cities.lists, team_size()):
        if cities.near_distances[city * cities.lists + (pair >> 1)] >= longest:
            break
        found = best_pair(pair, city, one, cities)
        if found != NO_MOVE:
            mine = (u64(63 - pair) << 48) | found
            break
    if team_size() == 1:
        return mine
    if lane() == 0:
        winner[0] = NO_MOVE
    barrier()
    if mine != NO_MOVE:
        atomic_max(winner, 0, mine)
    barrier()
    return winner[0]


@function
def make_move(move: u64, city: i32, one: TourWalk, cities: CityLists):
    """Make a move, and put the ends of its edges into the queue."""
    pair = 63 - i32(move >> 48)
    key = 0xFFFF - i32(move & 0xFFFF)
    kind = key // MOST_LISTS
    side = pair & 1
    out = beside(city, side, one)
    near = cities.near[city * cities.lists + (pair >> 1)]
    end = beside(near, side if kind <= BEYOND else 1 - side, one)
    third = cities.near[end * cities.lists + key % MOST_LISTS]
    last = beside(third, side if kind == PAST or kind == TURNED else 1 - side, one)
    barrier()
    if lane() == 0:
        enqueue(city, one)
        enqueue(out, one)
        enqueue(near, one)
        enqueue(end, one)
        if kind != TWO:
            enqueue(third, one)
            enqueue(last, one)
    if kind == TWO:
        reconnect(city, out, near, end, one)
    elif kind == PAST:
        reconnect(third, last, city, out, one)
        reconnect(third, city, end, near, one)
    elif kind == BEYOND:
        reconnect(near, end, city, out, one)
        reconnect(third, last, end, out, one)
    elif kind == TURNED:
        reconnect(end, near, third, last, one)
        reconnect(near, last, city, out, one)
    else:
        reconnect(end, near, city, out, one)
        reconnect(end, city, third, last, one)
        reconnect(city, last, near, out, one)


@function
def descend(one: TourWalk, cities: CityLists, winner: Array[u64]) -> i32:
    """Make improving moves until the queue is empty or the log full; return the decrease of the tour's length."""
    gained = 0
    while one.line[COUNT] > 0 and (one.line[LOGS] == 0 or one.line[LOGGED] <= MOST_LOGGED - 3):
        city = one.queue[one.line[HEAD]]
        move = first_winning(city, one, cities, winner)
        barrier()
        if move == NO_MOVE:
            if lane() == 0:
                dequeue(one)
            barrier()
        else:
            make_move(move, city, one, cities)
            gained += i32((move >> 16) & 0x7FFFFFFF)
    return gained
