"""Parts that all 2-opt scans share: start tours, distribution and count of climbs, and the code of a move.

A move (i, j) with 0 <= i, i + 2 <= j < n reverses positions i+1..j and gains
e(i) + e(j) - d(t_i, t_j) - d(t_i+1, t_j+1), where e(p) is the length of the edge after position p. A step takes the
move of largest gain; ties go to the smallest i, then the smallest j, as in the scan of the released program.

Random start tours come from the generator of the paper's released program (`oneil2011`), or from a counter-based one.

Full scans of wide teams keep tours in shared memory, one word a city: word p is city t_p | d(t_p-1, t_p) << 16. A tour
has words 1 to n. Word 0 equals word n, and word n + p equals word p as far as a scan's window reaches. Distances have
16 bits.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import random_below, splitmix64

C = Generic("C")
S = Generic("S")

MOST_CITIES = 46_340
"""Largest number of cities n for which n * n - 1, the last index of the distances, has 31 bits."""
STEPS, EVALUATIONS, DIGEST = 0, 1, 2
TOTALS = 3
SHORTEST, FEWEST_STEPS, MOST_STEPS = 0, 1, 2
EXTREMES = 3
NO_MOVE = u64(0)
"""Result of a scan in a local optimum."""


@bundle
class Climbs:
    """Climbs of a launch: ``tours`` of ``n`` cities, at first start tours, finally local optima.

    Teams take climbers 0 to ``count`` - 1; ``ticket[0]`` is the next one.
    """

    n: Const[i32]
    tours: Array[u16]
    count: i32
    ticket: Array[u32]


@bundle
class CountedClimbs(Climbs):
    """Climbs with outcomes; ``first`` is the number of climber 0 among the climbers of all launches.

    ``extremes`` has minima: of length << 32 | climber at `SHORTEST`, of a climb's steps at `FEWEST_STEPS`, of their
    complement at `MOST_STEPS`. ``totals`` has sums at `STEPS`, `EVALUATIONS` and `DIGEST`.
    """

    first: u64
    extremes: Array[u64]
    totals: Array[u64]


@bundle
class CurrentClimb:
    """Shared memory of a team for its climb: the climber's number and the tour's length, one word each."""

    climber: Array[u32]
    length: Array[u32]


@function
def count_climb(climber: u32, length: u32, steps: u32, climbs: CountedClimbs):
    """Record a finished climb: the best (length, climber), the steps, and the digest of (climber, length, steps).

    The digest is a sum, so it does not depend on the order in which climbs finish.
    """
    number = climbs.first + u64(climber)
    atomic_min(climbs.extremes, SHORTEST, (u64(length) << 32) | u64(climber))
    atomic_min(climbs.extremes, FEWEST_STEPS, u64(steps))
    atomic_min(climbs.extremes, MOST_STEPS, ~u64(steps))
    atomic_add(climbs.totals, STEPS, u64(steps))
    atomic_add(
        climbs.totals,
        DIGEST,
        splitmix64(splitmix64(number + u64(0x9E3779B97F4A7C15)) ^ (u64(length) << 32) ^ u64(steps)),
    )


# --- a move as one word, larger for a better move: gain << 32 | ~(i << 16 | j) ---


@function
def move_key(i: i32, j: i32) -> u32:
    """Return the key of a move; of moves of equal gain the one with the smallest key wins."""
    return (u32(i) << 16) | u32(j)


@function
def move_word(gain: i32, key: u32) -> u64:
    """Return the word of a move, larger than the word of every worse move and than `NO_MOVE`."""
    return (u64(gain) << 32) | u64(~key)


@function
def gain_of(move: u64) -> i32:
    return i32(move >> 32)


@function
def key_of(move: u64) -> u32:
    return ~u32(move)


@function
def first_of(move: u64) -> i32:
    return i32(key_of(move) >> 16)


@function
def second_of(move: u64) -> i32:
    return i32(key_of(move) & 0xFFFF)


@function
def best_of_team(lane_best: u64, winner: Array[u64]) -> u64:
    """Return the best move of all lanes; lane 0 has set ``winner[0]`` to `NO_MOVE` before the last barrier."""
    if lane_best != NO_MOVE:
        atomic_max(winner, 0, lane_best)
    barrier()
    return winner[0]


# --- the climb ---


@function
def next_climber(climbs: Climbs, current: CurrentClimb) -> u32:
    """Return the team's next climber, or a number of at least ``climbs.count`` if there is none."""
    if lane() == 0:
        current.climber[0] = atomic_add(climbs.ticket, 0, u32(1))
        current.length[0] = u32(0)
    barrier()
    return current.climber[0]


def climb_function(
    load: Function, scan: Function, apply: Function, city_at: Function, edge_at: Function | None = None
) -> Function:
    """Return ``climb(climbs, state, current)``: a team makes climbs, one at a time, until none is left.

    ``state`` is the bundle of a kind of scan: the instance, and the tour that the team climbs.

    Parameters
    ----------
    load
        ``load(climber, climbs, state)``: load the climber's start tour.
    scan
        ``scan(last, state) -> u64``: the best move, or `NO_MOVE`; ``last`` is the move before, of a new tour `NO_MOVE`.
    apply
        ``apply(move, state)``: make a move.
    city_at, edge_at
        ``city_at(p, state) -> i32`` is the city at a position, ``edge_at(p, state) -> i32`` the length of an edge. Each
        edge has one position. Without ``edge_at`` climbs are not counted.
    """

    @function
    def finish(climber: u32, steps: u32, climbs: C, state: S, current: CurrentClimb):
        """Store the tour of a finished climb, and count the climb."""
        begin = i32(climber) * climbs.n
        length = u32(0)
        for p in range(lane(), climbs.n, team_size()):
            climbs.tours[begin + p] = u16(city_at(p, state))
            if edge_at is not None:
                length += u32(edge_at(p, state))
        if edge_at is not None:
            atomic_add(current.length, 0, length)
        barrier()
        if edge_at is not None and lane() == 0:
            count_climb(climber, current.length[0], steps, climbs)

    @function
    def climb(climbs: C, state: S, current: CurrentClimb):
        """Iterative hill climbing by one team."""
        while True:
            climber = next_climber(climbs, current)
            if climber >= u32(climbs.count):
                break
            load(climber, climbs, state)
            steps = u32(0)
            move = NO_MOVE
            while True:
                move = scan(move, state)
                steps += 1
                if move == NO_MOVE:
                    break
                apply(move, state)
            finish(climber, steps, climbs, state, current)

    return climb


FAR_BELOW = -(1 << 20)
"""Less than any gain."""
NO_KEY = u32(0xFFFFFFFF)
"""Above every move's key (`core.hill_climbing.kernels.climbs.move_key`)."""


@function
def city(word: u32) -> i32:
    return i32(word & 0xFFFF)


@function
def edge(word: u32) -> i32:
    """Return the length of the edge that leads to the city of a tour word."""
    return i32(word >> 16)


@function
def tour_word(c: i32, length: i32) -> u32:
    """Return the tour word of city ``c`` and the length of the edge that leads to it."""
    return u32(c) | (u32(length) << 16)


@function
def wrapped(p: i32, n: Const[i32]) -> i32:
    """Return position p of the closed tour, for p from 0 to 3n - 1."""
    q = p - n if p >= n else p
    return q - n if q >= n else q


@function
def swap_cities(tours: Array[u16], p: i32, q: i32):
    tours[p], tours[q] = tours[q], tours[p]


@kernel
def start_tours(tours: Array[u16], n: i32, climbers: i32, first: u64, seed: u64, counter_based: Const[boolean]):
    """Fill ``tours`` (climbers x n) with the start tours of climbers ``first``, ``first + 1``, ...

    Position 0 holds city 0, the others a shuffle of 1..n-1. The paper's generator is x <- (1103515245 x + 12345) mod
    2^31 from x = climber; for each p it exchanges entries p and 1 + x mod (n-1). It ignores ``seed``. The counter-based
    one is Fisher and Yates' shuffle with Philox keyed by (seed; climber, position).
    """
    for c in range(team_rank() * team_size() + lane(), climbers, team_count() * team_size()):
        base = c * n
        for p in range(n):
            tours[base + p] = u16(p)
        climber = first + u64(c)
        if counter_based:
            for p in range(n - 1, 1, -1):
                swap_cities(tours, base + p, base + 1 + i32(random_below(u32(p), seed, climber, u32(p))))
        else:
            x = u32(climber & 0x7FFFFFFF)
            for p in range(1, n):
                x = (x * 1103515245 + 12345) & 0x7FFFFFFF
                swap_cities(tours, base + p, base + 1 + i32(x % u32(n - 1)))
