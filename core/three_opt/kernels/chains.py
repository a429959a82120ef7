"""Chains of further edges after a move of three edges, as in Lin and Kernighan's search.

Lin, Kernighan, "An effective heuristic algorithm for the traveling-salesman problem", Operations Research 21(2), 1973.
A move of three edges leaves a path from ``last`` to ``out``. A step joins the first city of the path to a near one,
removes the edge before that one, and so reverses the path up to it. The path consists of segments of the present tour.
So the cost of a step does not depend on the size of the tour, and only a chain that shortens the tour changes it.
"""

from __future__ import annotations

from core.lang import *
from core.three_opt.kernels.tour_array import FOLLOWING, CityLists, TourWalk, backward, distance, forward

MOST_STEPS = 6
"""Steps of a chain after its first three edges."""
MOST_SEGMENTS = 3 + MOST_STEPS


@bundle
class Chain:
    """A path as segments, and the steps that lead to it.

    A segment is from ``first[i]`` to ``final[i]``, numbers of edges from city ``out`` as in `from_out`. Step k joins
    the first city of the path to ``joined[k]`` and removes the edge from there to ``next_first[k]``.
    """

    first: Array[i32]
    final: Array[i32]
    joined: Array[i32]
    next_first: Array[i32]
    count: Array[i32]


@function
def from_out(city: i32, out: i32, side: i32, walk: TourWalk) -> i32:
    """Return the number of edges from ``out`` to a city, away from the removed edge."""
    steps = walk.place[city] - walk.place[out] if side == FOLLOWING else walk.place[out] - walk.place[city]
    return backward(steps, walk.n)


@function
def at_distance(steps: i32, out: i32, side: i32, walk: TourWalk) -> i32:
    """Return the city at this number of edges from ``out``."""
    if side == FOLLOWING:
        return walk.tour[forward(walk.place[out] + steps, walk.n)]
    return walk.tour[backward(walk.place[out] - steps, walk.n)]


@function
def put_segment(i: i32, first: i32, final: i32, chain: Chain):
    chain.first[i] = first
    chain.final[i] = final


@function
def reverse_prefix(i: i32, before: i32, position: i32, segments: i32, chain: Chain):
    """Split segment ``i`` between two adjacent positions, and reverse the path up to the first of them."""
    for j in range(segments - i):
        put_segment(segments - j, chain.first[segments - 1 - j], chain.final[segments - 1 - j], chain)
    chain.final[i] = before
    chain.first[i + 1] = position
    for j in range((i >> 1) + 1):
        first, final = chain.first[j], chain.final[j]
        other_first, other_final = chain.first[i - j], chain.final[i - j]
        put_segment(j, other_final, other_first, chain)
        put_segment(i - j, final, first, chain)


@function
def grow_chain(opened: i32, out: i32, last: i32, side: i32, walk: TourWalk, cities: CityLists, chain: Chain) -> i32:
    """Add steps to a path from ``last`` to ``out``; return the largest gain, and its number of steps in ``count``.

    ``opened`` is the length of removed edges less that of added ones, without the edge that closes the tour.
    """
    best_gain = 0
    chain.count[0] = 0
    city = last
    rest = opened
    for step in range(MOST_STEPS):
        segments = 3 + step
        most = 0
        segment = -1
        position = 0
        before = 0
        joined = 0
        for k in range(cities.lists):
            base = rest - cities.near_distances[city * cities.lists + k]
            if base <= best_gain:
                break
            near = cities.near[city * cities.lists + k]
            p = from_out(near, out, side, walk)
            i = 0
            for j in range(1, segments):
                low, high = min(chain.first[j], chain.final[j]), max(chain.first[j], chain.final[j])
                i += j * i32(u32(p - low) <= u32(high - low))
            if p != chain.first[i] and p != 0:
                q = p - 1 if chain.first[i] < chain.final[i] else p + 1
                value = base + distance(near, at_distance(q, out, side, walk), cities)
                if value > most:
                    most = value
                    segment = i
                    position = p
                    before = q
                    joined = near
        if segment < 0:
            break
        city = at_distance(before, out, side, walk)
        rest = most
        chain.joined[step] = joined
        chain.next_first[step] = city
        gain = rest - distance(city, out, cities)
        if gain > best_gain:
            best_gain = gain
            chain.count[0] = step + 1
        if rest - cities.near_distances[city * cities.lists] <= best_gain:
            break
        if step < MOST_STEPS - 1:
            reverse_prefix(segment, before, position, segments, chain)
    return best_gain
