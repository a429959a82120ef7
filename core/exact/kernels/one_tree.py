"""The 1-tree bound of Held and Karp.

M. Held, R. Karp, "The traveling-salesman problem and minimum spanning trees", Operations Research 18 (1970) and
Mathematical Programming 1 (1971). A 1-tree is a spanning tree of all cities but city 0, and two edges at city 0. Every
tour is a 1-tree. A multiplier added to all edges of a city changes the length of all tours by the same amount. So the
least 1-tree is a bound for all multipliers, and subgradient ascent searches for good ones.

Costs are integers: distances times a scale, so that multipliers can be finer than distances. Every sum is exact, and no
rounding can cut off a tour.
"""

from __future__ import annotations

from core.exact.kernels.city_sets import ROW, Edges, contains, first_cities, singleton
from core.lang import *

FAR = 0x40000000
"""Cost larger than that of any edge with its multipliers."""
NO_TREE = 0x7FFFFFFF
"""Cost larger than that of any 1-tree with its multipliers; the result if there is no 1-tree."""
INCLUDED = 0x10000000
"""Discount of an included edge, which puts it into every least 1-tree."""
MOST_MULTIPLIER = 1 << 24
MOST_STEP = 1 << 23
PATIENCE = 4
"""Steps without a better bound after which the ascent halves its steps."""


@bundle
class Subproblem(Edges):
    """Tours with the decided edges; ``multipliers`` (32) are added to the costs of a city's edges."""

    multipliers: Array[i32]


@bundle
class OneTree:
    """A 1-tree.

    Attributes
    ----------
    neighbours : Array, 32
        Neighbours of each city, as a set.
    order, parents : Array, 32
        Cities 1 to n - 1 in the order in which they joined the spanning tree, and for each city its parent there.
    """

    neighbours: Array[u32]
    order: Array[i32]
    parents: Array[i32]


@function
def cost_of(u: i32, v: i32, costs: Array[i32], subproblem: Subproblem) -> i32:
    """Return the cost of an edge with its multipliers, less the discount of an included edge."""
    cost = costs[u * ROW + v] + subproblem.multipliers[u] + subproblem.multipliers[v]
    return cost - INCLUDED if contains(subproblem.included[u], v) else cost


@function
def join(u: i32, v: i32, costs: Array[i32], subproblem: Subproblem, tree: OneTree) -> i32:
    """Add an edge to the tree and return its cost with its multipliers."""
    tree.neighbours[u] = tree.neighbours[u] | singleton(v)
    tree.neighbours[v] = tree.neighbours[v] | singleton(u)
    return costs[u * ROW + v] + subproblem.multipliers[u] + subproblem.multipliers[v]


@function
def spanning_tree(costs: Array[i32], subproblem: Subproblem, tree: OneTree) -> i32:
    """Return the cost of the least spanning tree of cities 1 to n - 1, by Prim's algorithm, or `NO_TREE`."""
    keys = local_array(ROW, i32)
    for v in range(subproblem.n):
        tree.neighbours[v] = u32(0)
        keys[v] = FAR
        tree.parents[v] = 1
    outside = first_cities(subproblem.n) & ~singleton(0)
    total = 0
    joined = 1
    for place in range(subproblem.n - 1):
        if place > 0:
            least = FAR
            joined = 0
            for v in set_bits(outside):
                if keys[v] < least:
                    least = keys[v]
                    joined = v
            if joined == 0:
                return NO_TREE
            cost = join(tree.parents[joined], joined, costs, subproblem, tree)
            total += cost
        tree.order[place] = joined
        outside = outside & ~singleton(joined)
        for v in set_bits(outside & ~subproblem.excluded[joined]):
            key = cost_of(joined, v, costs, subproblem)
            if key < keys[v]:
                keys[v] = key
                tree.parents[v] = joined
    return total


@function
def least_one_tree(costs: Array[i32], subproblem: Subproblem, tree: OneTree) -> i32:
    """Set ``tree`` to the least 1-tree; return its cost with its multipliers, or `NO_TREE`."""
    total = spanning_tree(costs, subproblem, tree)
    if total == NO_TREE:
        return NO_TREE
    for _ in range(2):
        least = FAR
        joined = 0
        for v in set_bits(first_cities(subproblem.n) & ~(singleton(0) | subproblem.excluded[0] | tree.neighbours[0])):
            cost = cost_of(0, v, costs, subproblem)
            if cost < least:
                least = cost
                joined = v
        if joined == 0:
            return NO_TREE
        cost = join(0, joined, costs, subproblem, tree)
        total += cost
    return total


@function
def is_tour(tree: OneTree, n: i32) -> boolean:
    """Return True if every city of a 1-tree has two edges."""
    for v in range(n):
        if popcount(tree.neighbours[v]) != 2:
            return False
    return True


@bundle
class Ascent:
    """Goal and limits of an ascent.

    Attributes
    ----------
    goal
        Cost of a tour. The length of a step is a share of the difference between it and the bound.
    enough
        The ascent ends with a bound above this.
    steps
        Largest number of steps.
    strength
        Share of the first step, in 64ths.
    """

    goal: i32
    enough: i32
    steps: i32
    strength: i32


@function
def ascend(costs: Array[i32], ascent: Ascent, subproblem: Subproblem, tree: OneTree) -> i32:
    """Search for multipliers with a high bound by subgradient ascent with Polyak's steps; return the best bound.

    The search ends early with a bound above `Ascent.enough`, with `NO_TREE`, and when ``tree`` is a tour. A multiplier
    moves by 0.75 of the step for each edge of its city beyond two, and by 0.25 for each such edge a step earlier.
    """
    current = local_array(ROW, i32)
    earlier_excess = local_array(ROW, i32)
    trial = Subproblem(subproblem.n, subproblem.included, subproblem.excluded, current)
    for v in range(subproblem.n):
        current[v] = subproblem.multipliers[v]
        earlier_excess[v] = 0
    best = 0 - FAR
    stalled = 0
    strength = ascent.strength
    for _ in range(ascent.steps):
        cost = least_one_tree(costs, trial, tree)
        if cost == NO_TREE:
            return NO_TREE
        twice_multipliers = 0
        norm = 0
        for v in range(subproblem.n):
            twice_multipliers += 2 * current[v]
            excess = popcount(tree.neighbours[v]) - 2
            norm += excess * excess
        bound = cost - twice_multipliers
        stalled += 1
        if bound > best:
            best = bound
            stalled = 0
            for v in range(subproblem.n):
                subproblem.multipliers[v] = current[v]
        if bound > ascent.enough or norm == 0:
            return bound
        if stalled == PATIENCE:
            stalled = 0
            strength = strength >> 1
            if strength == 0:
                return best
        step = max(1, (min(max(ascent.goal - bound, 0) // norm, MOST_STEP >> 4) * strength) >> 6)
        for v in range(subproblem.n):
            excess = popcount(tree.neighbours[v]) - 2
            moved = current[v] + ((step * (3 * excess + earlier_excess[v])) >> 2)
            current[v] = min(max(moved, 0 - MOST_MULTIPLIER), MOST_MULTIPLIER)
            earlier_excess[v] = excess
    return best
