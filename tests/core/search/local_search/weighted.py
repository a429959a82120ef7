"""A problem of one's own that every bit has a weight, with each function an extension may have, right and wrong."""

import numpy as np

from core.lang import Array, barrier, function, i32, lane, team_size, u32
from core.search.local_search import Bits, Evaluation, Kept, Problem, flipped


@function
def term(solution: Array[i32], p: i32, weights: Array[i32]) -> i32:
    """What flipping bit p adds."""
    return weights[p] * (1 - 2 * solution[p]) if p >= 0 else 0


@function
def added(solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32]) -> i32:
    return term(solution, i, weights) + term(solution, j, weights) + term(solution, k, weights)


# --- kept: what flipping each bit adds ---


@function
def added_kept(solution: Array[i32], i: i32, j: i32, k: i32, terms: Array[i32]) -> i32:
    total = terms[i]
    if j >= 0:
        total += terms[j]
    if k >= 0:
        total += terms[k]
    return total


@function
def begin(solution: Array[i32], weights: Array[i32], n: i32, terms: Array[i32]):
    for p in range(lane(), n, team_size()):
        terms[p] = term(solution, p, weights)


@function
def update(solution: Array[i32], i: i32, j: i32, k: i32, terms: Array[i32]):
    if lane() == 0:
        terms[i] = -terms[i]
        if j >= 0:
            terms[j] = -terms[j]
        if k >= 0:
            terms[k] = -terms[k]


@function
def quick(solution: Array[i32], index: u32, i: i32, j: i32, k: i32, cached: Array[i32]) -> i32:
    return cached[index]


@function
def refresh(
    worker: i32, workers: i32, begin: u32, end: u32, changed: i32, i: i32, j: i32, k: i32, solution: Array[i32],
    weights: Array[i32], cached: Array[i32],
):  # fmt: skip
    for p in range(i32(begin) + worker, i32(end), workers):
        cached[p] = term(solution, p, weights)


@function
def shared_out(
    worker: i32, workers: i32, solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32]
) -> i32:  # fmt: skip
    total = term(solution, i, weights) if worker == 0 else 0
    if worker == workers - 1:
        total += term(solution, j, weights) + term(solution, k, weights)
    return total


# --- wrong ones ---


@function
def forgets_the_third(solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32]) -> i32:
    return term(solution, i, weights) + term(solution, j, weights)


@function
def reads_beyond(solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32], n: i32) -> i32:
    total = 0
    for p in range(n + 1):
        total += weights[p] * (flipped(solution, p, i, j, k) - solution[p])
    return total


@function
def overflows(solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32]) -> i32:
    return added(solution, i, j, k, weights) * 2_000_000_000 // 2_000_000_000


@function
def writes(solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32]) -> i32:
    found = added(solution, i, j, k, weights)
    weights[0] = weights[0] + 1
    return found


@function
def wrong_where_all_is_zero(solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32], n: i32) -> i32:
    ones = 0
    for p in range(n):
        ones += solution[p]
    return added(solution, i, j, k, weights) - (100 if ones == 0 else 0)


@function
def begins_all_but_one(solution: Array[i32], weights: Array[i32], n: i32, terms: Array[i32]):
    for p in range(lane(), n - 1, team_size()):
        terms[p] = term(solution, p, weights)


@function
def begins_with_a_race(solution: Array[i32], weights: Array[i32], n: i32, terms: Array[i32]):
    if lane() == 0:
        terms[n] = 0
    for p in range(lane(), n, team_size()):
        terms[p] = term(solution, p, weights)
        terms[n] = terms[n] + 1
    barrier()
    if lane() == 0 and terms[n] != n:
        for p in range(n):
            terms[p] = 0


@function
def updates_without_the_second(solution: Array[i32], i: i32, j: i32, k: i32, terms: Array[i32]):
    if lane() == 0:
        terms[i] = -terms[i]


@function
def meets_alone(solution: Array[i32], i: i32, j: i32, k: i32, terms: Array[i32]):
    if lane() == 0:
        barrier()
        terms[i] = -terms[i]


@function
def moves_elsewhere(solution: Array[i32], i: i32, j: i32, k: i32):
    if lane() == 0:
        solution[i] = 1 - solution[i]


@function
def refreshes_too_little(
    worker: i32, workers: i32, begin: u32, end: u32, changed: i32, i: i32, j: i32, k: i32, solution: Array[i32],
    weights: Array[i32], cached: Array[i32],
):  # fmt: skip
    for p in range(i32(begin) + worker, i32(end) - 1, workers):
        cached[p] = term(solution, p, weights)


@function
def counts_twice(
    worker: i32, workers: i32, solution: Array[i32], i: i32, j: i32, k: i32, weights: Array[i32]
) -> i32:  # fmt: skip
    return shared_out(worker, workers, solution, i, j, k, weights) + (1 if worker == 1 else 0)


KEPT = {"terms": Kept("int32", "counters")}
CACHED = {"cached": Kept("int32", "n")}
RIGHT = {
    "plain": Evaluation(added),
    "kept": Evaluation(added_kept, begin=begin, update=update, kept=KEPT),
    "quick": Evaluation(added, quick=quick, refresh=refresh, kept=CACHED, quick_for=("flip1",)),
    "parts": Evaluation(added, partial=shared_out),
}


class Weighted(Problem):
    """The sum of the weights of all bits that are 1."""

    def __init__(self, weights, **ways):
        self.ways = ways or RIGHT
        n = len(weights)
        super().__init__(f"weighted:{n}", Bits(n), {"weights": np.array(weights, np.int32), "n": n, "counters": n + 1})

    def cost(self, solution):
        return int(np.asarray(solution, np.int64) @ self.data["weights"])

    def evaluations(self, neighbourhood):
        return self.ways
