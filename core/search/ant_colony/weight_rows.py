"""Rows of weights: each rank computes all of them, or ranks with ants of one colony share them out."""

from __future__ import annotations

from typing import Any

import numpy as np


class WeightRows:
    """The rows, one for each city, that this rank computes.

    Parameters
    ----------
    backend
    n
        Number of cities.

    Attributes
    ----------
    is_shared : bool
        True if other ranks compute some rows.

    """

    def __init__(self, backend: Any, n: int) -> None:
        self.backend, self.n = backend, n
        self.is_shared, self.bounds = False, [0, n]
        self.together: Any = None

    def share(self, together: Any, is_shared: bool) -> None:
        """Share the rows out over these ranks, or compute all of them here."""
        self.together, self.is_shared = together, is_shared
        self.bounds = together.equal_parts(self.n) if is_shared else [0, self.n]

    @property
    def own(self) -> tuple[int, int]:
        """The first row of this rank, and the first one behind its rows."""
        rank = self.together.rank if self.is_shared else 0
        return self.bounds[rank], self.bounds[rank + 1]

    def allocate(self, width: int) -> Any:
        """Allocate rows of this width: in memory that ranks have in common, if they share the rows."""
        bounds = [width * row for row in self.bounds]
        if self.is_shared:
            return self.together.common(bounds[-1], np.uint32, bounds)
        return self.backend.allocate(max(1, bounds[-1]), np.uint32)

    def gather(self, weights: Any, width: int) -> None:
        """Queue what makes all rows visible to this rank's ants."""
        if self.is_shared:
            self.together.gather(weights, [width * row for row in self.bounds])
