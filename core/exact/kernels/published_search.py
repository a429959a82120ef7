"""Exact search with the mapping of its thesis to a GPU (`xavier2022`, chapter 2): a lane for every item of a worklist.

An item is a sequence of the first cities, decoded from its number by modulo. Its lane explores all tours that begin
with it, in the order of the cities' numbers. It skips a partial tour if its length plus the shortest edges of all
unvisited cities exceed the incumbent. `core.exact.kernels.enumeration` is the suite's own form.
"""

from __future__ import annotations

from core.exact.kernels.city_sets import ROW, city_at, first_cities, lowest, singleton
from core.exact.kernels.tour_search import BestTour, TourSearch, lower_limit
from core.lang import *

END = 0x7FFFFFFF
"""Length larger than that of any tour."""


@bundle
class Distances:
    """Distances ``lengths`` (n * n) of ``n`` cities, and each city's ``shortest`` edge (n), the thesis' bound array."""

    lengths: Array[i32]
    shortest: Array[i32]
    n: i32


@bundle
class WorklistItems:
    """Items of a launch, the last of them ``end`` - 1.

    Attributes
    ----------
    ticket : Array, 1
        First item that no team has taken.
    chunk
        Items that a team takes at a time: one for each lane of a wide device.
    depth
        Cities in an item, city 0 included; at most n - 4.
    patience
        Steps, at most 2^29, after which a lane reads the incumbent and adds its counts of 32 bits to those of its team.
    """

    ticket: Array[u64]
    end: u64
    chunk: i32
    depth: i32
    patience: i32


@bundle
class TeamDistances(Distances):
    """Shared memory of a team.

    A copy of the distances, the number of nodes of each depth, the first item, and the incumbent when it was taken.
    """

    nodes: Array[u64]
    first: Array[u64]
    limit: Array[i32]


@function
def distance_between(u: i32, v: i32, distances: Distances) -> i32:
    return distances.lengths[u * distances.n + v]


@function
def tsp1(last: i32, x: i32, length: i32, distances: Distances) -> i32:
    """Return the length of the tour that continues with x, the only unvisited city."""
    return length + distance_between(last, x, distances) + distance_between(x, 0, distances)


@function
def tsp2(last: i32, x: i32, y: i32, length: i32, distances: Distances) -> i32:
    """Return the length of the shorter tour through the unvisited cities, x first or y first."""
    return min(
        tsp1(x, y, length + distance_between(last, x, distances), distances),
        tsp1(y, x, length + distance_between(last, y, distances), distances),
    )


@function
def tsp3(last: i32, unvisited: u32, length: i32, distances: Distances) -> i32:
    """Return the length of the shortest of the six tours through the three unvisited cities."""
    x = lowest(unvisited)
    y = lowest(unvisited & (unvisited - 1))
    z = 31 - clz(unvisited)
    by_x = tsp2(x, y, z, length + distance_between(last, x, distances), distances)
    by_y = tsp2(y, x, z, length + distance_between(last, y, distances), distances)
    by_z = tsp2(z, x, y, length + distance_between(last, z, distances), distances)
    return min(by_x, min(by_y, by_z))


@function
def end_of_path(unvisited: u32, length: i32, whole: i32, distances: Distances, path: Array[u8]) -> i32:
    """Put the last three cities on the path in an order of length ``whole``; return the number of such orders."""
    first = distances.n - 3
    last = i32(path[first - 1])
    x = lowest(unvisited)
    y = lowest(unvisited & (unvisited - 1))
    z = 31 - clz(unvisited)
    count = 0
    for _ in range(3):
        for _ in range(2):
            if (
                tsp1(y, z, length + distance_between(last, x, distances) + distance_between(x, y, distances), distances)
                == whole
            ):
                path[first], path[first + 1], path[first + 2] = u8(x), u8(y), u8(z)
                count += 1
            y, z = z, y
        x, y, z = y, z, x
    return count


@function
def decoded(item: u64, depth: i32, n: i32, path: Array[u8]) -> u32:
    """Put an item's cities on the path, and return the set of the others."""
    rest = item
    unvisited = first_cities(n) & ~singleton(0)
    path[0] = u8(0)
    for visited in range(1, depth):
        city = city_at(unvisited, i32(rest % u64(n - visited)))
        rest = rest // u64(n - visited)
        unvisited = unvisited ^ singleton(city)
        path[visited] = u8(city)
    return unvisited


@function
def path_length(cities: i32, path: Array[u8], distances: Distances) -> i32:
    length = 0
    for k in range(1, cities):
        length += distance_between(i32(path[k - 1]), i32(path[k]), distances)
    return length


@function
def sum_of_shortest(cities: u32, distances: Distances) -> i32:
    """Return the sum of the shortest edges of the cities of a set."""
    total = 0
    for city in set_bits(cities):
        total += distances.shortest[city]
    return total


@function
def within_bound(unvisited: u32, city: i32, slack: i32, distances: Distances) -> u32:
    """Return the unvisited cities to which the step from ``city`` adds at most ``slack`` to the bound."""
    cities = u32(0)
    for after in range(1, distances.n):
        added = distance_between(city, after, distances) - distances.shortest[after]
        cities = cities | (singleton(after) if added <= slack else u32(0))
    return cities & unvisited


@function
def incumbent(search: TourSearch, counting: Const[boolean]) -> i32:
    """Return the length of the shortest tour so far, or the length of the tours to count.

    An atomic reads the limit, since a load may return an old value from a GPU's cache.
    """
    if counting:
        return search.limit[0] - 1
    else:
        least = atomic_min(search.limit, 0, END)
        return least


@function
def keep_tour(length: i32, n: i32, path: Array[u8], best: BestTour):
    best.length[0] = length
    for k in range(n):
        best.tour[k] = path[k]


@function
def tsp(
    item: u64,
    items: WorklistItems,
    team: TeamDistances,
    search: TourSearch,
    best: BestTour,
    bounded: Const[boolean],
    counting: Const[boolean],
    unrolled: Const[boolean],
):
    """Explore the tours that begin with an item's cities: the thesis' recursion, with a stack of its levels.

    ``path`` has the visited cities, ``untried`` the ones within the bound to try after them, and ``stack[level]`` those
    to try after the first ``level``. The bounds of all children are computed at once, since they do not depend on each
    other.
    """
    n = team.n
    path = local_array(ROW, u8)
    stack = local_array(ROW, u32)
    explored = local_array(ROW, u32)
    level = items.depth
    unvisited = decoded(item, level, n, path)
    city = i32(path[level - 1])
    length = path_length(level, path, team)
    rest = sum_of_shortest(unvisited, team)
    limit = team.limit[0]
    if not bounded or length + rest <= limit:
        limit = incumbent(search, counting)
    untried = unvisited
    if bounded and length + rest > limit:
        level = 0
    else:
        for k in range(ROW):
            explored[k] = u32(0)
        explored[level] += 1
    while level >= items.depth:
        tours = 0
        for _ in range(items.patience):
            if untried == 0:
                level -= 1
                if level < items.depth:
                    break
                after = i32(path[level])
                city = i32(path[level - 1])
                untried = stack[level]
                unvisited = unvisited | singleton(after)
                length -= distance_between(city, after, team)
                rest += team.shortest[after]
            else:
                after = lowest(untried)
                untried = untried & (untried - 1)
                longer = length + distance_between(city, after, team)
                rest_after = rest - team.shortest[after]
                # The incumbent may be shorter than when the set was made.
                if not bounded or longer + rest_after <= limit:
                    path[level] = u8(after)
                    explored[level + 1] += 1
                    others = unvisited ^ singleton(after)
                    if level + 1 < (n - 3 if unrolled else n):
                        stack[level] = untried
                        level += 1
                        untried = others
                        if bounded:
                            untried = within_bound(others, after, limit - longer - rest_after, team)
                        unvisited, length, rest, city = others, longer, rest_after, after
                    else:
                        whole = (
                            tsp3(after, others, longer, team) if unrolled else longer + distance_between(after, 0, team)
                        )
                        if whole == limit if counting else whole < limit:
                            count = 1
                            if unrolled:
                                count = end_of_path(others, longer, whole, team, path)
                            if counting:
                                tours += count
                            else:
                                keep_tour(whole, n, path, best)
                                limit = lower_limit(whole, search)
        limit = incumbent(search, counting)
        if tours > 0:
            atomic_add(search.counted, 0, u64(tours))
        for k in range(items.depth, n - 2):
            atomic_add(team.nodes, k, u64(explored[k]))
            explored[k] = u32(0)


@kernel
def search_items(
    distances: Distances,
    items: WorklistItems,
    search: TourSearch,
    best: Rows[BestTour],
    bounded: Const[boolean],
    counting: Const[boolean],
    unrolled: Const[boolean],
):
    """Explore items, one by each lane; then the team takes the next ones, as a GPU starts the next block of a launch.

    Parameters
    ----------
    search
        ``nodes`` (32) counts the partial tours of each number of cities, from ``items.depth`` to n - 3.
    best
        One row for each lane of the launch.
    bounded
        Skip partial tours with a bound above the incumbent.
    counting
        Count the tours of the incumbent's length, one less than the limit, instead of searching for shorter ones.
    unrolled
        Add the last three cities by `tsp3`, `tsp2` and `tsp1`, without the bound.
    """
    n = distances.n
    team = TeamDistances(
        shared_array(ROW * ROW, i32),
        shared_array(ROW, i32),
        n,
        shared_array(ROW, u64),
        shared_array(1, u64),
        shared_array(1, i32),
    )
    for k in range(lane(), n * n, team_size()):
        team.lengths[k] = distances.lengths[k]
    for k in range(lane(), n, team_size()):
        team.shortest[k] = distances.shortest[k]
        team.nodes[k] = u64(0)
    lane_number = team_rank() * team_size() + lane()
    while True:
        barrier()
        if lane() == 0:
            team.first[0] = atomic_add(items.ticket, 0, u64(items.chunk))
            team.limit[0] = incumbent(search, counting)
        barrier()
        first = team.first[0]
        if first >= items.end:
            break
        for k in range(lane(), items.chunk, team_size()):
            if first + u64(k) < items.end:
                tsp(first + u64(k), items, team, search, best[lane_number], bounded, counting, unrolled)
    barrier()
    for k in range(items.depth + lane(), n - 2, team_size()):
        atomic_add(search.nodes, k, team.nodes[k])
