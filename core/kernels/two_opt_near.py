"""2-opt by neighbour lists and a queue of cities to look at: a local search for tours that are good already.

Bentley, "Fast algorithms for geometric traveling salesman problems", ORSA Journal on Computing 4(4), 1992: a move can
only win if it joins a city to a nearer one than its tour neighbour, and cities whose surroundings have not changed need
no second look (his don't-look bits). Here the first `BATCH` cities of the queue are looked at together, and the best
of their moves is made, so that the outcome depends on no number of lanes.
"""

from __future__ import annotations

from core.kernels.two_opt import key_of, move_word
from core.lang import (
    Array,
    Const,
    Generic,
    atomic_add,
    atomic_max,
    barrier,
    function,
    i32,
    kernel,
    lane,
    max,
    min,
    shared_array,
    team_size,
    u16,
    u32,
    u64,
    unroll,
)

D = Generic("D")
NEAR = 16
"""Neighbours of a city that moves may join it to."""
BATCH = 8
HEAD, COUNT = 0, 1


@function
def forward(p: i32, n: Const[i32]) -> i32:
    """Position p of the closed tour, p from 0 to 2n - 1."""
    return p - n if p >= n else p


@function
def backward(p: i32, n: Const[i32]) -> i32:
    """Position p of the closed tour, p from -n to n - 1."""
    return p + n if p < 0 else p


@function
def next_to(p: i32, side: Const[i32], n: Const[i32]) -> i32:
    """The position that follows (``side`` 0) or precedes (1)."""
    return forward(p + 1, n) if side == 0 else backward(p - 1, n)


@function
def enqueue(city: i32, n: Const[i32], queue: Array[u16], waiting: Array[u32], line: Array[i32]):
    """Put a city at the end of the queue, unless it waits there already."""
    bit = u32(1) << u32(city & 31)
    if waiting[city >> 5] & bit == 0:
        waiting[city >> 5] = waiting[city >> 5] | bit
        queue[forward(line[HEAD] + line[COUNT], n)] = u16(city)
        line[COUNT] = line[COUNT] + 1


@function
def load(
    climber: u32,
    tours: Array[u16],
    tour: Array[u16],
    place: Array[u16],
    queue: Array[u16],
    waiting: Array[u32],
    line: Array[i32],
    n: Const[i32],
):
    """Take over a start tour; all cities wait in its order."""
    base = i32(climber) * n
    for p in range(lane(), n, team_size()):
        tour[p] = tours[base + p]
        queue[p] = tours[base + p]
        place[tours[base + p]] = u16(p)
    for k in range(lane(), (n + 31) // 32, team_size()):
        waiting[k] = 0xFFFFFFFF
    if lane() == 0:
        line[HEAD] = 0
        line[COUNT] = n
    barrier()


@function
def best_of_lane(
    looked: i32,
    distances: Array[D],
    near_cities: Array[u16],
    tour: Array[u16],
    place: Array[u16],
    queue: Array[u16],
    line: Array[i32],
    n: Const[i32],
) -> u64:
    """The best of this lane's share of the moves of the first ``looked`` cities of the queue."""
    best = u64(0)
    head = line[HEAD]
    for x in range(lane(), looked * NEAR, team_size()):
        city = i32(queue[forward(head + x // NEAR, n)])
        other = i32(near_cities[city * NEAR + x % NEAR])
        if other != city:
            p = i32(place[city])
            q = i32(place[other])
            joined = i32(distances[city * n + other])
            for side in unroll(2):
                beside = i32(tour[next_to(p, side, n)])
                beyond = i32(tour[next_to(q, side, n)])
                gain = i32(distances[city * n + beside]) - joined
                if gain > 0:
                    gain += i32(distances[other * n + beyond]) - i32(distances[beside * n + beyond])
                    if gain > 0:
                        best = max(best, move_word(gain, u32(2 * x + side)))
    return best


@function
def dequeue(looked: i32, queue: Array[u16], waiting: Array[u32], line: Array[i32], n: Const[i32]):
    """Take the first cities from the queue."""
    head = line[HEAD]
    for k in range(looked):
        city = i32(queue[forward(head + k, n)])
        waiting[city >> 5] = waiting[city >> 5] & ~(u32(1) << u32(city & 31))
    line[HEAD] = forward(head + looked, n)
    line[COUNT] = line[COUNT] - looked


@function
def scan(
    distances: Array[D],
    near_cities: Array[u16],
    tour: Array[u16],
    place: Array[u16],
    queue: Array[u16],
    waiting: Array[u32],
    line: Array[i32],
    winner: Array[u64],
    n: Const[i32],
) -> u64:
    """The best move of the first cities in the queue that have one; cities without leave the queue."""
    while line[COUNT] > 0:
        looked = min(BATCH, line[COUNT])
        if lane() == 0:
            winner[0] = u64(0)
        barrier()
        best = best_of_lane(looked, distances, near_cities, tour, place, queue, line, n)
        if best != 0:
            atomic_max(winner, 0, best)
        barrier()
        if winner[0] != 0:
            return winner[0]
        barrier()
        if lane() == 0:
            dequeue(looked, queue, waiting, line, n)
        barrier()
    return u64(0)


@function
def apply(
    move: u64,
    near_cities: Array[u16],
    tour: Array[u16],
    place: Array[u16],
    queue: Array[u16],
    waiting: Array[u32],
    line: Array[i32],
    n: Const[i32],
):
    """Make a move, and let the ends of its edges wait for another look."""
    x = i32(key_of(move) >> 1)
    side = i32(key_of(move) & 1)
    city = i32(queue[forward(line[HEAD] + x // NEAR, n)])
    other = i32(near_cities[city * NEAR + x % NEAR])
    # Edges (a, a + 1) and (b, b + 1) go; a + 1 .. b is reversed, or all the rest if that is less.
    a = backward(i32(place[city]) - side, n)
    b = backward(i32(place[other]) - side, n)
    from_a = i32(tour[a])
    after_a = i32(tour[forward(a + 1, n)])
    from_b = i32(tour[b])
    after_b = i32(tour[forward(b + 1, n)])
    first, last = forward(a + 1, n), b
    length = backward(b - a, n)
    if 2 * length > n:
        first, last = forward(b + 1, n), a
        length = n - length
    barrier()
    for s in range(lane(), length >> 1, team_size()):
        low = forward(first + s, n)
        high = backward(last - s, n)
        here = tour[low]
        there = tour[high]
        tour[low] = u16(there)
        tour[high] = u16(here)
        place[there] = u16(low)
        place[here] = u16(high)
    if lane() == 0:
        enqueue(from_a, n, queue, waiting, line)
        enqueue(after_a, n, queue, waiting, line)
        enqueue(from_b, n, queue, waiting, line)
        enqueue(after_b, n, queue, waiting, line)
    barrier()


@kernel
def climb_near(
    distances: Array[D],
    near_cities: Array[u16],
    tours: Array[u16],
    n: Const[i32],
    climbers: i32,
    ticket: Array[u32],
):
    """Climb from each of ``tours`` until the queue is empty; a team climbs one tour at a time.

    A move puts the ends of its edges into the queue, not the cities between them, although it turns their path. So a
    winning move can be left: in some 2 % of the tours of 60 cities, found by looking at all cities again.

    Parameters
    ----------
    distances : Array, n * n
    near_cities : Array, n * NEAR
        For each city others by ascending distance; filled up with the city itself.
    tours : Array, climbers * n
        Start tours in, shorter ones out.
    ticket : Array, 1
        The next climber to take.

    """
    tour = shared_array(n, u16)
    place = shared_array(n, u16)
    queue = shared_array(n, u16)
    waiting = shared_array((n + 31) // 32, u32)
    line = shared_array(2, i32)
    turn = shared_array(1, u32)
    winner = shared_array(1, u64)
    while True:
        if lane() == 0:
            turn[0] = atomic_add(ticket, 0, u32(1))
        barrier()
        climber = turn[0]
        if climber >= u32(climbers):
            break
        load(climber, tours, tour, place, queue, waiting, line, n)
        while True:
            move = scan(distances, near_cities, tour, place, queue, waiting, line, winner, n)
            if move == 0:
                break
            apply(move, near_cities, tour, place, queue, waiting, line, n)
        base = i32(climber) * n
        for p in range(lane(), n, team_size()):
            tours[base + p] = tour[p]
        barrier()
