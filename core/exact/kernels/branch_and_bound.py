"""Branch and bound for a shortest tour with 1-trees.

A city of the 1-tree with more than two edges makes three branches: "not the first edge", "the first but not the second"
and "both" (T. Volgenant, R. Jonker, European Journal of Operational Research 9, 1982).
"""

from __future__ import annotations

from core.exact.kernels.city_sets import ROW, Edges, consistent, exclude, include, lowest, singleton
from core.exact.kernels.edge_elimination import eliminate
from core.exact.kernels.one_tree import FAR, Ascent, OneTree, Subproblem, ascend, cost_of, is_tour, least_one_tree
from core.exact.kernels.tour_search import BestTour, TourSearch, lower_limit, record_result
from core.lang import *

CHILDREN = 3
ONE_TOUR = -1
"""Result in place of a number of children: the included edges are the only tour of the subproblem."""
ROOT_STEPS = 200
STEPS = 20
"""Most steps of the ascent at the root, and at other nodes."""


@bundle
class OneTreeProblem:
    """An instance of ``n`` cities; ``costs`` (n * 32) are distances times ``scale``."""

    costs: Array[i32]
    n: i32
    scale: i32


@bundle
class TreeSearch(TourSearch):
    """Shared data of all lanes.

    Attributes
    ----------
    ticket : Array, 1
        Number of the next open node.
    root_bound : Array, 1
        Result: the bound at depth 0, times the scale.
    """

    ticket: Array[i32]
    root_bound: Array[i32]


@bundle
class OpenNode:
    """An unexplored node of the search tree: a subproblem, and its depth, or -1 if there is none."""

    multipliers: Array[i32] = Row(ROW)
    included: Array[u32] = Row(ROW)
    excluded: Array[u32] = Row(ROW)
    depth: Array[i32] = Row(1)


@function
def stack_room(n: i32) -> i32:
    """Return the most open nodes of a lane: each branching adds two and decides one or more of n (n - 1) / 2 edges."""
    return n * (n - 1) + CHILDREN


@function
def load_node(node: OpenNode, subproblem: Subproblem) -> i32:
    """Copy a node's subproblem and return its depth."""
    for v in range(subproblem.n):
        subproblem.multipliers[v] = node.multipliers[v]
        subproblem.included[v] = node.included[v]
        subproblem.excluded[v] = node.excluded[v]
    return node.depth[0]


@function
def store_node(subproblem: Subproblem, depth: i32, node: OpenNode):
    node.depth[0] = depth
    for v in range(subproblem.n):
        node.multipliers[v] = subproblem.multipliers[v]
        node.included[v] = subproblem.included[v]
        node.excluded[v] = subproblem.excluded[v]


@function
def write_tour(tree: OneTree, n: i32, tour: Array[u8]):
    """Write the cities of a 1-tree that is a tour, from city 0 to the smaller of its neighbours and so on."""
    last = 0
    city = 0
    for k in range(n):
        tour[k] = u8(city)
        ahead = lowest(tree.neighbours[city] & ~singleton(last) if k > 0 else tree.neighbours[0])
        last = city
        city = ahead


@function
def fork(costs: Array[i32], subproblem: Subproblem, tree: OneTree) -> u32:
    """Choose a branching: a city of highest degree in the 1-tree, and its two cheapest tree edges not yet included.

    Returns city | first neighbour << 8 | second << 16 | 1 << 24; the second is the first if there is one such edge. If
    the 1-tree is a tour, the city is one with an edge not yet included. Returns 0 if all its edges are included.
    """
    city = 0
    most = 2
    for v in range(subproblem.n):
        if popcount(tree.neighbours[v]) > most:
            most = popcount(tree.neighbours[v])
            city = v
    if most == 2:
        city = subproblem.n
        for v in range(subproblem.n):
            if city == subproblem.n and tree.neighbours[v] & ~subproblem.included[v] != 0:
                city = v
        if city == subproblem.n:
            return u32(0)
    first = 0
    second = 0
    cheapest = FAR
    next_cheapest = FAR
    for v in set_bits(tree.neighbours[city] & ~subproblem.included[city]):
        cost = cost_of(city, v, costs, subproblem)
        if cost < cheapest:
            second, next_cheapest = first, cheapest
            first, cheapest = v, cost
        elif cost < next_cheapest:
            second, next_cheapest = v, cost
    if next_cheapest == FAR or most == 2 or subproblem.included[city] != 0:
        second = first
    return u32(city) | u32(first << 8) | u32(second << 16) | u32(1 << 24)


@function
def decide(child: i32, city: i32, first: i32, second: i32, edges: Edges) -> boolean:
    """Decide on the two edges of a branching as child 0, 1 or 2 does; return False if no tour is left."""
    if child == 0:
        exclude(city, first, edges)
    else:
        possible = include(city, first, edges)
        if possible and child == 1:
            exclude(city, second, edges)
        elif possible and first != second:
            possible = include(city, second, edges)
        if not possible:
            return False
    return consistent(edges)


@function
def branch(branching: u32, subproblem: Subproblem, depth: i32, born: Rows[OpenNode], slot: i32) -> i32:
    """Store the children of a subproblem from row ``slot`` on and return their number."""
    child = Subproblem(subproblem.n, local_array(ROW, u32), local_array(ROW, u32), subproblem.multipliers)
    city = i32(branching & 255)
    first = i32(branching >> 8) & 255
    second = i32(branching >> 16) & 255
    children = 0
    for c in range(0, CHILDREN, 1 if first != second else 2):
        for v in range(subproblem.n):
            child.included[v] = subproblem.included[v]
            child.excluded[v] = subproblem.excluded[v]
        possible = decide(c, city, first, second, child)
        if possible:
            store_node(child, depth, born[slot + children])
            children += 1
    return children


@function
def bound_of(costs: Array[i32], limit: i32, scale: i32, depth: i32, subproblem: Subproblem, tree: OneTree) -> i32:
    """Return a bound of the subproblem times the scale; above (limit - 1) * scale it has no tour below the limit."""
    steps = ROOT_STEPS if depth == 0 else STEPS
    strength = 128 if depth == 0 else 64
    bound = ascend(costs, Ascent(limit * scale, (limit - 1) * scale, steps, strength), subproblem, tree)
    return bound


@function
def expand(
    costs: Array[i32],
    slack: i32,
    complete: boolean,
    subproblem: Subproblem,
    tree: OneTree,
    depth: i32,
    nodes: Rows[OpenNode],
    slot: i32,
) -> i32:
    """Store the children of a subproblem from row ``slot`` on; return their number, or `ONE_TOUR`.

    Parameters
    ----------
    slack
        Difference between the largest useful bound and that of the subproblem.
    complete
        True if ``tree`` is a tour; then no edges are eliminated.
    depth
        Depth of the children.
    """
    children = 0
    possible = True
    if not complete:
        least_one_tree(costs, subproblem, tree)
        possible = eliminate(costs, slack, subproblem, tree)
    if possible:
        branching = fork(costs, subproblem, tree)
        if branching == 0:
            children = ONE_TOUR
        else:
            children = branch(branching, subproblem, depth, nodes, slot)
    return children


@kernel
def branch_and_bound(
    problem: OneTreeProblem,
    open_nodes: Rows[OpenNode],
    items: i32,
    new_nodes: Rows[OpenNode],
    search: TreeSearch,
    best: Rows[BestTour],
    deep: Const[boolean],
    counting: Const[boolean],
):
    """Explore the subtrees of ``items`` open nodes (``deep``), or branch each node once.

    Parameters
    ----------
    open_nodes
        The first ``items`` rows are the items.
    new_nodes
        With ``deep`` a stack of `stack_room` nodes for each lane of the launch, otherwise 3 children for each item.
    best
        One row for each lane of the launch.
    counting
        Count the tours below the limit instead of lowering it.
    """
    subproblem = Subproblem(problem.n, local_array(ROW, u32), local_array(ROW, u32), local_array(ROW, i32))
    tree = OneTree(local_array(ROW, u32), local_array(ROW, i32), local_array(ROW, i32))
    lane_number = team_rank() * team_size() + lane()
    limit = search.limit[0]
    counted = u64(0)
    top = lane_number * stack_room(problem.n)
    bottom = top
    while True:
        item = 0
        depth = 0
        if top == bottom:
            item = atomic_add(search.ticket, 0, 1)
            if item >= items:
                break
            depth = load_node(open_nodes[item], subproblem)
        else:
            top -= 1
            depth = load_node(new_nodes[top], subproblem)
        slot = top
        if not deep:
            slot = item * CHILDREN
            for c in range(CHILDREN):
                new_nodes[slot + c].depth[0] = -1
        atomic_add(search.nodes, depth, u64(1))
        if not counting:
            limit = lower_limit(limit, search)
        enough = (limit - 1) * problem.scale
        bound = bound_of(problem.costs, limit, problem.scale, depth, subproblem, tree)
        if depth == 0:
            search.root_bound[0] = bound
        if bound > enough:
            continue
        complete = is_tour(tree, problem.n)
        if not counting and complete:
            limit = bound // problem.scale
            best[lane_number].length[0] = limit
            write_tour(tree, problem.n, best[lane_number].tour)
            continue
        children = expand(problem.costs, enough - bound, complete, subproblem, tree, depth + 1, new_nodes, slot)
        if children == ONE_TOUR:
            counted += 1
        elif deep:
            top += children
    record_result(counted, limit, search, counting)
