"""The quadratic assignment problem for local search: O(n) differences, and Taillard's O(1) update of kept ones.

E. Taillard, "Robust taboo search for the quadratic assignment problem", Parallel Computing 17, 1991, equations 1 and 2;
`luong2013`, section 6.1. Read files with `core.problems.qaplib`.
"""

from __future__ import annotations

import os

import numpy as np

from core.kernels.local_search import EVERYTHING
from core.kernels.moves import EXCHANGE, change
from core.lang import Array, atomic_add, barrier, function, i32, lane, max, min, team_size, u32
from core.problems import qaplib
from core.problems.encodings import Permutation
from core.problems.problem import Evaluation, Kept, Problem


@function
def added_by_two(
    solution: Array[i32], i: i32, j: i32, flows: Array[i32], distances: Array[i32], facilities: i32
) -> i32:
    """What exchanging the locations of i and j adds to the cost (Taillard's equation 1, with diagonals)."""
    n = facilities
    p, q = solution[i], solution[j]
    added = (flows[i * n + i] - flows[j * n + j]) * (distances[q * n + q] - distances[p * n + p])
    added += (flows[i * n + j] - flows[j * n + i]) * (distances[q * n + p] - distances[p * n + q])
    for x in range(n):
        if x != i and x != j:
            r = solution[x]
            added += (flows[x * n + i] - flows[x * n + j]) * (distances[r * n + q] - distances[r * n + p])
            added += (flows[i * n + x] - flows[j * n + x]) * (distances[q * n + r] - distances[p * n + r])
    return added


@function
def moved_terms(flow_to: i32, flow_from: i32, other: i32, old: i32, new: i32, distances: Array[i32], n: i32) -> i32:
    """What one facility that moves from ``old`` to ``new`` adds by its flows with one that stays at ``other``."""
    there = flow_to * (distances[new * n + other] - distances[old * n + other])
    return there + flow_from * (distances[other * n + new] - distances[other * n + old])


@function
def added_within(
    c: i32, d: i32, p: i32, q: i32, r: i32, s: i32, flows: Array[i32], distances: Array[i32], n: i32
) -> i32:
    """What the flow from c to d adds when they move from locations p, q to r, s."""
    return flows[c * n + d] * (distances[r * n + s] - distances[p * n + q])


@function
def added_by_three(
    solution: Array[i32], i: i32, j: i32, k: i32, flows: Array[i32], distances: Array[i32], facilities: i32
) -> i32:
    """What the cyclic exchange i <- j <- k <- i adds to the cost."""
    n = facilities
    p, q, r = solution[i], solution[j], solution[k]
    added = added_within(i, i, p, p, q, q, flows, distances, n) + added_within(i, j, p, q, q, r, flows, distances, n)
    added += added_within(i, k, p, r, q, p, flows, distances, n) + added_within(j, i, q, p, r, q, flows, distances, n)
    added += added_within(j, j, q, q, r, r, flows, distances, n) + added_within(j, k, q, r, r, p, flows, distances, n)
    added += added_within(k, i, r, p, p, q, flows, distances, n) + added_within(k, j, r, q, p, r, flows, distances, n)
    added += added_within(k, k, r, r, p, p, flows, distances, n)
    for x in range(n):
        if x != i and x != j and x != k:
            s = solution[x]
            added += moved_terms(flows[i * n + x], flows[x * n + i], s, p, q, distances, n)
            added += moved_terms(flows[j * n + x], flows[x * n + j], s, q, r, distances, n)
            added += moved_terms(flows[k * n + x], flows[x * n + k], s, r, p, distances, n)
    return added


@function
def added(
    solution: Array[i32], i: i32, j: i32, k: i32, flows: Array[i32], distances: Array[i32], facilities: i32
) -> i32:
    """What a move adds to the cost, in O(n)."""
    if k < 0:
        return added_by_two(solution, i, j, flows, distances, facilities)
    return added_by_three(solution, i, j, k, flows, distances, facilities)


# --- kept differences ---
# `placed` is the matrix of distances in the order of the facilities: placed[x, y] = b[p(x), p(y)].


@function
def added_placed(
    u: i32, v: i32, share: i32, shares: i32, solution: Array[i32], flows: Array[i32], distances: Array[i32],
    facilities: i32, symmetric: i32, placed: Array[i32],
) -> i32:  # fmt: skip
    """One of the shares of the difference of exchange (u, v), from scratch; they add up.

    A lane alone reads rows of symmetric matrices, many lanes side by side read columns.
    """
    n = facilities
    if symmetric == 0:
        return added_by_two(solution, u, v, flows, distances, facilities) if share == 0 else 0
    found = 0
    if shares == 0:
        a, b = u * n, v * n
        for x in range(n):
            found += (flows[a + x] - flows[b + x]) * (placed[b + x] - placed[a + x])
    else:
        for x in range(share, n, shares):
            at = x * n
            found += (flows[at + u] - flows[at + v]) * (placed[at + v] - placed[at + u])
    if share > 0:
        return 2 * found
    # The two terms x = u and x = v do not belong to the sum; the diagonals do, once.
    ends = (flows[u * n + u] - flows[v * n + u]) * (placed[v * n + u] - placed[u * n + u])
    ends += (flows[u * n + v] - flows[v * n + v]) * (placed[v * n + v] - placed[u * n + v])
    middle = (flows[u * n + u] - flows[v * n + v]) * (placed[v * n + v] - placed[u * n + u])
    return 2 * (found - ends) + middle


@function
def read_kept(solution: Array[i32], index: u32, i: i32, j: i32, k: i32, kept: Array[i32]) -> i32:
    """The kept difference."""
    return kept[index]


@function
def place_all(solution: Array[i32], distances: Array[i32], facilities: i32, placed: Array[i32]):
    """The distances in the order of the facilities."""
    for x in range(facilities):
        row = solution[x] * facilities
        for y in range(lane(), facilities, team_size()):
            placed[x * facilities + y] = distances[row + solution[y]]


@function
def pair_at(u: i32, v: i32, facilities: i32) -> i32:
    """The index of the pair of u and v, in either order."""
    low, high = min(u, v), max(u, v)
    return low * (facilities - 1) - low * (low + 1) // 2 - 1 + high


@function
def note_exchange(
    solution: Array[i32], i: i32, j: i32, k: i32, flows: Array[i32], facilities: i32, placed: Array[i32],
    kept: Array[i32], turns: Array[i32],
):  # fmt: skip
    """Before i and j change places: the four vectors of Taillard's equation 2; pairs with i or j begin at 0 again."""
    n = facilities
    for x in range(lane(), n, team_size()):
        turns[x] = flows[i * n + x] - flows[j * n + x]
        turns[n + x] = placed[i * n + x] - placed[j * n + x]
        turns[2 * n + x] = flows[x * n + i] - flows[x * n + j]
        turns[3 * n + x] = placed[x * n + i] - placed[x * n + j]
        if x != i:
            kept[pair_at(i, x, n)] = 0
        if x != j and x != i:
            kept[pair_at(j, x, n)] = 0


@function
def place_row(c: i32, solution: Array[i32], distances: Array[i32], facilities: i32, placed: Array[i32]):
    """Row and column c of the placed distances again."""
    at = solution[c]
    for x in range(lane(), facilities, team_size()):
        placed[c * facilities + x] = distances[at * facilities + solution[x]]
        placed[x * facilities + c] = distances[solution[x] * facilities + at]


@function
def exchange_placed(
    solution: Array[i32], i: i32, j: i32, k: i32, distances: Array[i32], facilities: i32, placed: Array[i32]
):
    """Make the move, and bring the placed distances up to date."""
    change(EXCHANGE, solution, i, j, k)
    barrier()
    place_row(i, solution, distances, facilities, placed)
    barrier()
    place_row(j, solution, distances, facilities, placed)
    if k >= 0:
        barrier()
        place_row(k, solution, distances, facilities, placed)


@function
def keep_differences(
    worker: i32, workers: i32, begin: u32, end: u32, changed: i32, i: i32, j: i32, k: i32, solution: Array[i32],
    flows: Array[i32], distances: Array[i32], facilities: i32, symmetric: i32, placed: Array[i32], kept: Array[i32],
    turns: Array[i32],
):  # fmt: skip
    """Bring kept differences up to date after the exchange (i, j): Taillard's equation 2, O(1) for all that avoid both.

    Lanes stand in rows of up to 32; a worker that is no lane has rows of its own. Pairs that share i or j are computed
    from scratch, by several workers each.
    """
    n = facilities
    width = 1 if team_size() == 1 else min(workers, 32)
    anew = changed == EVERYTHING or k >= 0
    alone = workers == 1
    whole = 0 if alone else 1
    for u in range(worker // width, n - 1, max(workers // width, 1)):
        base = u * (n - 1) - u * (u + 1) // 2 - 1
        low = max(u + 1, i32(begin) - base)
        high = min(n, i32(end) - base)
        if worker >= workers // width * width:
            high = 0
        if anew:
            for v in range(low + worker % width, high, width):
                kept[base + v] = added_placed(u, v, 0, whole, solution, flows, distances, n, symmetric, placed)
        elif u != i and u != j:
            f, g, f_back, g_back = turns[u], turns[n + u], turns[2 * n + u], turns[3 * n + u]
            if symmetric != 0:
                for v in range(low + worker % width, high, width):
                    if v != i and v != j:
                        kept[base + v] += 2 * (f - turns[v]) * (g - turns[n + v])
            else:
                for v in range(low + worker % width, high, width):
                    if v != i and v != j:
                        one = (f - turns[v]) * (g - turns[n + v])
                        kept[base + v] += one + (f_back - turns[2 * n + v]) * (g_back - turns[3 * n + v])
    if not anew:
        shares = max(workers // (2 * n), 1)
        for t in range(worker, 2 * n * shares, workers):
            touched = t // shares
            one = i if touched < n else j
            other = touched % n
            index = u32(pair_at(one, other, n))
            again = one == j and other == i
            if one != other and not again and index >= begin and index < end:
                u, v = min(one, other), max(one, other)
                count = 0 if alone else shares
                part = added_placed(u, v, t % shares, count, solution, flows, distances, n, symmetric, placed)
                atomic_add(kept, i32(index), part)


class Qap(Problem):
    """Assign n facilities to n locations so that the sum of flow times distance is least.

    Parameters
    ----------
    instance : core.problems.qaplib.QapInstance

    """

    neighbourhoods = ("exchange2", "exchange3")
    tested = True

    def __init__(self, instance: qaplib.QapInstance) -> None:
        flows, distances = instance.flows, instance.distances
        n = instance.n
        symmetric = bool((flows == flows.T).all() and (distances == distances.T).all())
        numbers = {
            "facilities": n,
            "symmetric": int(symmetric),
            "pairs": n * (n - 1) // 2,
            "cells": n * n,
            "ends": 4 * n,
        }
        super().__init__(instance.name, Permutation(n), {"flows": flows, "distances": distances, **numbers})
        self.instance = instance
        self.optimum = instance.best_known
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None) -> Qap:
        """The problem of that name, path or specification: see `core.problems.qaplib.load`."""
        return cls(qaplib.load(spec, data))

    def cost(self, solution: np.ndarray) -> int:
        """The sum over i, j of a[i, j] b[p(i), p(j)]."""
        return qaplib.cost(self.instance, solution)

    def cost_range(self) -> tuple[int, int]:
        """Bounds on every cost: no pairing of flows and distances has a larger sum than both in sorted order."""
        largest = self.instance.largest_difference
        is_signed = (self.instance.flows < 0).any() or (self.instance.distances < 0).any()
        return (-(largest // 2), largest // 2) if is_signed else (0, largest)

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """``kept`` (O(1) for most neighbours) or ``linear`` (O(n), the paper's)."""
        kept = {"placed": Kept("int32", "cells"), "kept": Kept("int32", "pairs"), "turns": Kept("int32", "ends")}
        return {
            "kept": Evaluation(
                added,
                quick=read_kept,
                begin=place_all,
                update=note_exchange,
                move=exchange_placed,
                refresh=keep_differences,
                kept=kept,
                quick_for=("exchange2",),
                work=1,
            ),
            "linear": Evaluation(added, work=self.encoding.n),
        }
