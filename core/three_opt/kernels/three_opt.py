"""Sequential moves of two and three edges over neighbour lists, and descents by them.

Lin, "Computer solutions of the traveling salesman problem", Bell System Technical Journal 44, 1965; with lists and
don't-look bits as in Bentley, ORSA Journal on Computing 4(4), 1992. A move removes the edge from ``city`` to
``out``, joins ``city`` to a nearer city ``near``, removes an edge of ``near`` to ``end``, and closes the tour by
(``end``, ``out``); or it joins ``end`` to ``third``, removes (``third``, ``last``), and closes by (``last``, ``out``).
All segment insertions (Or-opt moves) are among them. A pair without such a move may have a chain of more edges, which
begins with the three edges that shorten the open path most (`core.three_opt.kernels.chains`).
"""

from __future__ import annotations

from core.lang import *
from core.three_opt.kernels.chains import MOST_SEGMENTS, MOST_STEPS, Chain, from_out, grow_chain, put_segment
from core.three_opt.kernels.tour_array import (
    MOST_LOGGED,
    CityLists,
    TourWalk,
    adjacent,
    after,
    before,
    dequeue,
    distance,
    enqueue,
    fill_queue,
    reconnect,
)

NO_MOVE = 0
MOST_LISTS = 16
"""Largest number of near cities of a city."""
# Kinds of moves: two edges, then three edges as in `make_move`.
TWO, PAST, BEYOND, TURNED, SWAPPED = range(5)
KINDS = 5
"""A chain has the kind of its first three edges, and this more."""


@function
def move_word(gain: i32, kind: i32, k: i32) -> u64:
    """Return a move's word; larger for a larger gain, then for a smaller kind, then for a nearer third city."""
    return (u64(gain) << 16) | u64(0xFFFF - (kind * MOST_LISTS + k))


@function
def best_beyond(
    city: i32, out: i32, near: i32, gained: i32, side: i32, walk: TourWalk, cities: CityLists, opened_word: Array[u64]
) -> u64:
    """Return the best move that removes the edge of ``near`` to its neighbour on ``side``; it may be a 2-opt move.

    ``opened_word`` gets the three edges that leave the shortest open path, without regard to the edge that closes it.
    """
    best = u64(NO_MOVE)
    best_open = u64(NO_MOVE)
    end = adjacent(near, side, walk)
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
                last = adjacent(third, side if is_past else 1 - side, walk)
                if last != end:
                    removed = rest + distance(third, last, cities)
                    if cities.has_fixed:
                        removed = max(removed, 0)
                    kind = PAST if is_past else BEYOND
                    best_open = max(best_open, move_word(removed, kind, k))
                    gain = removed - distance(last, out, cities)
                    if gain > 0:
                        best = max(best, move_word(gain, kind, k))
    opened_word[0] = max(opened_word[0], best_open)
    return best


@function
def best_within(
    city: i32, out: i32, near: i32, gained: i32, side: i32, walk: TourWalk, cities: CityLists, opened_word: Array[u64]
) -> u64:
    """Return the best move that removes the other edge of ``near``, which makes a cycle that a third edge opens."""
    best = u64(NO_MOVE)
    best_open = u64(NO_MOVE)
    end = adjacent(near, 1 - side, walk)
    opened = gained + distance(near, end, cities)
    border = from_out(near, out, side, walk)
    for k in range(cities.lists):
        rest = opened - cities.near_distances[end * cities.lists + k]
        if rest <= 0:
            break
        third = cities.near[end * cities.lists + k]
        if from_out(third, out, side, walk) > border:
            if third != city:
                last = adjacent(third, side, walk)
                removed = rest + distance(third, last, cities)
                if cities.has_fixed:
                    removed = max(removed, 0)
                best_open = max(best_open, move_word(removed, TURNED, k))
                gain = removed - distance(last, out, cities)
                if gain > 0:
                    best = max(best, move_word(gain, TURNED, k))
            last = adjacent(third, 1 - side, walk)
            removed = rest + distance(third, last, cities)
            if cities.has_fixed:
                removed = max(removed, 0)
            best_open = max(best_open, move_word(removed, SWAPPED, k))
            gain = removed - distance(last, out, cities)
            if gain > 0:
                best = max(best, move_word(gain, SWAPPED, k))
    opened_word[0] = max(opened_word[0], best_open)
    return best


@function
def best_pair(pair: i32, city: i32, walk: TourWalk, cities: CityLists, opened_word: Array[u64]) -> u64:
    """Return the best move of pair 2 k + side: join ``city`` to its k-th near city and remove its edge on ``side``."""
    best = u64(NO_MOVE)
    side = pair & 1
    out = adjacent(city, side, walk)
    near = cities.near[city * cities.lists + (pair >> 1)]
    gained = distance(city, out, cities) - cities.near_distances[city * cities.lists + (pair >> 1)]
    if gained > 0 and near != adjacent(city, 1 - side, walk):
        best = best_beyond(city, out, near, gained, side, walk, cities, opened_word)
        other = best_within(city, out, near, gained, side, walk, cities, opened_word)
        best = max(best, other)
    return best


# --- chains ---


@function
def third_city(pair: i32, kind: i32, k: i32, city: i32, side: i32, walk: TourWalk, cities: CityLists) -> i32:
    near = cities.near[city * cities.lists + (pair >> 1)]
    end = adjacent(near, side if kind <= BEYOND else 1 - side, walk)
    return cities.near[end * cities.lists + k]


@function
def last_city(third: i32, kind: i32, side: i32, walk: TourWalk) -> i32:
    return adjacent(third, side if kind == PAST or kind == TURNED else 1 - side, walk)


@function
def begin_chain(kind: i32, border: i32, turn: i32, walk: TourWalk, chain: Chain):
    """Write the path after a move of three edges: ``border`` is the place of ``near``, ``turn`` that of ``third``."""
    end = walk.n - 1
    if kind == PAST:
        put_segment(0, turn + 1, border, chain)
        put_segment(1, end, border + 1, chain)
        put_segment(2, turn, 0, chain)
    elif kind == BEYOND:
        put_segment(0, turn - 1, border + 1, chain)
        put_segment(1, turn, end, chain)
        put_segment(2, border, 0, chain)
    elif kind == TURNED:
        put_segment(0, turn + 1, end, chain)
        put_segment(1, border, turn, chain)
        put_segment(2, border - 1, 0, chain)
    else:
        put_segment(0, turn - 1, border, chain)
        put_segment(1, end, turn, chain)
        put_segment(2, border - 1, 0, chain)


@function
def extend(opened: u64, pair: i32, city: i32, walk: TourWalk, cities: CityLists, chain: Chain) -> u64:
    """Return the move of a chain that begins with a move of three edges, or `NO_MOVE`."""
    key = 0xFFFF - i32(opened & 0xFFFF)
    kind = key // MOST_LISTS
    side = pair & 1
    out = adjacent(city, side, walk)
    near = cities.near[city * cities.lists + (pair >> 1)]
    third = third_city(pair, kind, key % MOST_LISTS, city, side, walk, cities)
    last = last_city(third, kind, side, walk)
    begin_chain(kind, from_out(near, out, side, walk), from_out(third, out, side, walk), walk, chain)
    gain = grow_chain(i32((opened >> 16) & 0x7FFFFFFF), out, last, side, walk, cities, chain)
    return move_word(gain, KINDS + kind, key % MOST_LISTS) if gain > 0 else u64(NO_MOVE)


@function
def first_winning(
    city: i32,
    walk: TourWalk,
    cities: CityLists,
    winner: Array[u64],
    is_deep: boolean,
    chain: Chain,
    opened: Array[u64],
) -> u64:
    """Return the best move of the first pair that has a move; the lanes of a team share the pairs.

    ``chain`` and ``opened`` are memory for chains.
    """
    best = u64(NO_MOVE)
    longest = max(distance(city, after(city, walk), cities), distance(city, before(city, walk), cities))
    for pair in range(lane(), 2 * cities.lists, team_size()):
        if cities.near_distances[city * cities.lists + (pair >> 1)] >= longest:
            break
        opened[0] = NO_MOVE
        move = best_pair(pair, city, walk, cities, opened)
        if is_deep and move == NO_MOVE and opened[0] != NO_MOVE:
            move = extend(opened[0], pair, city, walk, cities, chain)
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
def make_move(move: u64, city: i32, walk: TourWalk, cities: CityLists, chain: Chain):
    """Make a move, and put the ends of its edges into the queue."""
    pair = 63 - i32(move >> 48)
    key = 0xFFFF - i32(move & 0xFFFF)
    is_chain = key >= KINDS * MOST_LISTS
    kind = key // MOST_LISTS - (KINDS if is_chain else 0)
    side = pair & 1
    out = adjacent(city, side, walk)
    near = cities.near[city * cities.lists + (pair >> 1)]
    end = adjacent(near, side if kind <= BEYOND else 1 - side, walk)
    third = third_city(pair, kind, key % MOST_LISTS, city, side, walk, cities)
    last = last_city(third, kind, side, walk)
    chain.count[0] = 0
    if is_chain:
        rest = distance(city, out, cities) - distance(city, near, cities) + distance(near, end, cities)
        rest += distance(third, last, cities) - distance(end, third, cities)
        extend(move_word(rest, kind, key % MOST_LISTS), pair, city, walk, cities, chain)
    barrier()
    if lane() == 0:
        enqueue(city, walk)
        enqueue(out, walk)
        enqueue(near, walk)
        enqueue(end, walk)
        if kind != TWO:
            enqueue(third, walk)
            enqueue(last, walk)
        for k in range(chain.count[0]):
            enqueue(chain.joined[k], walk)
            enqueue(chain.next_first[k], walk)
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
    first = last
    for k in range(chain.count[0]):
        reconnect(out, first, chain.next_first[k], chain.joined[k], walk)
        first = chain.next_first[k]


@function
def descend(walk: TourWalk, cities: CityLists, winner: Array[u64], is_deep: boolean) -> i32:
    """Make improving moves until the queue is empty or the log full; return the decrease of the tour's length.

    ``is_deep``: moves may be chains of more than three edges.
    """
    opened = local_array(1, u64)
    chain = Chain(
        local_array(MOST_SEGMENTS, i32),
        local_array(MOST_SEGMENTS, i32),
        local_array(MOST_STEPS, i32),
        local_array(MOST_STEPS, i32),
        local_array(1, i32),
    )
    decrease = 0
    while walk.line.count > 0 and (walk.line.logs == 0 or walk.line.logged <= MOST_LOGGED - MOST_SEGMENTS):
        city = walk.queue[walk.line.head]
        move = first_winning(city, walk, cities, winner, is_deep, chain, opened)
        barrier()
        if move == NO_MOVE:
            if lane() == 0:
                dequeue(walk)
            barrier()
        else:
            make_move(move, city, walk, cities, chain)
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
        descend(walk, cities, winner, False)
        barrier()
        for p in range(lane(), walk.n, team_size()):
            tours[t * walk.n + p] = u16(walk.tour[p])
        barrier()
