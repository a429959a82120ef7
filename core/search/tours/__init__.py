"""Iterated local search of tours (`search`), of one tour in parts (`windows`), and the lists of near cities."""

from core.search.tours.search import IteratedThreeOpt
from core.search.tours.windows import WindowedThreeOpt

__all__ = ["IteratedThreeOpt", "WindowedThreeOpt"]
