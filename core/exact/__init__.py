"""Exact search for a shortest tour of up to 30 cities (`xavier2022`): enumeration, and branch and bound with 1-trees.

`ExactSearch` gives a heuristic's tour to a `Proof`, which lets an `ExactMethod` (`Enumeration`, `PublishedSearch` or
`OneTreeSearch`) explore the rest of the work, and returns a `Solution`.

Other packages import this package only.
Dynamic programming over subsets of cities is in `core.tables.held_karp`.
"""

from core.exact.search import BOUNDS, MOST_CITIES, STARTS, ExactSearch
from core.exact.solution import Solution

__all__ = ["BOUNDS", "MOST_CITIES", "STARTS", "ExactSearch", "Solution"]
