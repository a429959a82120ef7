"""Traces over ranks that share the columns of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def trace_over_ranks(ranks: Any, state: np.ndarray, follow: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Hand a trace from the last rank to the first; each follows it through its part of the table.

    ``state`` is the last cell on the last rank. Afterwards it is, on every rank, where the trace enters its part.
    Return the place that the first rank reaches, on all ranks.
    """
    if ranks.rank < ranks.size - 1:
        ranks.receive(state, ranks.rank + 1)
    reached = follow(state)
    if ranks.rank > 0:
        ranks.send(reached, ranks.rank - 1)
    return np.array(ranks.bcast(reached))
