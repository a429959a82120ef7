"""Change of a binary sequence's energy by one flip, in loops that compilers vectorise; the data of all moves."""

from core.kernels.local_search.walks import Move
from core.lang import Array, Row, bundle, function, i32, max, min


@bundle
class Signs:
    """Number of signs: bit 1 is +1, and bit 0 is -1."""

    n: i32


@bundle
class Correlations(Signs):
    """The number of signs, and a walk's row: the autocorrelation of every lag from 1 on."""

    correlations: Array[i32] = Row("n")


@function
def added_by_one_flip(bits: Array[i32], move: Move, labs: Correlations) -> i32:
    """Return the change of energy by one flip, in O(n): small lags have signs on both sides, larger ones on one."""
    i = move.i
    sign = 2 * bits[i] - 1
    behind = labs.n - 1 - i
    near = min(i, behind)
    total = 0
    for lag in range(1, near + 1):
        less = 4 * sign * (bits[i - lag] + bits[i + lag] - 1)
        total += less * (less - 2 * labs.correlations[lag])
    side = 1 if behind > i else -1
    for lag in range(near + 1, max(i, behind) + 1):
        less = 2 * sign * (2 * bits[i + side * lag] - 1)
        total += less * (less - 2 * labs.correlations[lag])
    return total
