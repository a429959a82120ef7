"""Full 2-opt scan with the mapping of `oneil2011` to a GPU: every lane makes a climb alone.

O'Neil, Tamir and Burtscher, section 2: climbers are independent and run side by side, so no lane waits for another
within a climb. The distances are in shared memory. A lane's tour is a local array, which a GPU interleaves with those
of other lanes, so that lanes at the same position read neighbouring words.
"""

from __future__ import annotations

from core.hill_climbing.kernels.climb_states import reverse
from core.hill_climbing.kernels.climbs import (
    NO_MOVE,
    SHORTEST,
    CountedClimbs,
    count_climb,
    first_of,
    move_key,
    move_word,
    second_of,
)
from core.lang import *

C = Generic("C")
D = Generic("D")

CITIES_OF_BYTES = 256
"""Largest number of cities of a tour of bytes, as in the paper."""
AT_ONCE = (8, 1)
"""Moves of a row that are unrolled: eight, as in the paper, then single moves up to the end of the row."""


@function
def load(climber: u32, tour: Array[C], climbs: CountedClimbs):
    """Load a start tour from global memory, and repeat its first city at the end."""
    begin = i32(climber) * climbs.n
    for p in range(climbs.n):
        tour[p] = C(climbs.tours[begin + p])
    tour[climbs.n] = tour[0]


@function
def best_move(tour: Array[C], table: Array[i32], n: Const[i32]) -> u64:
    """Return the best of (n - 2)(n - 1) / 2 moves (section 2.2); the move that joins both ends has gain 0.

    A move reads one more city. Of its four distances, one is the same in the whole row of moves, and two are from the
    same rows of the table. The length of the new tour is not computed.
    """
    most, first, second = 0, 0, 0
    for i in range(n - 2):
        row = i32(tour[i]) * n
        row_after = i32(tour[i + 1]) * n
        edge = table[row + i32(tour[i + 1])]
        city = i32(tour[i + 2])
        begin = i + 2
        for k in unroll(len(AT_ONCE)):
            end = begin + (n - begin) // AT_ONCE[k] * AT_ONCE[k]
            for j in range(begin, end, AT_ONCE[k]):
                for m in unroll(AT_ONCE[k]):
                    next_city = i32(tour[j + m + 1])
                    gain = edge + table[city * n + next_city] - table[row + city] - table[row_after + next_city]
                    if gain > most:
                        most, first, second = gain, i, j + m
                    city = next_city
            begin = end
    return move_word(most, move_key(first, second)) if most > 0 else NO_MOVE


@function
def finish(climber: u32, steps: u32, tour: Array[C], table: Array[i32], climbs: CountedClimbs):
    """Compute the length of a local optimum, store the tour if it is the best so far, and count the climb."""
    length = u32(0)
    for p in range(climbs.n):
        length += u32(table[i32(tour[p]) * climbs.n + i32(tour[p + 1])])
    if (u64(length) << 32) | u64(climber) < climbs.extremes[SHORTEST]:
        for p in range(climbs.n):
            climbs.tours[i32(climber) * climbs.n + p] = u16(tour[p])
    count_climb(climber, length, steps, climbs)


@function
def next_climber(climber: u32, climbs: CountedClimbs, worklist: Const[boolean]) -> u32:
    """Return the lane's next climber (section 2.1), from the worklist or by equal shares.

    There is none if the number is not below ``climbs.count``.
    """
    lanes = u32(team_count() * team_size())
    if worklist:
        ticket = atomic_add(climbs.ticket, 0, u32(1))
        return lanes + ticket
    return climber + lanes


@function
def climb(tour: Array[C], table: Array[i32], climbs: CountedClimbs, worklist: Const[boolean]):
    """Iterative hill climbing by one lane; the lane's number is that of its first climber."""
    climber = u32(team_rank() * team_size() + lane())
    while climber < u32(climbs.count):
        load(climber, tour, climbs)
        steps = u32(1)
        move = best_move(tour, table, climbs.n)
        while move != NO_MOVE:
            reverse(tour, first_of(move) + 1, second_of(move), False)
            move = best_move(tour, table, climbs.n)
            steps += 1
        finish(climber, steps, tour, table, climbs)
        climber = next_climber(climber, climbs, worklist)


@kernel
def climb_lanes(climbs: CountedClimbs, distances: Array[D], worklist: Const[boolean]):
    """Climb from each of ``climbs.tours`` to a local optimum, and store those that are the best so far.

    Parameters
    ----------
    climbs
        See `core.hill_climbing.kernels.climbs`.
    distances : Array, n * n
    worklist
        True if lanes take climbers from a shared worklist; otherwise each lane has fixed climbers.
    """
    table = shared_array(climbs.n * climbs.n, i32)
    for k in range(lane(), climbs.n * climbs.n, team_size()):
        table[k] = i32(distances[k])
    barrier()
    if climbs.n <= CITIES_OF_BYTES:
        bytes_of_tour = local_array(climbs.n + 1, u8)
        climb(bytes_of_tour, table, climbs, worklist)
    else:
        words_of_tour = local_array(climbs.n + 1, u16)
        climb(words_of_tour, table, climbs, worklist)
