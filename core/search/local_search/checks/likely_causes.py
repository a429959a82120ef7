"""Likely cause of a wrong `delta`, from the numbers of all checked moves."""

from __future__ import annotations

import numpy as np

FEWEST = 4
"""Differences that show anything."""
FACTORS = (2, 3, 4)


def likely_cause(said: np.ndarray, added: np.ndarray, cost: int, others: dict[str, np.ndarray]) -> str:
    """Name a common mistake that explains every difference.

    Parameters
    ----------
    said, added : ndarray, shape (count,), int64
        What `delta` says of some moves, and what they add by `cost`.
    cost
        Of the solution where they begin.
    others : dict of str to ndarray, shape (count,)
        What other changes would add, and in words which these are.

    Returns
    -------
    The cause in words, or nothing.

    """
    if len(said) < FEWEST or len(np.unique(added)) < 2:
        return ""
    every = f"every one of {len(said)} tried"
    if (said == -added).all():
        return f"{every} has the opposite sign: is it the present cost less the neighbour's?"
    if cost and (said == added + cost).all():
        return f"{every} is the neighbour's whole cost: subtract the present one"
    if not said.any():
        return f"{every} adds 0: is the move left out?"
    for words, their in others.items():
        if (said == their).all():
            return f"{every} is {words}"
    off = np.unique(said - added)
    if len(off) == 1:
        return f"{every} is {abs(int(off[0]))} too {'large' if off[0] > 0 else 'small'}"
    for factor in FACTORS:
        if (said == factor * added).all():
            return f"{every} is {factor} times what cost says: is something counted {factor} times?"
        if (factor * said == added).all():
            return f"{every} is a {['half', 'third', 'quarter'][factor - 2]} of what cost says"
    return ""
