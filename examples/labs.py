"""Low autocorrelation binary sequences: n signs that resemble none of their shifts. Bits with kept autocorrelations.

T. Packebusch, S. Mertens, "Low autocorrelation binary sequences", Journal of Physics A 49, 2016, has the least energies
of up to 66 signs. To keep the autocorrelations: J. E. Gallardo, C. Cotta, A. J. Fernandez, "Finding low autocorrelation
binary sequences with memetic algorithms", Applied Soft Computing 9, 2009.

python examples/labs.py --n 27 --target 37 --walks 64        # until the least energy of 27 signs is found
"""

import numpy as np

import onekernel as ok
from onekernel import AnyMove, Array, Move, Row, bundle, function, i32, lane, moved, team_size


@bundle
class Signs:
    n: i32


@function
def energy(bits: Array[i32], move: AnyMove, signs: Signs) -> i32:
    total = 0
    for lag in range(1, signs.n):
        correlation = 0
        for p in range(signs.n - lag):
            correlation += 1 if moved(bits, p, move) == moved(bits, p + lag, move) else -1
        total += correlation * correlation
    return total


# Kept autocorrelations, for one flip


@bundle
class Correlations(Signs):
    correlation: Array[i32] = Row("n")  # of each lag; the first element is not used


@function
def sign(bits: Array[i32], p: i32, n: i32) -> i32:
    return 2 * bits[p] - 1 if 0 <= p < n else 0


@function
def loss(bits: Array[i32], i: i32, lag: i32, n: i32) -> i32:
    """Return the decrease of an autocorrelation if sign i changes: it has at most two neighbours at that distance."""
    return 2 * sign(bits, i, n) * (sign(bits, i - lag, n) + sign(bits, i + lag, n))


@function
def added(bits: Array[i32], move: Move, signs: Correlations) -> i32:
    total = 0
    for lag in range(1, signs.n):
        less = loss(bits, move.i, lag, signs.n)
        total += less * (less - 2 * signs.correlation[lag])
    return total


@function
def correlate(bits: Array[i32], signs: Correlations):
    for lag in range(1 + lane(), signs.n, team_size()):
        total = 0
        for p in range(signs.n - lag):
            total += 1 if bits[p] == bits[p + lag] else -1
        signs.correlation[lag] = total


@function
def follow(bits: Array[i32], move: Move, signs: Correlations):
    for lag in range(1 + lane(), signs.n, team_size()):
        signs.correlation[lag] -= loss(bits, move.i, lag, signs.n)


class Labs(ok.Problem):
    """Find n signs; the cost is the energy, the sum over all lags of the squared autocorrelation."""

    value = energy

    def __init__(self, n: int = 40):
        super().__init__(f"labs:{n}", ok.Bits(n), Signs(n))

    def cost(self, bits):
        signs = 2 * np.asarray(bits, np.int64) - 1
        return int((np.correlate(signs, signs, "full")[len(signs) :] ** 2).sum())

    def evaluations(self, neighbourhood):
        kept = {"correlations": ok.Evaluation(added, begin=correlate, update=follow, work=self.encoding.n)}
        return (kept if neighbourhood == "flip1" else {}) | super().evaluations(neighbourhood)

    def data_for(self, evaluation):
        return Correlations(self.encoding.n) if evaluation == "correlations" else self.data


if __name__ == "__main__":
    ok.main(Labs)
