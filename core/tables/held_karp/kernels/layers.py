"""Held and Karp's recursion by layers of subsets (`oconnell2014`, equation 6).

City 0 is the start. Sets contain cities 1, 2, ..., numbered from 0 as elements. D(S, i) is the length of a shortest
path from city 0 through all of S that ends at i in S. A layer contains all sets of one size. Entry p of the row of S is
D(S, the p-th smallest element of S). Rows are in colexicographic order, the order of the bit masks of their sets as
integers. With the elements s(0) < s(1) < ... of S, its rank is the sum of C(s(u), u + 1). Without s(t) the rank is

    sum of C(s(u), u + 1) for u < t, plus sum of C(s(u), u) for u > t,

so a growing sum and a shrinking sum find the rows of all predecessors. A lane's set is a list of its elements in the
team's memory, not a mask: a row of values and its elements are read in step, which vector units do in parallel (on one
core 0.94 G transitions/s; 0.66 with a mask, 0.65 with a list that leaves out the element at ``place``; Zen 4).

In this order, a set without an element other than its highest has nearly the same relative place in its layer as the
set itself. So a rank that computes a contiguous part of every layer reads mostly rows that it has written.

`core.tables.held_karp.kernels.halves` joins paths of two layers to form tours.
"""

from __future__ import annotations

from core.lang import *
from core.tables.engine.kernels.waves import Window

T = Generic("T")
R = Generic("R")

ROW = 35
"""Entries per element in a table of steps: at least the number of elements, and odd for the banks of shared memory."""
ELEMENTS = ROW - 1
"""Largest number of elements with set numbers of 32 bits at half the elements; beyond, they have 64 bits (`R`)."""
COLUMNS = 19
"""Entries per element in the table of binomial coefficients: C(e, 0) to C(e, 18), also an odd number."""


@bundle
class Sets:
    """The elements, and tables that number their sets.

    Attributes
    ----------
    binomials : Array, most * 19
        C(e, t) at e * 19 + t; u32, or u64 if ``most`` is 35.
    elements
        Number of cities without city 0.
    cap
        Limit of path lengths; longer paths get this length. It fits the layers' type and 30 bits.
    most
        Capacity of the tables in elements, 34 or 35.
    """

    binomials: Array[R]
    elements: i32
    cap: u32
    most: Const[i32]


@bundle
class Layer:
    """Lengths of paths through sets of one size: a row for each set.

    Attributes
    ----------
    cells : Array
        Lengths, u16 or u32.
    start
        Place of the first row.
    first
        Number of the first row's set.
    """

    cells: Array[T]
    start: u64
    first: u64


@bundle
class Paths:
    """Paths in one direction of travel.

    Attributes
    ----------
    layer
        Lengths of the paths.
    steps : Array, elements * 35
        Distance from element j to i at i * 35 + j.
    """

    layer: Layer
    steps: Array[u32]


@bundle
class SubsetShare:
    """The sets of a launch: numbers ``begin`` to ``end`` - 1 of the numbered sets.

    The numbered sets consist of elements from ``least`` on and of the ``held`` smallest elements. With 0 and 0 these
    are all sets of a size, with 1 and 1 the sets with element 0, with 1 and 0 the sets without it.

    A lane computes ``run`` neighbouring sets. With few, lanes of a team read the same rows. With many, the cost of
    finding the first set is spread over more sets.
    """

    begin: u64
    end: u64
    run: i32
    least: Const[i32]
    held: Const[i32]


@bundle
class TeamTables:
    """Copies of the steps and binomials in a team's memory."""

    steps: Array[u32]
    choose: Array[R]


@function
def load_tables(steps: Array[u32], sets: Sets, tables: TeamTables):
    """Copy steps and binomials to a team's memory; all its lanes call this."""
    for k in range(lane(), sets.elements * ROW, team_size()):
        tables.steps[k] = steps[k]
    for k in range(lane(), sets.most * COLUMNS, team_size()):
        tables.choose[k] = sets.binomials[k]
    barrier()


@bundle
class LaneSubset:
    """Every lane's set of ``size`` elements: the p-th smallest one is at p * team_size() + lane()."""

    elements: Array[u8]
    size: i32


@function
def unranked(number: u64, elements: i32, choose: Array[R], s: LaneSubset, least: Const[i32], held: Const[i32]):
    """Write the set of this number; see `SubsetShare`."""
    for u in range(held):
        s.elements[u * team_size() + lane()] = u8(u)
    remaining = R(number)
    element = elements - 1 - least
    for u in range(s.size - 1 - held, -1, -1):
        while choose[element * COLUMNS + u + 1] > remaining:
            element -= 1
        remaining -= choose[element * COLUMNS + u + 1]
        s.elements[(u + held) * team_size() + lane()] = u8(element + least)
        element -= 1


@function
def advanced(s: LaneSubset, least: Const[i32], held: Const[i32]):
    """Change a set to its successor: raise the first element that can grow, and reset all smaller ones."""
    u = held
    while u < s.size - 1 and s.elements[u * team_size() + lane()] + 1 == s.elements[(u + 1) * team_size() + lane()]:
        s.elements[u * team_size() + lane()] = u8(u - held + least)
        u += 1
    s.elements[u * team_size() + lane()] = u8(s.elements[u * team_size() + lane()] + 1)


@function
def without_smallest(s: LaneSubset, choose: Array[R]) -> R:
    """Return the sum of C(s(u), u) for u > 0: the rank of the set without its smallest element."""
    total = R(0)
    for u in range(1, s.size):
        total += choose[i32(s.elements[u * team_size() + lane()]) * COLUMNS + u]
    return total


@function
def shortest(row: Array[T], to: i32, place: i32, s: LaneSubset, steps: Array[u32], cap: u32) -> u32:
    """Return the least length of a path over a set without the element at ``place``, followed by a step to the target.

    ``row`` has no entry for the element at ``place``. The steps to the target begin at ``to`` in ``steps``.
    """
    least = cap
    for p in range(place):
        least = min(least, u32(row[p]) + steps[to + i32(s.elements[p * team_size() + lane()])])
    for p in range(place + 1, s.size):
        least = min(least, u32(row[p - 1]) + steps[to + i32(s.elements[p * team_size() + lane()])])
    return least


@kernel
def extend(before: Paths, after: Layer, sets: Sets, size: i32, share: SubsetShare):
    """Compute sets of a layer from the previous layer, by equation 6: D(S, i) for each i in S.

    Parameters
    ----------
    before, after
        All sets of ``size`` - 1 elements, and the numbered sets of ``size`` elements; ``size`` is at least 2.
    """
    tables = TeamTables(shared_array(sets.most * ROW, u32), shared_array(sets.most * COLUMNS, R))
    s = LaneSubset(shared_array((sets.most + 1) // 2 * team_size(), u8), size)
    load_tables(before.steps, sets, tables)
    number = share.begin + u64(team_rank() * team_size() + lane()) * u64(share.run)
    while number < share.end:
        unranked(number, sets.elements, tables.choose, s, share.least, share.held)
        stop = min(number + u64(share.run), share.end)
        current = number
        while True:
            row = after.start + (current - after.first) * u64(size)
            low = R(0)
            high = without_smallest(s, tables.choose)
            for t in range(size):
                element = i32(s.elements[t * team_size() + lane()])
                if t > 0:
                    high -= tables.choose[element * COLUMNS + t]
                row_start = before.layer.start + u64(low + high) * u64(size - 1)
                length = shortest(view(before.layer.cells, row_start), element * ROW, t, s, tables.steps, sets.cap)
                after.cells[row + u64(t)] = T(length)
                low += tables.choose[element * COLUMNS + t + 1]
            current += 1
            if current >= stop:
                break
            advanced(s, share.least, share.held)
        number += u64(team_count() * team_size()) * u64(share.run)


@bundle
class Cities:
    """The cities for the generic engine, in tables of `ROW` entries per element.

    Attributes
    ----------
    elements
        Number of cities without city 0.
    steps : Array
        Distance from j to i at i * 35 + j, from city 0 at i * 35 + 34.
    choose : Array
        C(e, t) at e * 35 + t.
    """

    elements: i32
    steps: Array[i32]
    choose: Array[i32]


@function
def path_value(wave: i32, index: i32, window: Window, cities: Cities) -> i32:
    """Return a cell of the generic engine: D(S, i) for set and element number ``index`` of layer ``wave`` + 1."""
    size = wave + 1
    target = 0
    place = index % size
    remaining = index // size
    row = 0
    element = cities.elements - 1
    for u in range(size - 1, -1, -1):
        while cities.choose[element * ROW + u + 1] > remaining:
            element -= 1
        remaining -= cities.choose[element * ROW + u + 1]
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
        remaining = index // size
        element = cities.elements - 1
        from_place = window.one + row * (size - 1) + size - 2
        for u in range(size - 1, -1, -1):
            while cities.choose[element * ROW + u + 1] > remaining:
                element -= 1
            remaining -= cities.choose[element * ROW + u + 1]
            if u != place:
                least = min(least, window.cells[from_place] + cities.steps[target * ROW + element])
                from_place -= 1
            element -= 1
    return least
