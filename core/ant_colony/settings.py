"""Settings that define the work of an ant colony, and the fixed-point numbers that follow from them.

Pheromone is an integer from 1 to 2^32 - 1. Its unit is such that the trail of an edge used by every ant of every
iteration is at most 2^31 for any tours: with rho = 0.1 and 1,024 ants, one ant's deposit is some 200,000 units, exact
to 1 in 200,000. Evaporation is rounded down, deposits are cut.

Weights are integers from 1 to 2^32 - 1, and those of a row sum to less than 2^32: a large one is exact to 24 bits
(f32), the smallest distinguishable one is 2^-32 of the row. A city with a smaller share counts as 1, so it
can be chosen: among far cities, when all near ones are visited, the choice is flatter than equation 1. A draw has 32
bits, so probabilities are those of the weights within 2^-32. Against Ant System in float64 (`test_quality.py`): means
of 30 runs on d198 do not differ; on kroA100 with beta = 5 fixed point is 0.6 % better, by the flatter choice.
"""

from __future__ import annotations

from math import ceil, log2
from typing import NamedTuple

import numpy as np

from core.ant_colony.kernels.roulette import COLUMNS
from core.errors import UserError

STRATEGIES = ("coarse", "fine", "fine-deposit")
VARIANTS = ("as", "mmas")
LOCAL_SEARCHES = ("none", "2opt", "2opt-near", "3opt")
FEWEST_CITIES = 3
FEWEST_FOR_2OPT = 5
MOST_CITIES = 46_000
"""A loop over all n * n edges ends up to a stride behind the last one, and that must fit 31 bits too."""
MOST_SETTING = 2**32 - 1
LEAST_HEURISTIC = np.float32(2.0**-64)
LEAST_DISTANCE = 0.5
"""Replacement of a distance of 0 in the heuristic."""
BEST_TOUR_LIKELY = 0.05
"""Probability that a converged colony constructs its best tour (Stützle and Hoos 2000, equation 11)."""


class Settings(NamedTuple):
    """Settings that decide the work.

    Attributes
    ----------
    ants : int
        Of each colony.
    alpha, beta : float
        Exponents of pheromone and heuristic in equation 1; ``alpha`` is a multiple of 1/256.
    rho : float
        Part of the pheromone that evaporates in an iteration (equation 2), above 0, at most 1.
    variant : str
        ``as``, Ant System: every ant deposits; ``mmas``, Max-Min Ant System: one tour does, between trail limits.
    candidates : int
        Nearest cities to choose from before all others, up to 32; 0 for all cities at once.
    local_search : str
        Of every ant's tour. ``2opt``: by best improvement to a 2-opt optimum, as in iterative hill climbing;
        ``2opt-near``: by neighbour lists, many times faster; ``3opt``: by neighbour lists too, with sequential moves of
        three edges (`core.three_opt.kernels.three_opt`); ``none``.
    best_every : int
        ``mmas``: period of iterations in which the best tour so far deposits, else the iteration's best; 0: never.
    stagnation : int
        ``mmas``: number of iterations without a better tour after which trails are smoothed; 0: never.
    smoothing : float
        Fraction of the distance by which they move towards the upper limit, 0 to 1.
    colonies : int
        Colonies, each with separate ants and pheromone, distributed over the ranks. Of one colony the ants are
        distributed.
    exchange : int
        Iterations after which all colonies adopt the best tour; 0: never.
    """

    ants: int = 1024
    alpha: float = 1.0
    beta: float = 2.0
    rho: float = 0.1
    variant: str = "as"
    candidates: int = 0
    local_search: str = "none"
    best_every: int = 1
    stagnation: int = 0
    smoothing: float = 0.5
    colonies: int = 1
    exchange: int = 0

    def check(self, n: int) -> None:
        """Raise `UserError` for settings that are invalid, or do not fit ``n`` cities."""
        least = FEWEST_FOR_2OPT if self.local_search != "none" else FEWEST_CITIES
        wrong = [
            (least <= n <= MOST_CITIES, f"ants take {least} to {MOST_CITIES} cities here, not {n}"),
            (self.variant in VARIANTS, f"variant {self.variant!r}; choose one of {', '.join(VARIANTS)}"),
            (
                self.local_search in LOCAL_SEARCHES,
                f"local search {self.local_search!r}; choose one of {', '.join(LOCAL_SEARCHES)}",
            ),
            (self.ants >= 1, f"a colony has at least 1 ant, not {self.ants}"),
            (self.ants * n < 2**31, f"the tours of {self.ants} ants through {n} cities pass 2^31 cities"),
            (0 <= self.alpha <= 16, f"alpha is from 0 to 16, not {self.alpha}"),
            (self.alpha * 256 % 1 == 0, f"alpha is a multiple of 1/256, not {self.alpha}"),
            (0 <= self.beta <= 64, f"beta is from 0 to 64, not {self.beta}"),
            (0 < self.rho <= 1, f"rho is above 0 and at most 1, not {self.rho}"),
            (0 <= self.candidates <= COLUMNS, f"candidates are 1 to {COLUMNS}, or 0 for all; not {self.candidates}"),
            (0 <= self.best_every < 2**31, f"best_every is at least 0, not {self.best_every}"),
            (0 <= self.stagnation < 2**31, f"stagnation is at least 0, not {self.stagnation}"),
            (0 <= self.smoothing <= 1, f"smoothing is from 0 to 1, not {self.smoothing}"),
            (self.colonies >= 1, f"there is at least 1 colony, not {self.colonies}"),
            (self.exchange >= 0, f"exchange is at least 0, not {self.exchange}"),
            (
                self.exchange == 0 or (self.colonies > 1 and self.variant == "mmas"),
                "only several colonies of the Max-Min Ant System exchange tours: in an Ant System a single tour "
                "among those of all ants changes nothing",
            ),
        ]
        for holds, complaint in wrong:
            if not holds:
                raise UserError(complaint)


class FixedPoint(NamedTuple):
    """Integers for kernels.

    Attributes
    ----------
    rho, smoothing, floor_ratio : int
        Parts of 2^32.
    alpha : int
        256 times the exponent.
    quota, lower_bound : int
        A tour of length L deposits quota // max(L, lower_bound) units (equation 3).
    start : int
        Pheromone of every edge at the beginning.
    """

    rho: int
    smoothing: int
    floor_ratio: int
    alpha: int
    quota: int
    lower_bound: int
    start: int


def fixed_point(settings: Settings, distances: np.ndarray, nearest_neighbour_length: int) -> FixedPoint:
    """Return the numbers for checked settings and an instance, distances of shape (n, n).

    The first pheromone is that of ants with nearest-neighbour tours.
    """
    n = len(distances)
    limited = settings.variant == "mmas"
    rho = part_of_32_bits(settings.rho)
    # No tour is shorter than the sum of all cities' shortest edges; in metric instances none is shorter than a
    # nearest-neighbour tour by more than (log n + 1) / 2 (Rosenkrantz, Stearns and Lewis 1977).
    edges = int(nearest_distances(distances).sum(dtype=np.int64))
    lower_bound = max(1, edges, 2 * nearest_neighbour_length // (ceil(log2(n)) + 1))
    depositing = 1 if limited else settings.ants
    quota = lower_bound * max(rho, 2**22) // (2 * depositing)
    deposit = quota // max(nearest_neighbour_length, lower_bound)
    start = (deposit << 32) // rho if limited else settings.ants * deposit
    root = BEST_TOUR_LIKELY ** (1 / n)
    ratio = (1 - root) / (max((settings.candidates or n) / 2 - 1, 1) * root)
    return FixedPoint(
        rho=rho,
        smoothing=min(MOST_SETTING, round(2**32 * settings.smoothing)),
        floor_ratio=min(MOST_SETTING, round(2**32 * ratio)),
        alpha=round(256 * settings.alpha),
        quota=quota,
        lower_bound=lower_bound,
        start=max(1, min(start, MOST_SETTING)),
    )


def part_of_32_bits(part: float) -> int:
    """Return a part of 1 in units of 2^-32, at least 1."""
    return max(1, min(MOST_SETTING, round(part * 2**32)))


def nearest_distances(distances: np.ndarray) -> np.ndarray:
    """Return the distance of every city to its nearest other; shape (n,)."""
    others = distances.copy()
    np.fill_diagonal(others, np.iinfo(distances.dtype).max)
    return others.min(axis=1)


def heuristic(distances: np.ndarray, beta: float) -> np.ndarray:
    """Return equation 1's eta^beta as a part of the largest in its row, 0 on the diagonal: shape (n, n), float32."""
    lengths = np.maximum(distances.astype(np.float64), LEAST_DISTANCE)
    nearest = np.maximum(nearest_distances(distances).astype(np.float64), LEAST_DISTANCE)
    np.fill_diagonal(lengths, nearest)
    parts = ((nearest[:, None] / lengths) ** beta).astype(np.float32)
    parts = np.maximum(parts, LEAST_HEURISTIC)
    np.fill_diagonal(parts, 0)
    return parts
