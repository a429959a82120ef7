"""Low autocorrelation binary sequences (LABS): n signs that resemble none of their shifts.

Optima: T. Packebusch, S. Mertens, "Low autocorrelation binary sequences", J. Phys. A 49, 2016. Kept autocorrelations:
J. E. Gallardo, C. Cotta, A. J. Fernandez, "Finding low autocorrelation binary sequences with memetic algorithms", 2009.
"""

import numpy as np

from core.errors import shown
from core.kernels.local_search.moves import flipped
from core.kernels.local_search.walks import Move
from core.lang import Array, function, i32, lane, team_size
from core.problems.encodings import Bits
from core.problems.instances.errors import InstanceError
from core.problems.more.labs.one_flip import Correlations, Signs, added_by_one_flip
from core.problems.problem import Evaluation, Problem

LONGEST = 1861  # the last n with a largest energy, n (n - 1) (2 n - 1) / 6, of 31 bits
OPTIMA = [
    *(None, 0, 1, 1, 2, 2, 7, 3, 8, 12, 13, 5, 10, 6, 19, 15, 24, 32, 25, 29, 26, 26, 39, 47, 36, 36, 45, 37, 50, 62),
    *(59, 67, 64, 64, 65, 73, 82, 86, 87, 99, 108, 108, 101, 109, 122, 118, 131, 135, 140, 136, 153, 153, 166, 170),
    *(175, 171, 192, 188, 197, 205, 218, 226, 235, 207, 208, 240, 257),
]


@function
def correlation(bits: Array[i32], lag: i32, move: Move, labs: Signs) -> i32:
    """Return the autocorrelation of the neighbour by a move: the sum of s[p] s[p + lag]."""
    total = 0
    for p in range(labs.n - lag):
        total += 1 if flipped(bits, p, move) == flipped(bits, p + lag, move) else -1
    return total


@function
def added(bits: Array[i32], move: Move, labs: Signs) -> i32:
    """Return the change of energy by up to three flips, in O(n^2)."""
    total = 0
    for lag in range(1, labs.n):
        before, after = correlation(bits, lag, Move(-1, -1, -1), labs), correlation(bits, lag, move, labs)
        total += after * after - before * before
    return total


@function
def twice(bits: Array[i32], p: i32, q: i32, move: Move, labs: Signs) -> i32:
    """Return 2 s[p] s[q], which is lost when only p flips; 0 if there is no q, or it flips too."""
    alone = p >= 0 and q >= 0 and q < labs.n and q != move.i and q != move.j and q != move.k
    return 0 if not alone else 2 if bits[p] == bits[q] else -2


@function
def lost(bits: Array[i32], lag: i32, move: Move, labs: Signs) -> i32:
    """Return the decrease of an autocorrelation, in O(1): each flipped sign has one neighbour on either side."""
    i, j, k = move.i, move.j, move.k
    behind = twice(bits, i, i + lag, move, labs) + twice(bits, j, j + lag, move, labs)
    ahead = twice(bits, i, i - lag, move, labs) + twice(bits, j, j - lag, move, labs)
    return behind + ahead + twice(bits, k, k + lag, move, labs) + twice(bits, k, k - lag, move, labs)


@function
def added_by_correlations(bits: Array[i32], move: Move, labs: Correlations) -> i32:
    """Return the change of energy by a move, in O(n)."""
    total = 0
    for lag in range(1, labs.n):
        less = lost(bits, lag, move, labs)
        total += less * (less - 2 * labs.correlations[lag])
    return total


@function
def correlate(bits: Array[i32], labs: Correlations):
    """Store all autocorrelations from scratch."""
    for lag in range(1 + lane(), labs.n, team_size()):
        labs.correlations[lag] = correlation(bits, lag, Move(-1, -1, -1), labs)


@function
def follow(bits: Array[i32], move: Move, labs: Correlations):
    """Update all autocorrelations for a move to be made."""
    for lag in range(1 + lane(), labs.n, team_size()):
        labs.correlations[lag] -= lost(bits, lag, move, labs)


class Labs(Problem):
    """Find n signs with the least energy, the sum of all squared autocorrelations.

    Parameters
    ----------
    instance
        The number of signs, 1 to `LONGEST`, as a number or as text: ``27``, ``"27"`` or ``"labs:27"``.

    Raises
    ------
    InstanceError
        No such number.
    """

    tested, tenures = True, {"flip1": (5, 5)}

    def __init__(self, instance: int | str = 27) -> None:
        text = (str(instance) if isinstance(instance, (str, np.integer)) else shown(instance)).removeprefix("labs:")
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= LONGEST):
            raise InstanceError("labs", None, f"{text[:20]!r}", f"a number of signs from 1 to {LONGEST}")
        n = int(text)
        super().__init__(f"labs:{n}", Bits(n), Signs(n))
        self.optimum = OPTIMA[n] if n < len(OPTIMA) else None

    def cost(self, solution: np.ndarray) -> int:
        """Return the energy: the sum over all lags of the squared autocorrelation."""
        return int(self.costs(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        signs = 2 * solutions.astype(np.int64) - 1
        sums = [(signs[:, lag:] * signs[:, :-lag]).sum(axis=1) for lag in range(1, self.encoding.n)]
        return np.square(np.array(sums, np.int64).reshape(len(sums), len(signs))).sum(axis=0)

    def cost_range(self) -> tuple[int, int]:
        """Return bounds: at best odd autocorrelations are 1 or -1 and the others 0; at worst all signs are equal."""
        return self.encoding.n // 2, sum(k * k for k in range(self.encoding.n))

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``autocorrelations`` (O(n), from those of a walk) and ``delta`` (O(n^2))."""
        added_by = added_by_one_flip if neighbourhood == "flip1" else added_by_correlations
        faster = Evaluation(added_by, begin=correlate, update=follow, work=self.encoding.n)
        return {"autocorrelations": faster, "delta": Evaluation(added, work=self.encoding.n**2)}

    def data_for(self, evaluation: str) -> Signs:
        """Return the number of signs, with memory for a walk's rows if the evaluation reads them."""
        return Correlations(n=self.encoding.n) if evaluation == "autocorrelations" else self.data
