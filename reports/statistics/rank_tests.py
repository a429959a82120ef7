"""Rank tests of all pairs of samples, corrected for their number, with effect sizes.

H. B. Mann, D. R. Whitney: On a test of whether one of two random variables is stochastically larger than the other.
Annals of Mathematical Statistics 18 (1), 1947, pp. 50-60 (`scipy.stats.mannwhitneyu`).
S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6 (2), 1979,
pp. 65-70.
A. Vargha, H. D. Delaney: A critique and improvement of the CL common language effect size statistics of McGraw and
Wong. Journal of Educational and Behavioral Statistics 25 (2), 2000, pp. 101-132.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_FOR_EXACT = 200
"""Values of both samples up to which p is computed from all orders of their ranks."""
LEVEL = 0.05
"""Below which a corrected p makes a difference significant."""
EFFECTS = ((0.71, "large"), (0.64, "medium"), (0.56, "small"))
"""Vargha and Delaney's words by the least A12, or 1 - A12, that has them."""


@dataclass(frozen=True)
class Values:
    """Values of runs of several seeds, the smaller the better; infinite where a run never reached what was asked."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class PairTest:
    """Two samples compared.

    Attributes
    ----------
    one, other : Values
    p : float
        Two-sided, of Mann and Whitney's test.
    corrected : float
        The same after Holm's correction for all tests that were made together.
    a12 : float
        The probability that a run of the first has a smaller value than one of the second, ties counted half.
    """

    one: Values
    other: Values
    p: float
    corrected: float
    a12: float

    @property
    def effect(self) -> str:
        """How large the difference is, in Vargha and Delaney's words."""
        return effect(self.a12)

    @property
    def verdict(self) -> str:
        """Which one is better, if that can be said."""
        if self.corrected >= LEVEL or self.a12 == 0.5:
            return "not significant"
        return f"{self.one.label if self.a12 > 0.5 else self.other.label} is better"


def compare_pairs(pairs: Sequence[tuple[Values, Values]]) -> list[PairTest]:
    """Compare pairs of samples; the correction is for all of them together."""
    found = [mann_whitney(one.values, other.values) for one, other in pairs]
    return [
        PairTest(one, other, p, corrected, a12(one.values, other.values))
        for (one, other), p, corrected in zip(pairs, found, holm(found), strict=True)
    ]


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided p of Mann and Whitney's test: exact without ties, else by the normal approximation.

    Infinite values are the largest, and equal.

    Raises
    ------
    ValueError
        A sample is empty.
    """
    from scipy.stats import mannwhitneyu

    if not one or not other:
        raise ValueError("no values to test")
    if len({*one, *other}) == 1:
        return 1.0
    # scipy's test takes finite numbers, and ranks are all that counts.
    order = {value: rank for rank, value in enumerate(sorted({*one, *other}))}
    ranks = [[order[value] for value in sample] for sample in (one, other)]
    exact = len(order) == len(one) + len(other) <= MOST_FOR_EXACT
    method = "exact" if exact else "asymptotic"
    return float(mannwhitneyu(*ranks, alternative="two-sided", method=method).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p for the number of tests, step by step from the smallest p; the order of the tests stays."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[place]))
        corrected[place] = highest
    return corrected


def a12(one: Sequence[float], other: Sequence[float]) -> float:
    """The part of all pairs in which the first is smaller, ties counted half.

    Vargha and Delaney's measure says how often the first is larger; costs and times are the better the smaller.
    """
    ours, theirs = np.asarray(one, dtype=np.float64)[:, None], np.asarray(other, dtype=np.float64)[None, :]
    return float(((ours < theirs).sum() + 0.5 * (ours == theirs).sum()) / (ours.size * theirs.size))


def effect(a12: float) -> str:
    """Word an effect size with Vargha and Delaney's thresholds."""
    # Rounded, because 1 - 0.44 is not 0.56 in binary.
    apart = round(max(a12, 1 - a12), 12)
    return next((word for least, word in EFFECTS if apart >= least), "negligible")


def least_p(one: int, other: int) -> float:
    """The smallest p that samples of such sizes can have: one is all below the other."""
    return min(1.0, 2 / math.comb(one + other, one))
