"""The Weierstrass function for local search (`luong2013`, section 6.3)."""

from __future__ import annotations

import os

import numpy as np

from core.arguments import loaded_instance
from core.errors import UserError
from core.local_search.encodings import Neighbourhood, Reals
from core.local_search.kernels import moves
from core.local_search.kernels.hooks import Evaluation
from core.local_search.problem import Problem
from core.weierstrass import scorer
from core.weierstrass.kernels import COST_UNITS, EVALUATIONS, GRID, Surface

POINTS = 10_000
"""Neighbours of a solution in the paper's experiments."""
AXES = Neighbourhood("axes", "reals", moves.SINGLES, moves.OWN, attributes=False)
"""Points of the crowns on lines through the solution, each along one coordinate."""


class Weierstrass(Problem):
    """Minimise the Weierstrass function (b = 2, h = 1/4, 100 terms) over [-1, 1]^n.

    Neighbour c of ``points`` is a random point between the balls of radius c / (points n) and (c + 1) / (points n)
    around the solution, cut to the grid and to the domain. With ``crowns`` (the paper's) all its coordinates differ, so
    each neighbour is evaluated in full: a measure of arithmetic throughput. With ``axes`` only coordinate c mod n
    differs, and a neighbour costs 1 / n of that.

    Parameters
    ----------
    instance : int or str or core.weierstrass.scorer.WeierstrassInstance
        Number of coordinates. Or a specification (see `core.weierstrass.scorer.load`), or an instance.
    points
        Neighbours of a solution.
    dtype
        ``float32`` or ``float64``: precision of the sum and of the sines.
    seed
        Seed of the random points.
    """

    neighbourhoods = ("crowns", AXES)
    published = "full"
    remembered = ("state",)
    grid = GRID
    tested = True

    def __init__(
        self,
        instance: scorer.WeierstrassInstance | str | int,
        *,
        points: int = POINTS,
        dtype: str = "float32",
        seed: int = 0,
    ) -> None:
        if isinstance(instance, (int, np.integer)):
            instance = str(instance)
        instance = loaded_instance(instance, scorer.WeierstrassInstance, scorer.load, "a number of coordinates")
        if not 1 <= points < GRID:
            raise UserError(f"{points} random points: expected 1 to {GRID - 1}")
        if dtype not in EVALUATIONS:
            raise UserError(f"precision {dtype!r}: expected {' or '.join(EVALUATIONS)}")
        n = instance.n
        amplitudes = (2.0 ** (-0.25 * np.arange(1, scorer.TERMS + 1))).astype(dtype)
        super().__init__(instance.name, Reals(n, dtype), Surface(amplitudes, n, seed, 1.0 / (n * points)))
        self.instance = instance
        self.points = points
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, **options: object) -> Weierstrass:
        """Return the function for a number of dimensions: ``100`` or ``weierstrass:100``; ``data`` is not used."""
        return cls(scorer.load(spec), **options)  # type: ignore[arg-type]

    def cost(self, solution: np.ndarray) -> int:
        """Return the function's value in units of 2^-20, by NumPy in 64 bits."""
        return self.instance.cost(solution.astype(np.float64))

    def cost_range(self) -> tuple[int, int]:
        """Return bounds from the largest contribution of a coordinate, up or down."""
        most = int(self.encoding.n * scorer.LARGEST_TERM * COST_UNITS)
        return -most, most

    def tolerance(self) -> int:
        """Return the largest difference between the search's cost and `cost`, which rounds once instead of n times."""
        return self.encoding.n * (1 if self.encoding.dtype == "float64" else 4)

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``full``; for points on the axes first ``kept``, from the stored contributions of coordinates."""
        return EVALUATIONS[self.encoding.dtype][neighbourhood]
