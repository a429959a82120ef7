"""Iterated local search of tours (`search`), and the neighbour lists and order of its cities (`neighbour_lists`)."""

from core.search.tours.search import IteratedThreeOpt

__all__ = ["IteratedThreeOpt"]
