"""Tours that join a path through one half of the cities and a way home through the other half.

`core.tables.held_karp.kernels.layers` computes the paths, and explains sets, layers and their numbers.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import team_min
from core.tables.held_karp.kernels.layers import (
    COLUMNS,
    ROW,
    LaneSubset,
    Layer,
    Paths,
    R,
    Sets,
    SubsetShare,
    T,
    TeamTables,
    advanced,
    load_tables,
    shortest,
    unranked,
    without_smallest,
)

NUMBER_BITS = 34
"""Low bits of a key of `meet`, the number of a set; above them is a length of at most 30 bits."""


@bundle
class Meeting:
    """Pairs of sets that are joined, and the places of their paths.

    Attributes
    ----------
    middles
        Number of elements of B, the smallest ones, that are tried as the city after A.
    last
        The largest number of a set A; the numbers of A and its B add up to it.
    apart
        False: distances are symmetric, the paths of A are rows of ``home``, and sets are numbered among all sets of
        their size. True: the paths are rows of ``out``, and sets are numbered as in `SubsetShare`.
    directed
        False: distances are symmetric, and the steps of ``home`` are not read.
    pitch, by_team
        See `FetchedRows`.
    """

    middles: i32
    last: u64
    apart: Const[boolean]
    directed: Const[boolean]
    pitch: Const[i32]
    by_team: Const[boolean]


@bundle
class FetchedRows:
    """Rows fetched by lanes: entry p of a lane's row is at lane() * pitch + p.

    Attributes
    ----------
    entries : Array, pitch * team_size()
        Shared: the rows.
    places : Array, team_size()
        Shared: start of each lane's row.
    pitch
        At least the entries of a row; multiples of half the banks of shared memory cause bank conflicts.
    by_team
        True if a team fetches the rows of all its lanes together, neighbouring entries at a time. So a row in the
        memory of another device takes one or two messages instead of one for each entry.
    """

    entries: Array[T]
    places: Array[u64]
    pitch: Const[i32]
    by_team: Const[boolean]


@function
def fetch(cells: Array[T], row_start: u64, size: i32, rows: FetchedRows):
    """Copy the row of ``size`` cells that begins at ``row_start``; if the team does so, all lanes call this."""
    if rows.by_team:
        rows.places[lane()] = row_start
        barrier()
        owner = lane() // size
        p = lane() - owner * size
        owners = team_size() // size
        surplus = team_size() - owners * size
        for _ in range(size):
            rows.entries[owner * rows.pitch + p] = cells[rows.places[owner] + u64(p)]
            owner += owners
            p += surplus
            if p >= size:
                p -= size
                owner += 1
        barrier()
    else:
        for p in range(size):
            rows.entries[lane() * rows.pitch + p] = cells[row_start + u64(p)]


@kernel
def extend_fetching(
    before: Paths, after: Layer, sets: Sets, size: i32, share: SubsetShare, pitch: Const[i32], fetched: Const[i32]
):
    """Do the same as `core.tables.held_karp.kernels.layers.extend` if other devices have many of the rows.

    Parameters
    ----------
    before, after, sets, size, share
        As for `extend`; ``run`` is 1.
    pitch
        See `FetchedRows`.
    fetched
        A team fetches the rows without one of this number of largest elements, which are on other devices.
    """
    tables = TeamTables(shared_array(sets.most * ROW, u32), shared_array(sets.most * COLUMNS, R))
    s = LaneSubset(shared_array((sets.most + 1) // 2 * team_size(), u8), size)
    rows = FetchedRows(shared_array(pitch * team_size(), T), shared_array(team_size(), u64), pitch, True)
    load_tables(before.steps, sets, tables)
    first = share.begin + u64(team_rank() * team_size())
    while first < share.end:
        # A lane after the last set goes through the last set, since all lanes fetch rows.
        number = min(first + u64(lane()), share.end - 1)
        unranked(number, sets.elements, tables.choose, s, share.least, share.held)
        row = after.start + (number - after.first) * u64(size)
        low = R(0)
        high = without_smallest(s, tables.choose)
        for t in range(size):
            element = i32(s.elements[t * team_size() + lane()])
            if t > 0:
                high -= tables.choose[element * COLUMNS + t]
            to = element * ROW
            row_start = before.layer.start + u64(low + high) * u64(size - 1)
            length = sets.cap
            if t >= size - fetched:
                fetch(before.layer.cells, row_start, size - 1, rows)
                length = shortest(view(rows.entries, lane() * pitch), to, t, s, tables.steps, sets.cap)
            else:
                length = shortest(view(before.layer.cells, row_start), to, t, s, tables.steps, sets.cap)
            if first + u64(lane()) < share.end:
                after.cells[row + u64(t)] = T(length)
            low += tables.choose[element * COLUMNS + t + 1]
        first += u64(team_count() * team_size())


@function
def row_without(place: i32, s: LaneSubset, choose: Array[R]) -> u64:
    """Return the number of a set without its element at ``place``, among all sets of that size."""
    total = R(0)
    for u in range(place):
        total += choose[i32(s.elements[u * team_size() + lane()]) * COLUMNS + u + 1]
    for u in range(place + 1, s.size):
        total += choose[i32(s.elements[u * team_size() + lane()]) * COLUMNS + u]
    return u64(total)


@function
def partner_of(number: u64, b: LaneSubset, meeting: Meeting, choose: Array[R]) -> u64:
    """Return the number of the set A of a set B, which has this number among the numbered sets."""
    partner = meeting.last
    if meeting.apart:
        partner -= number
    else:
        partner -= u64(ranked(b, choose))
    return partner


@function
def complemented(s: LaneSubset, elements: i32, others: LaneSubset):
    """Write the elements that are not in a set."""
    u = 0
    missing = 0
    for element in range(elements):
        if u < s.size and i32(s.elements[u * team_size() + lane()]) == element:
            u += 1
        else:
            others.elements[missing * team_size() + lane()] = u8(element)
            missing += 1


@function
def ranked(s: LaneSubset, choose: Array[R]) -> R:
    """Return the number of a set among all of its size."""
    total = R(0)
    for u in range(s.size):
        total += choose[i32(s.elements[u * team_size() + lane()]) * COLUMNS + u + 1]
    return total


@function
def shortest_out(to: i32, a: LaneSubset, rows: FetchedRows, steps: Array[u32], cap: u32) -> u32:
    """Return the least length of a path over a set A with a fetched row, followed by a step to the target.

    The steps to the target begin at ``to`` in ``steps``.
    """
    least = cap
    for p in range(a.size):
        last = i32(a.elements[p * team_size() + lane()])
        least = min(least, u32(rows.entries[lane() * rows.pitch + p]) + steps[to + last])
    return least


@kernel
def meet(out: Paths, home: Paths, sets: Sets, size: i32, share: SubsetShare, meeting: Meeting, best: Array[u64]):
    """Join paths to shortest tours: a way out through a set A, and a way home through all other elements, the set B.

    Element i of B is the city after A. The way home through B to i follows from the row of B without i. The way out
    through A and on to i follows from the row of A, which is fetched once.

    Complements are numbered in the opposite order, so neighbouring sets B have neighbouring complements at the other
    end of the layer. With several devices, another device computed that end, and often also the row of B without its
    largest element: a team fetches these two rows (`FetchedRows`).

    Parameters
    ----------
    out, home
        Rows of sets A; rows of all sets of ``size`` elements, for the transposed distances.
    size
        Number of elements of the sets B, minus one; the sets A have all other elements.
    share
        The sets B; ``run`` is 1 if teams fetch rows.
    best : Array, 1
        In and out: minimum of length << 34 | number of A over all tours.
    """
    tables = TeamTables(shared_array(sets.most * ROW, u32), shared_array(sets.most * COLUMNS, R))
    steps_home = shared_array(sets.most * ROW if meeting.directed else 1, u32)
    b = LaneSubset(shared_array((sets.most + 1) // 2 * team_size(), u8), size + 1)
    a = LaneSubset(shared_array((sets.most + 1) // 2 * team_size(), u8), sets.elements - size - 1)
    scratch = shared_array(team_size(), u64)
    rows = FetchedRows(shared_array(meeting.pitch * team_size(), T), scratch, meeting.pitch, meeting.by_team)
    if meeting.directed:
        tables_home = TeamTables(steps_home, tables.choose)
        for k in range(lane(), sets.elements * ROW, team_size()):
            steps_home[k] = home.steps[k]
    else:
        tables_home = tables
    load_tables(out.steps, sets, tables)
    own_row = lane() * meeting.pitch
    least = ~u64(0)
    first = share.begin + u64(team_rank() * team_size()) * u64(share.run)
    while first < share.end:
        # A lane after the last set computes the last set again, since all lanes fetch rows.
        number = min(first + u64(lane()) * u64(share.run), share.end - 1)
        unranked(number, sets.elements, tables.choose, b, share.least, share.held)
        stop = min(number + u64(share.run), share.end)
        current = number
        while True:
            complemented(b, sets.elements, a)
            fetched_homeward = sets.cap
            if meeting.by_team:
                t = meeting.middles - 1
                to = i32(b.elements[t * team_size() + lane()]) * ROW
                fetch(home.layer.cells, home.layer.start + row_without(t, b, tables.choose) * u64(size), size, rows)
                fetched_homeward = shortest(view(rows.entries, own_row), to, t, b, tables_home.steps, sets.cap)
            partner = partner_of(current, b, meeting, tables.choose)
            if meeting.apart:
                fetch(out.layer.cells, out.layer.start + (partner - out.layer.first) * u64(a.size), a.size, rows)
            else:
                fetch(home.layer.cells, home.layer.start + partner * u64(a.size), a.size, rows)
            length = sets.cap
            low = R(0)
            high = without_smallest(b, tables.choose)
            for t in range(meeting.middles):
                element = i32(b.elements[t * team_size() + lane()])
                if t > 0:
                    high -= tables.choose[element * COLUMNS + t]
                to = element * ROW
                outward = shortest_out(to, a, rows, tables.steps, sets.cap)
                homeward = fetched_homeward
                if not meeting.by_team or t < meeting.middles - 1:
                    row_start = home.layer.start + u64(low + high) * u64(size)
                    homeward = shortest(view(home.layer.cells, row_start), to, t, b, tables_home.steps, sets.cap)
                length = min(length, outward + homeward)
                low += tables.choose[element * COLUMNS + t + 1]
            least = min(least, (u64(length) << NUMBER_BITS) | partner)
            current += 1
            if current >= stop:
                break
            advanced(b, share.least, share.held)
        first += u64(team_count() * team_size()) * u64(share.run)
    least = team_min(least, scratch)
    if lane() == 0:
        atomic_min(best, 0, least)
