"""Shortest tours of many small instances in one launch: a lane takes one after the other and solves it by 1-trees.

The work on an instance does not depend on the others, so tours and nodes are equal on all devices.
"""

from __future__ import annotations

from core.kernels.exact.branch_and_bound import OpenNode, bound_of, branch, fork, load_node, store_node, write_tour
from core.kernels.exact.city_sets import ROW
from core.kernels.exact.edge_elimination import eliminate
from core.kernels.exact.one_tree import OneTree, Subproblem, is_tour, least_one_tree
from core.lang import *

MOST_CITIES = 15


class InstanceNumbers(NamedArray):
    """Numbers of an instance."""

    cities: i32
    scale: i32
    """Factor of the distances."""
    length: i32
    """Length of the shortest tour."""
    nodes: i32
    """Number of nodes explored."""


@bundle
class SmallTour:
    """An instance and its shortest known tour, at first the tour of a heuristic.

    Attributes
    ----------
    costs : Array, 15 * 32
        Distances times the scale.
    tour : Array, 32
    """

    costs: Array[i32] = Row(MOST_CITIES * ROW)
    numbers: InstanceNumbers = Row()
    tour: Array[u8] = Row(ROW)


@function
def prove(instance: SmallTour, stacks: Rows[OpenNode], bottom: i32):
    """Find the shortest tour of an instance; open nodes are on a stack from row ``bottom`` on."""
    n, scale = instance.numbers.cities, instance.numbers.scale
    subproblem = Subproblem(n, local_array(ROW, u32), local_array(ROW, u32), local_array(ROW, i32))
    tree = OneTree(local_array(ROW, u32), local_array(ROW, i32), local_array(ROW, i32))
    for v in range(n):
        subproblem.included[v] = u32(0)
        subproblem.excluded[v] = u32(0)
        subproblem.multipliers[v] = 0
    store_node(subproblem, 0, stacks[bottom])
    top = bottom + 1
    limit = instance.numbers.length
    nodes = 0
    while top > bottom:
        top -= 1
        depth = load_node(stacks[top], subproblem)
        nodes += 1
        enough = (limit - 1) * scale
        bound = bound_of(instance.costs, limit, scale, depth, subproblem, tree)
        if bound <= enough:
            complete = is_tour(tree, n)
            if complete:
                limit = bound // scale
                write_tour(tree, n, instance.tour)
            else:
                least_one_tree(instance.costs, subproblem, tree)
                possible = eliminate(instance.costs, enough - bound, subproblem, tree)
                if possible:
                    branching = fork(instance.costs, subproblem, tree)
                    if branching != 0:
                        children = branch(branching, subproblem, depth + 1, stacks, top)
                        top += children
    instance.numbers.length = limit
    instance.numbers.nodes = nodes


@kernel
def prove_all(instances: Rows[SmallTour], count: i32, ticket: Array[i32], stacks: Rows[OpenNode], rows_per_lane: i32):
    """Solve ``count`` instances; ``ticket`` is the next one, ``stacks`` have ``rows_per_lane`` rows for each lane."""
    lane_number = team_rank() * team_size() + lane()
    item = atomic_add(ticket, 0, 1)
    while item < count:
        prove(instances[item], stacks, lane_number * rows_per_lane)
        item = atomic_add(ticket, 0, 1)
