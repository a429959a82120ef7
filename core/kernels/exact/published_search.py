"""Exact search as its thesis lays it on a GPU (`xavier2022`, chapter 2): an item of the worklist for every lane.

An item is a sequence of the first cities, decoded from its number by modulo. Its lane explores all tours that begin
with it, in the order of the cities' numbers, and leaves out a partial tour if its length and the shortest edges of all
unvisited cities together are larger than the incumbent. `core.kernels.exact.enumeration` is the suite's own form.
"""

from __future__ import annotations

from core.kernels.exact.city_sets import ROW, city_at, first_cities, lowest, singleton
from core.kernels.exact.tour_search import BestTour, TourSearch, lower_limit
from core.lang import *

END = 0x7FFFFFFF
"""Length larger than that of any tour."""


@bundle
class Distances:
    """Between ``n`` cities: ``lengths`` (n * n), and the ``shortest`` edge of each (n), the thesis' bound array."""

    lengths: Array[i32]
    shortest: Array[i32]
    n: i32


@bundle
class WorklistItems:
    """Items of a launch.

    Attributes
    ----------
    begin, end
        The first item, and the one after the last.
    depth
        Cities in an item, city 0 included; at most n - 4.
    patience
        Steps, at most 2^29, after which a lane reads the incumbent and adds its counts, words of 32 bits, to those of
        its team.
    """

    begin: u64
    end: u64
    depth: i32
    patience: i32


@bundle
class TeamDistances(Distances):
    """Shared memory of a team: a copy of the distances, and its count of nodes of each depth."""

    nodes: Array[u64]


@function
def distance_between(here: i32, there: i32, distances: Distances) -> i32:
    return distances.lengths[here * distances.n + there]


@function
def tsp1(last: i32, x: i32, length: i32, distances: Distances) -> i32:
    """Return the length of the tour that continues with x, the only city left."""
    return length + distance_between(last, x, distances) + distance_between(x, 0, distances)


@function
def tsp2(last: i32, x: i32, y: i32, length: i32, distances: Distances) -> i32:
    """Return the length of the shorter of the two tours through the two cities left."""
    return min(
        tsp1(x, y, length + distance_between(last, x, distances), distances),
        tsp1(y, x, length + distance_between(last, y, distances), distances),
    )


@function
def tsp3(last: i32, left: u32, length: i32, distances: Distances) -> i32:
    """Return the length of the shortest of the six tours through the three cities left."""
    x = lowest(left)
    y = lowest(left & (left - 1))
    z = 31 - clz(left)
    by_x = tsp2(x, y, z, length + distance_between(last, x, distances), distances)
    by_y = tsp2(y, x, z, length + distance_between(last, y, distances), distances)
    by_z = tsp2(z, x, y, length + distance_between(last, z, distances), distances)
    return min(by_x, min(by_y, by_z))


@function
def end_of_path(left: u32, length: i32, whole: i32, distances: Distances, path: Array[u8]) -> i32:
    """Put the order of the last three cities that makes a tour of length ``whole`` on the path; return their number."""
    first = distances.n - 3
    last = i32(path[first - 1])
    x = lowest(left)
    y = lowest(left & (left - 1))
    z = 31 - clz(left)
    found = 0
    for _ in range(3):
        for _ in range(2):
            if (
                tsp1(y, z, length + distance_between(last, x, distances) + distance_between(x, y, distances), distances)
                == whole
            ):
                path[first], path[first + 1], path[first + 2] = u8(x), u8(y), u8(z)
                found += 1
            y, z = z, y
        x, y, z = y, z, x
    return found


@function
def decoded(item: u64, depth: i32, n: i32, path: Array[u8]) -> u32:
    """Put an item's cities on the path and return the set of the others."""
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
def incumbent(search: TourSearch, counting: Const[boolean]) -> i32:
    """Return the length of the shortest tour so far: to be beaten, or to be equalled if tours are counted.

    Read by an atomic, since a GPU's cache may return an old value for a load.
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
    """Explore the tours that begin with an item's cities: the thesis' recursion, a level of it on each cell of a stack.

    ``path`` has the cities visited; ``untried[level]`` those that the search has yet to try after the first ``level``.
    """
    n = team.n
    path = local_array(ROW, u8)
    untried = local_array(ROW, u32)
    explored = local_array(ROW, u32)
    for k in range(ROW):
        explored[k] = u32(0)
    level = items.depth
    unvisited = decoded(item, level, n, path)
    city = i32(path[level - 1])
    length = 0
    for k in range(1, level):
        length += distance_between(i32(path[k - 1]), i32(path[k]), team)
    rest = 0
    for ahead in set_bits(unvisited):
        rest += team.shortest[ahead]
    limit = incumbent(search, counting)
    untried[level] = unvisited
    if bounded and length + rest > limit:
        level = 0
    else:
        explored[level] += 1
    while level >= items.depth:
        tours = 0
        for _ in range(items.patience):
            if untried[level] == 0:
                level -= 1
                if level < items.depth:
                    break
                after = i32(path[level])
                city = i32(path[level - 1])
                unvisited = unvisited | singleton(after)
                length -= distance_between(city, after, team)
                rest += team.shortest[after]
            else:
                after = lowest(untried[level])
                untried[level] = untried[level] & (untried[level] - 1)
                longer = length + distance_between(city, after, team)
                ahead = rest - team.shortest[after]
                if not bounded or longer + ahead <= limit:
                    path[level] = u8(after)
                    explored[level + 1] += 1
                    left = unvisited ^ singleton(after)
                    if level + 1 < (n - 3 if unrolled else n):
                        level += 1
                        untried[level] = left
                        unvisited, length, rest, city = left, longer, ahead, after
                    else:
                        whole = (
                            tsp3(after, left, longer, team) if unrolled else longer + distance_between(after, 0, team)
                        )
                        if whole == limit if counting else whole < limit:
                            alike = 1
                            if unrolled:
                                alike = end_of_path(left, longer, whole, team, path)
                            if counting:
                                tours += alike
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
    """Explore items, each by a lane; with fewer lanes than items, a lane takes several.

    Parameters
    ----------
    search
        ``nodes`` (32) counts the partial tours of each number of cities, from those of items to those with three
        cities left.
    best
        One row per lane of the launch.
    bounded
        Leave out what the bound shows to be longer than the incumbent.
    counting
        Count the tours of the incumbent's length instead of looking for shorter ones; it is one less than the limit.
    unrolled
        The last three, two and one cities by `tsp3`, `tsp2` and `tsp1`, without a look at the bound.
    """
    n = distances.n
    team = TeamDistances(shared_array(ROW * ROW, i32), shared_array(ROW, i32), n, shared_array(ROW, u64))
    for k in range(lane(), n * n, team_size()):
        team.lengths[k] = distances.lengths[k]
    for k in range(lane(), n, team_size()):
        team.shortest[k] = distances.shortest[k]
        team.nodes[k] = u64(0)
    barrier()
    me = team_rank() * team_size() + lane()
    item = items.begin + u64(me)
    while item < items.end:
        tsp(item, items, team, search, best[me], bounded, counting, unrolled)
        item += u64(team_count() * team_size())
    barrier()
    for k in range(items.depth + lane(), n - 2, team_size()):
        atomic_add(search.nodes, k, team.nodes[k])
