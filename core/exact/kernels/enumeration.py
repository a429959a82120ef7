"""Exact search for a shortest tour by enumeration (`xavier2022`, sections 2.1, 2.2 and 2.4).

A lane takes items from a worklist. An item is a sequence of the first cities, decoded from its number by modulo, and
all tours that begin with it are explored depth first. The thesis' bound is the length so far plus the shortest edge of
every unvisited city. Here that of city 0 is added, to which the tour returns. The bound is the length itself: an edge
from i to j counts d(i, j) - shortest(j), and the length starts with the sum of all shortest edges. Children come by
ascending length, so the first that is too long ends the row.
"""

from __future__ import annotations

from core.exact.kernels.city_sets import ROW, city_at, contains, first_cities, lowest, singleton
from core.exact.kernels.tour_search import BestTour, TourSearch, lower_limit, record_result
from core.lang import *

END = 0x7FFFFFFF
"""Mark at the end of a sorted row, larger than every length << 5 | city."""
LEVEL, PLACE = ROW - 2, ROW - 1
"""Elements of a record behind its cities: the number of cities, and the position in the sorted row of the last one."""


@bundle
class ReducedDistances:
    """Distances minus shortest edges.

    Attributes
    ----------
    lengths : Array, n * 32
        From i to j at i * 32 + j: d(i, j) - shortest(j).
    ranked : Array, n * 32
        For each city the others but city 0 as length << 5 | city, ascending, then `END`.
    n
        Number of cities.
    shortest
        Sum of the shortest edges of all cities.
    """

    lengths: Array[i32]
    ranked: Array[i32]
    n: i32
    shortest: i32


@bundle
class Worklist:
    """Items of a launch, records before numbers, and records of the work that lanes leave to the next launch.

    Attributes
    ----------
    ticket : Array, 1
        Number of items taken so far, of ``end``; a lane takes ``chunk`` at a time.
    records
        Number of items that are records; the others are numbers, from ``first`` on.
    depth
        Cities in a numbered item, city 0 included; at most n - 4.
    stored : Array, records * 32
        Records to explore.
    unfinished : Array, room * 32
        Records for the next launch.
    unfinished_count : Array, 1
        Number of records in ``unfinished``, at most ``room``.
    patience
        Steps between a lane's checks for idle lanes. Every ``rounds_to_count`` checks it adds its counts to those of
        the search, before a word of 32 bits overflows. The product of both is at most 2^30.
    """

    ticket: Array[u64]
    end: u64
    chunk: u64
    records: u64
    first: u64
    depth: i32
    stored: Array[u8]
    unfinished: Array[u8]
    unfinished_count: Array[u32]
    room: u32
    patience: i32
    rounds_to_count: i32


@bundle
class EnumerationTeam:
    """Shared memory of a team: the tables, and for each lane a stack of 32 words place << 5 | city."""

    lengths: Array[i32]
    ranked: Array[i32]
    stack: Array[u32]


@function
def on_stack(cities: i32) -> i32:
    """Return the index of the last of ``cities`` cities on the lane's stack."""
    return (cities - 1) * team_size() + lane()


@function
def keep_tour(level: i32, last: i32, x: i32, y: i32, z: i32, length: i32, team: EnumerationTeam, best: BestTour):
    """Store the tour of the ``level`` cities on the stack, ``last``, x, y and z."""
    best.length[0] = length
    for k in range(level):
        best.tour[k] = u8(team.stack[on_stack(k + 1)] & 31)
    best.tour[level] = u8(last)
    best.tour[level + 1] = u8(x)
    best.tour[level + 2] = u8(y)
    best.tour[level + 3] = u8(z)


@function
def read_item(item: u64, n: i32, worklist: Worklist, stack: Array[u32]) -> i32:
    """Put an item's cities on the stack and return their number."""
    if item < worklist.records:
        record = i32(item) * ROW
        cities = i32(worklist.stored[record + LEVEL])
        for k in range(cities):
            stack[on_stack(k + 1)] = u32(worklist.stored[record + k])
        place = u32(worklist.stored[record + PLACE])
        stack[on_stack(cities)] = stack[on_stack(cities)] | (place << 5)
        return cities
    else:
        rest = worklist.first + (item - worklist.records)
        unvisited = first_cities(n) & ~singleton(0)
        stack[on_stack(1)] = u32(0)
        for visited in range(1, worklist.depth):
            city = city_at(unvisited, i32(rest % u64(n - visited)))
            rest = rest // u64(n - visited)
            unvisited = unvisited ^ singleton(city)
            stack[on_stack(visited + 1)] = u32(city)
        return worklist.depth


@function
def store_remaining_work(base: i32, level: i32, worklist: Worklist, stack: Array[u32]) -> boolean:
    """Store the rest of an item of ``base`` cities as a record for each level; return False if there is no room."""
    count = u32(level - base + 1)
    first = atomic_add(worklist.unfinished_count, 0, count)
    if first + count > worklist.room:
        atomic_add(worklist.unfinished_count, 0, 0 - count)
        return False
    for cities in range(base, level + 1):
        record = i32(first + u32(cities - base)) * ROW
        for k in range(cities):
            worklist.unfinished[record + k] = u8(stack[on_stack(k + 1)] & 31)
        worklist.unfinished[record + LEVEL] = u8(cities)
        worklist.unfinished[record + PLACE] = u8(stack[on_stack(cities)] >> 5)
    return True


@function
def cities_on_stack(level: i32, stack: Array[u32]) -> u32:
    cities = u32(0)
    for k in range(level):
        cities = cities | singleton(i32(stack[on_stack(k + 1)] & 31))
    return cities


@function
def length_on_stack(level: i32, team: EnumerationTeam) -> i32:
    length = 0
    for k in range(1, level):
        city = i32(team.stack[on_stack(k)] & 31)
        after = i32(team.stack[on_stack(k + 1)] & 31)
        length += team.lengths[city * ROW + after]
    return length


@kernel
def explore(
    reduced: ReducedDistances,
    worklist: Worklist,
    search: TourSearch,
    best: Rows[BestTour],
    bounded: Const[boolean],
    counting: Const[boolean],
):
    """Explore the items of a worklist.

    When no item is left, every lane stores the rest of its item for the next launch, so that no lane works while others
    are idle.

    Parameters
    ----------
    search
        ``nodes`` (32) counts the partial tours of each number of cities, from ``worklist.depth`` to n - 3.
    best
        One row for each lane of the launch.
    bounded
        Skip partial tours that are not shorter than the limit.
    counting
        Count the tours shorter than a constant limit; otherwise every shorter tour lowers the limit.
    """
    n = reduced.n
    team = EnumerationTeam(
        shared_array(ROW * ROW, i32), shared_array(ROW * ROW, i32), shared_array(ROW * team_size(), u32)
    )
    explored = local_array(ROW, u32)
    for k in range(lane(), n * ROW, team_size()):
        team.lengths[k] = reduced.lengths[k]
        team.ranked[k] = reduced.ranked[k]
    for k in range(ROW):
        explored[k] = u32(0)
    barrier()
    lane_number = team_rank() * team_size() + lane()
    counted = u64(0)
    limit = search.limit[0]
    item = u64(0)
    end_of_chunk = u64(0)
    base = worklist.depth
    level = 0
    city = 0
    place = 0
    bound = 0
    unvisited = u32(0)
    steps = 0
    rounds = 0
    # A step changes up to nine numbers, and a function returns one, so the steps are written here.
    while True:
        if level < base:
            if item == end_of_chunk:
                item = atomic_add(worklist.ticket, 0, worklist.chunk)
                if item >= worklist.end:
                    break
                end_of_chunk = min(item + worklist.chunk, worklist.end)
                if not counting:
                    limit = lower_limit(limit, search)
            base = read_item(item, n, worklist, team.stack)
            city = i32(team.stack[on_stack(base)] & 31)
            place = i32(team.stack[on_stack(base)] >> 5)
            bound = reduced.shortest + length_on_stack(base, team)
            unvisited = first_cities(n) & ~cities_on_stack(base, team.stack)
            level = 0
            if item < worklist.records:
                level = base
            elif not bounded or bound < limit:
                level = base
                explored[level] += 1
            item += 1
        elif steps >= worklist.patience:
            steps = 0
            rounds += 1
            if rounds >= worklist.rounds_to_count:
                rounds = 0
                for k in range(worklist.depth, n):
                    atomic_add(search.nodes, k, u64(explored[k]))
                    explored[k] = u32(0)
            next_item = atomic_add(worklist.ticket, 0, u64(0))
            if next_item >= worklist.end:
                team.stack[on_stack(level)] = u32(place << 5) | u32(city)
                is_stored = store_remaining_work(base, level, worklist, team.stack)
                if is_stored:
                    level = 0
        else:
            steps += 1
            entry = team.ranked[city * ROW + place]
            place += 1
            longer = bound + (entry >> 5)
            after = entry & 31
            if entry == END or (bounded and longer >= limit):
                level -= 1
                if level >= base:
                    unvisited = unvisited | singleton(city)
                    parent = team.stack[on_stack(level)]
                    city = i32(parent & 31)
                    place = i32(parent >> 5)
                    bound -= team.ranked[city * ROW + place - 1] >> 5
            elif contains(unvisited, after):
                explored[level + 1] += 1
                team.stack[on_stack(level)] = u32(place << 5) | u32(city)
                unvisited = unvisited ^ singleton(after)
                if level + 1 < n - 3:
                    bound = longer
                    city = after
                    place = 0
                    level += 1
                else:
                    # The six tours through the last three cities. In a function, they cost an eighth of the speed of
                    # NVIDIA's OpenCL; so do the counts.
                    x = lowest(unvisited)
                    y = lowest(unvisited & (unvisited - 1))
                    z = 31 - clz(unvisited)
                    for _ in range(3):
                        to_x = longer + team.lengths[after * ROW + x]
                        for _ in range(2):
                            whole = to_x + team.lengths[x * ROW + y] + team.lengths[y * ROW + z] + team.lengths[z * ROW]
                            if whole < limit:
                                if counting:
                                    counted += 1
                                else:
                                    limit = whole
                                    keep_tour(level, after, x, y, z, whole, team, best[lane_number])
                            y, z = z, y
                        x, y, z = y, z, x
                    unvisited = unvisited ^ singleton(after)
    for k in range(worklist.depth, n):
        if explored[k] > 0:
            atomic_add(search.nodes, k, u64(explored[k]))
    record_result(counted, limit, search, counting)
