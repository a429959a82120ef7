"""A user-defined problem: the lightest choice of weights. Tests copy it into folders of users."""

import numpy as np

from onekernel import Array, Bits, Move, Problem, bundle, flipped, function, i32, main


@bundle
class Weights:
    n: i32
    weights: Array[i32]


@function
def added(bits: Array[i32], move: Move, data: Weights) -> i32:
    total = 0
    for p in range(data.n):
        total += (flipped(bits, p, move) - bits[p]) * data.weights[p]
    return total


class Lightest(Problem):
    delta, neighbourhoods = added, ("flip1", "flip2", "flip3")

    def __init__(self, n: int = 6):
        self.weights = np.arange(-3, n - 3, dtype=np.int32)
        super().__init__(f"lightest:{n}", Bits(n), Weights(n, self.weights))

    def cost(self, bits):
        return int(np.asarray(bits, np.int64) @ self.weights)


if __name__ == "__main__":
    main(Lightest)
