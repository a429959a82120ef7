"""Ant colony optimisation for the TSP (`menezes2019`): three strategies, any backend, any number of ranks.

Other packages import this package and `settings`. Of the local searches of ants' tours, `kernels.neighbour_queue` is
here; others come from `core.hill_climbing` and `core.three_opt`.
"""

from core.ant_colony.outcome import ColonyOutcome
from core.ant_colony.search import AntColony
from core.ant_colony.settings import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings

__all__ = ["LOCAL_SEARCHES", "STRATEGIES", "VARIANTS", "AntColony", "ColonyOutcome", "Settings"]
