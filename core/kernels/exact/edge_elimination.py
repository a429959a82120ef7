"""Edges that no tour below a bound has, and edges that all have: conclusions from a least 1-tree.

An edge that is not in the least 1-tree lifts the bound by its cost less that of the dearest edge that it can replace;
the loss of an edge of the 1-tree lifts it by the cost of the cheapest that can replace it, less its own (T. Volgenant,
R. Jonker, "A branch and bound algorithm for the symmetric traveling salesman problem based on the 1-tree relaxation",
European Journal of Operational Research 9, 1982).
"""

from __future__ import annotations

from core.kernels.exact.city_sets import ROW, first_cities, singleton
from core.kernels.exact.one_tree import FAR, OneTree, Subproblem, cost_of
from core.kernels.exact.tour_edges import consistent, exclude, include
from core.lang import *


@bundle
class Exchanges:
    """Possible exchanges of edges of the spanning tree.

    Attributes
    ----------
    dearest : Array, 32 * 32
        Cost of the dearest edge on the tree's path between two cities.
    place : Array, 32
        Position of a city in the order in which the tree grew.
    spare : Array, 32
        Cost of the cheapest edge that can replace the one from a city to its parent.
    """

    dearest: Array[i32]
    place: Array[i32]
    spare: Array[i32]


@function
def measure_paths(costs: Array[i32], given: Subproblem, tree: OneTree, exchanges: Exchanges):
    """Fill in the dearest edges and the places; there is no spare edge yet."""
    for k in range(given.n - 1):
        v = tree.order[k]
        exchanges.place[v] = k
        exchanges.spare[v] = FAR
        exchanges.dearest[v * ROW + v] = 0 - FAR
        if k > 0:
            p = tree.parents[v]
            cost = cost_of(p, v, costs, given)
            for j in range(k):
                u = tree.order[j]
                dearest = max(exchanges.dearest[u * ROW + p], cost)
                exchanges.dearest[u * ROW + v] = dearest
                exchanges.dearest[v * ROW + u] = dearest


@function
def spare_on_path(u: i32, v: i32, cost: i32, tree: OneTree, exchanges: Exchanges):
    """Record that an edge of this cost can replace every edge on the tree's path between its cities."""
    a, b = u, v
    while a != b:
        if exchanges.place[a] < exchanges.place[b]:
            a, b = b, a
        exchanges.spare[a] = min(exchanges.spare[a], cost)
        a = tree.parents[a]


@function
def exclude_among(costs: Array[i32], slack: i32, given: Subproblem, tree: OneTree, exchanges: Exchanges):
    """Exclude edges between cities 1 to n - 1; fill in the spare ones."""
    for u in range(1, given.n):
        larger = first_cities(given.n) & ~first_cities(u + 1)
        for v in set_bits(larger & ~(given.excluded[u] | given.included[u] | tree.neighbours[u])):
            cost = cost_of(u, v, costs, given)
            if cost - exchanges.dearest[u * ROW + v] > slack:
                exclude(u, v, given)
            else:
                spare_on_path(u, v, cost, tree, exchanges)


@function
def exclude_at_city_0(costs: Array[i32], slack: i32, given: Subproblem, tree: OneTree) -> i32:
    """Exclude edges at city 0; return the cost of the cheapest remaining one that is not in the 1-tree."""
    dearest = 0 - FAR
    for v in set_bits(tree.neighbours[0]):
        dearest = max(dearest, cost_of(0, v, costs, given))
    spare = FAR
    for v in set_bits(first_cities(given.n) & ~(singleton(0) | given.excluded[0] | tree.neighbours[0])):
        cost = cost_of(0, v, costs, given)
        if cost - dearest > slack:
            exclude(0, v, given)
        else:
            spare = min(spare, cost)
    return spare


@function
def eliminate(costs: Array[i32], slack: i32, given: Subproblem, tree: OneTree) -> boolean:
    """Exclude edges that would lift the bound by more than ``slack``, and include those that are needed to avoid this.

    ``tree`` is the least 1-tree for the multipliers. Returns False if no tour is left.
    """
    exchanges = Exchanges(local_array(ROW * ROW, i32), local_array(ROW, i32), local_array(ROW, i32))
    measure_paths(costs, given, tree, exchanges)
    exclude_among(costs, slack, given, tree, exchanges)
    spare = exclude_at_city_0(costs, slack, given, tree)
    for k in range(1, given.n - 1):
        v = tree.order[k]
        p = tree.parents[v]
        if exchanges.spare[v] - cost_of(p, v, costs, given) > slack:
            possible = include(p, v, given)
            if not possible:
                return False
    for v in set_bits(tree.neighbours[0]):
        if spare - cost_of(0, v, costs, given) > slack:
            possible = include(0, v, given)
            if not possible:
                return False
    return consistent(given)
