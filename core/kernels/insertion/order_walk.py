"""A walk of iterated greedy search: its state, and changes of its partial order by all lanes of a team."""

from __future__ import annotations

from core.lang import *
from core.lang.library import philox

# Values of `OrderControl.start`.
LEFT = 0
"""The walk has left its start."""
AS_GIVEN = 1
"""The first round improves the given order."""
GREEDY = 2
"""The first round removes and inserts all elements."""


class OrderControl(NamedArray):
    """Status of a walk; `core.search.independent_walks` reads it."""

    cost: i32
    """Cost of the walk's order."""
    best_cost: i32
    """Cost of the best order so far."""
    rounds: i32
    """Number of rounds made."""
    best_at: i32
    """Round that found the best order so far."""
    start: i32
    """Start of a new walk: `LEFT` and following."""


class OrderTotals(NamedArray):
    """Totals of a walk."""

    digest: u64
    """Digest of the walk's costs."""
    evaluations: u64
    """Number of evaluated insertions."""


@bundle
class OrderWalk:
    """The state of a walk.

    The first elements of ``order`` are the partial order, ``place[element]`` is a position in it. ``rest`` is the order
    without one element, ``costs`` the changes of cost by inserting it at each position. ``home`` is the last accepted
    order, ``queue`` has the elements in random order, ``removed`` the elements outside the partial order.
    """

    control: OrderControl = Row()
    totals: OrderTotals = Row()
    number: Array[u64] = Row(1)
    order: Array[i32] = Row("n")
    best: Array[i32] = Row("n")
    home: Array[i32] = Row("n")
    rest: Array[i32] = Row("n")
    place: Array[i32] = Row("n")
    queue: Array[i32] = Row("n")
    removed: Array[i32] = Row("n")
    costs: Array[i32] = Row("places")
    n: i32
    places: i32


@function
def draw(words: Array[u32], step: i32, stream: u32, walk: u64, seed: u64):
    """Replace ``words`` by four random ones that depend only on the other arguments."""
    words[0] = u32(step)
    words[1] = stream
    words[2] = u32(walk)
    words[3] = u32(walk >> 32)
    philox(words, u32(seed), u32(seed >> 32))


@function
def shuffle(queue: Array[i32], count: i32, step: i32, stream: u32, walk: u64, seed: u64):
    """Shuffle the first ``count`` elements; one lane calls this."""
    words = local_array(4, u32)
    for k in range(count - 1):
        if k & 3 == 0:
            draw(words, step, stream + u32(k >> 2), walk, seed)
        other = k + i32(mulhi(words[k & 3], u32(count - k)))
        queue[k], queue[other] = queue[other], queue[k]


@function
def copy_order(source: Array[i32], target: Array[i32], count: i32):
    """Copy the first ``count`` elements."""
    for p in range(lane(), count, team_size()):
        target[p] = source[p]


@function
def take_order(source: Array[i32], walk: OrderWalk):
    """Set the walk's order to a complete one."""
    for p in range(lane(), walk.n, team_size()):
        element = source[p]
        walk.order[p] = element
        walk.place[element] = p


@function
def leave_out(position: i32, count: i32, walk: OrderWalk):
    """Set ``rest`` to the order of ``count`` elements without the element at a position."""
    for p in range(lane(), position, team_size()):
        walk.rest[p] = walk.order[p]
    for p in range(position + lane(), count - 1, team_size()):
        walk.rest[p] = walk.order[p + 1]


@function
def put_in(element: i32, position: i32, first: i32, end: i32, walk: OrderWalk):
    """Set the order to ``rest`` with the element at a position; only positions ``first`` to ``end - 1`` change."""
    for p in range(first + lane(), end, team_size()):
        placed = element
        if p < position:
            placed = walk.rest[p]
        elif p > position:
            placed = walk.rest[p - 1]
        walk.order[p] = placed
        walk.place[placed] = p


@function
def close_gap(count: i32, walk: OrderWalk):
    """Set the order to ``rest``, of ``count`` elements."""
    for p in range(lane(), count, team_size()):
        element = walk.rest[p]
        walk.order[p] = element
        walk.place[element] = p
