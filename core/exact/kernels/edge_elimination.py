"""Edges that no tour below a bound has, and edges that all of them have: conclusions from a least 1-tree.

An edge outside the least 1-tree raises the bound by its cost minus that of the dearest edge that it can replace. The
loss of an edge of the 1-tree raises it by the cost of the cheapest replacement minus its own (T. Volgenant, R. Jonker,
"A branch and bound algorithm for the symmetric traveling salesman problem based on the 1-tree relaxation", European
Journal of Operational Research 9, 1982).
"""

from __future__ import annotations

from core.exact.kernels.city_sets import ROW, consistent, exclude, first_cities, include, singleton
from core.exact.kernels.one_tree import FAR, OneTree, Subproblem, cost_of
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
def measure_paths(costs: Array[i32], subproblem: Subproblem, tree: OneTree, exchanges: Exchanges):
    """Fill in the dearest edges and the places, and clear the spare edges."""
    for k in range(subproblem.n - 1):
        v = tree.order[k]
        exchanges.place[v] = k
        exchanges.spare[v] = FAR
        exchanges.dearest[v * ROW + v] = 0 - FAR
        if k > 0:
            p = tree.parents[v]
            cost = cost_of(p, v, costs, subproblem)
            for j in range(k):
                u = tree.order[j]
                dearest = max(exchanges.dearest[u * ROW + p], cost)
                exchanges.dearest[u * ROW + v] = dearest
                exchanges.dearest[v * ROW + u] = dearest


@function
def spare_on_path(u: i32, v: i32, cost: i32, tree: OneTree, exchanges: Exchanges):
    """Record that edge (u, v) of this cost can replace every edge on the tree's path from u to v."""
    a, b = u, v
    while a != b:
        if exchanges.place[a] < exchanges.place[b]:
            a, b = b, a
        exchanges.spare[a] = min(exchanges.spare[a], cost)
        a = tree.parents[a]


@function
def exclude_among(costs: Array[i32], slack: i32, subproblem: Subproblem, tree: OneTree, exchanges: Exchanges):
    """Exclude edges between cities 1 to n - 1, and fill in the spare edges."""
    for u in range(1, subproblem.n):
        larger = first_cities(subproblem.n) & ~first_cities(u + 1)
        for v in set_bits(larger & ~(subproblem.excluded[u] | subproblem.included[u] | tree.neighbours[u])):
            cost = cost_of(u, v, costs, subproblem)
            if cost - exchanges.dearest[u * ROW + v] > slack:
                exclude(u, v, subproblem)
            else:
                spare_on_path(u, v, cost, tree, exchanges)


@function
def exclude_at_city_0(costs: Array[i32], slack: i32, subproblem: Subproblem, tree: OneTree) -> i32:
    """Exclude edges at city 0; return the cost of the cheapest remaining edge outside the 1-tree."""
    dearest = 0 - FAR
    for v in set_bits(tree.neighbours[0]):
        dearest = max(dearest, cost_of(0, v, costs, subproblem))
    spare = FAR
    for v in set_bits(first_cities(subproblem.n) & ~(singleton(0) | subproblem.excluded[0] | tree.neighbours[0])):
        cost = cost_of(0, v, costs, subproblem)
        if cost - dearest > slack:
            exclude(0, v, subproblem)
        else:
            spare = min(spare, cost)
    return spare


@function
def eliminate(costs: Array[i32], slack: i32, subproblem: Subproblem, tree: OneTree) -> boolean:
    """Exclude edges that raise the bound by more than ``slack``; include edges if their loss raises it by more.

    ``tree`` is the least 1-tree for the multipliers. Returns False if no tour is left.
    """
    exchanges = Exchanges(local_array(ROW * ROW, i32), local_array(ROW, i32), local_array(ROW, i32))
    measure_paths(costs, subproblem, tree, exchanges)
    exclude_among(costs, slack, subproblem, tree, exchanges)
    spare = exclude_at_city_0(costs, slack, subproblem, tree)
    for k in range(1, subproblem.n - 1):
        v = tree.order[k]
        p = tree.parents[v]
        if exchanges.spare[v] - cost_of(p, v, costs, subproblem) > slack:
            possible = include(p, v, subproblem)
            if not possible:
                return False
    for v in set_bits(tree.neighbours[0]):
        if spare - cost_of(0, v, costs, subproblem) > slack:
            possible = include(0, v, subproblem)
            if not possible:
                return False
    return consistent(subproblem)
