"""Exact search for a shortest tour by enumeration (`xavier2022`, sections 2.1, 2.2 and 2.4).

A lane takes items from a worklist: an item is a sequence of the first cities, decoded from its number by modulo, and
all tours that begin with it are explored depth first. The thesis' bound, the length so far and the shortest edge of
every city not yet visited, is kept in the numbers: the way from i to j counts d(i, j) - shortest(j), and the sum of
all shortest edges is there from the start. Children come by ascending way, so the first that cannot win ends its row.
"""

from __future__ import annotations

from core.kernels.tour_edges import lowest
from core.lang import (
    Array,
    Const,
    atomic_add,
    atomic_min,
    barrier,
    clz,
    function,
    i32,
    kernel,
    lane,
    local_array,
    min,
    shared_array,
    team_count,
    team_rank,
    team_size,
    u8,
    u32,
    u64,
    view,
)

ROW = 32
"""Entries per city in the tables of ways."""
END = 0x7FFFFFFF
"""What ends a sorted row, beyond every way << 5 | city."""


@function
def keep_tour(level: i32, stack: Array[u32], last: i32, x: i32, y: i32, z: i32, tour: Array[u8]):
    """Write down a tour: the ``level`` cities on the lane's stack, then the last four."""
    for k in range(level):
        tour[k] = u8(stack[k * team_size() + lane()] & 31)
    tour[level] = u8(last)
    tour[level + 1] = u8(x)
    tour[level + 2] = u8(y)
    tour[level + 3] = u8(z)


@kernel
def explore(
    ways: Array[i32],
    sorted_ways: Array[i32],
    n: i32,
    shortest: i32,
    depth: i32,
    end: u64,
    chunk: u64,
    bounded: Const[i32],
    counting: Const[i32],
    listed: Const[i32],
    handing: Const[i32],
    patience: i32,
    rounds_to_count: i32,
    given: Array[u8],
    handed: Array[u8],
    hands: Array[u32],
    ticket: Array[u64],
    limit: Array[i32],
    nodes: Array[u64],
    found: Array[u64],
    lengths: Array[i32],
    tours: Array[u8],
):
    """Explore the items from ``ticket`` to ``end``.

    Parameters
    ----------
    ways : Array, n * 32
        From i to j at i * 32 + j: d(i, j) - shortest(j), but d(i, 0) to city 0.
    sorted_ways : Array, n * 32
        For each city the others but city 0 as way << 5 | city, ascending, then `END`.
    shortest
        Sum of all cities' shortest edges, that of city 0 left out.
    depth
        Cities in an item, city 0 included; at most n - 4.
    chunk
        Items that a lane takes at a time.
    bounded
        1: leave out what cannot be shorter than ``limit``.
    counting
        1: count the tours shorter than ``limit``, which stays; else every shorter tour lowers it.
    listed
        1: items are records of ``given``, else numbers.
    handing
        1: a lane that finds no item left after ``patience`` steps hands what is left of its own to the next launch, a
        record for every level of its search, so that no lane works while others wait.
    patience
        A lane looks up after so many steps; every ``rounds_to_count`` times it adds its counts to ``nodes``, before a
        word of 32 bits is full. Their product is at most 2^30.
    given, handed : Array, items * 32, and lanes of the launch * 32 * 32
        Records: cities, then the number of cities (byte 30) and the place in the last one's sorted row (31).
    hands : Array, 1
        Records in ``handed``.
    ticket : Array, 1
        The next item.
    nodes : Array, 32
        Adds the partial tours of each number of cities, from ``depth`` on to those with three cities left.
    found : Array, 1
        Adds the tours counted.
    lengths : Array, lanes of the launch
        Of each lane's best tour, if it found one; ``tours`` (lanes * 32) has its cities.

    """
    direct = shared_array(ROW * ROW, i32)
    ranked = shared_array(ROW * ROW, i32)
    stack = shared_array(ROW * team_size(), u32)
    explored = local_array(ROW, u32)
    for k in range(lane(), n * ROW, team_size()):
        direct[k] = ways[k]
        ranked[k] = sorted_ways[k]
    for k in range(ROW):
        explored[k] = u32(0)
    barrier()
    me = team_rank() * team_size() + lane()
    counted = u64(0)
    known = limit[0]
    item = u64(0)
    taken = u64(0)
    level = 0
    city = 0
    k = 0
    bound = 0
    base = depth
    steps = 0
    rounds = 0
    unvisited = u32(0)
    while True:
        if level < base:
            if item == taken:
                item = atomic_add(ticket, 0, chunk)
                if item >= end:
                    break
                taken = min(item + chunk, end)
                if counting == 0:
                    shared = atomic_min(limit, 0, known)
                    known = min(known, shared)
            city = 0
            bound = shortest
            unvisited = ((u32(1) << u32(n - 1)) - 1) << 1
            if handing != 0:
                steps = 0
            k = 0
            rest = item
            if listed != 0:
                base = i32(given[i32(item) * ROW + 30])
                k = i32(given[i32(item) * ROW + 31])
            for visited in range(1, base):
                after = 0
                if listed != 0:
                    after = i32(given[i32(item) * ROW + visited])
                else:
                    left = unvisited
                    for _ in range(i32(rest % u64(n - visited))):
                        left = left & (left - 1)
                    rest = rest // u64(n - visited)
                    after = lowest(left)
                bound += direct[city * ROW + after]
                stack[(visited - 1) * team_size() + lane()] = u32(city)
                unvisited = unvisited ^ (u32(1) << u32(after))
                city = after
            item += 1
            level = 0
            if listed != 0:
                level = base
            elif bounded == 0 or bound < known:
                level = base
                explored[level] = explored[level] + 1
        elif steps >= patience:
            steps = 0
            rounds += 1
            if rounds >= rounds_to_count:
                rounds = 0
                for visited in range(depth, n):
                    atomic_add(nodes, visited, u64(explored[visited]))
                    explored[visited] = u32(0)
            if handing != 0:
                ahead = atomic_add(ticket, 0, u64(0))
                if ahead >= end:
                    first = atomic_add(hands, 0, u32(level - base + 1))
                    for cities in range(base, level + 1):
                        record = i32(first + u32(cities - base)) * ROW
                        for p in range(cities - 1):
                            handed[record + p] = u8(stack[p * team_size() + lane()] & 31)
                        handed[record + 30] = u8(cities)
                        if cities < level:
                            above = stack[(cities - 1) * team_size() + lane()]
                            handed[record + cities - 1] = u8(above & 31)
                            handed[record + 31] = u8(above >> 5)
                        else:
                            handed[record + cities - 1] = u8(city)
                            handed[record + 31] = u8(k)
                    level = 0
        else:
            steps += 1
            entry = ranked[city * ROW + k]
            k += 1
            longer = bound + (entry >> 5)
            after = entry & 31
            if entry == END or (bounded != 0 and longer >= known):
                level -= 1
                if level >= base:
                    unvisited = unvisited | (u32(1) << u32(city))
                    above = stack[(level - 1) * team_size() + lane()]
                    city = i32(above & 31)
                    k = i32(above >> 5)
                    bound -= ranked[city * ROW + k - 1] >> 5
            elif (unvisited >> u32(after)) & 1 != 0:
                explored[level + 1] = explored[level + 1] + 1
                stack[(level - 1) * team_size() + lane()] = u32(k << 5) | u32(city)
                unvisited = unvisited ^ (u32(1) << u32(after))
                if level + 1 < n - 3:
                    bound = longer
                    city = after
                    level += 1
                    k = 0
                else:
                    x = lowest(unvisited)
                    y = lowest(unvisited & (unvisited - 1))
                    z = 31 - clz(unvisited)
                    for _ in range(3):
                        there = longer + direct[after * ROW + x]
                        for _ in range(2):
                            length = there + direct[x * ROW + y] + direct[y * ROW + z] + direct[z * ROW]
                            if length < known:
                                if counting != 0:
                                    counted += 1
                                else:
                                    known = length
                                    lengths[me] = length
                                    keep_tour(level, stack, after, x, y, z, view(tours, me * ROW))
                            y, z = z, y
                        x, y, z = y, z, x
                    unvisited = unvisited ^ (u32(1) << u32(after))
    for k in range(depth, n):
        if explored[k] > 0:
            atomic_add(nodes, k, u64(explored[k]))
    if counted > 0:
        atomic_add(found, 0, counted)
    if counting == 0:
        atomic_min(limit, 0, known)


@kernel
def permute(
    ways: Array[i32],
    n: i32,
    shortest: i32,
    begin: u64,
    end: u64,
    counting: Const[i32],
    limit: Array[i32],
    found: Array[u64],
    lengths: Array[i32],
    tours: Array[u8],
):
    """Measure tours ``begin`` to ``end`` - 1, each decoded from its number by modulo: the thesis' first form."""
    tour = local_array(ROW, u8)
    me = team_rank() * team_size() + lane()
    counted = u64(0)
    known = limit[0]
    item = begin + u64(me)
    while item < end:
        rest = item
        length = shortest
        city = 0
        tour[0] = u8(0)
        unvisited = ((u32(1) << u32(n - 1)) - 1) << 1
        for visited in range(1, n):
            left = unvisited
            for _ in range(i32(rest % u64(n - visited))):
                left = left & (left - 1)
            rest = rest // u64(n - visited)
            after = lowest(left)
            length += ways[city * ROW + after]
            unvisited = unvisited ^ (u32(1) << u32(after))
            tour[visited] = u8(after)
            city = after
        length += ways[city * ROW]
        if length < known:
            if counting != 0:
                counted += 1
            else:
                known = length
                lengths[me] = length
                for k in range(n):
                    tours[me * ROW + k] = tour[k]
        item += u64(team_count() * team_size())
    if counted > 0:
        atomic_add(found, 0, counted)
    if counting == 0:
        atomic_min(limit, 0, known)
