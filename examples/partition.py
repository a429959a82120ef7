"""Number partitioning: split numbers into two sets with sums as equal as possible. A problem of bits."""

import numpy as np

import onekernel as ok
from onekernel import Array, Move, bundle, flipped, function, i32


@bundle
class Numbers:
    numbers: Array[i32]
    n: i32


@function
def difference(bits: Array[i32], move: Move, data: Numbers) -> i32:
    total = 0
    for p in range(data.n):
        total += data.numbers[p] if flipped(bits, p, move) == 1 else -data.numbers[p]
    return abs(total)


class Partition(ok.Problem):
    """Split numbers into two sets: the cost is the difference of their sums."""

    value = difference

    def __init__(self, n: int = 60, largest: int = 1_000_000):
        self.numbers = np.random.default_rng(n).integers(1, largest, n).astype(np.int32)
        super().__init__(f"partition:{n}", ok.Bits(n), Numbers(self.numbers, n))

    def cost(self, bits):
        signs = 2 * np.asarray(bits, np.int64) - 1
        return abs(int(signs @ self.numbers))


if __name__ == "__main__":
    ok.main(Partition)
