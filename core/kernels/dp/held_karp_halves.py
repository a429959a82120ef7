"""The meeting of paths in the middle: tours of a path through one half of the cities and a way home through the rest.

`core.kernels.dp.held_karp` computes both, and explains sets, layers and their numbers.
"""

from __future__ import annotations

from core.kernels.dp.held_karp import (
    COLUMNS,
    ROW,
    LaneSubset,
    Paths,
    R,
    Sets,
    SubsetShare,
    T,
    TeamTables,
    advanced,
    shortest,
    unranked,
    without_smallest,
)
from core.lang import *
from core.lang.library import team_min

NUMBER_BITS = 34
"""Low bits of a key of `meet`, which number a set; above them is a length, of at most 30 bits."""


@bundle
class Meeting:
    """Pairs of sets that meet, and the places of their paths.

    Attributes
    ----------
    middles
        Number of the smallest elements of B that are tried as the city after A.
    last
        The largest number of a set A; those of A and of its B add up to it.
    apart
        False: distances are symmetric, the paths of A are rows of ``home``, and a set's number is that among all sets
        of its size. True: they are rows of ``out``, and it is that among the numbered sets (`SubsetShare`).
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
    """Rows that lanes have fetched: entry p of a lane's row is at lane() * pitch + p.

    Attributes
    ----------
    entries : Array, pitch * team_size()
        Shared.
    places : Array, team_size()
        Shared; where the lanes' rows begin.
    pitch
        At least as many entries as a row has; a multiple of half the banks of shared memory would make lanes collide.
    by_team
        True if a team fetches the rows of all its lanes together, neighbouring entries at a time. So a row of another
        device's memory takes one or two messages instead of one for each entry.
    """

    entries: Array[T]
    places: Array[u64]
    pitch: Const[i32]
    by_team: Const[boolean]


@function
def fetch(cells: Array[T], found: u64, size: i32, rows: FetchedRows):
    """Copy the row of ``size`` cells that begins at ``found``; if the team does so, all lanes call this."""
    if rows.by_team:
        rows.places[lane()] = found
        barrier()
        owner = lane() // size
        p = lane() - owner * size
        owners = team_size() // size
        more = team_size() - owners * size
        for _ in range(size):
            rows.entries[owner * rows.pitch + p] = cells[rows.places[owner] + u64(p)]
            owner += owners
            p += more
            if p >= size:
                p -= size
                owner += 1
        barrier()
    else:
        for p in range(size):
            rows.entries[lane() * rows.pitch + p] = cells[found + u64(p)]


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
    """Return the number of the set A that belongs to a set B with this number among the numbered sets."""
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


@kernel
def meet(out: Paths, home: Paths, sets: Sets, size: i32, share: SubsetShare, meeting: Meeting, best: Array[u64]):
    """Join paths to shortest tours: one through a set A, and one that comes back through all others, the set B.

    For every B and its element i that is the city after A, the way home through B to i is found from the row of B
    without i, and the way out through A and on to i from the row of A, which is fetched once.
    Complements are numbered in the opposite order: where the rows for B lie close together, those for its neighbours
    do too, and so do their complements, but at the other end of the layer. Of several devices another one computed that
    end, and of the rows for B often that without the largest i: these two a team fetches (`FetchedRows`).

    Parameters
    ----------
    out, home
        Rows of sets A; rows of all sets of ``size`` elements, for the transposed distances.
    size
        Number of elements of the sets B, less one; the sets A have all others.
    share
        Of the sets B; ``run`` is 1 where teams fetch rows.
    best : Array, 1
        Is lowered to the length of a tour << 34 | number of A.
    """
    tables = TeamTables(shared_array(sets.most * ROW, u32), shared_array(sets.most * COLUMNS, R))
    steps_home = shared_array(sets.most * ROW if meeting.directed else 1, u32)
    b = LaneSubset(shared_array((sets.most + 1) // 2 * team_size(), u8), size + 1)
    a = LaneSubset(shared_array((sets.most + 1) // 2 * team_size(), u8), sets.elements - size - 1)
    scratch = shared_array(team_size(), u64)
    rows = FetchedRows(shared_array(meeting.pitch * team_size(), T), scratch, meeting.pitch, meeting.by_team)
    for k in range(lane(), sets.elements * ROW, team_size()):
        tables.steps[k] = out.steps[k]
        if meeting.directed:
            steps_home[k] = home.steps[k]
    for k in range(lane(), sets.most * COLUMNS, team_size()):
        tables.choose[k] = sets.binomials[k]
    barrier()
    own = lane() * meeting.pitch
    least = ~u64(0)
    first = share.begin + u64(team_rank() * team_size()) * u64(share.run)
    while first < share.end:
        # A lane behind the last set computes that again: all fetch rows.
        number = min(first + u64(lane()) * u64(share.run), share.end - 1)
        unranked(number, sets.elements, tables.choose, b, share.least, share.held)
        stop = min(number + u64(share.run), share.end)
        here = number
        while True:
            complemented(b, sets.elements, a)
            last_back = sets.cap
            if meeting.by_team:
                t = meeting.middles - 1
                to = i32(b.elements[t * team_size() + lane()]) * ROW
                fetch(home.layer.cells, home.layer.start + row_without(t, b, tables.choose) * u64(size), size, rows)
                if meeting.directed:
                    last_back = shortest(view(rows.entries, own), to, t, b, steps_home, sets.cap)
                else:
                    last_back = shortest(view(rows.entries, own), to, t, b, tables.steps, sets.cap)
            partner = partner_of(here, b, meeting, tables.choose)
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
                there = sets.cap
                for p in range(a.size):
                    last = i32(a.elements[p * team_size() + lane()])
                    there = min(there, u32(rows.entries[own + p]) + tables.steps[to + last])
                back = last_back
                if not meeting.by_team or t < meeting.middles - 1:
                    found = home.layer.start + u64(low + high) * u64(size)
                    if meeting.directed:
                        back = shortest(view(home.layer.cells, found), to, t, b, steps_home, sets.cap)
                    else:
                        back = shortest(view(home.layer.cells, found), to, t, b, tables.steps, sets.cap)
                length = min(length, there + back)
                low += tables.choose[element * COLUMNS + t + 1]
            least = min(least, (u64(length) << NUMBER_BITS) | partner)
            here += 1
            if here >= stop:
                break
            advanced(b, share.least, share.held)
        first += u64(team_count() * team_size()) * u64(share.run)
    least = team_min(least, scratch)
    if lane() == 0:
        atomic_min(best, 0, least)
