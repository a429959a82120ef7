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

from core.kernels.waves import Window
from core.lang import (
    Array,
    Const,
    Generic,
    atomic_min,
    barrier,
    boolean,
    bundle,
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
L = Generic("L")

ROW = 35
"""Entries per element in a table of steps: one more than there are elements, and odd for the banks of shared memory."""
ELEMENTS = ROW - 1
COLUMNS = 19
"""Entries per element in the table of binomial coefficients: C(e, 0) to C(e, 18), an odd number again."""
LARGEST = 17
"""Most elements of a set that a lane keeps: half of `ELEMENTS`."""


@bundle
class Sets:
    """The elements, and their sets' numbers.

    Attributes
    ----------
    binomials : Array, 34 * 19
        C(e, t) at e * 19 + t.
    elements
        Cities but city 0.
    cap
        Longer paths count as this long; no more than the largest number of the layers' type.

    """

    binomials: Array[u32]
    elements: i32
    cap: u32


@bundle
class Paths:
    """Paths in one direction of travel.

    Attributes
    ----------
    layer : Array
        Their lengths, for all sets of one size; u16 or u32.
    steps : Array, elements * 35
        From element j to i at i * 35 + j.

    """

    layer: Array[T]
    steps: Array[u32]


@bundle
class Share:
    """The sets of a launch, ``first`` to ``end`` - 1.

    A lane computes ``run`` neighbours of one set. Few: lanes of a team read the same rows. Many: what the first set
    costs to find is shared.
    """

    first: u64
    end: u64
    run: i32


@bundle
class Tables:
    """A team's own copies of the steps and binomials."""

    steps: Array[u32]
    choose: Array[u32]


@bundle
class Members:
    """Every lane's set of ``size`` elements: its p-th smallest one is at p * team_size() + lane()."""

    elements: Array[u8]
    size: i32


@function
def unranked(rank: u64, elements: i32, choose: Array[u32], s: Members):
    """Write down the set of this rank."""
    left = u32(rank)
    element = elements - 1
    for u in range(s.size - 1, -1, -1):
        while choose[element * COLUMNS + u + 1] > left:
            element -= 1
        left -= choose[element * COLUMNS + u + 1]
        s.elements[u * team_size() + lane()] = u8(element)
        element -= 1


@function
def advanced(s: Members):
    """Turn a set that is not the last into the next one: the first element that can rise does, those below restart."""
    u = 0
    while u < s.size - 1 and s.elements[u * team_size() + lane()] + 1 == s.elements[(u + 1) * team_size() + lane()]:
        s.elements[u * team_size() + lane()] = u8(u)
        u += 1
    s.elements[u * team_size() + lane()] = u8(s.elements[u * team_size() + lane()] + 1)


@function
def complemented(s: Members, elements: i32, others: Members):
    """Write down the elements that a set leaves out."""
    u = 0
    missing = 0
    for element in range(elements):
        if u < s.size and i32(s.elements[u * team_size() + lane()]) == element:
            u += 1
        else:
            others.elements[missing * team_size() + lane()] = u8(element)
            missing += 1


@function
def without_smallest(s: Members, choose: Array[u32]) -> u32:
    """The sum of C(s(u), u) for u > 0: the rank of the set without its smallest element."""
    total = u32(0)
    for u in range(1, s.size):
        total += choose[i32(s.elements[u * team_size() + lane()]) * COLUMNS + u]
    return total


@function
def shortest(row: Array[T], to: i32, place: i32, s: Members, steps: Array[u32], cap: u32) -> u32:
    """The least length over a set's elements, but the one at ``place``, to another: values of ``row`` plus a last step.

    ``row`` has no entry for the element at ``place``; ``to`` is where the steps to the target begin in ``steps``.
    """
    least = cap
    for p in range(place):
        least = min(least, u32(row[p]) + steps[to + i32(s.elements[p * team_size() + lane()])])
    for p in range(place + 1, s.size):
        least = min(least, u32(row[p - 1]) + steps[to + i32(s.elements[p * team_size() + lane()])])
    return least


@function
def lengthen(
    before: Array[T], s: Members, tables: Tables, cap: u32, lengths: Array[L], first: u64, stride: Const[i32]
):  # fmt: skip
    """Equation 6: D(S, i) for each i in S, the t-th of them to ``lengths[first + t * stride]``."""
    low = u32(0)
    high = without_smallest(s, tables.choose)
    for t in range(s.size):
        element = i32(s.elements[t * team_size() + lane()])
        if t > 0:
            high -= tables.choose[element * COLUMNS + t]
        row = u64(low + high) * u64(s.size - 1)
        lengths[first + u64(t * stride)] = L(shortest(view(before, row), element * ROW, t, s, tables.steps, cap))
        low += tables.choose[element * COLUMNS + t + 1]


@kernel
def extend(before: Paths, after: Array[T], sets: Sets, size: i32, share: Share):
    """Compute sets of a layer from the layer before it.

    Parameters
    ----------
    before, after
        Of sets of ``size`` - 1 and ``size`` elements, ``size`` at least 2.

    """
    tables = Tables(shared_array(ELEMENTS * ROW, u32), shared_array(ELEMENTS * COLUMNS, u32))
    s = Members(shared_array(LARGEST * team_size(), u8), size)
    for k in range(lane(), sets.elements * ROW, team_size()):
        tables.steps[k] = before.steps[k]
    for k in range(lane(), ELEMENTS * COLUMNS, team_size()):
        tables.choose[k] = sets.binomials[k]
    barrier()
    rank = share.first + u64(team_rank() * team_size() + lane()) * u64(share.run)
    while rank < share.end:
        unranked(rank, sets.elements, tables.choose, s)
        stop = min(rank + u64(share.run), share.end)
        here = rank
        while True:
            lengthen(before.layer, s, tables, sets.cap, after, here * u64(size), 1)
            here += 1
            if here >= stop:
                break
            advanced(s)
        rank += u64(team_count() * team_size()) * u64(share.run)


@kernel
def meet(
    out: Paths,
    home: Paths,
    sets: Sets,
    size: i32,
    share: Share,
    even: Const[boolean],
    directed: Const[boolean],
    best: Array[u64],
):
    """Join paths to shortest tours: of each set A, a path through A and one that comes back through all others.

    Parameters
    ----------
    out, home
        The last stored layer, of sets of ``size`` elements, and the same for the transposed distances.
    share
        Of the sets A.
    even
        No: elements = 2 * size + 1; A has ``size`` elements, and paths through the others are one longer than stored.
        Yes: elements = 2 * size + 2; A has size + 1 elements, and both paths are one longer than stored.
    directed
        No: distances are symmetric, and ``home`` is not read.
    best : Array, 1
        Is lowered to the length of a tour << 32 | rank of A.

    """
    tables = Tables(shared_array(ELEMENTS * ROW, u32), shared_array(ELEMENTS * COLUMNS, u32))
    steps_home = shared_array(ELEMENTS * ROW if directed else 1, u32)
    a = Members(shared_array(LARGEST * team_size(), u8), size + 1 if even else size)
    others = Members(shared_array(LARGEST * team_size(), u8), sets.elements - a.size)
    ends = shared_array(LARGEST * team_size() if even else 1, u32)
    scratch = shared_array(team_size(), u64)
    for k in range(lane(), sets.elements * ROW, team_size()):
        tables.steps[k] = out.steps[k]
        if directed:
            steps_home[k] = home.steps[k]
    for k in range(lane(), ELEMENTS * COLUMNS, team_size()):
        tables.choose[k] = sets.binomials[k]
    barrier()
    least = ~u64(0)
    rank = share.first + u64(team_rank() * team_size() + lane()) * u64(share.run)
    while rank < share.end:
        unranked(rank, sets.elements, tables.choose, a)
        stop = min(rank + u64(share.run), share.end)
        here = rank
        while True:
            complemented(a, sets.elements, others)
            if even:
                lengthen(out.layer, a, tables, sets.cap, ends, u64(lane()), team_size())
            low = u32(0)
            high = without_smallest(others, tables.choose)
            for t in range(others.size):
                element = i32(others.elements[t * team_size() + lane()])
                if t > 0:
                    high -= tables.choose[element * COLUMNS + t]
                row = u64(low + high) * u64(size)
                to = element * ROW
                back = sets.cap
                if directed:
                    back = shortest(view(home.layer, row), to, t, others, steps_home, sets.cap)
                else:
                    back = shortest(view(out.layer, row), to, t, others, tables.steps, sets.cap)
                there = sets.cap
                if even:
                    for p in range(a.size):
                        place = p * team_size() + lane()
                        there = min(there, ends[place] + tables.steps[to + i32(a.elements[place])])
                else:
                    there = shortest(view(out.layer, here * u64(size)), to, size, a, tables.steps, sets.cap)
                least = min(least, (u64(there + back) << 32) | here)
                low += tables.choose[element * COLUMNS + t + 1]
            here += 1
            if here >= stop:
                break
            advanced(a)
        rank += u64(team_count() * team_size()) * u64(share.run)
    least = team_min(least, scratch)
    if lane() == 0:
        atomic_min(best, 0, least)


@bundle
class Cities:
    """The cities for the generic engine, in tables of `ROW` entries per element.

    Attributes
    ----------
    elements
        Cities but city 0.
    steps : Array
        The step from j to i at i * 35 + j, from city 0 at i * 35 + 34.
    choose : Array
        C(e, t) at e * 35 + t.

    """

    elements: i32
    steps: Array[i32]
    choose: Array[i32]


@function
def path_value(wave: i32, index: i32, window: Window, choice: Array[u32], cities: Cities) -> i32:
    """A cell of the generic engine: D(S, i) for the set and element that ``index`` of layer ``wave`` + 1 stands for."""
    size = wave + 1
    target = 0
    place = index % size
    left = index // size
    row = 0
    element = cities.elements - 1
    for u in range(size - 1, -1, -1):
        while cities.choose[element * ROW + u + 1] > left:
            element -= 1
        left -= cities.choose[element * ROW + u + 1]
        if u > place:
            row += cities.choose[element * ROW + u]
        elif u < place:
            row += cities.choose[element * ROW + u + 1]
        else:
            target = element
        element -= 1
    least = cities.steps[target * ROW + ELEMENTS]
    if size > 1:
        least = 0x7FFFFFFF
        left = index // size
        element = cities.elements - 1
        from_place = window.one + row * (size - 1) + size - 2
        for u in range(size - 1, -1, -1):
            while cities.choose[element * ROW + u + 1] > left:
                element -= 1
            left -= cities.choose[element * ROW + u + 1]
            if u != place:
                least = min(least, window.cells[from_place] + cities.steps[target * ROW + element])
                from_place -= 1
            element -= 1
    return least
