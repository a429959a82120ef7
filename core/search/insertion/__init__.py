"""Iterated greedy search on problems of orders that offer costs of insertions (`core.problems.insertion`).

`search` has the walks of a device, `check` compares a problem's costs of insertions with its scorer.
"""

from core.search.insertion.check import check_insertions
from core.search.insertion.search import IteratedGreedySearch

__all__ = ["IteratedGreedySearch", "check_insertions"]
