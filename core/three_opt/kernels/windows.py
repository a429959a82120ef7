"""Iterated local search of one tour in windows, which are parts of it without a common city, by a team each.

The cities of a window are one or more paths of the tour. Fixed edges join the end of each path to the start of the
next one and make a closed tour of the window. Every accepted tour has the ends of the paths in the same order, so it
consists of paths between the same ends: all windows change at the same time, and the whole remains a tour. Karp,
"Probabilistic analysis of partitioning algorithms for the traveling-salesman problem in the plane", Mathematics of
Operations Research 2(3), 1977, for the partition; Helsgaun's LKH-2 has fixed edges in subproblems, one after the other.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import philox, splitmix64
from core.three_opt.kernels.chains import MOST_SEGMENTS, MOST_STEPS, Chain
from core.three_opt.kernels.or_opt import cross
from core.three_opt.kernels.three_opt import NO_MOVE, descend, first_winning
from core.three_opt.kernels.tour_array import (
    CityLists,
    TourControl,
    TourLine,
    TourTotals,
    TourWalk,
    backward,
    distance,
    enqueue,
    fill_queue,
    forward,
    restore,
)

ABSENT = 1 << 30
"""Distance of an entry in a neighbour list that has no city."""
STREAM = 1
"""Second counter word of the random numbers; `core.three_opt.kernels.or_opt` has 0."""


@bundle
class WindowMemory:
    """Memory of a team: tour and cities of a window, with the numbers that they have there."""

    control: TourControl = Row()
    totals: TourTotals = Row()
    number: Array[u64] = Row(1)
    line: TourLine = Row()
    tour: Array[i32] = Row("size")
    place: Array[i32] = Row("size")
    queue: Array[i32] = Row("size")
    waiting: Array[u32] = Row("words")
    log: Array[i32] = Row("logged")
    x: Array[f64] = Row("size")
    y: Array[f64] = Row("size")
    near: Array[i32] = Row("listed")
    near_distances: Array[i32] = Row("listed")
    size: i32
    words: i32
    logged: i32
    listed: i32


@bundle
class Windows:
    """Partition of a tour.

    Window w has the elements from ``begin[w]`` to ``begin[w + 1]`` of ``members`` and ``paths``. ``members`` has the
    cities by their number in the window, and ``slot[city]`` is the city's index there. The first ``ends[w]`` numbers
    are ends of paths: a fixed edge joins 2i and 2i + 1. ``paths`` has the cities in the order of the tour; the kernel
    replaces them by those of the improved paths. ``change`` and ``digest`` have an element for each window.
    """

    begin: Array[i32]
    ends: Array[i32]
    members: Array[i32]
    slot: Array[i32]
    paths: Array[i32]
    change: Array[i32]
    digest: Array[u64]
    count: i32


@bundle
class WindowKicks:
    """``each`` perturbations for every city of a window.

    Random numbers depend on ``seed``, ``round``, and the numbers of window and perturbation. ``segment`` is as in
    `core.three_opt.kernels.or_opt.Kicks`. ``descends`` is 1 if a descent from all cities comes first, else 0.
    """

    round: i32
    each: i32
    descends: i32
    segment: i32
    seed: u64


@function
def load_cities(w: i32, lists: i32, memory: WindowMemory, windows: Windows, cities: CityLists):
    """Copy coordinates and neighbour lists of a window's cities; neighbours outside are left out."""
    begin = windows.begin[w]
    n = windows.begin[w + 1] - begin
    for city in range(lane(), n, team_size()):
        member = windows.members[begin + city]
        memory.x[city] = cities.x[member]
        memory.y[city] = cities.y[member]
        count = 0
        for k in range(member * lists, member * lists + lists):
            near = windows.slot[cities.near[k]] - begin
            if near >= 0 and near < n and ((near ^ city) != 1 or near >= windows.ends[w]):
                memory.near[city * lists + count] = near
                memory.near_distances[city * lists + count] = cities.near_distances[k]
                count += 1
        for k in range(city * lists + count, city * lists + lists):
            memory.near[k] = 0
            memory.near_distances[k] = ABSENT


@function
def load_tour(w: i32, windows: Windows, walk: TourWalk):
    """Copy a window's tour, with an empty queue."""
    begin = windows.begin[w]
    for p in range(lane(), walk.n, team_size()):
        city = windows.slot[windows.paths[begin + p]] - begin
        walk.tour[p] = city
        walk.place[city] = p
        walk.queue[p] = city
    for k in range(lane(), (walk.n + 31) >> 5, team_size()):
        walk.waiting[k] = 0
    if lane() == 0:
        walk.line.head = 0
        walk.line.count = 0
        walk.line.logged = 0
        walk.line.logs = 0


@function
def store_paths(w: i32, windows: Windows, walk: TourWalk):
    """Write the paths, in the direction that they had at first."""
    begin, ends = windows.begin[w], windows.ends[w]
    first = walk.place[max(ends - 1, 0)]
    turned = ends > 0 and walk.tour[forward(first + 1, walk.n)] == ends - 2
    for p in range(lane(), walk.n, team_size()):
        from_first = backward(first - p, walk.n) if turned else forward(first + p, walk.n)
        windows.paths[begin + p] = windows.members[begin + walk.tour[from_first]]


@function
def has_paths(ends: i32, walk: TourWalk, descents: Array[u64]) -> boolean:
    """Return True if the tour has the ends of paths in ascending order, in one of its directions."""
    if ends <= 2:
        return True
    if lane() == 0:
        descents[0] = 0
    barrier()
    for end in range(lane(), ends, team_size()):
        if walk.place[forward(end + 1, ends)] < walk.place[end]:
            atomic_add(descents, 0, u64(1))
    barrier()
    found = i32(descents[0])
    barrier()
    return found == 1 or found == ends - 1


@function
def crosses_fixed(words: Array[u32], segment: i32, walk: TourWalk, cities: CityLists) -> boolean:
    """Return True if the double bridge of these random numbers removes a fixed edge."""
    p = i32(mulhi(words[0], u32(walk.n)))
    first = p + 1 + i32(mulhi(words[1], u32(segment)))
    second = first + 1 + i32(mulhi(words[2], u32(segment)))
    fixed = 0
    for cut in unroll(3):
        q = p if cut == 0 else (first if cut == 1 else second)
        a = walk.tour[forward(q, walk.n)]
        b = walk.tour[forward(forward(q, walk.n) + 1, walk.n)]
        fixed += i32(distance(a, b, cities) < 0)
    return fixed > 0


@function
def perturb_window(kick: i32, w: i32, kicks: WindowKicks, words: Array[u32], walk: TourWalk, cities: CityLists) -> i32:
    """Perturb the tour, unless that removes a fixed edge; return the increase of its length."""
    words[0] = u32(kick)
    words[1] = STREAM
    words[2] = u32(w)
    words[3] = u32(kicks.round)
    philox(words, u32(kicks.seed), u32(kicks.seed >> 32))
    segment = min(kicks.segment, (walk.n - 2) >> 1)
    if crosses_fixed(words, segment, walk, cities):
        return 0
    barrier()
    if lane() == 0:
        walk.line.logged = 0
        walk.line.logs = 1
    barrier()
    added = cross(words, segment, walk, cities)
    return added


@function
def accept_window(added: i32, ends: i32, walk: TourWalk, winner: Array[u64]) -> i32:
    """Return the change of the tour's length, or restore a longer tour or one with other paths and return 0."""
    is_kept = added <= 0 and walk.line.count == 0
    if is_kept:
        is_kept = has_paths(ends, walk, winner)
    if is_kept:
        return added
    restore(walk)
    return 0


@kernel
def improve_windows(memories: Rows[WindowMemory], windows: Windows, cities: CityLists, kicks: WindowKicks):
    """Improve every window of a tour by perturbations of its cities; a longer tour of a window is never accepted."""
    winner = shared_array(1, u64)
    words = local_array(4, u32)
    memory = memories[team_rank()]
    for w in range(team_rank(), windows.count, team_count()):
        n = windows.begin[w + 1] - windows.begin[w]
        walk = TourWalk(
            memory.control, memory.totals, memory.number, memory.line, memory.tour, memory.tour, memory.place,
            memory.queue, memory.waiting, memory.log, n, (n + 31) >> 5, memory.logged,
        )  # fmt: skip
        inside = CityLists(
            False, cities.table, memory.x, memory.y, memory.near, memory.near_distances, cities.lists,
            windows.ends[w], True,
        )  # fmt: skip
        load_cities(w, cities.lists, memory, windows, cities)
        load_tour(w, windows, walk)
        barrier()
        change = 0
        digest = u64(0)
        # One call of `descend` for the first descent and those after perturbations: it is most of the code.
        for kick in range(0 - kicks.descends, kicks.each * n):
            added = 0
            if kick < 0:
                fill_queue(walk)
                barrier()
            else:
                added = perturb_window(kick, w, kicks, words, walk, inside)
            decrease = descend(walk, inside, winner, True)
            added -= decrease
            if kick >= 0:
                added = accept_window(added, windows.ends[w], walk, winner)
                digest = splitmix64(digest + (u64(change + added) << 32 | u64(kick)) + u64(0x9E3779B97F4A7C15))
            change += added
        barrier()
        store_paths(w, windows, walk)
        if lane() == 0:
            windows.change[w] = change
            windows.digest[w] = digest
        barrier()


@kernel
def find_moves(walks: Rows[TourWalk], cities: CityLists, has_move: Array[u8]):
    """Mark the cities of one tour that have an improving move; nothing is moved."""
    winner = shared_array(1, u64)
    opened = local_array(1, u64)
    chain = Chain(
        local_array(MOST_SEGMENTS, i32),
        local_array(MOST_SEGMENTS, i32),
        local_array(MOST_STEPS, i32),
        local_array(MOST_STEPS, i32),
        local_array(1, i32),
    )
    walk = walks[0]
    for city in range(team_rank(), walk.n, team_count()):
        move = first_winning(city, walk, cities, winner, True, chain, opened)
        barrier()
        if lane() == 0:
            has_move[city] = u8(1 if move != NO_MOVE else 0)


@kernel
def descend_from(walks: Rows[TourWalk], cities: CityLists, queued: Array[i32], count: i32, decrease: Array[i32]):
    """Descend from some cities of one tour, by one team."""
    winner = shared_array(1, u64)
    walk = walks[0]
    for k in range(lane(), walk.words, team_size()):
        walk.waiting[k] = 0
    barrier()
    if lane() == 0:
        walk.line.head = 0
        walk.line.count = 0
        walk.line.logged = 0
        walk.line.logs = 0
        for k in range(count):
            enqueue(queued[k], walk)
    barrier()
    shorter = descend(walk, cities, winner, True)
    if lane() == 0:
        decrease[0] = shorter
