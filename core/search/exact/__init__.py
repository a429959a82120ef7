"""Exact search for a shortest tour of up to 30 cities (`xavier2022`): enumeration, its bound, and one that wins."""

from core.search.exact.search import BOUNDS, ENUMERATIONS, MOST_CITIES, ExactSearch
from core.search.exact.solution import Solution

__all__ = ["BOUNDS", "ENUMERATIONS", "MOST_CITIES", "ExactSearch", "Solution"]
