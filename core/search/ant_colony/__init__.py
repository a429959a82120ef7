"""Ant colony optimisation for the TSP (`menezes2019`): three strategies, any backend, any number of ranks.

Other packages import this package and `settings`. Kernels of ants and pheromone belong to `core.kernels`; the 2-opt of
ants comes from `core.search.hill_climbing`.
"""

from core.search.ant_colony.outcome import ColonyOutcome
from core.search.ant_colony.search import AntColony
from core.search.ant_colony.settings import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings

__all__ = ["LOCAL_SEARCHES", "STRATEGIES", "VARIANTS", "AntColony", "ColonyOutcome", "Settings"]
