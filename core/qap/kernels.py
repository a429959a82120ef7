"""Differences of the cost of assignments: O(n) from scratch, and Taillard's O(1) update of kept ones.

E. Taillard, "Robust taboo search for the quadratic assignment problem", Parallel Computing 17, 1991, equations 1 and 2;
`luong2013`, section 6.1.
"""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.moves import EXCHANGE, change
from core.local_search.kernels.walks import EVERYTHING, Move, Share


@bundle
class Assignment:
    """Flows between facilities and distances between locations: square matrices of n x n."""

    flows: Array[i32]
    distances: Array[i32]
    n: i32
    symmetric: boolean


@bundle
class Differences(Assignment):
    """The matrices, and the rows of a walk: the difference of every exchange in ``kept``.

    ``placed`` is the matrix of distances in the order of the facilities: placed[x, y] = b[p(x), p(y)]. ``turns`` are
    four vectors of the last exchange; all differences without its facilities follow from them (Taillard's equation 2).
    """

    placed: Array[i32] = Row("cells")
    kept: Array[i32] = Row("pairs")
    turns: Array[i32] = Row("ends")
    cells: i32
    pairs: i32
    ends: i32


@function
def added_between(solution: Array[i32], i: i32, j: i32, qap: Assignment) -> i32:
    """Return the change by an exchange of the locations of i and j, of the flows within and between the two."""
    n = qap.n
    p, q = solution[i], solution[j]
    added = (qap.flows[i * n + i] - qap.flows[j * n + j]) * (qap.distances[q * n + q] - qap.distances[p * n + p])
    added += (qap.flows[i * n + j] - qap.flows[j * n + i]) * (qap.distances[q * n + p] - qap.distances[p * n + q])
    return added


@function
def added_with(x: i32, solution: Array[i32], i: i32, j: i32, qap: Assignment) -> i32:
    """Return the change by an exchange of the locations of i and j, of their flows with a third facility."""
    n = qap.n
    p, q, r = solution[i], solution[j], solution[x]
    there = qap.distances[r * n + q] - qap.distances[r * n + p]
    back = qap.distances[q * n + r] - qap.distances[p * n + r]
    return (qap.flows[x * n + i] - qap.flows[x * n + j]) * there + (qap.flows[i * n + x] - qap.flows[j * n + x]) * back


@function
def added_by_two(solution: Array[i32], i: i32, j: i32, qap: Assignment) -> i32:
    """Return the change of cost by an exchange of i and j (Taillard's equation 1, with diagonals)."""
    added = added_between(solution, i, j, qap)
    for x in range(qap.n):
        if x != i and x != j:
            added += added_with(x, solution, i, j, qap)
    return added


@function
def flow_moved(c: i32, d: i32, old: i32, new: i32, qap: Assignment) -> i32:
    """Return the change by the flow from c to d if the distance at index ``old`` becomes that at ``new``."""
    return qap.flows[c * qap.n + d] * (qap.distances[new] - qap.distances[old])


@function
def added_within(solution: Array[i32], c: i32, d: i32, from_c: i32, from_d: i32, qap: Assignment) -> i32:
    """Return the change by the flow from c to d if they get the locations of ``from_c`` and ``from_d``."""
    old = solution[c] * qap.n + solution[d]
    return flow_moved(c, d, old, solution[from_c] * qap.n + solution[from_d], qap)


@function
def moved_terms(x: i32, mover: i32, there: i32, old: i32, new: i32, qap: Assignment) -> i32:
    """Return the change by a facility's move from ``old`` to ``new``, of its flows with x, which stays at ``there``."""
    n = qap.n
    to_x = flow_moved(mover, x, old * n + there, new * n + there, qap)
    return to_x + flow_moved(x, mover, there * n + old, there * n + new, qap)


@function
def added_among(solution: Array[i32], i: i32, j: i32, k: i32, qap: Assignment) -> i32:
    """Return the change by the cyclic exchange i <- j <- k <- i, of the flows within and between the three."""
    added = added_within(solution, i, i, j, j, qap) + added_within(solution, i, j, j, k, qap)
    added += added_within(solution, i, k, j, i, qap) + added_within(solution, j, i, k, j, qap)
    added += added_within(solution, j, j, k, k, qap) + added_within(solution, j, k, k, i, qap)
    added += added_within(solution, k, i, i, j, qap) + added_within(solution, k, j, i, k, qap)
    added += added_within(solution, k, k, i, i, qap)
    return added


@function
def added_with_fourth(x: i32, solution: Array[i32], i: i32, j: i32, k: i32, qap: Assignment) -> i32:
    """Return the change by the cyclic exchange i <- j <- k <- i, of their flows with a fourth facility."""
    p, q, r, there = solution[i], solution[j], solution[k], solution[x]
    added = moved_terms(x, i, there, p, q, qap) + moved_terms(x, j, there, q, r, qap)
    added += moved_terms(x, k, there, r, p, qap)
    return added


@function
def added_by_three(solution: Array[i32], i: i32, j: i32, k: i32, qap: Assignment) -> i32:
    """Return the change of cost by the cyclic exchange i <- j <- k <- i."""
    added = added_among(solution, i, j, k, qap)
    for x in range(qap.n):
        if x != i and x != j and x != k:
            added += added_with_fourth(x, solution, i, j, k, qap)
    return added


@function
def added(solution: Array[i32], move: Move, qap: Assignment) -> i32:
    """Return the change of cost by a move, in O(n)."""
    if move.k < 0:
        return added_by_two(solution, move.i, move.j, qap)
    return added_by_three(solution, move.i, move.j, move.k, qap)


@function
def added_in_parts(worker: i32, workers: i32, solution: Array[i32], move: Move, qap: Assignment) -> i32:
    """Return a worker's part of the sum of `added`; workers share the facilities that stay."""
    i, j, k = move.i, move.j, move.k
    added = 0
    if worker == 0:
        added = added_between(solution, i, j, qap) if k < 0 else added_among(solution, i, j, k, qap)
    for x in range(worker, qap.n, workers):
        if x != i and x != j and x != k:
            if k < 0:
                added += added_with(x, solution, i, j, qap)
            else:
                added += added_with_fourth(x, solution, i, j, k, qap)
    return added


# --- kept differences ---


@function
def added_placed(u: i32, v: i32, share: i32, shares: i32, solution: Array[i32], qap: Differences) -> i32:
    """Return a share of the difference of exchange (u, v); the sum of all shares is the difference.

    With ``shares`` 0, one lane computes the difference by rows of symmetric matrices; several lanes read columns.
    """
    n = qap.n
    if not qap.symmetric:
        return added_by_two(solution, u, v, qap) if share == 0 else 0
    total = 0
    if shares == 0:
        a, b = u * n, v * n
        for x in range(n):
            total += (qap.flows[a + x] - qap.flows[b + x]) * (qap.placed[b + x] - qap.placed[a + x])
    else:
        for x in range(share, n, shares):
            at = x * n
            total += (qap.flows[at + u] - qap.flows[at + v]) * (qap.placed[at + v] - qap.placed[at + u])
    if share > 0:
        return 2 * total
    # The two terms x = u and x = v do not belong to the sum; the diagonals do, once.
    uu, uv, vu, vv = u * n + u, u * n + v, v * n + u, v * n + v
    ends = (qap.flows[uu] - qap.flows[vu]) * (qap.placed[vu] - qap.placed[uu])
    ends += (qap.flows[uv] - qap.flows[vv]) * (qap.placed[vv] - qap.placed[uv])
    middle = (qap.flows[uu] - qap.flows[vv]) * (qap.placed[vv] - qap.placed[uu])
    return 2 * (total - ends) + middle


@function
def read_kept(solution: Array[i32], index: u32, move: Move, qap: Differences) -> i32:
    return qap.kept[index]


@function
def place_all(solution: Array[i32], qap: Differences):
    """Store the distances in the order of the facilities."""
    for x in range(qap.n):
        row = solution[x] * qap.n
        for y in range(lane(), qap.n, team_size()):
            qap.placed[x * qap.n + y] = qap.distances[row + solution[y]]


@function
def pair_at(u: i32, v: i32, n: i32) -> i32:
    low, high = min(u, v), max(u, v)
    return low * (n - 1) - low * (low + 1) // 2 - 1 + high


@function
def note_exchange(solution: Array[i32], move: Move, qap: Differences):
    """Store the four vectors of Taillard's equation 2 before i and j change places; reset pairs with i or j to 0."""
    n, i, j = qap.n, move.i, move.j
    for x in range(lane(), n, team_size()):
        qap.turns[x] = qap.flows[i * n + x] - qap.flows[j * n + x]
        qap.turns[n + x] = qap.placed[i * n + x] - qap.placed[j * n + x]
        qap.turns[2 * n + x] = qap.flows[x * n + i] - qap.flows[x * n + j]
        qap.turns[3 * n + x] = qap.placed[x * n + i] - qap.placed[x * n + j]
        if x != i:
            qap.kept[pair_at(i, x, n)] = 0
        if x != j and x != i:
            qap.kept[pair_at(j, x, n)] = 0


@function
def place_row(c: i32, solution: Array[i32], qap: Differences):
    """Store row and column c of the placed distances again."""
    n, at = qap.n, solution[c]
    for x in range(lane(), n, team_size()):
        qap.placed[c * n + x] = qap.distances[at * n + solution[x]]
        qap.placed[x * n + c] = qap.distances[solution[x] * n + at]


@function
def exchange_placed(solution: Array[i32], move: Move, qap: Differences):
    """Make the move, and update the placed distances."""
    change(EXCHANGE, solution, move)
    barrier()
    place_row(move.i, solution, qap)
    barrier()
    place_row(move.j, solution, qap)
    if move.k >= 0:
        barrier()
        place_row(move.k, solution, qap)


@function
def compute_touched(share: Share, move: Move, solution: Array[i32], qap: Differences):
    """Add the differences of exchanges with i or j, from scratch, by several workers each."""
    n, i, j = qap.n, move.i, move.j
    shares = max(share.workers // (2 * n), 1)
    for t in range(share.worker, 2 * n * shares, share.workers):
        touched = t // shares
        facility = i if touched < n else j
        other = touched % n
        index = u32(pair_at(facility, other, n))
        again = facility == j and other == i
        if facility != other and not again and index >= share.first and index < share.end:
            u, v = min(facility, other), max(facility, other)
            count = 0 if share.workers == 1 else shares
            part = added_placed(u, v, t % shares, count, solution, qap)
            atomic_add(qap.kept, i32(index), part)


@function
def keep_differences(share: Share, changed: i32, move: Move, solution: Array[i32], qap: Differences):
    """Update kept differences after an exchange: Taillard's equation 2, O(1) for all pairs without i and j.

    Lanes form rows of up to 32; a worker that is no lane has whole rows. Pairs with i or j are computed from scratch.
    Both the old and the new difference fit 31 bits, but their change may not: u32 wraps around, so the sum is right.
    """
    n, worker, workers = qap.n, share.worker, share.workers
    width = 1 if team_size() == 1 else min(workers, 32)
    anew = changed == EVERYTHING or move.k >= 0
    whole = 0 if workers == 1 else 1
    for u in range(worker // width, n - 1, max(workers // width, 1)):
        base = u * (n - 1) - u * (u + 1) // 2 - 1
        low = max(u + 1, i32(share.first) - base)
        high = min(n, i32(share.end) - base)
        if worker >= workers // width * width:
            high = 0
        if anew:
            for v in range(low + worker % width, high, width):
                qap.kept[base + v] = added_placed(u, v, 0, whole, solution, qap)
        elif u != move.i and u != move.j:
            i, j = move.i, move.j
            f, g = u32(qap.turns[u]), u32(qap.turns[n + u])
            f_back, g_back = u32(qap.turns[2 * n + u]), u32(qap.turns[3 * n + u])
            if qap.symmetric:
                for v in range(low + worker % width, high, width):
                    if v != i and v != j:
                        added = 2 * (f - u32(qap.turns[v])) * (g - u32(qap.turns[n + v]))
                        qap.kept[base + v] = i32(u32(qap.kept[base + v]) + added)
            else:
                for v in range(low + worker % width, high, width):
                    if v != i and v != j:
                        added = (f - u32(qap.turns[v])) * (g - u32(qap.turns[n + v]))
                        added += (f_back - u32(qap.turns[2 * n + v])) * (g_back - u32(qap.turns[3 * n + v]))
                        qap.kept[base + v] = i32(u32(qap.kept[base + v]) + added)
    if not anew:
        compute_touched(share, move, solution, qap)
