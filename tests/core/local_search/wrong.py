"""A cut of a ring of weighted edges, with typical errors of user-defined problems."""

import numpy as np

from core.lang import Array, bundle, function, i32
from core.local_search import Bits, Evaluation, Move, Problem, flipped


@bundle
class Ring:
    weights: Array[i32]
    n: i32


@function
def cut_before(bits: Array[i32], p: i32, data: Ring) -> i32:
    q = p + 1 if p + 1 < data.n else 0
    return data.weights[p] if bits[p] != bits[q] else 0


@function
def cut_after(bits: Array[i32], p: i32, move: Move, data: Ring) -> i32:
    q = p + 1 if p + 1 < data.n else 0
    return data.weights[p] if flipped(bits, p, move) != flipped(bits, q, move) else 0


@function
def added(bits: Array[i32], move: Move, data: Ring) -> i32:
    total = 0
    for p in range(data.n):
        total += cut_after(bits, p, move, data) - cut_before(bits, p, data)
    return total


# --- wrong ones ---


@function
def whole(bits: Array[i32], move: Move, data: Ring) -> i32:
    total = 0
    for p in range(data.n):
        total += cut_after(bits, p, move, data)
    return total


@function
def one_too_many(bits: Array[i32], move: Move, data: Ring) -> i32:
    return whole(bits, move, data) + 1


@function
def one_by_one(bits: Array[i32], move: Move, data: Ring) -> i32:
    total = added(bits, Move(move.i, -1, -1), data)
    if move.j >= 0:
        total += added(bits, Move(move.j, -1, -1), data)
    if move.k >= 0:
        total += added(bits, Move(move.k, -1, -1), data)
    return total


@function
def wrong_for_several(bits: Array[i32], move: Move, data: Ring) -> i32:
    return added(bits, move, data) + (1 + move.i if move.j >= 0 else 0)


@function
def wrong_for_one(bits: Array[i32], move: Move, data: Ring) -> i32:
    return added(bits, move, data) + (1 if move.i == data.n // 2 + 1 else 0)


class RingCut(Problem):
    def __init__(self, n=24, delta=added, weights=None, **hooks):
        weights = np.random.default_rng(n).integers(1, 9, n).astype(np.int32) if weights is None else weights
        self.way = Evaluation(delta, **hooks)
        super().__init__(f"ring:{n}", Bits(n), Ring(weights, n))

    def cost(self, bits):
        return int(self.data.weights[bits != np.roll(bits, -1)].sum())

    def evaluations(self, neighbourhood):
        return {"only": self.way}
