"""A user-defined problem of weighted bits, with each optional function, right and wrong."""

import numpy as np

from core.lang import Array, Row, barrier, bundle, function, i32, lane, team_size, u32
from core.local_search import Bits, Evaluation, Move, Problem, Share, flipped


@bundle
class Weights:
    weights: Array[i32]
    n: i32


@bundle
class Terms(Weights):
    """Weights, the change by flipping each bit, which a walk keeps, and a counter."""

    terms: Array[i32] = Row("counters")
    counters: i32


@bundle
class Cache(Weights):
    """Weights, and data that `refresh` stores for `quick`."""

    cached: Array[i32] = Row("n")


@function
def term(solution: Array[i32], p: i32, data: Weights) -> i32:
    return data.weights[p] * (1 - 2 * solution[p]) if p >= 0 else 0


@function
def added(solution: Array[i32], move: Move, data: Weights) -> i32:
    return term(solution, move.i, data) + term(solution, move.j, data) + term(solution, move.k, data)


# --- kept: what flipping each bit adds ---


@function
def added_kept(solution: Array[i32], move: Move, data: Terms) -> i32:
    total = data.terms[move.i]
    if move.j >= 0:
        total += data.terms[move.j]
    if move.k >= 0:
        total += data.terms[move.k]
    return total


@function
def begin(solution: Array[i32], data: Terms):
    for p in range(lane(), data.n, team_size()):
        data.terms[p] = term(solution, p, data)


@function
def update(solution: Array[i32], move: Move, data: Terms):
    if lane() == 0:
        data.terms[move.i] = -data.terms[move.i]
        if move.j >= 0:
            data.terms[move.j] = -data.terms[move.j]
        if move.k >= 0:
            data.terms[move.k] = -data.terms[move.k]


@function
def quick(solution: Array[i32], index: u32, move: Move, data: Cache) -> i32:
    return data.cached[index]


@function
def refresh(share: Share, changed: i32, move: Move, solution: Array[i32], data: Cache):
    for p in range(i32(share.first) + share.worker, i32(share.end), share.workers):
        data.cached[p] = term(solution, p, data)


@function
def shared_out(worker: i32, workers: i32, solution: Array[i32], move: Move, data: Weights) -> i32:
    total = term(solution, move.i, data) if worker == 0 else 0
    if worker == workers - 1:
        total += term(solution, move.j, data) + term(solution, move.k, data)
    return total


# --- wrong ones ---


@function
def forgets_the_third(solution: Array[i32], move: Move, data: Weights) -> i32:
    return term(solution, move.i, data) + term(solution, move.j, data)


@function
def reads_beyond(solution: Array[i32], move: Move, data: Weights) -> i32:
    total = 0
    for p in range(data.n + 1):
        total += data.weights[p] * (flipped(solution, p, move) - solution[p])
    return total


@function
def asserts(solution: Array[i32], move: Move, data: Weights) -> i32:
    assert data.n < 12, "too many"
    return 0


@function
def overflows(solution: Array[i32], move: Move, data: Weights) -> i32:
    return added(solution, move, data) * 2_000_000_000 // 2_000_000_000


@function
def writes(solution: Array[i32], move: Move, data: Weights) -> i32:
    added_cost = added(solution, move, data)
    data.weights[0] = data.weights[0] + 1
    return added_cost


@function
def wrong_where_all_is_zero(solution: Array[i32], move: Move, data: Weights) -> i32:
    ones = 0
    for p in range(data.n):
        ones += solution[p]
    return added(solution, move, data) - (100 if ones == 0 else 0)


@function
def wrong_for_one_pair(solution: Array[i32], move: Move, data: Weights) -> i32:
    return added(solution, move, data) - (1000 if move.i == 17 and move.j == 41 else 0)


@function
def begins_all_but_one(solution: Array[i32], data: Terms):
    for p in range(lane(), data.n - 1, team_size()):
        data.terms[p] = term(solution, p, data)


@function
def begins_with_a_race(solution: Array[i32], data: Terms):
    n = data.n
    if lane() == 0:
        data.terms[n] = 0
    for p in range(lane(), n, team_size()):
        data.terms[p] = term(solution, p, data)
        data.terms[n] = data.terms[n] + 1
    barrier()
    if lane() == 0 and data.terms[n] != n:
        for p in range(n):
            data.terms[p] = 0


@function
def updates_without_the_second(solution: Array[i32], move: Move, data: Terms):
    if lane() == 0:
        data.terms[move.i] = -data.terms[move.i]


@function
def meets_alone(solution: Array[i32], move: Move, data: Terms):
    if lane() == 0:
        barrier()
        data.terms[move.i] = -data.terms[move.i]


@function
def moves_elsewhere(solution: Array[i32], move: Move, data: Weights):
    if lane() == 0:
        solution[move.i] = 1 - solution[move.i]


@function
def refreshes_too_little(share: Share, changed: i32, move: Move, solution: Array[i32], data: Cache):
    for p in range(i32(share.first) + share.worker, i32(share.end) - 1, share.workers):
        data.cached[p] = term(solution, p, data)


@function
def counts_twice(worker: i32, workers: i32, solution: Array[i32], move: Move, data: Weights) -> i32:
    return shared_out(worker, workers, solution, move, data) + (1 if worker == 1 else 0)


TWELVE = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)
ONE_OF_1770 = {"only": Evaluation(wrong_for_one_pair)}
"""An evaluation that is wrong for one pair of 60 bits."""
RIGHT = {
    "delta": Evaluation(added),
    "incremental": Evaluation(added_kept, begin=begin, update=update),
    "quick": Evaluation(added, quick=quick, refresh=refresh, quick_for=("flip1",)),
    "parts": Evaluation(added, partial=shared_out),
}


class Weighted(Problem):
    def __init__(self, weights, **ways):
        self.ways = ways or RIGHT
        n = len(weights)
        super().__init__(f"weighted:{n}", Bits(n), Weights(np.array(weights, np.int32), n))

    def cost(self, solution):
        return int(np.asarray(solution, np.int64) @ self.data.weights)

    def evaluations(self, neighbourhood):
        return self.ways

    def data_for(self, evaluation):
        weights = self.data
        if self.ways[evaluation].begin is not None:
            return Terms(weights=weights.weights, n=weights.n, counters=weights.n + 1)
        if self.ways[evaluation].quick is not None:
            return Cache(weights=weights.weights, n=weights.n)
        return weights
