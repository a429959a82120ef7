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
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas

MOST_FOR_EXACT = 200
"""Values of both samples up to which p is computed from all orders of their ranks."""
LEVEL = 0.05
"""Significance level of a corrected p."""
EFFECTS = ((0.71, "large"), (0.64, "medium"), (0.56, "small"))
"""Vargha and Delaney's words by the least A12, or 1 - A12."""


def compare_pairs(pairs: Iterable[tuple[pandas.Series, pandas.Series]]) -> pandas.DataFrame:
    """Compare pairs of samples; the correction is for all of them together.

    Parameters
    ----------
    pairs
    Values of runs of several seeds, the smaller the better; infinite for an unreached target. The name of a series is
    that of its sample.

    Returns
    -------
    DataFrame
        A row for each pair: the names (`one`, `other`), `p` of Mann and Whitney's two-sided test, the same after Holm's
        correction (`corrected`), the effect size as a number and as text (`a12`, `effect`), the significantly better
        one, if any (`verdict`), and the smallest p that such samples can have (`least`).
    """
    import pandas

    rows = [
        (one.name, other.name, *mann_whitney(list(one), list(other)), least_p(len(one), len(other)))
        for one, other in pairs
    ]
    tests = pandas.DataFrame(rows, columns=["one", "other", "p", "a12", "least"])
    better = tests["one"].where(tests["a12"] > 0.5, tests["other"]) + " is better"
    corrected = holm(tests["p"])
    alike = (corrected >= LEVEL) | (tests["a12"] == 0.5)
    return tests.assign(
        corrected=corrected, effect=tests["a12"].map(effect), verdict=better.mask(alike, "not significant")
    )


def mann_whitney(sample: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the two-sided p of Mann and Whitney's test, and A12.

    The test is exact without ties, else by the normal approximation. A12 is the part of all pairs in which the first is
    smaller, ties counted half: Vargha and Delaney count pairs with a larger first value, but smaller costs and times
    are better. Infinite values are the largest, and equal. Raises `ValueError` if a sample is empty.
    """
    from scipy.stats import mannwhitneyu, rankdata

    if not sample or not other:
        raise ValueError("no values to test")
    # scipy's test takes finite numbers, and only ranks count.
    ranks = rankdata([*sample, *other], method="dense")
    if ranks.max() == 1:
        return 1.0, 0.5
    exact = ranks.max() == len(ranks) <= MOST_FOR_EXACT
    test = mannwhitneyu(ranks[: len(sample)], ranks[len(sample) :], method="exact" if exact else "asymptotic")
    pairs = len(sample) * len(other)
    return float(test.pvalue), float(pairs - test.statistic) / pairs


def holm(p_values: pandas.Series) -> pandas.Series:
    """Correct p for the number of tests, step by step from the smallest p; the index of the tests stays."""
    steps = p_values.sort_values(kind="stable") * np.arange(len(p_values), 0, -1)
    return steps.clip(upper=1.0).cummax().reindex(p_values.index)


def effect(a12: float) -> str:
    """Return an effect size as text, by Vargha and Delaney's thresholds."""
    # Rounded, because 1 - 0.44 is not 0.56 in binary.
    apart = round(max(a12, 1 - a12), 12)
    return next((word for least, word in EFFECTS if apart >= least), "negligible")


def least_p(size: int, other_size: int) -> float:
    """Return the smallest possible p of samples of these sizes: all values of one are below those of the other."""
    return min(1.0, 2 / math.comb(size + other_size, size))
