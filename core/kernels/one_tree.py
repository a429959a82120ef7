"""Branch and bound for a shortest tour with the 1-tree bound of Held and Karp.

M. Held, R. Karp, "The traveling-salesman problem and minimum spanning trees", Operations Research 18 (1970) and
Mathematical Programming 1 (1971); branching on a vertex of the 1-tree with more than two edges: T. Volgenant, R.
Jonker, European Journal of Operational Research 9 (1982). A 1-tree is a spanning tree of the cities but city 0, and
two edges at city 0; every tour is one. Adding a multiplier to all edges of a city changes the length of all tours
alike, so the least 1-tree bounds them whatever the multipliers, and subgradient ascent looks for good ones.

Costs are integers: distances times ``scale``, so that multipliers can be finer than distances, and every sum is
exact. No rounding can cut off a tour.
"""

from __future__ import annotations

from core.kernels.tour_edges import consistent, exclude, include, lowest
from core.lang import (
    Array,
    Const,
    atomic_add,
    atomic_min,
    function,
    i32,
    kernel,
    lane,
    local_array,
    max,
    min,
    popcount,
    team_rank,
    team_size,
    u8,
    u32,
    u64,
)

ROW = 32
"""Words of a node per field: one for each city."""
FAR = 0x40000000
"""Cost of an excluded edge."""
FORCED = 0x10000000
"""What an included edge is cheaper, so that every 1-tree has it."""
MOST_MULTIPLIER = 1 << 24
MOST_STEP = 1 << 23
CHILDREN = 3


@function
def one_tree(
    n: i32,
    costs: Array[i32],
    multipliers: Array[i32],
    included: Array[u32],
    excluded: Array[u32],
    tree: Array[u32],
    parents: Array[i32],
    order: Array[i32],
) -> i32:
    """Cost of the least 1-tree, multipliers and all, or `FAR` if there is none; Prim's algorithm.

    Out: ``tree``, the neighbours of each city; ``order``, cities 1 to n - 1 as they joined, and their ``parents``.
    """
    keys = local_array(ROW, i32)
    for v in range(n):
        tree[v] = u32(0)
        keys[v] = FAR
        parents[v] = 1
    outside = ((u32(1) << u32(n - 1)) - 1) << 1
    total = 0
    joined = 1
    for place in range(n - 1):
        if place > 0:
            least = FAR
            joined = 0
            left = outside
            while left != 0:
                v = lowest(left)
                left = left & (left - 1)
                if keys[v] < least:
                    least = keys[v]
                    joined = v
            if joined == 0:
                return FAR
            p = parents[joined]
            total += costs[p * ROW + joined] + multipliers[p] + multipliers[joined]
            tree[p] = tree[p] | (u32(1) << u32(joined))
            tree[joined] = tree[joined] | (u32(1) << u32(p))
        order[place] = joined
        outside = outside & ~(u32(1) << u32(joined))
        left = outside & ~excluded[joined]
        while left != 0:
            v = lowest(left)
            left = left & (left - 1)
            cost = costs[joined * ROW + v] + multipliers[joined] + multipliers[v]
            if (included[joined] >> u32(v)) & 1 != 0:
                cost -= FORCED
            if cost < keys[v]:
                keys[v] = cost
                parents[v] = joined
    for _ in range(2):
        least = FAR
        joined = 0
        left = ((u32(1) << u32(n - 1)) - 1) << 1 & ~excluded[0] & ~tree[0]
        while left != 0:
            v = lowest(left)
            left = left & (left - 1)
            cost = costs[v] + multipliers[0] + multipliers[v]
            if (included[0] >> u32(v)) & 1 != 0:
                cost -= FORCED
            if cost < least:
                least = cost
                joined = v
        if joined == 0:
            return FAR
        total += costs[joined] + multipliers[0] + multipliers[joined]
        tree[0] = tree[0] | (u32(1) << u32(joined))
        tree[joined] = tree[joined] | 1
    return total


@function
def ascend(
    n: i32,
    costs: Array[i32],
    goal: i32,
    target: i32,
    steps: i32,
    strength: i32,
    multipliers: Array[i32],
    included: Array[u32],
    excluded: Array[u32],
    tree: Array[u32],
    parents: Array[i32],
    order: Array[i32],
) -> i32:
    """Look for multipliers with a high bound: subgradient ascent with steps after Polyak; returns the best bound.

    Ends early with a bound above ``target``, with `FAR` if there is no 1-tree, and when ``tree`` is a tour. The first
    step goes ``strength`` / 64 of the way to ``goal``; that part is halved after four steps without a better bound.
    """
    current = local_array(ROW, i32)
    before = local_array(ROW, i32)
    for v in range(n):
        current[v] = multipliers[v]
        before[v] = 0
    best = 0 - FAR
    waited = 0
    for _ in range(steps):
        cost = one_tree(n, costs, current, included, excluded, tree, parents, order)
        if cost == FAR:
            return FAR
        twice = 0
        norm = 0
        for v in range(n):
            twice += 2 * current[v]
            excess = popcount(tree[v]) - 2
            norm += excess * excess
        bound = cost - twice
        waited += 1
        if bound > best:
            best = bound
            waited = 0
            for v in range(n):
                multipliers[v] = current[v]
        if bound > target or norm == 0:
            return bound
        if waited == 4:
            waited = 0
            strength = strength >> 1
            if strength == 0:
                return best
        step = max(1, (min(max(goal - bound, 0) // norm, MOST_STEP >> 4) * strength) >> 6)
        for v in range(n):
            excess = popcount(tree[v]) - 2
            moved = current[v] + ((step * (3 * excess + before[v])) >> 2)
            current[v] = min(max(moved, 0 - MOST_MULTIPLIER), MOST_MULTIPLIER)
            before[v] = excess
    return best


@function
def reduced(u: i32, v: i32, costs: Array[i32], multipliers: Array[i32], included: Array[u32]) -> i32:
    """Cost of an edge as the 1-tree sees it: multipliers added, an included edge cheaper than all others."""
    cost = costs[u * ROW + v] + multipliers[u] + multipliers[v]
    return cost - FORCED if (included[u] >> u32(v)) & 1 != 0 else cost


@function
def eliminate(
    n: i32,
    costs: Array[i32],
    slack: i32,
    multipliers: Array[i32],
    included: Array[u32],
    excluded: Array[u32],
    tree: Array[u32],
    parents: Array[i32],
    order: Array[i32],
) -> i32:
    """Exclude edges that would lift the bound beyond ``slack``, include those whose loss would; 0: no tour is left.

    ``tree`` is the least 1-tree for the multipliers. An edge lifts the bound by its cost less that of the dearest edge
    that it can replace.
    """
    worst = local_array(ROW * ROW, i32)
    place = local_array(ROW, i32)
    spare = local_array(ROW, i32)
    for k in range(n - 1):
        v = order[k]
        place[v] = k
        spare[v] = FAR
        worst[v * ROW + v] = 0 - FAR
        if k > 0:
            p = parents[v]
            cost = reduced(p, v, costs, multipliers, included)
            for j in range(k):
                u = order[j]
                dearest = max(worst[u * ROW + p], cost)
                worst[u * ROW + v] = dearest
                worst[v * ROW + u] = dearest
    for u in range(1, n):
        left = ~(excluded[u] | included[u] | tree[u]) & ((u32(0xFFFFFFFF) >> u32(32 - n)) & ~((u32(2) << u32(u)) - 1))
        while left != 0:
            v = lowest(left)
            left = left & (left - 1)
            cost = reduced(u, v, costs, multipliers, included)
            if cost - worst[u * ROW + v] > slack:
                exclude(u, v, excluded)
            else:
                a, b = u, v
                while a != b:
                    if place[a] < place[b]:
                        a, b = b, a
                    spare[a] = min(spare[a], cost)
                    a = parents[a]
    dearest = 0 - FAR
    third = FAR
    left = tree[0]
    while left != 0:
        v = lowest(left)
        left = left & (left - 1)
        dearest = max(dearest, reduced(0, v, costs, multipliers, included))
    left = ~(excluded[0] | tree[0]) & ((u32(0xFFFFFFFF) >> u32(32 - n)) & ~u32(1))
    while left != 0:
        v = lowest(left)
        left = left & (left - 1)
        cost = reduced(0, v, costs, multipliers, included)
        if cost - dearest > slack:
            exclude(0, v, excluded)
        else:
            third = min(third, cost)
    possible = 1
    for k in range(1, n - 1):
        v = order[k]
        p = parents[v]
        if possible != 0 and spare[v] - reduced(p, v, costs, multipliers, included) > slack:
            possible = include(p, v, n, included, excluded)
    left = tree[0]
    while left != 0:
        v = lowest(left)
        left = left & (left - 1)
        if possible != 0 and third - reduced(0, v, costs, multipliers, included) > slack:
            possible = include(0, v, n, included, excluded)
    if possible == 0:
        return 0
    possible = consistent(n, included, excluded)
    return possible


@function
def fork(
    n: i32,
    costs: Array[i32],
    multipliers: Array[i32],
    included: Array[u32],
    tree: Array[u32],
) -> u32:
    """Where to branch: a city whose 1-tree degree is highest, and its cheapest two tree edges not yet included.

    City | first neighbour << 8 | second << 16; the second is the first where there is one such edge. In a tour the city
    is one with an edge that is not yet included; 0 if there is none.
    """
    city = 0
    most = 2
    for v in range(n):
        if popcount(tree[v]) > most:
            most = popcount(tree[v])
            city = v
    if most == 2:
        city = n
        for v in range(n):
            if city == n and tree[v] & ~included[v] != 0:
                city = v
        if city == n:
            return u32(0)
    first = 0
    second = 0
    cheapest = FAR
    next_cheapest = FAR
    left = tree[city] & ~included[city]
    while left != 0:
        v = lowest(left)
        left = left & (left - 1)
        cost = reduced(city, v, costs, multipliers, included)
        if cost < cheapest:
            second, next_cheapest = first, cheapest
            first, cheapest = v, cost
        elif cost < next_cheapest:
            second, next_cheapest = v, cost
    if next_cheapest == FAR or most == 2 or included[city] != 0:
        second = first
    return u32(city) | u32(first << 8) | u32(second << 16) | u32(1 << 24)


@kernel
def branch_and_bound(
    costs: Array[i32],
    n: i32,
    scale: i32,
    root_steps: i32,
    steps: i32,
    items: i32,
    capacity: i32,
    deep: Const[i32],
    counting: Const[i32],
    from_multipliers: Array[i32],
    from_included: Array[u32],
    from_excluded: Array[u32],
    from_levels: Array[i32],
    to_multipliers: Array[i32],
    to_included: Array[u32],
    to_excluded: Array[u32],
    to_levels: Array[i32],
    ticket: Array[i32],
    limit: Array[i32],
    root_bound: Array[i32],
    nodes: Array[u64],
    found: Array[u64],
    lengths: Array[i32],
    tours: Array[u8],
):
    """Take nodes of the tree of subproblems as items; explore all below them (``deep``), or only branch once.

    Parameters
    ----------
    costs : Array, n * 32
        Distances times ``scale``.
    root_steps, steps
        Steps of the ascent at the root and below.
    from_multipliers, from_included, from_excluded, from_levels : Array, items * 32, and items
        The items: multipliers, edges as sets of neighbours, and depths.
    to_multipliers, to_included, to_excluded, to_levels
        With ``deep`` a stack of ``capacity`` nodes per lane of the launch; else room for 3 children per item, in which
        ``to_levels`` is -1 where there is none.
    ticket : Array, 1
        The next item.
    limit : Array, 1
        The length that a tour must beat.
    counting
        1: count the tours shorter than ``limit``, which stays.
    root_bound : Array, 1
        Out: the bound at depth 0.
    nodes : Array, ROW * ROW
        Adds the nodes of each depth.
    found : Array, 1
        Adds the tours counted.
    lengths, tours : Array, lanes of the launch, and times 32
        Each lane's best tour, if it found one.

    """
    multipliers = local_array(ROW, i32)
    included = local_array(ROW, u32)
    excluded = local_array(ROW, u32)
    child_included = local_array(ROW, u32)
    child_excluded = local_array(ROW, u32)
    tree = local_array(ROW, u32)
    parents = local_array(ROW, i32)
    order = local_array(ROW, i32)
    me = team_rank() * team_size() + lane()
    known = limit[0]
    counted = u64(0)
    top = 0
    while True:
        item = 0
        level = 0
        if top == 0:
            item = atomic_add(ticket, 0, 1)
            if item >= items:
                break
            level = from_levels[item]
            for v in range(n):
                multipliers[v] = from_multipliers[item * ROW + v]
                included[v] = from_included[item * ROW + v]
                excluded[v] = from_excluded[item * ROW + v]
        else:
            top -= 1
            slot = me * capacity + top
            level = to_levels[slot]
            for v in range(n):
                multipliers[v] = to_multipliers[slot * ROW + v]
                included[v] = to_included[slot * ROW + v]
                excluded[v] = to_excluded[slot * ROW + v]
        first_child = me * capacity + top
        if deep == 0:
            first_child = item * CHILDREN
            for c in range(CHILDREN):
                to_levels[first_child + c] = -1
        atomic_add(nodes, level, u64(1))
        if counting == 0:
            theirs = atomic_min(limit, 0, known)
            known = min(known, theirs)
        target = (known - 1) * scale
        children = 0
        bound = ascend(
            n, costs, known * scale, target, root_steps if level == 0 else steps, 128 if level == 0 else 64,
            multipliers, included, excluded, tree, parents, order,
        )  # fmt: skip
        if level == 0:
            root_bound[0] = bound
        open = 1 if bound <= target else 0
        if open != 0:
            is_tour = 1
            for v in range(n):
                if popcount(tree[v]) != 2:
                    is_tour = 0
            if is_tour != 0 and counting == 0:
                known = bound // scale
                lengths[me] = known
                last = 0
                city = 0
                for k in range(n):
                    tours[me * ROW + k] = u8(city)
                    ahead = tree[city] & ~(u32(1) << u32(last)) if k > 0 else tree[city] & (0 - tree[city])
                    last = city
                    city = lowest(ahead)
                open = 0
            elif is_tour == 0:
                one_tree(n, costs, multipliers, included, excluded, tree, parents, order)
                open = eliminate(n, costs, target - bound, multipliers, included, excluded, tree, parents, order)
        if open != 0:
            branch = fork(n, costs, multipliers, included, tree)
            city = i32(branch & 255)
            first = i32(branch >> 8) & 255
            second = i32(branch >> 16) & 255
            if branch == 0:
                counted += 1
            for c in range(CHILDREN):
                if branch != 0 and (c != 1 or first != second):
                    for v in range(n):
                        child_included[v] = included[v]
                        child_excluded[v] = excluded[v]
                    sound = 1
                    if c == 0:
                        exclude(city, first, child_excluded)
                    else:
                        sound = include(city, first, n, child_included, child_excluded)
                        if c == 1:
                            exclude(city, second, child_excluded)
                        elif first != second and sound != 0:
                            sound = include(city, second, n, child_included, child_excluded)
                    if sound != 0:
                        sound = consistent(n, child_included, child_excluded)
                    if sound != 0:
                        slot = first_child + children
                        children += 1
                        to_levels[slot] = level + 1
                        for v in range(n):
                            to_multipliers[slot * ROW + v] = multipliers[v]
                            to_included[slot * ROW + v] = child_included[v]
                            to_excluded[slot * ROW + v] = child_excluded[v]
        if deep != 0:
            top += children
    if counted > 0:
        atomic_add(found, 0, counted)
    if counting == 0:
        atomic_min(limit, 0, known)
