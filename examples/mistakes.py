"""Error messages of `check` for three faulty problems: one line each, before any search."""

import numpy as np
from partition import Numbers, Partition

import onekernel as ok
from onekernel import Array, Move, flipped, function, i32


@function
def without_move(bits: Array[i32], move: Move, data: Numbers) -> i32:
    total = 0
    for p in range(data.n):
        total += data.numbers[p] if bits[p] == 1 else -data.numbers[p]
    return abs(total)


@function
def one_too_far(bits: Array[i32], move: Move, data: Numbers) -> i32:
    total = 0
    for p in range(data.n + 1):
        total += data.numbers[p] if flipped(bits, p, move) == 1 else -data.numbers[p]
    return abs(total)


class Unmoved(Partition):
    value = without_move


class TooFar(Partition):
    value = one_too_far


class Long(Partition):
    def __init__(self, n: int = 60):
        super().__init__(n)
        ok.Problem.__init__(self, "long", ok.Bits(n), Numbers(self.numbers.astype(np.int64), n))


if __name__ == "__main__":
    for mistaken in (Unmoved, TooFar, Long):
        try:
            ok.check(mistaken())
        except ok.UserError as error:
            print(f"{type(error).__name__}: {error}")
