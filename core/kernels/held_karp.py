"""Held and Karp's recursion by layers of subsets, and the meeting of paths in the middle (`oconnell2014`, equation 6).

City 0 is the start; a set holds cities 1, 2, ..., numbered from 0 as elements. D(S, i) is the length of a shortest path
from city 0 through all of S that ends at i in S. A layer is all sets of one size: D(S, the p-th smallest element of S)
is at rank(S) * size + p, where sets come in colexicographic order, the order of their bit masks as integers. With the
elements s(0) < s(1) < ... of S, rank(S) is the sum of C(s(u), u + 1), and without s(t) it is

    sum of C(s(u), u + 1) for u < t, plus sum of C(s(u), u) for u > t,

so that one sum that grows and one that shrinks find every predecessor's row. A lane's set is a list of its elements in
the team's memory, not a mask: a row of values and its elements are read in step, which vector units do side by side (on
one core 0.94 G transitions/s; 0.66 with a mask, 0.65 with a list that leaves out the element at ``place``; Zen 4).
"""

from __future__ import annotations

from core.lang import (
    Array,
    Const,
    Generic,
    atomic_min,
    barrier,
    function,
    i32,
    kernel,
    lane,
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
from core.lang.library import team_min

T = Generic("T")

ROW = 35
"""Entries per element in a table of ways: one more than there are elements, and odd for the banks of shared memory."""
ELEMENTS = ROW - 1
COLUMNS = 19
"""Entries per element in the table of binomial coefficients: C(e, 0) to C(e, 18), an odd number again."""
LARGEST = 17
"""Most elements of a set that a lane keeps: half of `ELEMENTS`."""


@function
def unranked(rank: u64, size: i32, elements: i32, choose: Array[u32], members: Array[u8]):
    """Write down the set of this rank: its p-th smallest element at p * team_size() + lane()."""
    left = u32(rank)
    element = elements - 1
    for u in range(size - 1, -1, -1):
        while choose[element * COLUMNS + u + 1] > left:
            element -= 1
        left -= choose[element * COLUMNS + u + 1]
        members[u * team_size() + lane()] = u8(element)
        element -= 1


@function
def advanced(size: i32, members: Array[u8]):
    """Turn a set that is not the last into the next one: the first element that can rise does, those below restart."""
    u = 0
    while u < size - 1 and members[u * team_size() + lane()] + 1 == members[(u + 1) * team_size() + lane()]:
        members[u * team_size() + lane()] = u8(u)
        u += 1
    members[u * team_size() + lane()] = u8(members[u * team_size() + lane()] + 1)


@function
def complemented(size: i32, elements: i32, members: Array[u8], others: Array[u8]):
    """Write down the elements that a set leaves out, in the same layout."""
    u = 0
    missing = 0
    for element in range(elements):
        if u < size and i32(members[u * team_size() + lane()]) == element:
            u += 1
        else:
            others[missing * team_size() + lane()] = u8(element)
            missing += 1


@function
def without_smallest(size: i32, members: Array[u8], choose: Array[u32]) -> u32:
    """The sum of C(s(u), u) for u > 0: the rank of the set without its smallest element."""
    total = u32(0)
    for u in range(1, size):
        total += choose[i32(members[u * team_size() + lane()]) * COLUMNS + u]
    return total


@function
def shortest(row: Array[T], to: i32, place: i32, size: i32, members: Array[u8], ways: Array[u32], cap: u32) -> u32:
    """The least way over a set's elements, but the one at ``place``, to another: values of ``row`` plus the last edge.

    ``row`` has no entry for the element at ``place``; ``to`` is where the ways to the target begin in ``ways``.
    """
    least = cap
    for p in range(place):
        least = min(least, u32(row[p]) + ways[to + i32(members[p * team_size() + lane()])])
    for p in range(place + 1, size):
        least = min(least, u32(row[p - 1]) + ways[to + i32(members[p * team_size() + lane()])])
    return least


@kernel
def extend(
    before: Array[T],
    after: Array[T],
    table: Array[u32],
    binomials: Array[u32],
    elements: i32,
    size: i32,
    first: u64,
    end: u64,
    run: i32,
    cap: u32,
):
    """Compute the sets ``first`` to ``end`` - 1 of a layer from the layer before it.

    Parameters
    ----------
    before, after : Array
        Layers of sets of ``size`` - 1 and ``size`` elements, ``size`` at least 2; u16 or u32.
    table : Array, elements * 35
        From element j to i at i * 35 + j.
    binomials : Array, 34 * 19
        C(e, t) at e * 19 + t.
    run
        A lane computes so many neighbours of one set. Few: lanes of a team read the same rows. Many: what the first
        set costs to find is shared.
    cap
        Longer paths count as this long; no more than the largest number of the layers' type.

    """
    ways = shared_array(ELEMENTS * ROW, u32)
    choose = shared_array(ELEMENTS * COLUMNS, u32)
    members = shared_array(LARGEST * team_size(), u8)
    for k in range(lane(), elements * ROW, team_size()):
        ways[k] = table[k]
    for k in range(lane(), ELEMENTS * COLUMNS, team_size()):
        choose[k] = binomials[k]
    barrier()
    rank = first + u64(team_rank() * team_size() + lane()) * u64(run)
    while rank < end:
        unranked(rank, size, elements, choose, members)
        stop = min(rank + u64(run), end)
        here = rank
        while True:
            low = u32(0)
            high = without_smallest(size, members, choose)
            for t in range(size):
                element = i32(members[t * team_size() + lane()])
                if t > 0:
                    high -= choose[element * COLUMNS + t]
                row = u64(low + high) * u64(size - 1)
                least = shortest(view(before, row), element * ROW, t, size, members, ways, cap)
                after[here * u64(size) + u64(t)] = T(least)
                low += choose[element * COLUMNS + t + 1]
            here += 1
            if here >= stop:
                break
            advanced(size, members)
        rank += u64(team_count() * team_size()) * u64(run)


@kernel
def meet(
    forward: Array[T],
    backward: Array[T],
    table: Array[u32],
    table_back: Array[u32],
    binomials: Array[u32],
    elements: i32,
    size: i32,
    even: Const[i32],
    directed: Const[i32],
    first: u64,
    end: u64,
    run: i32,
    cap: u32,
    best: Array[u64],
):
    """Join paths to shortest tours: of each set A, a path through A and one that comes back through all others.

    Parameters
    ----------
    forward, backward : Array
        The last stored layer, of sets of ``size`` elements, and the same for the transposed distances.
    table, table_back : Array, elements * 35
        As in `extend`, and transposed.
    even
        0: elements = 2 * size + 1; A has ``size`` elements, and paths through the others are one longer than stored.
        1: elements = 2 * size + 2; A has size + 1 elements, and both paths are one longer than stored.
    directed
        0: distances are symmetric; ``backward`` and ``table_back`` are not read.
    first, end
        Ranks of the sets A.
    best : Array, 1
        Is lowered to the length of a tour << 32 | rank of A.

    """
    ways = shared_array(ELEMENTS * ROW, u32)
    ways_back = shared_array(1 + directed * (ELEMENTS * ROW - 1), u32)
    choose = shared_array(ELEMENTS * COLUMNS, u32)
    members = shared_array(LARGEST * team_size(), u8)
    others = shared_array(LARGEST * team_size(), u8)
    ends = shared_array(1 + even * (LARGEST * team_size() - 1), u32)
    scratch = shared_array(team_size(), u64)
    for k in range(lane(), elements * ROW, team_size()):
        ways[k] = table[k]
        if directed != 0:
            ways_back[k] = table_back[k]
    for k in range(lane(), ELEMENTS * COLUMNS, team_size()):
        choose[k] = binomials[k]
    barrier()
    mine = size + even
    rest = elements - mine
    found = ~u64(0)
    rank = first + u64(team_rank() * team_size() + lane()) * u64(run)
    while rank < end:
        unranked(rank, mine, elements, choose, members)
        stop = min(rank + u64(run), end)
        here = rank
        while True:
            complemented(mine, elements, members, others)
            if even != 0:
                low = u32(0)
                high = without_smallest(mine, members, choose)
                for t in range(mine):
                    element = i32(members[t * team_size() + lane()])
                    if t > 0:
                        high -= choose[element * COLUMNS + t]
                    row = u64(low + high) * u64(size)
                    least = shortest(view(forward, row), element * ROW, t, mine, members, ways, cap)
                    ends[t * team_size() + lane()] = least
                    low += choose[element * COLUMNS + t + 1]
            low_rest = u32(0)
            high_rest = without_smallest(rest, others, choose)
            for t in range(rest):
                element = i32(others[t * team_size() + lane()])
                if t > 0:
                    high_rest -= choose[element * COLUMNS + t]
                row = u64(low_rest + high_rest) * u64(size)
                back = cap
                if directed != 0:
                    back = shortest(view(backward, row), element * ROW, t, rest, others, ways_back, cap)
                else:
                    back = shortest(view(forward, row), element * ROW, t, rest, others, ways, cap)
                there = cap
                if even != 0:
                    for p in range(mine):
                        place = p * team_size() + lane()
                        there = min(there, ends[place] + ways[element * ROW + i32(members[place])])
                else:
                    there = shortest(view(forward, here * u64(size)), element * ROW, mine, mine, members, ways, cap)
                found = min(found, (u64(there + back) << 32) | here)
                low_rest += choose[element * COLUMNS + t + 1]
            here += 1
            if here >= stop:
                break
            advanced(mine, members)
        rank += u64(team_count() * team_size()) * u64(run)
    found = team_min(found, scratch)
    if lane() == 0:
        atomic_min(best, 0, found)


@function
def path_value(
    wave: i32,
    index: i32,
    window: Array[i32],
    one: i32,
    two: i32,
    choice: Array[u32],
    elements: i32,
    ways: Array[i32],
    choose: Array[i32],
) -> i32:
    """A cell of the generic engine: D(S, i) for the set and element that ``index`` of layer ``wave`` + 1 stands for.

    Tables of `ROW` entries per element: ``choose`` has C(e, t) at e * 35 + t, and ``ways`` the way from j to i at
    i * 35 + j, from city 0 at i * 35 + 34.
    """
    size = wave + 1
    target = 0
    place = index % size
    left = index // size
    row = 0
    element = elements - 1
    for u in range(size - 1, -1, -1):
        while choose[element * ROW + u + 1] > left:
            element -= 1
        left -= choose[element * ROW + u + 1]
        if u > place:
            row += choose[element * ROW + u]
        elif u < place:
            row += choose[element * ROW + u + 1]
        else:
            target = element
        element -= 1
    least = ways[target * ROW + ELEMENTS]
    if size > 1:
        least = 0x7FFFFFFF
        left = index // size
        element = elements - 1
        from_place = one + row * (size - 1) + size - 2
        for u in range(size - 1, -1, -1):
            while choose[element * ROW + u + 1] > left:
                element -= 1
            left -= choose[element * ROW + u + 1]
            if u != place:
                least = min(least, window[from_place] + ways[target * ROW + element])
                from_place -= 1
            element -= 1
    return least
