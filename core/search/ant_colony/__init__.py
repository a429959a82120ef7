"""Ant colony optimisation for the TSP (`menezes2019`): three strategies, any backend, any number of ranks."""

from core.search.ant_colony.colony import ColonyOutcome
from core.search.ant_colony.search import AntColony
from core.search.ant_colony.settings import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings

__all__ = ["LOCAL_SEARCHES", "STRATEGIES", "VARIANTS", "AntColony", "ColonyOutcome", "Settings"]
